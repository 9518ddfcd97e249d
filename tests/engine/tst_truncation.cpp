// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/truncation.h"
#include "tests/support/generation_driver.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

/// A distribution over a vocabulary, and what a backend would report of it.
struct Distribution
{
    std::vector<float> probabilities;

    [[nodiscard]] TokenId drawn(const NoiseAddress &address, std::uint32_t position,
                                const std::vector<TokenId> &ids) const
    {
        float best = -std::numeric_limits<float>::infinity();
        TokenId winner = -1;
        for (const TokenId id : ids) {
            const float probability = probabilities[static_cast<std::size_t>(id)];
            const auto index = static_cast<std::uint32_t>(id);
            const float value = std::log(probability) +
                                gumbelFromWord(address.block(NoiseKind::Gumbel, position, index / 4)[index % 4]);
            if (probability > 0.0F && value > best) {
                best = value;
                winner = id;
            }
        }
        return winner;
    }
    [[nodiscard]] std::vector<TokenId> byProbability() const
    {
        std::vector<TokenId> ids(probabilities.size());
        std::iota(ids.begin(), ids.end(), 0);
        std::stable_sort(ids.begin(), ids.end(), [this](TokenId a, TokenId b) {
            return probabilities[static_cast<std::size_t>(a)] > probabilities[static_cast<std::size_t>(b)];
        });
        return ids;
    }
    [[nodiscard]] PositionResult reported(const NoiseAddress &address, std::uint32_t position) const
    {
        const std::vector<TokenId> ids = byProbability();
        PositionResult result;
        result.argmax = ids.front();
        result.sampled = drawn(address, position, ids);
        for (std::size_t i = 0; i < kAlternativeCount && i < ids.size(); ++i) {
            result.alternatives.at(i) = {ids[i], probabilities[static_cast<std::size_t>(ids[i])]};
        }
        return result;
    }
};

const Distribution kSpread{{0.02F, 0.4F, 0.05F, 0.2F, 0.1F, 0.03F, 0.15F, 0.05F}};
constexpr int kNotKnown = -1;

} // namespace

class TestTruncation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void keeps_data();
    void keeps();
    void drawsWhatTheTruncatedDistributionWould();
    void refusesWhatIsOutOfRange_data();
    void refusesWhatIsOutOfRange();
    void narrowsTheDrawsOfAGeneration();
    void tellsHowSureItWas();
};

void TestTruncation::keeps_data()
{
    QTest::addColumn<double>("topP");
    QTest::addColumn<int>("topK");
    QTest::addColumn<double>("minP");
    QTest::addColumn<int>("kept");
    QTest::newRow("nothing cut") << 1.0 << 0 << 0.0 << kNotKnown;
    QTest::newRow("the best") << 1.0 << 1 << 0.0 << 1;
    QTest::newRow("as many as are known") << 1.0 << 5 << 0.0 << 5;
    QTest::newRow("more than are known") << 1.0 << 6 << 0.0 << kNotKnown;
    QTest::newRow("nucleus of one") << 0.4 << 0 << 0.0 << 1;
    QTest::newRow("nucleus of two") << 0.41 << 0 << 0.0 << 2;
    QTest::newRow("nucleus just known") << 0.89 << 0 << 0.0 << 5;
    QTest::newRow("nucleus beyond") << 0.95 << 0 << 0.0 << kNotKnown;
    QTest::newRow("share of the best") << 1.0 << 0 << 0.3 << 3;
    QTest::newRow("share of the best, all known") << 1.0 << 0 << 0.1 << kNotKnown;
    QTest::newRow("the strictest counts") << 0.7 << 2 << 0.1 << 2;
    QTest::newRow("never none") << 1e-9 << 0 << 1.0 << 1;
}

void TestTruncation::keeps()
{
    QFETCH(double, topP);
    QFETCH(int, topK);
    QFETCH(double, minP);
    QFETCH(int, kept);
    const PositionResult result = kSpread.reported({}, 0);
    QCOMPARE(keptAlternatives({topP, topK, minP}, result).value_or(kNotKnown), kept);
}

