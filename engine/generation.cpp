// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/generation.h"

#include "engine/answer_text.h"
#include "engine/error.h"
#include "engine/request_check.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace palimpsest {

namespace {

std::vector<TokenId> argmaxIds(std::span<const PositionResult> results)
{
    std::vector<TokenId> ids;
    ids.reserve(results.size());
    for (const PositionResult &result : results) {
        ids.push_back(result.argmax);
    }
    return ids;
}

TokenCertainty certaintyOf(TokenId id, const PositionResult &result)
{
    TokenCertainty certainty{kUnlikelyLogProbability, result.alternatives};
    const auto *const found =
        std::ranges::find_if(result.alternatives, [id](const Alternative &other) { return other.id == id; });
    if (found != result.alternatives.end() && found->probability > 0.0F) {
        certainty.logProbability = std::log(found->probability);
    }
    return certainty;
}

std::vector<float> entropies(std::span<const PositionResult> results)
{
    std::vector<float> values;
    values.reserve(results.size());
    for (const PositionResult &result : results) {
        values.push_back(result.entropyNats);
    }
    return values;
}

} // namespace

struct Generation::State
{
    State(RequestId requestId, GenerationRequest theRequest, RequestPlan thePlan, std::int64_t theVocabSize,
          std::shared_ptr<const Tokenizer> tokenizer);

    void beginCanvas();
    void keepFrozenIds();
    [[nodiscard]] TokenId draw(NoiseKind kind, std::size_t position) const;
    void checkResults() const;
    [[nodiscard]] std::vector<TokenId> nextCanvas(std::span<const std::uint8_t> accepted) const;
    [[nodiscard]] CanvasEvent commit(const StepEvent &last, CanvasStop stop);
    void settle(CanvasEvent &event);
    void truncateDraws();
    [[nodiscard]] std::int64_t canvasNumber() const { return static_cast<std::int64_t>(canvases.size()); }
    [[nodiscard]] NoiseAddress address(int step) const
    {
        return {request.seed, static_cast<std::uint32_t>(canvasNumber()), static_cast<std::uint32_t>(step)};
    }
    [[nodiscard]] bool isFrozen(std::size_t position) const { return !frozen.empty() && frozen[position] != 0; }
    [[nodiscard]] int stepsDone() const { return request.sampler.maxDenoisingSteps - countdown; }

    RequestId id;
    GenerationRequest request;
    RequestPlan plan;
    std::int64_t vocabSize;
    AnswerText answer;
    Phase phase = Phase::Encode;
    FinishReason finish = FinishReason::Budget;
    std::vector<CanvasRecord> canvases;      ///< committed ones
    std::vector<TokenCertainty> certainties; ///< of the answer's tokens, if wanted

    // The running canvas.
    std::vector<TokenId> current;
    std::vector<std::uint8_t> frozen; ///< empty if nothing is frozen
    std::vector<TokenId> frozenIds;   ///< valid where frozen
    int countdown = 0;                ///< number of the next step, from maxDenoisingSteps to 1
    StoppingRule stopping;
    std::vector<PositionResult> results;
};

Generation::State::State(RequestId requestId, GenerationRequest theRequest, RequestPlan thePlan,
                         std::int64_t theVocabSize, std::shared_ptr<const Tokenizer> tokenizer)
    : id(requestId),
      request(std::move(theRequest)),
      plan(std::move(thePlan)),
      vocabSize(theVocabSize),
      answer(std::move(tokenizer), request.stopStrings),
      stopping(request.sampler.stabilityThreshold, request.sampler.confidenceThresholdNats)
{
    beginCanvas();
}

void Generation::State::beginCanvas()
{
    const auto length = static_cast<std::size_t>(plan.canvasLengths[canvases.size()]);
    countdown = request.sampler.maxDenoisingSteps;
    stopping.reset();
    results.assign(length, {});
    frozen.clear();
    frozenIds.assign(length, 0);
    current.resize(length);
    for (std::size_t position = 0; position < length; ++position) {
        current[position] = draw(NoiseKind::InitialCanvas, position);
    }
    if (!canvases.empty() || !request.firstCanvas) {
        return;
    }
    const CanvasStart &start = *request.firstCanvas;
    for (std::size_t position = 0; position < start.keepAtStart.size(); ++position) {
        if (start.keepAtStart[position] != 0) {
            current[position] = start.ids[position];
        }
    }
    if (std::any_of(start.frozen.begin(), start.frozen.end(), [](std::uint8_t flag) { return flag != 0; })) {
        frozen = start.frozen;
        frozenIds = start.ids;
        keepFrozenIds();
    }
}

void Generation::State::keepFrozenIds()
{
    for (std::size_t position = 0; position < current.size(); ++position) {
        if (isFrozen(position)) {
            current[position] = frozenIds[position];
        }
    }
}

