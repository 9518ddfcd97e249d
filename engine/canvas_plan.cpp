// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas.h"

#include "engine/canvas_gap.h"
#include "engine/canvas_scene.h"
#include "engine/error.h"
#include "engine/line_ends.h"
#include "engine/user_turn.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace palimpsest {

namespace {

/// Padding shown behind an end of turn. The demo model's training canvases had 4 to 64; more positions cost time.
constexpr std::int64_t kPaddingBehindEnd = 8;

/// Positions of a user turn that joining instruction and text may add to the sum of their tokens.
constexpr std::int64_t kPromptSlack = 16;

std::int64_t countOf(const std::vector<TokenSpan> &tokens)
{
    return static_cast<std::int64_t>(tokens.size());
}

bool contains(const std::vector<TokenId> &ids, TokenId id)
{
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Makes the candidates of one edit.
class EditPlanner
{
public:
    struct Model
    {
        const Tokenizer &tokenizer;
        const ChatFormat &chat;
        const ModelConfig &config;
        const GenerationDefaults &defaults;
        const std::vector<LogitBias> &bans;
    };

    EditPlanner(const Model &model, const EditRequest &request)
        : m_model(model),
          m_request(request),
          m_scene(readScene(request.document, request.selection)),
          m_blank(requestWithDefaults(model.config, model.defaults, request.sampler, request.seed))
    {
    }

    [[nodiscard]] EditPlan plan()
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

private:
    [[nodiscard]] std::int64_t canvasLength() const { return m_model.config.canvasLength; }

    [[noreturn]] static void refuse(const std::string &message, const std::string &field)
    {
        throw Error(ErrorKind::InvalidArgument, message, field);
    }

    void checkRequest() const
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

    [[nodiscard]] ContextBudget contextBudget() const
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

    // ---- a frozen canvas

    void planGaps(EditPlan &plan)
    {
        Gap gap = {.tokens = m_tokens.core, .held = std::vector<std::uint8_t>(m_tokens.core.size(), 0)};
        for (const ByteRange &lock : m_request.locks) {
            LockExtent extent = holdLock(gap, lock, m_request.document, m_scene.replaced);
            plan.locks.push_back(extent);
        }
        const std::vector<std::int64_t> lengths = gapLengths(gap);
        plan.visibleAfterBytes = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t length : lengths) {
            for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
                const std::uint64_t seed = m_request.seed + static_cast<std::uint64_t>(attempt);
                plan.candidates.push_back(frozenCandidate(gapOfLength(gap, length, seed), seed, plan));
            }
        }
    }

    [[nodiscard]] Gap gapOfLength(const Gap &gap, std::int64_t length, std::uint64_t seed) const
    {
        if (m_request.noise == NoiseAmount::Full || gap.tokens.empty()) {
            return gap.tokens.empty() ? freeGap(length) : stretched(gap, length);
        }
        Gap noisy = gap;
        const std::vector<std::uint8_t> anew =
            chooseNoise(gap.tokens, m_request.document, m_scene.replaced, m_request.noise, seed);
        for (std::size_t i = 0; i < anew.size(); ++i) {
            noisy.held[i] = gap.held[i] != 0 || anew[i] == 0 ? 1 : 0;
        }
        return noisy;
    }

    [[nodiscard]] static Gap freeGap(std::int64_t length)
    {
        return {.tokens = std::vector<TokenSpan>(static_cast<std::size_t>(length)),
                .held = std::vector<std::uint8_t>(static_cast<std::size_t>(length), 0)};
    }

    /// The most positions a gap can have: an eighth of the canvas is left to the text around it, if there is any.
    [[nodiscard]] std::int64_t longestGap() const
    {
        const std::int64_t around = countOf(m_tokens.before) + countOf(m_tokens.after) + (m_tokens.reachesEnd ? 1 : 0);
        return canvasLength() - std::min(around, std::max<std::int64_t>(1, canvasLength() / 8));
    }

