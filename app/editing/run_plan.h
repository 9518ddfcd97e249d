// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/canvas_view.h"
#include "app/editing/editing_model.h"
#include "app/editing/proposal.h"
#include "app/editing/run_info.h"
#include "app/editing/run_wish.h"
#include "engine/generation.h"
#include "engine/sampler.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace palimpsest::editing {

/// One request of a run, before it is made.
struct LanePlan
{
    TextSpan span; ///< of the draft
    std::uint64_t seed = 0;
    CanvasLayout layout;
};

/// What a lane came to.
struct LaneOutcome
{
    std::optional<GenerationResult> result; ///< absent: it failed, was overtaken by the writer, or never ran
    /// Its last frame, if it was stopped and what has settled is to be kept.
    std::optional<Frame> kept;
    QString settled; ///< text of its canvases before that frame
};

/// The texts that a run has to offer for its span.
struct RunTexts
{
    std::vector<ProposalAlternative> alternatives; ///< best first, no two alike; empty: nothing to offer
    QString note;                                  ///< for people, about what is offered
    QString problem;                               ///< for people: why nothing is
    /// Of a proofreading: what its one alternative changes in the text of the span as it was at the start, ascending
    /// and apart. A whole book is not compared word by word for that.
    std::optional<std::vector<TextEdit>> corrections;
    std::int64_t words = 0; ///< that were worked on; 0 = those of the best alternative
};

/// A wish, turned into requests to the engine, and the way from their results to texts. Immutable.
class RunPlan
{
public:
    virtual ~RunPlan() = default;

    [[nodiscard]] TextSpan span() const noexcept { return m_span; }
    [[nodiscard]] AheadInfo ahead() const noexcept { return m_ahead; }
    [[nodiscard]] const std::vector<LanePlan> &lanes() const noexcept { return m_lanes; }
    /// Made when the lane's turn comes. Throws Error ContextLength.
    [[nodiscard]] virtual GenerationRequest request(std::size_t lane) const = 0;
    /// One outcome a lane.
    [[nodiscard]] virtual RunTexts conclude(std::span<const LaneOutcome> outcomes) const = 0;

protected:
    TextSpan m_span;
    AheadInfo m_ahead;
    std::vector<LanePlan> m_lanes;
};

/// What a plan is made for.
struct PlanInput
{
    std::shared_ptr<const EditingModel> model;
    RunWish wish; ///< the span in `text`
    QString text; ///< the whole draft
    std::vector<TextSpan> locks;
    std::uint64_t seed = 0;
    SamplerSettings sampler;
    std::int64_t contextTokens = 0; ///< of the draft, around the span; 0 = as many as fit
};

/// Which way an action takes was measured with the demo model. An instruction over a span is followed best by a fresh
/// answer that is spliced in (12 wrong words of 23 were left, against 15 with the canvas); only the canvas can hold
/// locked words or a part of the words, and fill a gap, for which several lengths are tried side by side. Proofreading
/// goes by passages of about 60 words.
///
/// Throws Error InvalidArgument for a wish that makes no sense (an empty span to rewrite, no instruction, everything
/// locked), ContextLength if the span does not fit the model.
[[nodiscard]] std::unique_ptr<const RunPlan> planRun(const PlanInput &input);

} // namespace palimpsest::editing