TokenId Generation::State::draw(NoiseKind kind, std::size_t position) const
{
    const int step = kind == NoiseKind::InitialCanvas ? 0 : countdown;
    return uniformTokenIdExcept(address(step), kind, static_cast<std::uint32_t>(position), vocabSize, plan.bannedIds);
}

void Generation::State::checkResults() const
{
    const auto isId = [this](TokenId candidate) {
        return candidate >= 0 && candidate < vocabSize;
    };
    for (std::size_t position = 0; position < results.size(); ++position) {
        const PositionResult &result = results[position];
        if (!std::isfinite(result.entropyNats) || !isId(result.argmax) || !isId(result.sampled)) {
            throw Error(ErrorKind::Backend,
                        "The model's output for canvas position " + std::to_string(position) + " in step " +
                            std::to_string(stepsDone() + 1) +
                            " is not usable (numbers that are not finite): the checkpoint or the device is damaged",
                        "entropy");
        }
    }
}

std::vector<TokenId> Generation::State::nextCanvas(std::span<const std::uint8_t> accepted) const
{
    std::vector<TokenId> next(results.size());
    for (std::size_t position = 0; position < next.size(); ++position) {
        next[position] = accepted[position] != 0 ? results[position].sampled : draw(NoiseKind::Renoise, position);
    }
    return next;
}

void Generation::State::settle(CanvasEvent &event)
{
    event.settledRawText = answer.takeRawText();
    event.settledTokens = static_cast<std::int64_t>(answer.settledTokens());
}

void Generation::State::truncateDraws()
{
    if (!request.truncation.isActive()) {
        return;
    }
    const NoiseAddress noise = address(countdown);
    for (std::size_t position = 0; position < results.size(); ++position) {
        truncateDraw(request.truncation, noise, static_cast<std::uint32_t>(position), results[position]);
    }
}

CanvasEvent Generation::State::commit(const StepEvent &last, CanvasStop stop)
{
    CanvasEvent event{.request = id,
                      .canvas = canvasNumber(),
                      .stop = stop,
                      .steps = stepsDone(),
                      .committed = last.argmax,
                      .settledText = {}};
    const auto isEnd = [this](TokenId candidate) {
        return std::binary_search(plan.endOfTurnIds.begin(), plan.endOfTurnIds.end(), candidate);
    };
    const auto end = std::find_if(event.committed.begin(), event.committed.end(), isEnd);
    const bool ends = end != event.committed.end();
    if (ends && request.padTokenId) {
        std::fill(end + 1, event.committed.end(), *request.padTokenId);
    }

    const auto answerIds = static_cast<std::int64_t>(end - event.committed.begin());
    const std::int64_t budget = request.maxNewTokens - static_cast<std::int64_t>(answer.tokenCount());
    const auto taken = static_cast<std::size_t>(std::min(answerIds, budget));
    event.settledText = answer.append(std::span(event.committed).first(taken));
    if (request.wantsCertainties) {
        for (std::size_t position = 0; position < event.committed.size(); ++position) {
            event.certainties.push_back(certaintyOf(event.committed[position], last.positions[position]));
        }
        certainties.insert(certainties.end(), event.certainties.begin(),
                           event.certainties.begin() + static_cast<std::ptrdiff_t>(taken));
    }
    canvases.push_back({event.committed, event.steps, stop, last.meanEntropyNats, event.certainties});

    const bool isLast = ends || answerIds >= budget || canvases.size() == plan.canvasLengths.size();
    if (isLast) {
        finish = ends && answerIds <= budget ? FinishReason::EndOfTurn : FinishReason::Budget;
        event.settledText +=
            answer.finish(finish == FinishReason::EndOfTurn ? AnswerText::End::Natural : AnswerText::End::Cut);
    }
    if (answer.stopped()) {
        finish = FinishReason::StopString;
    }
    settle(event);
    if (isLast || answer.stopped()) {
        phase = Phase::Done;
    } else {
        phase = Phase::Encode;
        beginCanvas();
    }
    return event;
}

Generation::Generation(RequestId id, GenerationRequest request, const ModelConfig &model,
                       std::shared_ptr<const Tokenizer> tokenizer)
{
    RequestPlan plan = checkRequest(request, model, tokenizer.get());
    m_state = std::make_unique<State>(id, std::move(request), std::move(plan), model.vocabSize, std::move(tokenizer));
}

Generation::~Generation() = default;
Generation::Generation(Generation &&) noexcept = default;
Generation &Generation::operator=(Generation &&) noexcept = default;

Generation::Phase Generation::phase() const noexcept
{
    return m_state->phase;
}

RequestId Generation::id() const noexcept
{
    return m_state->id;
}