    [[nodiscard]] std::vector<std::int64_t> gapLengths(const Gap &gap) const
    {
        const std::int64_t selected = countOf(gap.tokens);
        const std::int64_t longest = longestGap();
        if (selected > longest) {
            refuse(fmt::format("the selection has {} tokens, but a canvas of {} with some text around it takes at most "
                               "{}; select less, or ask for a fresh answer",
                               selected, canvasLength(), longest),
                   "selection");
        }
        const std::int64_t held = gap.heldCount();
        if (selected > 0 && held == selected) {
            refuse("every word of the selection is locked: there is nothing to rewrite", "locks");
        }
        for (const std::int64_t length : m_request.gapLengths) {
            if (length > longest || length < held) {
                refuse(
                    fmt::format("a gap of {} tokens is asked for, wanted {} (locked words) to {} (a canvas of {} with "
                                "some text around it)",
                                length, std::max<std::int64_t>(1, held), longest, canvasLength()),
                    "gapLengths");
            }
        }
        if (!m_request.gapLengths.empty()) {
            return m_request.gapLengths;
        }
        std::vector<std::int64_t> lengths;
        for (const std::int64_t length : usualLengths(selected)) {
            const std::int64_t possible = std::clamp(length, std::max<std::int64_t>(1, held), longest);
            if (std::find(lengths.begin(), lengths.end(), possible) == lengths.end()) {
                lengths.push_back(possible);
            }
        }
        return lengths;
    }

    /// A rewrite stays near its length; how long an insertion should be is unknown, so powers of two are tried.
    [[nodiscard]] std::vector<std::int64_t> usualLengths(std::int64_t selected) const
    {
        if (selected == 0) {
            return {2, 4, 8, 16};
        }
        if (m_request.noise != NoiseAmount::Full) {
            return {selected};
        }
        const std::int64_t step = std::max<std::int64_t>(1, selected / 8);
        return {selected, selected - step, selected + step, selected + 2 * step};
    }

    struct Surroundings
    {
        std::int64_t head = 0; ///< tokens of the text before that are in the canvas
        std::int64_t tail = 0; ///< tokens of the text after that are in the canvas
        bool showsEnd = false;
    };

    /// As much of the text after as fits, but at least a third of the room for the end of the text before.
    [[nodiscard]] Surroundings surroundingsFor(std::int64_t gapLength) const
    {
        const std::int64_t room = canvasLength() - gapLength;
        const std::int64_t before = countOf(m_tokens.before);
        const std::int64_t after = countOf(m_tokens.after);
        const std::int64_t wanted = after + (m_tokens.reachesEnd ? 1 : 0);
        Surroundings around;
        const std::int64_t behind = std::min(wanted, room - std::min(before, room / 3));
        around.tail = std::min(after, behind);
        around.showsEnd = m_tokens.reachesEnd && behind > after;
        around.head = std::min(before, room - behind);
        return around;
    }

    [[nodiscard]] EditCandidate frozenCandidate(const Gap &gap, std::uint64_t seed, EditPlan &plan) const
    {
        const Surroundings around = surroundingsFor(countOf(gap.tokens));
        EditCandidate candidate = startCandidate(around.head, seed);
        CanvasStart &canvas = *candidate.request.firstCanvas;
        candidate.gapEnd = candidate.gapBegin + countOf(gap.tokens);
        candidate.held = heldRuns(gap, candidate.gapBegin);
        for (std::size_t i = 0; i < gap.tokens.size(); ++i) {
            append(canvas, gap.tokens[i].id, gap.held[i]);
        }
        for (std::int64_t i = 0; i < around.tail; ++i) {
            append(canvas, m_tokens.after[static_cast<std::size_t>(i)].id, 1);
        }
        if (around.showsEnd) {
            append(canvas, endOfTurnId(), 1);
            const std::int64_t left = canvasLength() - static_cast<std::int64_t>(canvas.ids.size());
            for (std::int64_t i = 0; i < std::min(left, kPaddingBehindEnd); ++i) {
                append(canvas, *m_blank.padTokenId, 1);
            }
        }
        const std::int64_t visible =
            around.tail == 0 ? 0 : m_tokens.after[static_cast<std::size_t>(around.tail - 1)].end - m_scene.replaced.end;
        plan.visibleAfterBytes = std::min(plan.visibleAfterBytes, visible);
        candidate.request.maxNewTokens = static_cast<std::int64_t>(canvas.ids.size());
        candidate.request.logitBias = m_model.bans;
        return candidate;
    }

