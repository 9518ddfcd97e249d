// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "tests/support/generation_driver.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

constexpr float kBan = -std::numeric_limits<float>::infinity();

} // namespace

class TestGeneration : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stepsCountDownWithTheirTemperatures();
    void drawsAreTheSpecifiedOnes();
    void theStepCapIsToldFromConvergence();
    void budgetCutsTheAnswerNotTheCanvas_data();
    void budgetCutsTheAnswerNotTheCanvas();
    void endTokenEndsAndPads_data();
    void endTokenEndsAndPads();
    void withoutPadTokenNothingIsPadded();
    void canvasIsTrimmedWhereTheContextEnds_data();
    void canvasIsTrimmedWhereTheContextEnds();
    void bannedIdsNeverAppear();
    void cancelKeepsWhatWasCommitted();
    void uselessResultsAreAnError_data();
    void uselessResultsAreAnError();
};

void TestGeneration::stepsCountDownWithTheirTemperatures()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 16;
    request.sampler.maxDenoisingSteps = 3;
    Driver driver(request, restlessModel(64));
    (void)driver.finish();
    QCOMPARE(driver.steps.size(), std::size_t{6});
    for (std::size_t i = 0; i < 6; ++i) {
        QCOMPARE(driver.addresses[i].seed, request.seed);
        QCOMPARE(driver.addresses[i].canvas, static_cast<std::uint32_t>(i / 3));
        QCOMPARE(driver.addresses[i].step, static_cast<std::uint32_t>(3 - i % 3));
        QVERIFY(driver.temperatures[i] == stepTemperature(request.sampler, static_cast<int>(3 - i % 3)));
        QCOMPARE(driver.steps[i]->step, static_cast<int>(i % 3 + 1));
        QCOMPARE(driver.steps[i]->last, i % 3 == 2);
        QVERIFY(driver.steps[i]->stepMs == 1.0 && driver.steps[i]->elapsedMs == 2.0);
    }
}

void TestGeneration::drawsAreTheSpecifiedOnes()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 16;
    request.sampler.maxDenoisingSteps = 4;
    request.sampler.entropyBoundNats = 0.0; // one position a step is accepted
    Driver driver(request, restlessModel(64));
    (void)driver.finish();
    for (const auto &step : driver.steps) {
        const auto canvas = static_cast<std::uint32_t>(step->canvas);
        const auto countdown = static_cast<std::uint32_t>(5 - step->step);
        for (std::uint32_t position = 0; position < 8; ++position) {
            if (step->step == 1) {
                QCOMPARE(step->input[position],
                         uniformTokenId({request.seed, canvas, 0}, NoiseKind::InitialCanvas, position, 64));
            }
            QCOMPARE(step->accepted[position], position == 0 ? 1 : 0); // all entropies are equal: the first wins
            QCOMPARE(step->next[position], position == 0 ? step->positions[0].sampled
                                                         : uniformTokenId({request.seed, canvas, countdown},
                                                                          NoiseKind::Renoise, position, 64));
        }
    }
}

void TestGeneration::theStepCapIsToldFromConvergence()
{
    GenerationRequest request = basicRequest();
    request.sampler.maxDenoisingSteps = 4;
    const GenerationResult capped = Driver(request, restlessModel(64)).finish();
    QCOMPARE(capped.canvases[0].stop, CanvasStop::StepCap);
    QCOMPARE(capped.canvases[0].steps, 4);
    QVERIFY(capped.canvases[0].meanEntropyNats == 1.0F);
    const GenerationResult converged = Driver(request, certainModel({Ids(8, 5)})).finish();
    QCOMPARE(converged.canvases[0].stop, CanvasStop::Converged);
    QCOMPARE(converged.canvases[0].steps, 2);
    request.sampler.maxDenoisingSteps = 2; // converges in the very last step
    QCOMPARE(Driver(request, certainModel({Ids(8, 5)})).finish().canvases[0].stop, CanvasStop::Converged);
}

