// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/generation.h"
#include "tests/support/fake_backend.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

using Ids = std::vector<TokenId>;
using Mask = std::vector<std::uint8_t>;

constexpr float kBan = -std::numeric_limits<float>::infinity();

/// Runs one generation on a fake backend, step by step, as the scheduler would.
class Driver
{
public:
    Driver(GenerationRequest request, FakeModel model, FakeSettings settings = {},
           std::shared_ptr<const Tokenizer> tokenizer = nullptr)
        : m_backend(settings, std::move(model)),
          generation(7, std::move(request), m_backend.config(), tokenizer),
          m_sequence(m_backend.newSequence()),
          m_conditioning(m_backend.newSelfConditioning())
    {
    }

    /// Up to and including the next denoising step; false if the generation is done instead.
    bool step()
    {
        if (generation.phase() == Generation::Phase::Encode) {
            m_backend.encode(*m_sequence, generation.tokensToEncode(), {});
            generation.encoded();
        }
        if (generation.phase() == Generation::Phase::Done) {
            return false;
        }
        if (generation.startsCanvas()) {
            m_conditioning->reset();
        }
        DenoiseJob job = generation.nextJob();
        job.prefix = m_sequence.get();
        job.conditioning = m_conditioning.get();
        temperatures.push_back(job.temperature);
        addresses.push_back(job.noise);
        m_backend.denoise(std::span(&job, 1));
        const Generation::StepOutcome outcome = generation.denoised(1.0, 2.0);
        steps.push_back(outcome.step);
        if (outcome.canvas) {
            canvases.push_back(*outcome.canvas);
        }
        return true;
    }
    GenerationResult finish()
    {
        while (step()) {
        }
        return generation.takeResult();
    }

private:
    FakeBackend m_backend;

public:
    Generation generation;
    std::vector<std::shared_ptr<const StepEvent>> steps;
    std::vector<CanvasEvent> canvases;
    std::vector<float> temperatures;
    std::vector<NoiseAddress> addresses;

private:
    std::unique_ptr<Sequence> m_sequence;
    std::unique_ptr<SelfConditioning> m_conditioning;
};

GenerationRequest basicRequest()
{
    GenerationRequest request;
    request.prompt = {1, 2, 3};
    request.seed = 0x123456789abcdef0;
    request.maxNewTokens = 8;
    return request;
}

std::string settledText(const std::vector<CanvasEvent> &canvases)
{
    std::string all;
    for (const CanvasEvent &canvas : canvases) {
        all += canvas.settledText;
    }
    return all;
}

/// `ids` cut into canvases of `length`.
std::vector<Ids> inCanvases(const Ids &ids, std::size_t length)
{
    std::vector<Ids> canvases;
    for (std::size_t begin = 0; begin < ids.size(); begin += length) {
        const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
        canvases.emplace_back(first, first + static_cast<std::ptrdiff_t>(std::min(length, ids.size() - begin)));
    }
    return canvases;
}

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
    void requestsThatDoNotFitTellTheNumbers();
    void singleCanvasStopsAfterOne();
    void shorterFirstCanvas();
    void keptPositionsStartFromTheirIds();
    void frozenPositionsStay();
    void everythingFrozen();
    void freezeWhileRunning();
    void freezeOfAnotherCanvasIsIgnored();
    void freezeOutOfRangeChangesNothing();
    void frozenChangeRestartsStability();
    void bannedIdsNeverAppear();
    void stopStringAcrossCanvases();
    void uselessStopStringsAreRefused();
    void charactersAcrossCanvases();
    void budgetEndsOnAWholeCharacter();
    void cancelKeepsWhatWasCommitted();
    void cancelTellsTheHeldBackText();
    void uselessResultsAreAnError_data();
    void uselessResultsAreAnError();
    void requestsOutOfRangeAreNamed_data();
    void requestsOutOfRangeAreNamed();
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

void TestGeneration::requestsThatDoNotFitTellTheNumbers()
{
    const auto message = [](const GenerationRequest &request) -> std::string {
        try {
            const Generation generation(1, request, fakeConfig({.maxPositions = 100}), nullptr);
            return "accepted";
        } catch (const Error &error) {
            return error.kind() == ErrorKind::ContextLength ? error.what() : "another kind";
        }
    };
    GenerationRequest request = basicRequest();
    request.prompt.assign(70, 4);
    request.maxNewTokens = 31;
    const std::string text = message(request);
    for (const char *number : {"70", "31", "100", "30"}) {
        QVERIFY2(text.find(number) != std::string::npos, text.c_str());
    }
    request.maxNewTokens = 30;
    QCOMPARE(message(request), std::string("accepted"));
    request.maxNewTokens = std::numeric_limits<std::int64_t>::max();
    QVERIFY(message(request).starts_with("The prompt has 70"));
    request.singleCanvas = true; // at most one canvas of eight is needed
    QCOMPARE(message(request), std::string("accepted"));
    request.prompt.assign(100, 4);
    QVERIFY(message(request).starts_with("The prompt has 100"));
    request.prompt.assign(95, 4);
    request.firstCanvas = CanvasStart{Ids(6, 1), Mask(6, 1), {}}; // its ids are given: not trimmed
    request.maxNewTokens = 1;
    QVERIFY(message(request).starts_with("The prompt has 95"));
}

