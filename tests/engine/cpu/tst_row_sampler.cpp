// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cpu/row_sampler.h"
#include "tests/support/golden.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace palimpsest;
using namespace palimpsest::cpu;
using palimpsest::test::GoldenTensors;

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// A row of processed logits as the head leaves it: whole blocks, padding at -infinity, block maxima.
struct Row
{
    std::vector<float> values;
    std::vector<float> maxima;

    explicit Row(std::span<const float> logits)
        : values((logits.size() + 63) / 64 * 64, kLowest), maxima(values.size() / 64)
    {
        std::ranges::copy(logits, values.begin());
        for (std::size_t block = 0; block < maxima.size(); ++block)
            maxima[block] = *std::max_element(values.begin() + static_cast<std::ptrdiff_t>(block * 64),
                                              values.begin() + static_cast<std::ptrdiff_t>(block * 64 + 64));
    }
};

PositionResult sampled(std::span<const float> logits, const RowNoise &noise)
{
    Row row(logits);
    PositionResult result;
    static_cast<void>(sampleRow(rowKernels(), noise, row.values, row.maxima, result));
    return result;
}

std::vector<float> randomLogits(std::size_t count, std::uint32_t seed, float spread)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> out(count);
    for (float &value : out)
        value = normal(generator);
    return out;
}

} // namespace

class TestRowSampler : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void entropyAndArgmaxOfTheFixtures();
    void pruningNeverChangesTheSample_data();
    void pruningNeverChangesTheSample();
    void alternativesAreTheBestInOrder();
    void blocksAreProcessedAsTheSpecificationSays();
};

void TestRowSampler::entropyAndArgmaxOfTheFixtures()
{
    const auto golden = GoldenTensors::load("sampler/sampler.safetensors");
    const auto logits = golden.floats("entropy.logits");
    const auto entropies = golden.floats("entropy.expected");
    const auto argmax = golden.ids("argmax.expected");
    const auto softmax = golden.floats("softmax.expected");
    const auto columns = static_cast<std::size_t>(golden.shape("entropy.logits").at(1));
    for (std::size_t i = 0; i < entropies.size(); ++i) {
        const PositionResult result = sampled(std::span(logits).subspan(i * columns, columns), {});
        // Rows 5 and 6 have logits of 3e3 and 1e4, where the reference itself rounds (fixtures' README).
        const double tolerance = i == 5 || i == 6 ? 3e-4 : 1e-5;
        QVERIFY2(std::abs(static_cast<double>(result.entropyNats) - static_cast<double>(entropies[i])) <= tolerance,
                 qPrintable(QString::number(i)));
        QCOMPARE(result.argmax, argmax[i]);
        if (softmax.size() == logits.size())
            QVERIFY(std::abs(result.alternatives[0].probability -
                             softmax[i * columns + static_cast<std::size_t>(argmax[i])]) <= 1e-5F);
    }
}

void TestRowSampler::pruningNeverChangesTheSample_data()
{
    QTest::addColumn<int>("vocabulary");
    QTest::addColumn<float>("spread");
    QTest::newRow("flat") << 8192 << 0.0F;
    QTest::newRow("nearly flat") << 8192 << 0.3F;
    QTest::newRow("usual") << 8192 << 4.0F;
    QTest::newRow("peaked") << 8192 << 15.0F;
    QTest::newRow("odd size") << 1037 << 3.0F;
    QTest::newRow("one id") << 1 << 1.0F;
}

void TestRowSampler::pruningNeverChangesTheSample()
{
    QFETCH(int, vocabulary);
    QFETCH(float, spread);
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        auto logits = randomLogits(static_cast<std::size_t>(vocabulary), seed, spread);
        if (seed % 4 == 1)
            logits[logits.size() / 2] += 12.0F; // one clear favourite
        if (seed % 4 == 2)
            std::fill(logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(logits.size() / 2), kLowest); // bans
        const NoiseAddress address{.seed = seed * 7919ULL, .canvas = seed % 3, .step = 1 + seed % 48};
        const RowNoise pruned{.address = address, .position = seed};
        const RowNoise plain{.address = address, .position = seed, .pruning = false};
        const PositionResult a = sampled(logits, pruned);
        QCOMPARE(a.sampled, sampled(logits, plain).sampled);
        // And it is the specification's: argmax of logit + Gumbel in float32, lowest id on ties.
        float best = kLowest;
        TokenId wanted = -1;
        for (std::uint32_t id = 0; id < logits.size(); ++id) {
            const float value = logits[id] + gumbelFromWord(address.block(NoiseKind::Gumbel, seed, id / 4)[id % 4]);
            if (value > best) {
                best = value;
                wanted = static_cast<TokenId>(id);
            }
        }
        QCOMPARE(a.sampled, wanted);
    }
}

void TestRowSampler::alternativesAreTheBestInOrder()
{
    auto logits = randomLogits(777, 3, 2.0F);
    logits[70] = logits[71] = logits[500] = 9.0F; // ties: lower ids first
    const PositionResult result = sampled(logits, {});
    QCOMPARE(result.argmax, 70);
    std::vector<TokenId> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](TokenId a, TokenId b) {
        return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    double sum = 0.0;
    for (const float logit : logits)
        sum += std::exp(static_cast<double>(logit) - 9.0);
    for (std::size_t i = 0; i < result.alternatives.size(); ++i) {
        QCOMPARE(result.alternatives.at(i).id, order[i]);
        const double wanted = std::exp(static_cast<double>(logits[static_cast<std::size_t>(order[i])]) - 9.0) / sum;
        QVERIFY(std::abs(static_cast<double>(result.alternatives.at(i).probability) - wanted) < 1e-6);
    }
}

void TestRowSampler::blocksAreProcessedAsTheSpecificationSays()
{
    const std::vector<LogitBias> bias{{.id = 3, .bias = 5.0F}, {.id = 65, .bias = kLowest}, {.id = 66, .bias = -1.5F}};
    const LogitProcessing processing{.softcap = 30.0F, .temperature = 0.4F, .bias = bias, .vocabSize = 70};
    const auto raw = randomLogits(128, 5, 30.0F);
    std::vector<float> out(128);
    for (std::int64_t block = 0; block < 2; ++block) {
        const float maximum =
            processBlock(rowKernels(), processing, block, raw.data() + block * 64, out.data() + block * 64);
        QCOMPARE(maximum, *std::max_element(out.begin() + block * 64, out.begin() + block * 64 + 64));
    }
    for (std::size_t id = 0; id < out.size(); ++id) {
        double wanted = 30.0 * std::tanh(static_cast<double>(raw[id]) / 30.0);
        if (id == 65 || id >= 70) {
            QCOMPARE(out[id], kLowest);
            continue;
        }
        wanted += id == 3 ? 5.0 : id == 66 ? -1.5 : 0.0;
        QVERIFY(std::abs(static_cast<double>(out[id]) - wanted / static_cast<double>(0.4F)) < 3e-5);
    }
}

QTEST_GUILESS_MAIN(TestRowSampler)
#include "tst_row_sampler.moc"
