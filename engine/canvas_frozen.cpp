// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas_planner.h"
#include "engine/error.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

namespace palimpsest {

namespace {

/// Padding shown behind an end of turn. The demo model's training canvases had 4 to 64; more positions cost time.
constexpr std::int64_t kPaddingBehindEnd = 8;

std::int64_t countOf(const std::vector<TokenSpan> &tokens)
{
    return static_cast<std::int64_t>(tokens.size());
}

void append(CanvasStart &canvas, TokenId id, std::uint8_t frozen)
{
    canvas.ids.push_back(id);
    canvas.frozen.push_back(frozen);
    canvas.keepAtStart.push_back(frozen);
}

[[noreturn]] void refuse(const std::string &message, const std::string &field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

} // namespace

void EditPlanner::planGaps(EditPlan &plan) const
{
    Gap gap = {.tokens = m_tokens.core, .held = std::vector<std::uint8_t>(m_tokens.core.size(), 0)};
    for (const ByteRange &lock : m_request.locks) {
        plan.locks.push_back(holdLock(gap, lock, m_request.document, m_scene.replaced));
    }
    checkGap(gap);
    if (mayEndItself(gap)) {
        // Twice the selection, for an instruction may well make a list or full forms of it.
        const std::int64_t selected = countOf(gap.tokens);
        const std::int64_t length = std::min(longestGap(), std::max(2 * selected, selected + 2 * kPaddingBehindEnd));
        const std::int64_t head = std::min(countOf(m_tokens.before), canvasLength() - length);
        for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
            plan.candidates.push_back(openCandidate(head, length, seedOf(attempt)));
        }
        return;
    }
    plan.visibleAfterBytes = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t length : gapLengths(gap)) {
        plan.visibleAfterBytes = std::min(plan.visibleAfterBytes, visibleAfterBytes(surroundingsFor(length).tail));
        for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
            plan.candidates.push_back(closedCandidate(gapOfLength(gap, length, seedOf(attempt)), seedOf(attempt)));
        }
    }
}

/// Nothing visible behind the gap and nothing fixed inside: the model may decide itself how long the new text is.
bool EditPlanner::mayEndItself(const Gap &gap) const
{
    const std::string_view after =
        std::string_view(m_request.document).substr(static_cast<std::size_t>(m_scene.replaced.end));
    return !gap.tokens.empty() && gap.heldCount() == 0 && m_request.noise == NoiseAmount::Full &&
           m_request.gapLengths.empty() && trimWhiteSpace(after, {0, static_cast<std::int64_t>(after.size())}).empty();
}

/// The most positions a gap can have: an eighth of the canvas is left to the text around it, if there is any.
std::int64_t EditPlanner::longestGap() const
{
    const std::int64_t around = countOf(m_tokens.before) + countOf(m_tokens.after) + (m_tokens.reachesEnd ? 1 : 0);
    return canvasLength() - std::min(around, std::max<std::int64_t>(1, canvasLength() / 8));
}

void EditPlanner::checkGap(const Gap &gap) const
{
    const std::int64_t selected = countOf(gap.tokens);
    const std::int64_t longest = longestGap();
    if (selected > longest) {
        refuse(fmt::format("the selection has {} tokens, but a canvas of {} with some text around it takes at most {}; "
                           "select less, or ask for a fresh answer",
                           selected, canvasLength(), longest),
               "selection");
    }
    const std::int64_t held = gap.heldCount();
    if (selected > 0 && held == selected) {
        refuse("every word of the selection is locked: there is nothing to rewrite", "locks");
    }
    for (const std::int64_t length : m_request.gapLengths) {
        if (length > longest || length < held) {
            refuse(fmt::format("a gap of {} tokens is asked for, wanted {} (locked words) to {} (a canvas of {} with "
                               "some text around it)",
                               length, std::max<std::int64_t>(1, held), longest, canvasLength()),
                   "gapLengths");
        }
    }
}

std::vector<std::int64_t> EditPlanner::gapLengths(const Gap &gap) const
{
    if (!m_request.gapLengths.empty()) {
        return m_request.gapLengths;
    }
    std::vector<std::int64_t> lengths;
    for (const std::int64_t length : usualLengths(countOf(gap.tokens))) {
        const std::int64_t possible = std::clamp(length, std::max<std::int64_t>(1, gap.heldCount()), longestGap());
        if (std::find(lengths.begin(), lengths.end(), possible) == lengths.end()) {
            lengths.push_back(possible);
        }
    }
    return lengths;
}