void TestGeneration::singleCanvasStopsAfterOne()
{
    GenerationRequest request = basicRequest();
    request.maxNewTokens = 100;
    request.singleCanvas = true;
    const GenerationResult result = Driver(request, settlingModel(64)).finish();
    QCOMPARE(result.canvases.size(), std::size_t{1});
    QCOMPARE(result.tokens, result.canvases[0].committed);
    QCOMPARE(result.finish, FinishReason::Budget);
}

void TestGeneration::shorterFirstCanvas()
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

void TestGeneration::keptPositionsStartFromTheirIds()
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

void TestGeneration::frozenPositionsStay()
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

void TestGeneration::everythingFrozen()
{
    GenerationRequest request = basicRequest();
    const Ids ids{60, 59, 58, 57, 56, 55, 54, 53};
    request.firstCanvas = CanvasStart{ids, Mask(8, 1), {}};
    const GenerationResult result = Driver(request, restlessModel(64)).finish();
    QCOMPARE(result.tokens, ids);
    QCOMPARE(result.canvases[0].steps, 2);
    QVERIFY(result.canvases[0].meanEntropyNats == 0.0F);
}

void TestGeneration::freezeWhileRunning()
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

void TestGeneration::freezeOfAnotherCanvasIsIgnored()
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

void TestGeneration::freezeOutOfRangeChangesNothing()
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

void TestGeneration::frozenChangeRestartsStability()
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

void TestGeneration::stopStringAcrossCanvases()
{
    const auto tokenizer = demoTokenizer();
    const Ids script = tokenizer->encode("the quick brown fox jumps over it", SpecialTokens::Parse);
    for (const std::int64_t length : {1, 2, 3, 5, 64}) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        request.stopStrings = {"own fox"};
        Driver driver(request, certainModel(inCanvases(script, static_cast<std::size_t>(length))),
                      {.vocabSize = 8192, .canvasLength = length}, tokenizer);
        const GenerationResult result = driver.finish();
        QCOMPARE(result.text, std::string("the quick br"));
        QCOMPARE(result.rawText, result.text);
        QCOMPARE(settledText(driver.canvases), result.text);
        QCOMPARE(result.finish, FinishReason::StopString);
        QVERIFY(tokenizer->decode(result.tokens, DecodeSpecial::Skip).starts_with(result.text));
        QVERIFY(result.tokens.size() < script.size());
    }
}

void TestGeneration::uselessStopStringsAreRefused()
{
    for (const std::string_view stop : {"", "\xA9", "caf\xC3"}) {
        GenerationRequest request = basicRequest();
        request.stopStrings = {"fine", std::string(stop)};
        QVERIFY_EXCEPTION_THROWN(Generation(1, request, fakeConfig({.vocabSize = 8192}), demoTokenizer()), Error);
    }
}

void TestGeneration::charactersAcrossCanvases()
{
    const auto tokenizer = demoTokenizer();
    const std::string text = "é, 漢字, 👩‍👩‍👧, नमस्ते and more";
    const Ids script = tokenizer->encode(text, SpecialTokens::PlainText);
    for (const std::int64_t length : {1, 2, 7}) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        Driver driver(request, certainModel(inCanvases(script, static_cast<std::size_t>(length))),
                      {.vocabSize = 8192, .canvasLength = length}, tokenizer);
        const GenerationResult result = driver.finish();
        QCOMPARE(result.text, text);
        QCOMPARE(settledText(driver.canvases), text);
        for (const CanvasEvent &canvas : driver.canvases) {
            QVERIFY(canvas.settledText.find("\uFFFD") == std::string::npos);
        }
    }
}