const GenerationRequest &Generation::request() const noexcept
{
    return m_state->request;
}

std::span<const std::int64_t> Generation::canvasLengths() const noexcept
{
    return m_state->plan.canvasLengths;
}

std::span<const TokenId> Generation::tokensToEncode() const noexcept
{
    assert(m_state->phase == Phase::Encode);
    return m_state->canvases.empty() ? m_state->request.prompt : m_state->canvases.back().committed;
}

void Generation::encoded()
{
    assert(m_state->phase == Phase::Encode);
    m_state->phase = Phase::Denoise;
}

DenoiseJob Generation::nextJob()
{
    State &state = *m_state;
    assert(state.phase == Phase::Denoise);
    DenoiseJob job;
    job.canvas = state.current;
    job.temperature = stepTemperature(state.request.sampler, state.countdown);
    job.noise = state.address(state.countdown);
    job.logitBias = state.plan.logitBias;
    job.results = state.results;
    return job;
}

bool Generation::startsCanvas() const noexcept
{
    return m_state->countdown == m_state->request.sampler.maxDenoisingSteps;
}

Generation::StepOutcome Generation::denoised(double stepMs, double elapsedMs)
{
    State &state = *m_state;
    assert(state.phase == Phase::Denoise);
    state.checkResults();
    state.truncateDraws();
    for (std::size_t position = 0; position < state.results.size(); ++position) {
        if (state.isFrozen(position)) {
            state.results[position].argmax = state.frozenIds[position];
            state.results[position].sampled = state.frozenIds[position];
        }
    }

    auto event = std::make_shared<StepEvent>();
    event->request = state.id;
    event->canvas = state.canvasNumber();
    event->step = state.stepsDone() + 1;
    event->maxSteps = state.request.sampler.maxDenoisingSteps;
    event->input = state.current;
    event->argmax = argmaxIds(state.results);
    event->frozen = state.frozen;
    event->positions = state.results;
    event->stepMs = stepMs;
    event->elapsedMs = elapsedMs;

    const std::vector<float> entropyNats = entropies(state.results);
    event->accepted = acceptPositions(entropyNats, state.frozen, state.request.sampler.entropyBoundNats);
    event->meanEntropyNats = meanEntropy(entropyNats, state.frozen);
    event->next = state.nextCanvas(event->accepted);
    const bool converged = state.stopping.update(event->argmax, event->meanEntropyNats);
    event->last = converged || state.countdown == 1;
    state.current = event->next;
    --state.countdown;

    StepOutcome outcome;
    if (event->last) {
        outcome.canvas = state.commit(*event, converged ? CanvasStop::Converged : CanvasStop::StepCap);
    }
    outcome.step = std::move(event);
    return outcome;
}

void Generation::freeze(std::int64_t canvas, std::span<const Freeze> changes)
{
    State &state = *m_state;
    if (state.phase == Phase::Done || canvas != state.canvasNumber()) {
        return;
    }
    checkFreezes(changes, static_cast<std::int64_t>(state.current.size()), state.vocabSize);
    state.frozen.resize(state.current.size(), 0);
    for (const Freeze &change : changes) {
        const auto position = static_cast<std::size_t>(change.position);
        state.frozen[position] = change.id ? 1 : 0;
        state.frozenIds[position] = change.id.value_or(0);
    }
    if (std::all_of(state.frozen.begin(), state.frozen.end(), [](std::uint8_t flag) { return flag == 0; })) {
        state.frozen.clear();
    }
    state.keepFrozenIds();
}

std::optional<CanvasEvent> Generation::cancel()
{
    State &state = *m_state;
    if (state.phase == Phase::Done) {
        return std::nullopt;
    }
    state.phase = Phase::Done;
    state.finish = FinishReason::Cancelled;
    CanvasEvent event{.request = state.id,
                      .canvas = state.canvasNumber(),
                      .stop = CanvasStop::Cancelled,
                      .steps = state.stepsDone(),
                      .committed = {},
                      .settledText = state.answer.finish(AnswerText::End::Cut)};
    state.settle(event);
    return event;
}

GenerationResult Generation::takeResult()
{
    State &state = *m_state;
    assert(state.phase == Phase::Done);
    GenerationResult result;
    result.request = state.id;
    result.tokens = state.answer.tokens();
    result.text = state.answer.text();
    result.rawText = state.answer.rawText();
    result.finish = state.finish;
    result.canvases = std::move(state.canvases);
    result.certainties = std::move(state.certainties);
    result.certainties.resize(std::min(result.certainties.size(), result.tokens.size()));
    result.seed = state.request.seed;
    result.promptTokens = static_cast<std::int64_t>(state.request.prompt.size());
    return result;
}

} // namespace palimpsest