void TestTruncation::drawsWhatTheTruncatedDistributionWould()
{
    const std::vector<TokenId> ids = kSpread.byProbability();
    for (std::uint32_t position = 0; position < 2000; ++position) {
        const NoiseAddress address{.seed = 11, .canvas = 2, .step = position % 48 + 1};
        for (int topK = 1; topK <= 5; ++topK) {
            PositionResult result = kSpread.reported(address, position);
            truncateDraw({.topK = topK}, address, position, result);
            QCOMPARE(result.sampled, kSpread.drawn(address, position, {ids.begin(), ids.begin() + topK}));
        }
        PositionResult untouched = kSpread.reported(address, position);
        truncateDraw({.topP = 0.99}, address, position, untouched);
        QCOMPARE(untouched.sampled, kSpread.drawn(address, position, ids));
    }
}

void TestTruncation::refusesWhatIsOutOfRange_data()
{
    QTest::addColumn<double>("topP");
    QTest::addColumn<int>("topK");
    QTest::addColumn<double>("minP");
    QTest::addColumn<QString>("field");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QTest::newRow("no nucleus") << 0.0 << 0 << 0.0 << "topP";
    QTest::newRow("nucleus above one") << 1.5 << 0 << 0.0 << "topP";
    QTest::newRow("nucleus is no number") << nan << 0 << 0.0 << "topP";
    QTest::newRow("negative count") << 1.0 << -1 << 0.0 << "topK";
    QTest::newRow("share above one") << 1.0 << 0 << 1.1 << "minP";
    QTest::newRow("negative share") << 1.0 << 0 << -0.1 << "minP";
}

void TestTruncation::refusesWhatIsOutOfRange()
{
    QFETCH(double, topP);
    QFETCH(int, topK);
    QFETCH(double, minP);
    QFETCH(QString, field);
    GenerationRequest request = basicRequest();
    request.truncation = {topP, topK, minP};
    try {
        const Driver driver(request, settlingModel(64));
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QCOMPARE(error.subject(), field.toStdString());
    }
}

void TestTruncation::narrowsTheDrawsOfAGeneration()
{
    const FakeModel model = [](const FakeInput &input) {
        PositionResult result = kSpread.reported(input.noise, static_cast<std::uint32_t>(input.position));
        result.entropyNats = 1e-3F;
        return result;
    };
    for (const int topK : {0, 1, 2}) {
        GenerationRequest request = basicRequest();
        request.truncation.topK = topK;
        Driver driver(request, model, {.vocabSize = 8});
        static_cast<void>(driver.finish());
        const std::vector<TokenId> ids = kSpread.byProbability();
        bool others = false;
        for (const auto &step : driver.steps) {
            for (const PositionResult &position : step->positions) {
                const bool kept =
                    topK == 0 || std::find(ids.begin(), ids.begin() + topK, position.sampled) < ids.begin() + topK;
                QVERIFY(kept);
                others |= position.sampled != position.argmax;
            }
        }
        QCOMPARE(others, topK != 1);
    }
}

void TestTruncation::tellsHowSureItWas()
{
    const auto tokenizer = demoTokenizer();
    const Ids script = tokenizer->encode("one two five six", SpecialTokens::PlainText);
    const FakeModel certain = certainModel(inCanvases(script, 3));
    const FakeModel model = [certain](const FakeInput &input) {
        PositionResult result = certain(input);
        result.alternatives[0].probability = 0.5F;
        result.alternatives[1] = {7, 0.25F};
        return result;
    };
    GenerationRequest request = basicRequest();
    request.maxNewTokens = static_cast<std::int64_t>(script.size());
    request.stopStrings = {"five"};
    request.firstCanvas = CanvasStart{{script[0], script[1], 9}, {0, 0, 1}, {}}; // not what the model would write
    for (const bool wanted : {true, false}) {
        request.wantsCertainties = wanted;
        Driver driver(request, model, {.vocabSize = 8192, .canvasLength = 3}, tokenizer);
        const GenerationResult result = driver.finish();
        QCOMPARE(result.certainties.size(), wanted ? result.tokens.size() : 0);
        QCOMPARE(driver.canvases.back().settledTokens, static_cast<std::int64_t>(result.tokens.size()));
        if (!wanted) {
            continue;
        }
        QCOMPARE(result.canvases.front().certainties.size(), std::size_t{3});
        QCOMPARE(driver.canvases.front().certainties.size(), std::size_t{3});
        QCOMPARE(result.certainties[0].logProbability, std::log(0.5F));
        QCOMPARE(result.certainties[0].alternatives[1].id, 7);
        QCOMPARE(result.tokens[2], 9);
        QCOMPARE(result.certainties[2].logProbability, kUnlikelyLogProbability);
    }
}

QTEST_GUILESS_MAIN(TestTruncation)
#include "tst_truncation.moc"
