// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/sampler.h"
#include "engine/token.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace palimpsest {

using RequestId = std::uint64_t;

enum class CanvasStop {
    Converged, ///< argmax stable and confident
    StepCap,   ///< all denoising steps used
    Cancelled,
};

enum class FinishReason {
    EndOfTurn,  ///< an end token inside a canvas
    StopString, ///< a stop string in the text
    Budget,     ///< maxNewTokens reached
    Cancelled,
};

/// Everything observers may want of one denoising step; immutable and shared between them. Ids are canvas ids.
struct StepEvent
{
    RequestId request = 0;
    std::int64_t canvas = 0; ///< canvas number within the request, from 0
    int step = 0;            ///< counts up from 1
    int maxSteps = 0;
    std::vector<TokenId> input;  ///< canvas that went into the decoder
    std::vector<TokenId> argmax; ///< what would be committed now (frozen ids put in)
    std::vector<TokenId> next;   ///< sampled where accepted, renoised elsewhere
    std::vector<std::uint8_t> accepted;
    std::vector<std::uint8_t> frozen; ///< empty if nothing is frozen
    std::vector<PositionResult> positions;
    float meanEntropyNats = 0.0F;
    double stepMs = 0.0;    ///< wall clock of this step, the whole batch
    double elapsedMs = 0.0; ///< since the request began to run
    bool last = false;      ///< the canvas ends with this step
};

/// How sure the model was of one committed id, in the canvas's last step: a marginal of this position alone, at that
/// step's temperature and with the rest of the canvas in sight; not a factor of the sequence's probability.
struct TokenCertainty
{
    /// Natural logarithm of the id's probability; kUnlikelyLogProbability for an id that is not among the alternatives
    /// (a frozen one may not be).
    float logProbability = 0.0F;
    std::array<Alternative, kAlternativeCount> alternatives{}; ///< descending; probability 0 = no alternative
};
inline constexpr float kUnlikelyLogProbability = -9999.0F;

struct CanvasEvent
{
    RequestId request = 0;
    std::int64_t canvas = 0;
    CanvasStop stop = CanvasStop::Converged;
    int steps = 0;
    std::vector<TokenId> committed; ///< argmax canvas, padded behind the first end token
    std::string settledText; ///< text that became final with this canvas (stop strings and partial bytes held back)
    /// The same stretch with special tokens spelled out, as far as whole tokens have settled. All pieces together are
    /// the result's rawText.
    std::string settledRawText = {};
    /// Tokens of the answer, from its beginning, whose text is final. In the last event: as many as the result has.
    std::int64_t settledTokens = 0;
    std::vector<TokenCertainty> certainties = {}; ///< one for each of `committed`, if the request asks for them
};

struct PrefillEvent
{
    RequestId request = 0;
    std::int64_t done = 0; ///< tokens encoded, reused ones included
    std::int64_t total = 0;
    std::int64_t reused = 0;
};

/// Sees a request run. Called on the scheduler's thread, so an implementation copies what it needs and returns at once;
/// it must not call back into the scheduler (cancel and the like excepted, they only post).
class GenerationObserver
{
public:
    virtual ~GenerationObserver() = default;
    virtual void onPrefill(const PrefillEvent &) {}
    virtual void onStep(const std::shared_ptr<const StepEvent> &) {}
    virtual void onCanvas(const CanvasEvent &) {}
};

} // namespace palimpsest
