// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas_scene.h"

#include "engine/error.h"
#include "engine/line_ends.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace palimpsest {

namespace {

std::int64_t sizeOf(std::string_view text)
{
    return static_cast<std::int64_t>(text.size());
}

/// Whether new text in front of `after` needs a space behind it: `after` begins a word, or an opening bracket or quote.
bool needsClosingSpace(std::string_view before, std::string_view after)
{
    if (after.empty() || startsWithWhiteSpace(after)) {
        return false;
    }
    if (before.empty() || endsWithWhiteSpace(before)) {
        return !startsWithClosingPunctuation(after);
    }
    return startsWithAlphanumeric(after) && !endsWithAlphanumeric(before);
}

bool endsWithSingleSpace(std::string_view text)
{
    return text.ends_with(' ') && text.size() > 1 && !endsWithWhiteSpace(text.substr(0, text.size() - 1));
}

/// The first offset from `offset` on where the document may be cut: at a character, not inside CR LF.
std::int64_t nextCut(std::string_view document, std::int64_t offset)
{
    const auto at = [document](std::int64_t i) {
        return static_cast<unsigned char>(document[static_cast<std::size_t>(i)]);
    };
    while (offset < sizeOf(document) && (at(offset) & 0xC0U) == 0x80U) {
        ++offset;
    }
    const bool insideCrLf = offset > 0 && offset < sizeOf(document) && at(offset) == '\n' && at(offset - 1) == '\r';
    return insideCrLf ? offset + 1 : offset;
}

/// Keeps the last `count` tokens, or a few less so that the first one begins a word.
void keepLast(std::vector<TokenSpan> &tokens, std::int64_t count, std::string_view document)
{
    if (count >= static_cast<std::int64_t>(tokens.size())) {
        return;
    }
    constexpr int kFarthestWordStart = 16; // a longer word may as well be cut
    auto first = tokens.end() - count;
    for (int skipped = 0; skipped < kFarthestWordStart && first + skipped < tokens.end(); ++skipped) {
        const auto begin = static_cast<std::size_t>((first + skipped)->begin);
        if (startsWithWhiteSpace(document.substr(begin)) || endsWithWhiteSpace(document.substr(0, begin))) {
            first += skipped;
            break;
        }
    }
    tokens.erase(tokens.begin(), first);
}

std::string viewOf(std::string_view document, ByteRange range)
{
    return LineEndView(range.of(document)).text();
}

std::string_view neutralInstruction(EditKind kind, EditStrategy strategy)
{
    // Wordings that the demo model has seen; larger models understand them as well.
    if (kind == EditKind::Continue) {
        return "Continue this text";
    }
    if (kind == EditKind::Rewrite && strategy == EditStrategy::FreshAnswer) {
        return "Rewrite this text with correct spelling and grammar";
    }
    return "Fill in the gap";
}

std::string withText(std::string_view instruction, const std::string &text)
{
    std::string prompt(instruction);
    if (trimWhiteSpace(text, {0, sizeOf(text)}).empty()) {
        return prompt;
    }
    const bool isClosed =
        prompt.ends_with('.') || prompt.ends_with('?') || prompt.ends_with('!') || prompt.ends_with(':');
    return prompt + (isClosed ? "\n\n" : ":\n\n") + text;
}

} // namespace

EditScene readScene(std::string_view document, ByteRange selection)
{
    EditScene scene;
    scene.selection = snapToGraphemes(document, selection);
    scene.replaced = trimWhiteSpace(document, scene.selection);
    const std::string_view before = ByteRange{0, scene.replaced.begin}.of(document);
    const std::string_view after = document.substr(static_cast<std::size_t>(scene.replaced.end));
    if (scene.replaced.empty()) {
        const bool nothingBehind = trimWhiteSpace(after, {0, sizeOf(after)}).empty();
        scene.kind = nothingBehind ? EditKind::Continue : EditKind::Fill;
        scene.closeWithSpace = needsClosingSpace(before, after);
    }
    scene.dropLeadingSpace = endsWithSingleSpace(before);
    return scene;
}

std::vector<TokenSpan> tokenizePart(std::string_view document, ByteRange range, LeadingSpace space,
                                    const Tokenizer &tokenizer)
{
    const LineEndView view(range.of(document));
    const std::int64_t shift = space == LeadingSpace::Virtual ? 1 : 0;
    std::vector<TokenSpan> tokens =
        tokenizer.encodeWithSpans(shift > 0 ? " " + view.text() : view.text(), SpecialTokens::PlainText);
    for (TokenSpan &token : tokens) {
        token.begin = range.begin + view.toOriginal(std::max<std::int64_t>(0, token.begin - shift));
        token.end = range.begin + view.toOriginal(std::max<std::int64_t>(0, token.end - shift));
    }
    return tokens;
}