void TestGeneration::budgetCutsTheAnswerNotTheCanvas_data()
{
    QTest::addColumn<int>("budget");
    QTest::addColumn<int>("canvases");
    QTest::newRow("one") << 1 << 1;
    QTest::newRow("one less than a canvas") << 7 << 1;
    QTest::newRow("a canvas") << 8 << 1;
    QTest::newRow("one more") << 9 << 2;
    QTest::newRow("several") << 24 << 3;
}

void TestGeneration::budgetCutsTheAnswerNotTheCanvas()
{
    QFETCH(int, budget);
    QFETCH(int, canvases);
    GenerationRequest request = basicRequest();
    request.maxNewTokens = budget;
    const GenerationResult result = Driver(request, settlingModel(64)).finish();
    QCOMPARE(result.finish, FinishReason::Budget);
    QCOMPARE(static_cast<int>(result.canvases.size()), canvases);
    Ids committed;
    for (const CanvasRecord &record : result.canvases) {
        QCOMPARE(record.committed.size(), std::size_t{8});
        committed.insert(committed.end(), record.committed.begin(), record.committed.end());
    }
    QCOMPARE(result.tokens, Ids(committed.begin(), committed.begin() + budget));
    QCOMPARE(result.promptTokens, 3);
    QCOMPARE(result.request, RequestId{7});
}

void TestGeneration::endTokenEndsAndPads_data()
{
    QTest::addColumn<int>("end"); // position of the end token over all canvases
    QTest::addColumn<int>("budget");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<FinishReason>("finish");
    QTest::newRow("at once") << 0 << 100 << 0 << FinishReason::EndOfTurn;
    QTest::newRow("inside") << 5 << 100 << 5 << FinishReason::EndOfTurn;
    QTest::newRow("last of a canvas") << 7 << 100 << 7 << FinishReason::EndOfTurn;
    QTest::newRow("first of the second") << 8 << 100 << 8 << FinishReason::EndOfTurn;
    QTest::newRow("second canvas") << 12 << 100 << 12 << FinishReason::EndOfTurn;
    QTest::newRow("right behind the budget") << 5 << 5 << 5 << FinishReason::EndOfTurn;
    QTest::newRow("beyond the budget") << 6 << 5 << 5 << FinishReason::Budget;
}

void TestGeneration::endTokenEndsAndPads()
{
    QFETCH(int, end);
    QFETCH(int, budget);
    QFETCH(int, tokens);
    QFETCH(FinishReason, finish);
    Ids script(24, 9);
    script[static_cast<std::size_t>(end)] = 1;
    script[static_cast<std::size_t>(end) + 1] = 63; // another end token: the first one counts
    GenerationRequest request = basicRequest();
    request.maxNewTokens = budget;
    request.eosTokenIds = {63, 1};
    request.padTokenId = 0;
    const GenerationResult result = Driver(request, certainModel(inCanvases(script, 8))).finish();
    QCOMPARE(result.finish, finish);
    QCOMPARE(result.tokens, Ids(static_cast<std::size_t>(tokens), 9));
    QCOMPARE(static_cast<int>(result.canvases.size()), end / 8 + 1);
    const Ids &last = result.canvases.back().committed;
    for (int position = 0; position < 8; ++position) {
        const TokenId wanted = position < end % 8 ? 9 : position == end % 8 ? 1 : 0;
        QCOMPARE(last[static_cast<std::size_t>(position)], wanted);
    }
}

void TestGeneration::withoutPadTokenNothingIsPadded()
{
    GenerationRequest request = basicRequest();
    request.eosTokenIds = {1};
    const Ids script{9, 1, 8, 7, 6, 5, 4, 3};
    const GenerationResult result = Driver(request, certainModel({script})).finish();
    QCOMPARE(result.canvases[0].committed, script);
    QCOMPARE(result.tokens, (Ids{9}));
}

