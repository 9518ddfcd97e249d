// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas_planner.h"
#include "engine/error.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace palimpsest {

void EditPlanner::planFreshAnswers(EditPlan &plan) const
{
    const std::int64_t budget = freshBudget();
    for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
        EditCandidate candidate;
        candidate.request = m_blank;
        candidate.request.seed = seedOf(attempt);
        candidate.request.prompt = m_prompt;
        candidate.request.maxNewTokens = budget;
        candidate.endsItself = true;
        if (m_request.noise != NoiseAmount::Full && m_scene.kind == EditKind::Rewrite) {
            candidate.request.firstCanvas = draftOfSelection(candidate.request.seed);
        }
        plan.candidates.push_back(std::move(candidate));
    }
}

std::int64_t EditPlanner::freshBudget() const
{
    const std::int64_t room = m_model.config.maxPositions - static_cast<std::int64_t>(m_prompt.size());
    std::int64_t wanted = canvasLength();
    std::int64_t least = 1;
    if (m_scene.kind == EditKind::Rewrite) {
        least = static_cast<std::int64_t>(m_tokens.core.size());
        const std::int64_t roomy = 2 * least + 1;
        wanted = (roomy + canvasLength() - 1) / canvasLength() * canvasLength();
    }
    if (!m_request.gapLengths.empty()) {
        wanted = *std::max_element(m_request.gapLengths.begin(), m_request.gapLengths.end());
    }
    if (room < std::min(least, wanted)) {
        throw Error(ErrorKind::ContextLength,
                    fmt::format("the edit's prompt has {} tokens and its answer needs about {}, but the model's "
                                "context holds {}; select less",
                                m_prompt.size(), least, m_model.config.maxPositions),
                    "selection");
    }
    return std::min(wanted, room);
}

/// The first canvas of an answer that starts from the selection itself, with a part of its words renoised.
CanvasStart EditPlanner::draftOfSelection(std::uint64_t seed) const
{
    const std::vector<std::uint8_t> anew =
        chooseNoise(m_tokens.core, m_request.document, m_scene.replaced, m_request.noise, seed);
    CanvasStart canvas;
    const auto positions = static_cast<std::size_t>(canvasLength());
    for (std::size_t i = 0; i < positions; ++i) {
        const bool isText = i < m_tokens.core.size();
        const TokenId behind = i == m_tokens.core.size() ? endOfTurnId() : *m_blank.padTokenId;
        canvas.ids.push_back(isText ? m_tokens.core[i].id : behind);
        canvas.frozen.push_back(0);
        canvas.keepAtStart.push_back(isText && anew[i] != 0 ? 0 : 1);
    }
    return canvas;
}

} // namespace palimpsest