void TestGeneration::budgetEndsOnAWholeCharacter()
{
    const auto tokenizer = demoTokenizer();
    const std::string text = "a漢字👩b";
    const Ids script = tokenizer->encode(text, SpecialTokens::PlainText);
    for (std::size_t budget = 1; budget <= script.size(); ++budget) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(budget);
        Driver driver(request, certainModel(inCanvases(script, 3)), {.vocabSize = 8192, .canvasLength = 3}, tokenizer);
        const GenerationResult result = driver.finish();
        QVERIFY(result.tokens.size() <= budget && result.tokens.size() + 3 >= budget);
        QVERIFY2(text.starts_with(result.text), result.text.c_str());
        QCOMPARE(settledText(driver.canvases), result.text);
        QCOMPARE(result.finish, FinishReason::Budget);
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

void TestGeneration::cancelTellsTheHeldBackText()
{
    const auto tokenizer = demoTokenizer();
    const Ids script = tokenizer->encode("the quick brown fox", SpecialTokens::Parse);
    for (std::size_t canvases = 0; canvases < script.size(); ++canvases) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        request.stopStrings = {"own fox jumps"};
        Driver driver(request, certainModel(inCanvases(script, 1)), {.vocabSize = 8192, .canvasLength = 1}, tokenizer);
        while (driver.canvases.size() < canvases) {
            driver.step();
        }
        driver.canvases.push_back(driver.generation.cancel().value());
        const GenerationResult result = driver.finish();
        QCOMPARE(settledText(driver.canvases), result.text);
        QCOMPARE(result.text, tokenizer->decode(std::span(script).first(canvases), DecodeSpecial::Skip));
    }
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

void TestGeneration::requestsOutOfRangeAreNamed_data()
{
    using Change = std::function<void(GenerationRequest &)>;
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("field");
    const auto row = [](const char *name, const char *field, Change change) {
        QTest::newRow(name) << std::move(change) << QString::fromLatin1(field);
    };
    row("empty prompt", "prompt", [](GenerationRequest &r) { r.prompt.clear(); });
    row("prompt id too large", "prompt", [](GenerationRequest &r) { r.prompt[1] = 64; });
    row("prompt id negative", "prompt", [](GenerationRequest &r) { r.prompt[1] = -1; });
    row("no new tokens", "maxNewTokens", [](GenerationRequest &r) { r.maxNewTokens = 0; });
    row("negative budget", "maxNewTokens", [](GenerationRequest &r) { r.maxNewTokens = -256; });
    row("end token too large", "eosTokenIds", [](GenerationRequest &r) { r.eosTokenIds = {1, 106}; });
    row("pad token negative", "padTokenId", [](GenerationRequest &r) { r.padTokenId = -1; });
    row("stop strings without a tokenizer", "stopStrings", [](GenerationRequest &r) { r.stopStrings = {"x"}; });
    row("sampler", "tMax", [](GenerationRequest &r) { r.sampler.tMax = -1.0; });
    row("bias id", "logitBias", [](GenerationRequest &r) { r.logitBias = {{64, 1.0F}}; });
    row("bias twice", "logitBias", [](GenerationRequest &r) { r.logitBias = {{4, 1.0F}, {2, 1.0F}, {4, 2.0F}}; });
    row("bias not a number", "logitBias", [](GenerationRequest &r) {
        r.logitBias = {{4, std::numeric_limits<float>::quiet_NaN()}};
    });
    row("bias infinite", "logitBias", [](GenerationRequest &r) { r.logitBias = {{4, -kBan}}; });
    row("everything banned", "logitBias", [](GenerationRequest &r) {
        for (TokenId id = 0; id < 64; ++id) {
            r.logitBias.push_back({id, kBan});
        }
    });
    row("first canvas empty", "firstCanvas.ids", [](GenerationRequest &r) { r.firstCanvas = CanvasStart{}; });
    row("first canvas too long", "firstCanvas.ids", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(9, 1), {}, {}};
    });
    row("frozen mask of another length", "firstCanvas.frozen", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(8, 1), Mask(7, 1), {}};
    });
    row("start mask of another length", "firstCanvas.keepAtStart", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(8, 1), {}, Mask(9, 1)};
    });
    row("frozen id outside", "firstCanvas.ids", [](GenerationRequest &r) {
        r.firstCanvas = CanvasStart{Ids(8, 64), Mask(8, 1), {}};
    });
}

void TestGeneration::requestsOutOfRangeAreNamed()
{
    QFETCH(std::function<void(GenerationRequest &)>, change);
    QFETCH(QString, field);
    GenerationRequest request = basicRequest();
    change(request);
    try {
        const Generation generation(1, request, fakeConfig(), nullptr);
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QCOMPARE(QString::fromStdString(error.subject()), field);
        QVERIFY(QString::fromUtf8(error.what()).contains(field));
    }
}

QTEST_GUILESS_MAIN(TestGeneration)
#include "tst_generation.moc"