/// A rewrite stays near its length; how long an insertion should be is unknown, so powers of two are tried.
std::vector<std::int64_t> EditPlanner::usualLengths(std::int64_t selected) const
{
    if (selected == 0) {
        return {2, 4, 8, 16};
    }
    if (m_request.noise != NoiseAmount::Full) {
        return {selected};
    }
    // Words with mistakes in them have more tokens than correct ones. Lengths farther off were tried on the demo model
    // and filled up with repetitions.
    const std::int64_t step = std::max<std::int64_t>(1, selected / 16);
    return {selected, selected - step, selected - 2 * step, selected + step};
}

Gap EditPlanner::gapOfLength(const Gap &gap, std::int64_t length, std::uint64_t seed) const
{
    if (gap.tokens.empty()) {
        return {.tokens = std::vector<TokenSpan>(static_cast<std::size_t>(length)),
                .held = std::vector<std::uint8_t>(static_cast<std::size_t>(length), 0)};
    }
    if (m_request.noise == NoiseAmount::Full) {
        return stretched(gap, length);
    }
    Gap noisy = gap;
    const std::vector<std::uint8_t> anew =
        chooseNoise(gap.tokens, m_request.document, m_scene.replaced, m_request.noise, seed);
    for (std::size_t i = 0; i < anew.size(); ++i) {
        noisy.held[i] = gap.held[i] != 0 || anew[i] == 0 ? 1 : 0;
    }
    return noisy;
}

/// As much of the text after as fits, but at least a third of the room for the end of the text before.
EditPlanner::Surroundings EditPlanner::surroundingsFor(std::int64_t gapLength) const
{
    const std::int64_t room = canvasLength() - gapLength;
    const std::int64_t before = countOf(m_tokens.before);
    const std::int64_t after = countOf(m_tokens.after);
    const std::int64_t wanted = after + (m_tokens.reachesEnd ? 1 : 0);
    const std::int64_t behind = std::min(wanted, room - std::min(before, room / 3));
    return {.head = std::min(before, room - behind),
            .tail = std::min(after, behind),
            .showsEnd = m_tokens.reachesEnd && behind > after};
}

std::int64_t EditPlanner::visibleAfterBytes(std::int64_t tail) const
{
    return tail == 0 ? 0 : m_tokens.after[static_cast<std::size_t>(tail - 1)].end - m_scene.replaced.end;
}

EditCandidate EditPlanner::closedCandidate(const Gap &gap, std::uint64_t seed) const
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
    candidate.request.maxNewTokens = static_cast<std::int64_t>(canvas.ids.size());
    candidate.request.logitBias = m_model.bans;
    return candidate;
}

EditCandidate EditPlanner::openCandidate(std::int64_t head, std::int64_t length, std::uint64_t seed) const
{
    EditCandidate candidate = startCandidate(head, seed);
    candidate.endsItself = true;
    candidate.gapEnd = head + length;
    for (std::int64_t i = 0; i < length; ++i) {
        append(*candidate.request.firstCanvas, 0, 0);
    }
    candidate.request.maxNewTokens = head + length;
    for (const LogitBias &ban : m_model.bans) {
        if (!isEndOrPad(ban.id)) {
            candidate.request.logitBias.push_back(ban);
        }
    }
    return candidate;
}

/// A candidate whose canvas begins with the last `head` tokens of the text before, the others being its prompt.
EditCandidate EditPlanner::startCandidate(std::int64_t head, std::uint64_t seed) const
{
    EditCandidate candidate;
    candidate.request = m_blank;
    candidate.request.seed = seed;
    candidate.request.prompt = m_prompt;
    candidate.request.singleCanvas = true;
    candidate.gapBegin = head;
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
    return candidate;
}

void EditPlanner::planContinuations(EditPlan &plan) const
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
            refuse(fmt::format("a continuation of {} tokens is asked for, but the canvas takes at most {} here; use a "
                               "fresh answer for a longer one",
                               length, longest),
                   "gapLengths");
        }
        for (int attempt = 0; attempt < m_request.attempts; ++attempt) {
            plan.candidates.push_back(openCandidate(head, length, seedOf(attempt)));
        }
    }
}

} // namespace palimpsest
