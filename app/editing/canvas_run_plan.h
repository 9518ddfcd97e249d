// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_plan.h"
#include "engine/canvas.h"

#include <string>
#include <vector>

namespace palimpsest::editing {

/// A rewrite, renoising, fill or continuation: candidates for one place, of which the surest is the best.
class CanvasRunPlan : public RunPlan
{
public:
    explicit CanvasRunPlan(const PlanInput &input); ///< as planRun

    [[nodiscard]] GenerationRequest request(std::size_t lane) const override;
    [[nodiscard]] RunTexts conclude(std::span<const LaneOutcome> outcomes) const override;

private:
    [[nodiscard]] CanvasLayout layoutOf(const EditCandidate &candidate) const;
    [[nodiscard]] std::vector<ProposalAlternative> finished(std::span<const LaneOutcome> outcomes,
                                                            std::string &problem) const;
    [[nodiscard]] std::vector<ProposalAlternative> kept(std::span<const LaneOutcome> outcomes) const;
    [[nodiscard]] QString fitted(const std::string &text) const;

    std::shared_ptr<const EditingModel> m_model;
    EditPlan m_plan;
    QString m_original; ///< what stands in the span
    /// The text goes in front of a word that the plan does not know of, because a continuation is not shown it.
    bool m_closesWithSpace = false;
    std::size_t m_mostAlternatives = 0; ///< 0 = as many as there are lengths
};

/// As much of a canvas as has settled: `original` with the word changes to the frame's text all of whose letters have
/// settled; of what goes to an empty place, the words up to the first one that has not. Settled is what the last step
/// accepted, and what is held.
[[nodiscard]] QString settledText(QStringView original, const QString &settledBefore, const Frame &frame);

} // namespace palimpsest::editing
