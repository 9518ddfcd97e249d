// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas.h"
#include "engine/canvas_planner.h"
#include "engine/error.h"
#include "engine/line_ends.h"
#include "engine/user_turn.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace palimpsest {

namespace {

/// Positions of a user turn that joining instruction and text may add to the sum of their tokens.
constexpr std::int64_t kPromptSlack = 16;

bool contains(const std::vector<TokenId> &ids, TokenId id)
{
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

[[noreturn]] void refuse(const std::string &message, const std::string &field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

/// Everything that is no text: special tokens, ids without a piece, and what the model has beyond the tokenizer.
std::vector<LogitBias> bansOf(const Tokenizer &tokenizer, const ModelConfig &model, const GenerationDefaults &defaults)
{
    std::vector<LogitBias> bans;
    for (TokenId id = 0; id < model.vocabSize; ++id) {
        const bool isText = id < tokenizer.vocabSize() && !tokenizer.isSpecial(id) && !tokenizer.piece(id).empty();
        const bool isEnd = id == defaults.padTokenId.value_or(model.padTokenId) || contains(defaults.eosTokenIds, id) ||
                           contains(model.eosTokenIds, id);
        if (!isText || isEnd) {
            bans.push_back({.id = id, .bias = -std::numeric_limits<float>::infinity()});
        }
    }
    return bans;
}

} // namespace

EditPlanner::EditPlanner(const EditModel &model, const EditRequest &request)
    : m_model(model),
      m_request(request),
      m_scene(readScene(request.document, request.selection)),
      m_blank(requestWithDefaults(model.config, model.defaults, request.sampler, request.seed))
{
}

EditPlan EditPlanner::plan()
{
    checkRequest();
    const std::string_view document = m_request.document;
    EditPlan plan;
    plan.before = ByteRange{0, m_scene.replaced.begin}.of(document);
    plan.after = document.substr(static_cast<std::size_t>(m_scene.replaced.end));
    plan.selection = m_scene.selection;
    plan.strategy = m_request.strategy;
    plan.kind = m_scene.kind;
    plan.replaced = m_scene.replaced;
    plan.replacedText = m_scene.replaced.of(document);
    plan.lineEndsAreCrLf = mostlyCrLf(document);
    plan.dropLeadingSpace = m_scene.dropLeadingSpace;
    plan.closeWithSpace = m_scene.closeWithSpace;
    m_tokens = tokenizeScene(document, m_scene, contextBudget(), m_model.tokenizer);
    plan.shown = m_tokens.shown;
    m_prompt = encodeUserTurn(editPrompt(m_request, m_scene, m_tokens.shown), m_model.tokenizer, m_model.chat);
    if (m_request.strategy == EditStrategy::FreshAnswer) {
        plan.opensWithSpace = m_scene.kind == EditKind::Continue;
        planFreshAnswers(plan);
    } else if (m_scene.kind == EditKind::Continue) {
        planContinuations(plan);
    } else {
        planGaps(plan);
    }
    return plan;
}

void EditPlanner::checkRequest() const
{
    if (m_request.attempts < 1) {
        refuse(fmt::format("attempts is {}, wanted at least 1", m_request.attempts), "attempts");
    }
    if (m_request.contextTokens < 0) {
        refuse(fmt::format("contextTokens is {}, wanted 0 or more", m_request.contextTokens), "contextTokens");
    }
    for (const std::int64_t length : m_request.gapLengths) {
        if (length < 1) {
            refuse(fmt::format("a gap length is {}, wanted at least 1", length), "gapLengths");
        }
    }
    const bool isFrozen = m_request.strategy == EditStrategy::FrozenCanvas;
    if (!isFrozen && !m_request.locks.empty()) {
        refuse("a fresh answer cannot keep locked words; use the frozen canvas", "locks");
    }
    if (isFrozen && m_request.noise != NoiseAmount::Full && !m_request.gapLengths.empty()) {
        refuse("light and medium noise keep the selection's length; leave the gap lengths out", "gapLengths");
    }
}

ContextBudget EditPlanner::contextBudget() const
{
    const auto turn =
        static_cast<std::int64_t>(encodeUserTurn(m_request.instruction, m_model.tokenizer, m_model.chat).size());
    ContextBudget budget;
    budget.tokens = m_model.config.maxPositions - canvasLength() - turn - kPromptSlack;
    budget.shown = m_request.contextTokens;
    // A fresh answer to a fill repeats the text around the gap: both have to fit one canvas.
    if (m_request.strategy == EditStrategy::FreshAnswer && m_scene.kind == EditKind::Fill) {
        const std::int64_t most = std::max<std::int64_t>(2, canvasLength() / 2);
        budget.shown = budget.shown > 0 ? std::min(budget.shown, most) : most;
    }
    return budget;
}

TokenId EditPlanner::endOfTurnId() const
{
    const std::optional<TokenId> turnEnd = m_model.tokenizer.idOf("<turn|>");
    if (turnEnd && contains(m_blank.eosTokenIds, *turnEnd)) {
        return *turnEnd;
    }
    return m_blank.eosTokenIds.empty() ? *m_blank.padTokenId : m_blank.eosTokenIds.front();
}

bool EditPlanner::isEndOrPad(TokenId id) const
{
    return id == m_blank.padTokenId || contains(m_blank.eosTokenIds, id);
}

CanvasEditor::CanvasEditor(std::shared_ptr<const Tokenizer> tokenizer, ChatFormat chat, ModelConfig model,
                           GenerationDefaults defaults)
    : m_tokenizer(std::move(tokenizer)),
      m_chat(chat),
      m_model(std::move(model)),
      m_defaults(std::move(defaults)),
      m_bans(bansOf(*m_tokenizer, m_model, m_defaults))
{
}

EditPlan CanvasEditor::plan(const EditRequest &request) const
{
    requireValidUtf8(request.document, "the document");
    requireValidUtf8(request.instruction, "the instruction");
    const EditModel model = {*m_tokenizer, m_chat, m_model, m_defaults, m_bans};
    return EditPlanner(model, request).plan();
}

} // namespace palimpsest
