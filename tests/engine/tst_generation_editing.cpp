// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "tests/support/generation_driver.h"

#include <QTest>

#include <cmath>
#include <optional>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::test;

class TestGenerationEditing : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void singleCanvasStopsAfterOne();
    void shorterFirstCanvas();
    void keptPositionsStartFromTheirIds();
    void frozenPositionsStay();
    void everythingFrozen();
    void freezeWhileRunning();
    void freezeOfAnotherCanvasIsIgnored();
    void freezeOutOfRangeChangesNothing();
    void frozenChangeRestartsStability();
};

void TestGenerationEditing::singleCanvasStopsAfterOne()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 100;
    request.singleCanvas = true;
    const GenerationResult result = Driver(request, settlingModel(64)).finish();
    QCOMPARE(result.canvases.size(), std::size_t{1});
    QCOMPARE(result.tokens, result.canvases[0].committed);
    QCOMPARE(result.finish, FinishReason::Budget);
}

void TestGenerationEditing::shorterFirstCanvas()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 12;
    request.firstCanvas = CanvasStart{Ids(5, 0), {}, {}};
    Driver driver(request, settlingModel(64));
    const GenerationResult result = driver.finish();
    QCOMPARE(result.canvases.size(), std::size_t{2});
    QCOMPARE(result.canvases[0].committed.size(), std::size_t{5});
    QCOMPARE(result.canvases[1].committed.size(), std::size_t{8});
    QCOMPARE(result.tokens.size(), std::size_t{12});
    // Neither kept nor frozen: it starts from noise all the same.
    QCOMPARE(driver.steps[0]->input[0], uniformTokenId({request.seed, 0, 0}, NoiseKind::InitialCanvas, 0, 64));
}

void TestGenerationEditing::keptPositionsStartFromTheirIds()
{
    GenerationRequest request = basicRequest();
    request.firstCanvas = CanvasStart{{60, 61, 62, 63, -5, 999, 0, 0}, {}, {1, 1, 0, 1, 0, 0, 0, 0}};
    Driver driver(request, settlingModel(64));
    const GenerationResult result = driver.finish();
    const Ids &input = driver.steps[0]->input;
    QCOMPARE(input[0], 60);
    QCOMPARE(input[1], 61);
    QCOMPARE(input[3], 63);
    for (const std::uint32_t position : {2U, 4U, 5U, 6U, 7U}) { // what stands there is not used, and not checked
        QCOMPARE(input[position], uniformTokenId({request.seed, 0, 0}, NoiseKind::InitialCanvas, position, 64));
    }
    QVERIFY(driver.steps[0]->frozen.empty());
    QVERIFY(result.tokens[0] != 60 || result.tokens[1] != 61 || result.tokens[3] != 63);
}

void TestGenerationEditing::frozenPositionsStay()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 16;
    const Mask frozen{1, 0, 0, 1, 0, 0, 0, 1};
    request.firstCanvas = CanvasStart{{60, 0, 0, 61, 0, 0, 0, 62}, frozen, {}};
    Driver driver(request, settlingModel(64));
    const GenerationResult result = driver.finish();
    for (const auto &step : driver.steps) {
        if (step->canvas > 0) {
            QVERIFY(step->frozen.empty()); // the first canvas alone
            continue;
        }
        QCOMPARE(step->frozen, frozen);
        for (const Ids *ids : {&step->input, &step->argmax, &step->next}) {
            QVERIFY((*ids)[0] == 60 && (*ids)[3] == 61 && (*ids)[7] == 62);
        }
        QVERIFY(step->accepted[0] == 1 && step->accepted[3] == 1 && step->accepted[7] == 1);
        QCOMPARE(step->positions[3].sampled, 61);
        float sum = 0.0F;
        for (const std::size_t position : {1, 2, 4, 5, 6}) {
            sum += step->positions[position].entropyNats;
        }
        QVERIFY(std::abs(step->meanEntropyNats - sum / 5.0F) < 1e-6F);
    }
    QVERIFY(result.tokens[0] == 60 && result.tokens[3] == 61 && result.tokens[7] == 62);
}

