// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas.h"

#include "engine/error.h"
#include "engine/line_ends.h"
#include "engine/word_diff.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace palimpsest {

namespace {

/// A candidate's new text, or why it has none.
struct NewText
{
    std::string text;
    std::string problem; ///< "" if the text can be used
};

/// A stretch of new text; held ones are the document's own bytes and are not touched.
struct TextPiece
{
    std::string text;
    bool isHeld = false;
};

void dropLeadingSpaces(std::string &text)
{
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
}

void dropTrailingSpaces(std::string &text)
{
    const std::size_t last = text.find_last_not_of(' ');
    text.erase(last == std::string::npos ? 0 : last + 1);
}

/// Joins the pieces and fits them between what stands before and after: no doubled and no lost space, the document's
/// kind of line ends.
std::string fitted(std::vector<TextPiece> pieces, const EditPlan &plan)
{
    const bool spaceBefore = plan.before.empty() || endsWithWhiteSpace(plan.before);
    const bool spaceAfter = plan.after.empty() || startsWithWhiteSpace(plan.after) || plan.closeWithSpace;
    if (!pieces.empty() && spaceBefore && !pieces.front().isHeld) {
        dropLeadingSpaces(pieces.front().text);
    }
    if (!pieces.empty() && spaceAfter && !pieces.back().isHeld) {
        dropTrailingSpaces(pieces.back().text);
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

/// The part of a held run that belongs to the new text; a first token's space may lie in front of it.
std::string heldText(const HeldRun &run, const EditPlan &plan)
{
    const ByteRange inside = {std::max(run.source.begin, plan.replaced.begin) - plan.replaced.begin,
                              std::min(run.source.end, plan.replaced.end) - plan.replaced.begin};
    return std::string(inside.of(plan.replacedText));
}

NewText textOfGap(const EditPlan &plan, const EditCandidate &candidate, const GenerationResult &result,
                  const Tokenizer &tokenizer)
{
    if (result.canvases.empty()) {
        return {.text = {}, .problem = "the edit was cancelled before its canvas was finished"};
    }
    const std::vector<TokenId> &committed = result.canvases.front().committed;
    if (static_cast<std::int64_t>(committed.size()) < candidate.gapEnd) {
        throw Error(
            ErrorKind::InvalidArgument,
            fmt::format("the result's canvas has {} positions, the plan's gap ends at {}: it belongs to another "
                        "plan",
                        committed.size(), candidate.gapEnd),
            "results");
    }
    // Only a continuation may end its turn inside the gap.
    const auto isEnd = [&candidate](TokenId id) {
        const std::vector<TokenId> &ends = candidate.request.eosTokenIds;
        return std::find(ends.begin(), ends.end(), id) != ends.end();
    };
    const auto gapEnd =
        std::find_if(committed.begin() + candidate.gapBegin, committed.begin() + candidate.gapEnd, isEnd);

    std::vector<TextPiece> pieces;
    auto position = committed.begin() + candidate.gapBegin;
    const auto addFree = [&](std::vector<TokenId>::const_iterator end) {
        if (position < end) {
            pieces.push_back({.text = tokenizer.decode({position, end}, DecodeSpecial::Skip)});
        }
    };
    for (const HeldRun &run : candidate.held) {
        addFree(committed.begin() + run.canvasBegin);
        pieces.push_back({.text = heldText(run, plan), .isHeld = true});
        position = committed.begin() + run.canvasEnd;
    }
    addFree(gapEnd);
    return {.text = fitted(std::move(pieces), plan), .problem = {}};
}

/// Finds the filled gap in an answer that repeats the text around it: what lies between the last word before and the
/// first word behind.
std::optional<std::string> filledIn(const EditPlan &plan, const std::string &answer)
{
    const auto wordsOf = [](std::string_view text) {
        std::vector<std::string_view> words;
        for (const ByteRange &run : splitAtWhiteSpace(text)) {
            words.push_back(run.of(text));
        }
        return words;
    };
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

NewText textOfAnswer(const EditPlan &plan, const GenerationResult &result, const ChatFormat &chat)
{
    if (result.finish == FinishReason::Cancelled) {
        return {.text = {}, .problem = "the edit was cancelled before its answer was finished"};
    }
    std::string answer = chat.parseReply(result.rawText).text;
    const ByteRange visible = trimWhiteSpace(answer, {0, static_cast<std::int64_t>(answer.size())});
    if (visible.empty()) {
        return {.text = {}, .problem = "the model gave an empty answer"};
    }
    if (plan.kind == EditKind::Continue) {
        return {.text = fitted({{.text = answer}}, plan), .problem = {}};
    }
    if (result.finish == FinishReason::Budget) {
        return {.text = {}, .problem = "the answer was cut at its budget of tokens"};
    }
    if (plan.kind == EditKind::Rewrite) {
        return {.text = fitted({{.text = std::string(visible.of(answer))}}, plan), .problem = {}};
    }
    const std::optional<std::string> filled = filledIn(plan, answer);
    if (!filled) {
        return {.text = {}, .problem = "the model's answer does not repeat the text around the gap"};
    }
    return {.text = fitted({{.text = *filled}}, plan), .problem = {}};
}

float meanOverCanvases(const GenerationResult &result)
{
    float sum = 0.0F;
    for (const CanvasRecord &canvas : result.canvases) {
        sum += canvas.meanEntropyNats;
    }
    return sum / static_cast<float>(std::max<std::size_t>(1, result.canvases.size()));
}

} // namespace

EditOutcome CanvasEditor::apply(const EditPlan &plan, std::span<const GenerationResult> results) const
{
    if (results.size() != plan.candidates.size()) {
        throw Error(
            ErrorKind::InvalidArgument,
            fmt::format("{} results for {} candidates; wanted one each", results.size(), plan.candidates.size()),
            "results");
    }
    EditOutcome outcome;
    std::optional<std::size_t> winner;
    for (std::size_t i = 0; i < results.size(); ++i) {
        NewText candidate = plan.strategy == EditStrategy::FrozenCanvas
                                ? textOfGap(plan, plan.candidates[i], results[i], *m_tokenizer)
                                : textOfAnswer(plan, results[i], m_chat);
        const bool usable = candidate.problem.empty();
        outcome.alternatives.push_back(std::move(candidate.text));
        outcome.meanEntropyNats.push_back(usable ? meanOverCanvases(results[i])
                                                 : std::numeric_limits<float>::infinity());
        if (usable && (!winner || outcome.meanEntropyNats[i] < outcome.meanEntropyNats[*winner])) {
            winner = i;
        }
        if (!usable && outcome.problem.empty()) {
            outcome.problem = std::move(candidate.problem);
        }
    }
    if (winner) {
        outcome.problem.clear();
    }
    outcome.candidate = winner.value_or(0);
    const std::string &newText = winner ? outcome.alternatives[*winner] : plan.replacedText;
    outcome.document = splice(plan, newText);
    outcome.replaced = {plan.replaced.begin, plan.replaced.begin + static_cast<std::int64_t>(newText.size())};
    return outcome;
}

std::string CanvasEditor::splice(const EditPlan &plan, std::string_view newText)
{
    std::string document;
    document.reserve(plan.before.size() + newText.size() + plan.after.size());
    document += plan.before;
    document += newText;
    document += plan.after;
    return document;
}

} // namespace palimpsest