SceneTokens tokenizeScene(std::string_view document, const EditScene &scene, const ContextBudget &budget,
                          const Tokenizer &tokenizer)
{
    // No piece of the vocabularies in use has more bytes on average: what lies farther off cannot be shown anyway, and
    // a document of many megabytes need not be read for an edit of one word.
    constexpr std::int64_t kMostBytesPerToken = 16;
    const std::int64_t reach = std::max<std::int64_t>(0, budget.tokens) * kMostBytesPerToken;
    const std::int64_t beforeEnd = scene.replaced.begin - (scene.dropLeadingSpace ? 1 : 0);
    const std::int64_t begin = std::min(nextCut(document, std::max<std::int64_t>(0, beforeEnd - reach)), beforeEnd);
    const std::int64_t end = nextCut(document, std::min(sizeOf(document), scene.replaced.end + reach));

    SceneTokens tokens;
    tokens.core = tokenizePart(
        document, scene.replaced,
        scene.dropLeadingSpace && !scene.replaced.empty() ? LeadingSpace::Virtual : LeadingSpace::AsWritten, tokenizer);
    const std::int64_t rest = budget.tokens - static_cast<std::int64_t>(tokens.core.size());
    if (rest < 0) {
        throw Error(ErrorKind::ContextLength,
                    fmt::format("the selection has {} tokens, but beside the instruction and the canvas the model's "
                                "context holds {}; select less",
                                tokens.core.size(), std::max<std::int64_t>(0, budget.tokens)),
                    "selection");
    }
    tokens.before = tokenizePart(document, {begin, beforeEnd}, LeadingSpace::AsWritten, tokenizer);
    tokens.after = tokenizePart(document, {scene.replaced.end, end},
                                scene.closeWithSpace ? LeadingSpace::Virtual : LeadingSpace::AsWritten, tokenizer);

    const auto allBefore = static_cast<std::int64_t>(tokens.before.size());
    const auto allAfter = static_cast<std::int64_t>(tokens.after.size());
    std::int64_t shownAfter = std::min(allAfter, rest / 3);
    std::int64_t shownBefore = std::min(allBefore, (rest - shownAfter) / 2);
    shownAfter = std::min(allAfter, rest - 2 * shownBefore);
    if (budget.shown > 0) {
        const auto asked = std::max<std::int64_t>(0, budget.shown - static_cast<std::int64_t>(tokens.core.size()));
        const std::int64_t halfAfter = std::min(shownAfter, asked / 2);
        shownBefore = std::min(shownBefore, asked - halfAfter);
        shownAfter = std::min(shownAfter, asked - shownBefore);
    }
    keepLast(tokens.before, shownBefore, document);
    tokens.reachesEnd = shownAfter == allAfter && end == sizeOf(document);
    tokens.after.resize(static_cast<std::size_t>(shownAfter));

    tokens.shown.begin = tokens.before.empty() ? beforeEnd : tokens.before.front().begin;
    tokens.shown.end = tokens.after.empty() ? scene.replaced.end : nextCut(document, tokens.after.back().end);
    return tokens;
}

std::string editPrompt(const EditRequest &request, const EditScene &scene, ByteRange shown)
{
    const ByteRange trimmed = trimWhiteSpace(request.instruction, {0, sizeOf(request.instruction)});
    const bool isNeutral = trimmed.empty();
    const std::string_view instruction =
        isNeutral ? neutralInstruction(scene.kind, request.strategy) : trimmed.of(request.instruction);
    const std::string before = viewOf(request.document, {shown.begin, scene.replaced.begin});
    const std::string core = viewOf(request.document, scene.replaced);
    const std::string after = viewOf(request.document, {scene.replaced.end, shown.end});
    if (scene.kind == EditKind::Continue) {
        return withText(instruction, before);
    }
    if (scene.kind == EditKind::Rewrite && request.strategy == EditStrategy::FreshAnswer) {
        return withText(instruction, core);
    }
    if (scene.kind == EditKind::Rewrite && !isNeutral) {
        return withText(instruction, before + core + after);
    }
    const std::string open = before.empty() || endsWithWhiteSpace(before) || !endsWithAlphanumeric(before) ? "" : " ";
    const std::string close = startsWithAlphanumeric(after) ? " " : "";
    return withText(instruction, before + open + "___" + close + after);
}

} // namespace palimpsest