void TestGenerationEditing::everythingFrozen()
{
    GenerationRequest request = basicRequest();
    const Ids ids{60, 59, 58, 57, 56, 55, 54, 53};
    request.firstCanvas = CanvasStart{ids, Mask(8, 1), {}};
    const GenerationResult result = Driver(request, restlessModel(64)).finish();
    QCOMPARE(result.tokens, ids);
    QCOMPARE(result.canvases[0].steps, 2);
    QVERIFY(result.canvases[0].meanEntropyNats == 0.0F);
}

void TestGenerationEditing::freezeWhileRunning()
{
    GenerationRequest request = basicRequest();
    request.sampler.maxDenoisingSteps = 6;
    Driver driver(request, restlessModel(64));
    driver.step();
    driver.step();
    const std::vector<Generation::Freeze> changes{{1, 60}, {6, 61}};
    driver.generation.freeze(0, changes);
    driver.step();
    QCOMPARE(driver.steps[2]->input[1], 60);
    QCOMPARE(driver.steps[2]->argmax[6], 61);
    const std::vector<Generation::Freeze> release{{1, std::nullopt}};
    driver.generation.freeze(0, release);
    driver.step();
    QCOMPARE(driver.steps[3]->input[1], 60); // starts from the id it had
    QVERIFY(driver.steps[3]->argmax[1] != 60);
    QCOMPARE(driver.steps[3]->frozen, (Mask{0, 0, 0, 0, 0, 0, 1, 0}));
    const std::vector<Generation::Freeze> releaseAll{{6, std::nullopt}};
    driver.generation.freeze(0, releaseAll);
    driver.step();
    QVERIFY(driver.steps[4]->frozen.empty());
    QVERIFY(driver.finish().tokens[6] != 61);
}

void TestGenerationEditing::freezeOfAnotherCanvasIsIgnored()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 16;
    Driver driver(request, settlingModel(64));
    const std::vector<Generation::Freeze> changes{{0, 60}};
    driver.generation.freeze(1, changes);
    while (driver.canvases.empty()) {
        driver.step();
    }
    driver.generation.freeze(0, changes);
    const GenerationResult withFreezes = driver.finish();
    driver.generation.freeze(1, changes); // done
    QCOMPARE(withFreezes.tokens, Driver(request, settlingModel(64)).finish().tokens);
}

void TestGenerationEditing::freezeOutOfRangeChangesNothing()
{
    Driver driver(basicRequest(), settlingModel(64));
    for (const Generation::Freeze wrong :
         {Generation::Freeze{8, 1}, Generation::Freeze{-1, 1}, Generation::Freeze{0, 64}, Generation::Freeze{0, -1}}) {
        const std::vector<Generation::Freeze> changes{{2, 60}, wrong};
        QVERIFY_EXCEPTION_THROWN(driver.generation.freeze(0, changes), Error);
    }
    driver.step();
    QVERIFY(driver.steps[0]->frozen.empty());
}

void TestGenerationEditing::frozenChangeRestartsStability()
{
    // A sure model would end in its second step; a position that is frozen to another id in between counts as a change.
    GenerationRequest request = basicRequest();
    Driver driver(request, certainModel({Ids(8, 5)}));
    driver.step();
    const std::vector<Generation::Freeze> changes{{0, 6}};
    driver.generation.freeze(0, changes);
    const GenerationResult result = driver.finish();
    QCOMPARE(result.canvases[0].steps, 3);
    QCOMPARE(result.tokens[0], 6);

    Driver same(request, certainModel({Ids(8, 5)}));
    same.step();
    const std::vector<Generation::Freeze> noChange{{0, 5}};
    same.generation.freeze(0, noChange);
    QCOMPARE(same.finish().canvases[0].steps, 2);
}

QTEST_GUILESS_MAIN(TestGenerationEditing)
#include "tst_generation_editing.moc"
