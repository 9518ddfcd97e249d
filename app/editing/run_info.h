// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_wish.h"
#include "app/editing/text_edit.h"
#include "engine/events.h"
#include "engine/sampler.h"
#include "engine/token.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace palimpsest::editing {

enum class RunState {
    Queued,
    Prefill,
    Running,
    Paused,
    Done,    ///< left a proposal, or had nothing to propose (`problem` says why)
    Stopped, ///< by a person
    Failed,  ///< `problem` says why
};
/// "queued", "prefill", ...
[[nodiscard]] QString nameOf(RunState state);
[[nodiscard]] bool hasEnded(RunState state) noexcept;

/// One request of a run.
struct LaneInfo
{
    TextSpan span; ///< of the draft, as it stands now
    RunState state = RunState::Queued;
    int canvases = 0; ///< finished ones
    std::int64_t promptDone = 0;
    std::int64_t promptTotal = 0;
};

/// How far the model sees behind the span.
struct AheadInfo
{
    qsizetype characters = 0; ///< UTF-16 code units of the text behind that a canvas shows it
    qsizetype total = 0;      ///< of all the text behind
};

/// What a run took. Rates are over wall-clock time, and absent where that was below 50 ms.
struct RunFigures
{
    std::int64_t steps = 0;
    std::int64_t canvases = 0;
    double stepMs = 0.0; ///< mean
    double firstDraftMs = 0.0;
    double totalMs = 0.0;
    std::optional<double> wordsPerSecond;
    std::optional<double> tokensPerSecond;
    std::int64_t promptTokens = 0;
    std::int64_t reusedTokens = 0;
};

/// A run as everybody may see it. A value.
struct RunInfo
{
    QString run;
    QString document;
    WindowId startedBy = kNobody;
    RunAction action = RunAction::Rewrite;
    TextSpan span; ///< of the draft, as it stands now
    QString instruction;
    NoiseAmount amount = NoiseAmount::Medium;
    std::uint64_t seed = 0;
    SamplerSettings sampler;
    RunState state = RunState::Queued;
    int position = 0; ///< requests in front, while queued
    std::vector<LaneInfo> lanes;
    AheadInfo ahead;
    QString problem;                   ///< for people; "" = none
    std::optional<RunFigures> figures; ///< once it has ended
    QString proposal;                  ///< its id; "" = none
};

/// A canvas of a lane that can no longer change.
struct SettledPiece
{
    int lane = 0;
    std::int64_t canvas = 0;
    QString text; ///< what it adds to the span
    int steps = 0;
    CanvasStop stop = CanvasStop::Converged;
};

/// What the model held possible at a canvas position.
struct PositionAlternatives
{
    struct Choice
    {
        TokenId id = 0;
        QString text;
        double probability = 0.0;
    };
    double entropy = 0.0;        ///< nats
    std::vector<Choice> choices; ///< most likely first
};

/// Holds a canvas position to an id, or (no id) releases it.
struct HoldChange
{
    std::int64_t position = 0;
    std::optional<TokenId> id;
};

/// Curves of a canvas; one element a step, as far as they are recorded.
struct CanvasCurve
{
    int steps = 0;
    int maxSteps = 0;
    std::optional<CanvasStop> stop; ///< absent while it runs
    std::vector<float> meanEntropy;
    std::vector<int> accepted;
    std::vector<float> stepMs;
};

/// The curves of a run: lane by lane, canvas by canvas.
using RunCurves = std::vector<std::vector<CanvasCurve>>;

} // namespace palimpsest::editing
