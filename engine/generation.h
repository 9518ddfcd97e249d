// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/events.h"
#include "engine/sampler.h"
#include "engine/tokenizer.h"
#include "engine/truncation.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest {

/// A canvas that does not start from noise alone (design, section 2, "Editing").
struct CanvasStart
{
    /// Canvas length or shorter (the canvas then has that many positions).
    std::vector<TokenId> ids;
    /// One byte a position: non-zero = the id is put back before every pass, never resampled, not counted.
    std::vector<std::uint8_t> frozen;
    /// One byte a position: non-zero = start from ids here; zero = start from noise. Frozen positions always start from
    /// ids.
    std::vector<std::uint8_t> keepAtStart;
};

/// One request, complete: two equal requests give the same bytes on the same backend.
struct GenerationRequest
{
    std::vector<TokenId> prompt;
    SamplerSettings sampler;
    Truncation truncation; ///< of the draws; the argmax is untouched
    std::uint64_t seed = 0;
    std::int64_t maxNewTokens = 256;  ///< never exceeded
    std::vector<TokenId> eosTokenIds; ///< end the generation; empty = run to the budget
    std::optional<TokenId> padTokenId;
    std::vector<std::string> stopStrings; ///< the answer ends before the first; each non-empty
    std::vector<LogitBias> logitBias;     ///< -infinity bans an id from argmax, sample and renoise draws
    std::optional<CanvasStart> firstCanvas;
    bool singleCanvas = false; ///< stop after one canvas whatever it holds (edits)
    bool startPaused = false;
    bool wantsCertainties = false; ///< results and canvas events then carry them
};

struct CanvasRecord
{
    std::vector<TokenId> committed; ///< uncut argmax canvas, padded behind the first end token
    int steps = 0;
    CanvasStop stop = CanvasStop::Converged;
    float meanEntropyNats = 0.0F;                 ///< of the last step
    std::vector<TokenCertainty> certainties = {}; ///< one for each of `committed`, if the request asked for them
};

struct GenerationResult
{
    RequestId request = 0;
    std::vector<TokenId> tokens; ///< the answer: without end token and padding, cut at the budget and at stop strings
    std::string text;            ///< decoded answer, special tokens skipped, whole characters
    std::string rawText; ///< decoded with special tokens kept (thought and tool markers), for ChatFormat::parseReply
    FinishReason finish = FinishReason::EndOfTurn;
    std::vector<CanvasRecord> canvases;
    std::vector<TokenCertainty> certainties; ///< one for each of `tokens`, if the request asked for them
    std::uint64_t seed = 0;
    std::int64_t promptTokens = 0;
    std::int64_t reusedPromptTokens = 0;
    double queueMs = 0.0;
    double prefillMs = 0.0;
    double denoiseMs = 0.0;    ///< wall clock from the end of prefill to the end
    double firstDraftMs = 0.0; ///< from submission to the first step's results
};

/// The loop of one request as a state machine without threads or clocks: the scheduler asks for the next piece of work,
/// has the backend do it for a batch, and hands the results back. Order of operations: `oracle` specification,
/// section 4.
///
/// Whole canvases are denoised, and the budget cuts the answer alone; but where fewer positions than a canvas are left
/// of the context, the canvas has that many. Ids that a bias of minus infinity bans are not drawn either, for the
/// initial canvas and for renoising (`uniformTokenIdExcept`).
class Generation
{
public:
    enum class Phase { Encode, Denoise, Done };

    /// Throws Error InvalidArgument or ContextLength if the request cannot run on this model.
    Generation(RequestId id, GenerationRequest request, const ModelConfig &model,
               std::shared_ptr<const Tokenizer> tokenizer);
    ~Generation();
    Generation(Generation &&) noexcept;
    Generation &operator=(Generation &&) noexcept;

    [[nodiscard]] Phase phase() const noexcept;
    [[nodiscard]] RequestId id() const noexcept;
    [[nodiscard]] const GenerationRequest &request() const noexcept;
    /// Positions of each canvas that the budget allows for; the model may end before.
    [[nodiscard]] std::span<const std::int64_t> canvasLengths() const noexcept;

    /// Phase Encode: tokens that the encoder has to read before the next canvas.
    [[nodiscard]] std::span<const TokenId> tokensToEncode() const noexcept;
    void encoded(); ///< they are in the cache now

    /// Phase Denoise: everything of a DenoiseJob but prefix and conditioning. Valid until `denoised`.
    [[nodiscard]] DenoiseJob nextJob();
    [[nodiscard]] bool startsCanvas() const noexcept; ///< the next step is a canvas's first: reset the conditioning

    struct StepOutcome
    {
        std::shared_ptr<const StepEvent> step;
        std::optional<CanvasEvent> canvas;
    };
    /// Evaluates the results that the backend wrote for `nextJob`. Throws Error Backend if they are no results: an
    /// entropy that is not finite, an id outside the vocabulary.
    [[nodiscard]] StepOutcome denoised(double stepMs, double elapsedMs);

    /// Changes the running canvas before its next step: freezes positions to ids, or (id absent) releases them.
    struct Freeze
    {
        std::int64_t position = 0;
        std::optional<TokenId> id;
    };
    /// Ignored outside the canvas `canvas` (the first one may be changed during prefill already). A released position
    /// starts from the id it had. Throws Error InvalidArgument for a position or id out of range.
    void freeze(std::int64_t canvas, std::span<const Freeze> changes);

    /// Done from here on; the result holds the canvases committed so far. Returns the event that ends the running
    /// canvas (stop Cancelled, nothing committed, the text that was held back): settled texts and result text agree.
    /// Nothing once Done.
    std::optional<CanvasEvent> cancel();

    /// Phase Done: the result. Timings are filled in by the scheduler.
    [[nodiscard]] GenerationResult takeResult();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace palimpsest
