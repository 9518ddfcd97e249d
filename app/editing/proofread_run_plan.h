// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_plan.h"
#include "engine/proofreading.h"

#include <cstddef>
#include <string>
#include <vector>

namespace palimpsest::editing {

/// A proofreading: a lane for each passage of prose. Passages without a usable answer stay as they are.
class ProofreadRunPlan : public RunPlan
{
public:
    explicit ProofreadRunPlan(const PlanInput &input); ///< as planRun

    [[nodiscard]] GenerationRequest request(std::size_t lane) const override;
    [[nodiscard]] RunTexts conclude(std::span<const LaneOutcome> outcomes) const override;

private:
    std::shared_ptr<const EditingModel> m_model;
    std::string m_text; ///< of the span
    std::vector<ProofreadSegment> m_segments;
    std::vector<std::size_t> m_prose; ///< the segment of each lane
    SamplerSettings m_sampler;
    std::uint64_t m_seed = 0;
};

} // namespace palimpsest::editing