void TestGeneration::canvasIsTrimmedWhereTheContextEnds_data()
{
    QTest::addColumn<int>("room");
    QTest::addColumn<QList<int>>("lengths");
    QTest::newRow("one position") << 1 << QList<int>{1};
    QTest::newRow("part of a canvas") << 5 << QList<int>{5};
    QTest::newRow("a canvas") << 8 << QList<int>{8};
    QTest::newRow("two and a part") << 19 << QList<int>{8, 8, 3};
}

void TestGeneration::canvasIsTrimmedWhereTheContextEnds()
{
    QFETCH(int, room);
    QFETCH(QList<int>, lengths);
    GenerationRequest request = basicRequest();
    request.prompt.assign(static_cast<std::size_t>(100 - room), 4);
    request.maxNewTokens = room;
    Driver driver(request, settlingModel(64), {.maxPositions = 100});
    QCOMPARE(driver.generation.canvasLengths().size(), static_cast<std::size_t>(lengths.size()));
    const GenerationResult result = driver.finish(); // the fake refuses a canvas outside the context
    QCOMPARE(static_cast<int>(result.tokens.size()), room);
    for (int i = 0; i < lengths.size(); ++i) {
        QCOMPARE(static_cast<int>(result.canvases[static_cast<std::size_t>(i)].committed.size()), lengths[i]);
    }
}

void TestGeneration::bannedIdsNeverAppear()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 24;
    for (TokenId id = 63; id >= 8; --id) { // only eight ids are left; unsorted on purpose
        request.logitBias.push_back({id, kBan});
    }
    request.logitBias.push_back({3, -2.5F});
    Driver driver(request, settlingModel(64));
    (void)driver.finish();
    for (const auto &step : driver.steps) {
        for (const Ids *ids : {&step->input, &step->argmax, &step->next}) {
            QVERIFY(std::all_of(ids->begin(), ids->end(), [](TokenId id) { return id >= 0 && id < 8; }));
        }
    }
}

void TestGeneration::cancelKeepsWhatWasCommitted()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 100;
    Driver driver(request, settlingModel(64));
    while (driver.canvases.size() < 2) {
        driver.step();
    }
    driver.step();
    const std::optional<CanvasEvent> event = driver.generation.cancel();
    QVERIFY(event.has_value());
    QCOMPARE(event->canvas, 2);
    QCOMPARE(event->stop, CanvasStop::Cancelled);
    QCOMPARE(event->steps, 1);
    QVERIFY(!driver.generation.cancel().has_value()); // twice
    const GenerationResult result = driver.finish();
    QCOMPARE(result.finish, FinishReason::Cancelled);
    QCOMPARE(result.canvases.size(), std::size_t{2});
    QCOMPARE(result.tokens.size(), std::size_t{16});

    Driver untouched(request, settlingModel(64));
    untouched.generation.cancel();
    QVERIFY(untouched.finish().tokens.empty());
}

void TestGeneration::uselessResultsAreAnError_data()
{
    QTest::addColumn<PositionResult>("result");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    QTest::newRow("entropy not a number") << PositionResult{1, 1, nan, {}};
    QTest::newRow("entropy infinite") << PositionResult{1, 1, std::numeric_limits<float>::infinity(), {}};
    QTest::newRow("argmax negative") << PositionResult{-1, 1, 0.5F, {}};
    QTest::newRow("argmax too large") << PositionResult{64, 1, 0.5F, {}};
    QTest::newRow("sample too large") << PositionResult{1, 64, 0.5F, {}};
}

void TestGeneration::uselessResultsAreAnError()
{
    QFETCH(PositionResult, result);
    Driver driver(basicRequest(), [&](const FakeInput &input) {
        return input.position == 3 ? result : PositionResult{1, 1, 0.5F, {}};
    });
    try {
        driver.step();
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::Backend);
        QVERIFY(std::string(error.what()).find("position 3") != std::string::npos);
    }
}

QTEST_GUILESS_MAIN(TestGeneration)
#include "tst_generation.moc"
