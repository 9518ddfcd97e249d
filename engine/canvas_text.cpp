// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas_text.h"

#include "engine/line_ends.h"
#include "engine/word_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace palimpsest {

namespace {

ByteRange visiblePart(std::string_view text)
{
    return trimWhiteSpace(text, {0, static_cast<std::int64_t>(text.size())});
}

/// A rewrite begins where the selection had something visible; an insertion may begin a paragraph.
void trimFront(std::string &text, EditKind kind)
{
    if (kind == EditKind::Rewrite) {
        const ByteRange visible = visiblePart(text);
        text.erase(0, visible.empty() ? text.size() : static_cast<std::size_t>(visible.begin));
    } else {
        text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    }
}

void trimBack(std::string &text, EditKind kind)
{
    if (kind == EditKind::Rewrite) {
        text.erase(static_cast<std::size_t>(visiblePart(text).end));
    } else {
        text.erase(text.find_last_not_of(' ') + 1); // npos + 1 is 0: nothing but spaces
    }
}

std::vector<std::string_view> wordsOf(std::string_view text)
{
    std::vector<std::string_view> words;
    for (const ByteRange &run : splitAtWhiteSpace(text)) {
        words.push_back(run.of(text));
    }
    return words;
}

/// A gap that is too long is often filled up with what stands behind it, which the model sees: such a repetition, of a
/// whole word or of a full stop or the like, is cut off, but something is always left.
void dropRepetition(std::string &text, std::string_view after)
{
    constexpr std::size_t kFarthest = 4096; // a repetition of more does not fit a canvas
    const std::string behind = LineEndView(after.substr(0, kFarthest)).text();
    const std::vector<ByteRange> runs = splitAtWhiteSpace(behind);
    for (std::size_t i = runs.size(); i-- > 0;) {
        const std::string_view prefix = std::string_view(behind).substr(0, static_cast<std::size_t>(runs[i].end));
        if (text.size() <= prefix.size() || !text.ends_with(prefix) || countWords(prefix) == 0) {
            continue;
        }
        const std::string rest = text.substr(0, text.size() - prefix.size());
        const bool isWholeWords = !startsWithAlphanumeric(prefix) || !endsWithAlphanumeric(rest);
        if (isWholeWords && !visiblePart(rest).empty()) {
            text = rest;
            return;
        }
    }
    constexpr std::string_view kMarks = ".,;:!?";
    const bool isMark = !behind.empty() && kMarks.find(behind.front()) != std::string_view::npos;
    if (isMark && text.size() > 1 && text.back() == behind.front() &&
        endsWithAlphanumeric(text.substr(0, text.size() - 1))) {
        text.pop_back();
    }
}

} // namespace

std::string fittedText(std::vector<TextPiece> pieces, const EditPlan &plan)
{
    if (pieces.empty()) {
        return {};
    }
    const bool isRewrite = plan.kind == EditKind::Rewrite;
    const bool spaceBefore = plan.before.empty() || endsWithWhiteSpace(plan.before);
    const bool spaceAfter = plan.after.empty() || startsWithWhiteSpace(plan.after) || plan.closeWithSpace;
    if (!pieces.front().isHeld && (isRewrite || spaceBefore)) {
        trimFront(pieces.front().text, plan.kind);
    }
    if (!pieces.back().isHeld) {
        if (isRewrite || spaceAfter) {
            trimBack(pieces.back().text, plan.kind);
        }
        dropRepetition(pieces.back().text, plan.after);
        if (spaceAfter) {
            trimBack(pieces.back().text, plan.kind);
        }
    }
    std::string text;
    for (const TextPiece &piece : pieces) {
        text += piece.isHeld || !plan.lineEndsAreCrLf ? piece.text : withCrLf(piece.text);
    }
    if (plan.opensWithSpace && !spaceBefore && !text.empty() && !startsWithWhiteSpace(text) &&
        !startsWithClosingPunctuation(text)) {
        text.insert(0, 1, ' ');
    }
    if (plan.closeWithSpace && !text.empty() && !endsWithWhiteSpace(text)) {
        text += ' ';
    }
    return text;
}

std::string asPartOfSentence(std::string answer, std::string_view original)
{
    const auto isLower = [](char c) {
        return c >= 'a' && c <= 'z';
    };
    const auto isUpper = [](char c) {
        return c >= 'A' && c <= 'Z';
    };
    if (answer.ends_with('.') && !answer.ends_with("..") && !original.empty() && endsWithAlphanumeric(original)) {
        answer.pop_back();
    }
    // "I" and abbreviations in capitals stay: only a capital in front of a small letter is a sentence's.
    if (answer.size() > 1 && !original.empty() && isLower(original.front()) && isUpper(answer[0]) &&
        isLower(answer[1])) {
        answer[0] = static_cast<char>(answer[0] - 'A' + 'a');
    }
    return answer;
}

std::optional<std::string> filledGap(const EditPlan &plan, std::string_view answer)
{
    const std::string_view before = std::string_view(plan.before).substr(static_cast<std::size_t>(plan.shown.begin));
    const std::string_view after =
        std::string_view(plan.after).substr(0, static_cast<std::size_t>(plan.shown.end - plan.replaced.end));
    std::vector<std::string_view> original = wordsOf(before);
    const auto gap = static_cast<std::int64_t>(original.size());
    const std::vector<std::string_view> behind = wordsOf(after);
    original.insert(original.end(), behind.begin(), behind.end());
    const std::vector<ByteRange> runs = splitAtWhiteSpace(answer);

    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    if (gap == 0) {
        begin = 0;
    }
    if (behind.empty()) {
        end = static_cast<std::int64_t>(answer.size());
    }
    for (const SequenceMatch &match : matchWords(original, wordsOf(answer))) {
        const auto runOf = [&](std::int64_t index) {
            return runs[static_cast<std::size_t>(match.revisedBegin + index - match.originalBegin)];
        };
        const auto covers = [&match](std::int64_t index) {
            return match.originalBegin <= index && index < match.originalBegin + match.length;
        };
        if (gap > 0 && covers(gap - 1)) {
            begin = runOf(gap - 1).end;
        }
        if (!behind.empty() && covers(gap)) {
            end = runOf(gap).begin;
        }
    }
    if (!begin || !end || *begin > *end) {
        return std::nullopt;
    }
    return std::string(ByteRange{*begin, *end}.of(answer));
}

} // namespace palimpsest
