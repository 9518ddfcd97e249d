// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas.h"
#include "engine/canvas_text.h"
#include "engine/error.h"

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
    const auto isEnd = [&candidate](TokenId id) {
        const std::vector<TokenId> &ends = candidate.request.eosTokenIds;
        return std::find(ends.begin(), ends.end(), id) != ends.end();
    };
    const auto gapEnd =
        std::find_if(committed.begin() + candidate.gapBegin, committed.begin() + candidate.gapEnd, isEnd);
    if (candidate.endsItself && plan.kind == EditKind::Rewrite && gapEnd == committed.begin() + candidate.gapEnd) {
        return {.text = {}, .problem = "the new text did not end inside its canvas"};
    }

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
    return {.text = fittedText(std::move(pieces), plan), .problem = {}};
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
        return {.text = fittedText({{.text = answer}}, plan), .problem = {}};
    }
    if (result.finish == FinishReason::Budget) {
        return {.text = {}, .problem = "the answer was cut at its budget of tokens"};
    }
    if (plan.kind == EditKind::Rewrite) {
        return {.text =
                    fittedText({{.text = asPartOfSentence(std::string(visible.of(answer)), plan.replacedText)}}, plan),
                .problem = {}};
    }
    const std::optional<std::string> filled = filledGap(plan, answer);
    if (!filled) {
        return {.text = {}, .problem = "the model's answer does not repeat the text around the gap"};
    }
    return {.text = fittedText({{.text = *filled}}, plan), .problem = {}};
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