    /// A candidate whose canvas begins with the last `head` tokens of the text before, the others being its prompt.
    [[nodiscard]] EditCandidate startCandidate(std::int64_t head, std::uint64_t seed) const
    {
        EditCandidate candidate;
        candidate.request = m_blank;
        candidate.request.seed = seed;
        candidate.request.prompt = m_prompt;
        candidate.request.singleCanvas = true;
        CanvasStart &canvas = candidate.request.firstCanvas.emplace();
        const std::int64_t committed = countOf(m_tokens.before) - head;
        for (std::int64_t i = 0; i < countOf(m_tokens.before); ++i) {
            const TokenId id = m_tokens.before[static_cast<std::size_t>(i)].id;
            if (i < committed) {
                candidate.request.prompt.push_back(id);
            } else {
                append(canvas, id, 1);
            }
        }
        candidate.gapBegin = head;
        return candidate;
    }

    static void append(CanvasStart &canvas, TokenId id, std::uint8_t frozen)
    {
        canvas.ids.push_back(id);
        canvas.frozen.push_back(frozen);
        canvas.keepAtStart.push_back(frozen);
    }

    [[nodiscard]] TokenId endOfTurnId() const
    {
        const std::optional<TokenId> turnEnd = m_model.tokenizer.idOf("<turn|>");
        if (turnEnd && contains(m_blank.eosTokenIds, *turnEnd)) {
            return *turnEnd;
        }
        return m_blank.eosTokenIds.empty() ? *m_blank.padTokenId : m_blank.eosTokenIds.front();
    }

    // ---- going on at the end of the document

    void planContinuations(EditPlan &plan) const
    {
        const std::int64_t before = countOf(m_tokens.before);
        const std::int64_t head = before <= canvasLength() / 2 ? before : canvasLength() / 4;
        const std::int64_t longest = canvasLength() - head;
        std::vector<std::int64_t> lengths = m_request.gapLengths;
        if (lengths.empty()) {
            lengths.push_back(longest);
        }
        for (const std::int64_t length : lengths) {
            if (length > longest) {
                refuse(
                    fmt::format("a continuation of {} tokens is asked for, but the canvas takes at most {} here; use "
                                "a fresh answer for a longer one",
                                length, longest),
                    "gapLengths");
            }
            for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
                EditCandidate candidate = startCandidate(head, m_request.seed + static_cast<std::uint64_t>(attempt));
                candidate.gapEnd = head + length;
                for (std::int64_t i = 0; i < length; ++i) {
                    append(*candidate.request.firstCanvas, 0, 0);
                }
                candidate.request.maxNewTokens = head + length;
                // Nothing lies behind the gap, so the model may end its turn inside it.
                for (const LogitBias &ban : m_model.bans) {
                    if (ban.id != m_blank.padTokenId && !contains(m_blank.eosTokenIds, ban.id)) {
                        candidate.request.logitBias.push_back(ban);
                    }
                }
                plan.candidates.push_back(std::move(candidate));
            }
        }
    }

    // ---- a fresh answer

    void planFreshAnswers(EditPlan &plan) const
    {
        const std::int64_t budget = freshBudget();
        for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
            EditCandidate candidate;
            candidate.request = m_blank;
            candidate.request.seed = m_request.seed + static_cast<std::uint64_t>(attempt);
            candidate.request.prompt = m_prompt;
            candidate.request.maxNewTokens = budget;
            if (m_request.noise != NoiseAmount::Full && m_scene.kind == EditKind::Rewrite) {
                candidate.request.firstCanvas = draftOfSelection(candidate.request.seed);
            }
            plan.candidates.push_back(std::move(candidate));
        }
    }

    [[nodiscard]] std::int64_t freshBudget() const
    {
        const std::int64_t room = m_model.config.maxPositions - static_cast<std::int64_t>(m_prompt.size());
        std::int64_t wanted = canvasLength();
        std::int64_t least = 1;
        if (m_scene.kind == EditKind::Rewrite) {
            least = countOf(m_tokens.core);
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
    [[nodiscard]] CanvasStart draftOfSelection(std::uint64_t seed) const
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

    const Model &m_model;
    const EditRequest &m_request;
    EditScene m_scene;
    GenerationRequest m_blank; ///< what all candidates have in common
    SceneTokens m_tokens;
    std::vector<TokenId> m_prompt;
};

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
    const EditPlanner::Model model = {*m_tokenizer, m_chat, m_model, m_defaults, m_bans};
    return EditPlanner(model, request).plan();
}

} // namespace palimpsest
