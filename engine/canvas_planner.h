// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/canvas_gap.h"
#include "engine/canvas_scene.h"

#include <cstdint>
#include <string>
#include <vector>

namespace palimpsest {

/// What an edit is planned for.
struct EditModel
{
    const Tokenizer &tokenizer;
    const ChatFormat &chat;
    const ModelConfig &config;
    const GenerationDefaults &defaults;
    const std::vector<LogitBias> &bans; ///< ids that no gap may hold
};

/// Makes the candidates of one edit. Borrows its model and request.
class EditPlanner
{
public:
    EditPlanner(const EditModel &model, const EditRequest &request);

    [[nodiscard]] EditPlan plan();

private:
    void checkRequest() const;
    [[nodiscard]] ContextBudget contextBudget() const;
    [[nodiscard]] std::int64_t canvasLength() const { return m_model.config.canvasLength; }
    [[nodiscard]] std::uint64_t seedOf(int attempt) const
    {
        return m_request.seed + static_cast<std::uint64_t>(attempt);
    }
    /// What ends the model's turn.
    [[nodiscard]] TokenId endOfTurnId() const;
    [[nodiscard]] bool isEndOrPad(TokenId id) const;

    // Frozen canvases (canvas_frozen.cpp).

    /// Tokens of the text around the gap that are in the canvas.
    struct Surroundings
    {
        std::int64_t head = 0;
        std::int64_t tail = 0;
        bool showsEnd = false;
    };

    void planGaps(EditPlan &plan) const;
    void planContinuations(EditPlan &plan) const;
    [[nodiscard]] bool mayEndItself(const Gap &gap) const;
    [[nodiscard]] std::int64_t longestGap() const;
    void checkGap(const Gap &gap) const;
    [[nodiscard]] std::vector<std::int64_t> gapLengths(const Gap &gap) const;
    [[nodiscard]] std::vector<std::int64_t> usualLengths(std::int64_t selected) const;
    [[nodiscard]] Gap gapOfLength(const Gap &gap, std::int64_t length, std::uint64_t seed) const;
    [[nodiscard]] Surroundings surroundingsFor(std::int64_t gapLength) const;
    [[nodiscard]] EditCandidate closedCandidate(const Gap &gap, std::uint64_t seed) const;
    [[nodiscard]] EditCandidate openCandidate(std::int64_t head, std::int64_t length, std::uint64_t seed) const;
    [[nodiscard]] EditCandidate startCandidate(std::int64_t head, std::uint64_t seed) const;
    [[nodiscard]] std::int64_t visibleAfterBytes(std::int64_t tail) const;

    // Fresh answers (canvas_fresh.cpp).

    void planFreshAnswers(EditPlan &plan) const;
    [[nodiscard]] std::int64_t freshBudget() const;
    [[nodiscard]] CanvasStart draftOfSelection(std::uint64_t seed) const;

    const EditModel &m_model;
    const EditRequest &m_request;
    EditScene m_scene;
    GenerationRequest m_blank; ///< what all candidates have in common
    SceneTokens m_tokens;
    std::vector<TokenId> m_prompt;
};

} // namespace palimpsest
