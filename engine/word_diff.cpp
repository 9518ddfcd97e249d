// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/word_diff.h"

#include "engine/text_boundaries.h"

#include <algorithm>
#include <unordered_map>

namespace palimpsest {

namespace {

using Sequence32 = std::span<const std::int32_t>;

/// Furthest reaching paths of every difference count: `rows[d]` holds, for the diagonals k = -d, -d + 2, ..., d, how
/// far into the original a path with d differences gets (Myers 1986, section 4).
struct SearchTrace
{
    std::vector<std::vector<std::int32_t>> rows;
    bool complete = false;

    [[nodiscard]] std::int32_t reach(std::int64_t differences, std::int64_t diagonal) const
    {
        return rows[static_cast<std::size_t>(differences)][static_cast<std::size_t>((diagonal + differences) / 2)];
    }
    /// Whether the best path to `diagonal` came down from the diagonal above (an insertion), not along (a deletion).
    [[nodiscard]] bool cameFromAbove(std::int64_t differences, std::int64_t diagonal) const
    {
        return diagonal == -differences ||
               (diagonal != differences && reach(differences - 1, diagonal - 1) < reach(differences - 1, diagonal + 1));
    }
};

SearchTrace searchShortestScript(Sequence32 original, Sequence32 revised)
{
    const auto originalLength = static_cast<std::int64_t>(original.size());
    const auto revisedLength = static_cast<std::int64_t>(revised.size());
    SearchTrace trace;
    for (std::int64_t d = 0; d <= std::min(originalLength + revisedLength, kMaxWordDifferences); ++d) {
        std::vector<std::int32_t> row(static_cast<std::size_t>(d + 1));
        for (std::int64_t k = -d; k <= d; k += 2) {
            std::int64_t x = 0;
            if (d > 0) {
                x = trace.cameFromAbove(d, k) ? trace.reach(d - 1, k + 1) : trace.reach(d - 1, k - 1) + 1;
            }
            // A path may have left the grid at an edge; it goes nowhere from there.
            while (x < originalLength && x - k < revisedLength && x - k >= 0 &&
                   original[static_cast<std::size_t>(x)] == revised[static_cast<std::size_t>(x - k)]) {
                ++x;
            }
            row[static_cast<std::size_t>((k + d) / 2)] = static_cast<std::int32_t>(x);
            if (x >= originalLength && x - k >= revisedLength) {
                trace.rows.push_back(std::move(row));
                trace.complete = true;
                return trace;
            }
        }
        trace.rows.push_back(std::move(row));
    }
    return trace;
}

/// Walks back from the end; the runs come out last first.
std::vector<SequenceMatch> traceBack(const SearchTrace &trace, std::int64_t x, std::int64_t y)
{
    std::vector<SequenceMatch> matches;
    for (auto d = static_cast<std::int64_t>(trace.rows.size()) - 1; d >= 0; --d) {
        const std::int64_t k = x - y;
        std::int64_t begin = 0; // where the run of equal elements on this diagonal began
        std::int64_t previousX = 0;
        std::int64_t previousY = 0;
        if (d > 0) {
            const bool fromAbove = trace.cameFromAbove(d, k);
            previousX = trace.reach(d - 1, fromAbove ? k + 1 : k - 1);
            previousY = previousX - (fromAbove ? k + 1 : k - 1);
            begin = fromAbove ? previousX : previousX + 1;
        }
        if (x > begin) {
            matches.push_back({.originalBegin = begin, .revisedBegin = begin - k, .length = x - begin});
        }
        x = previousX;
        y = previousY;
    }
    return matches;
}

void append(std::vector<SequenceMatch> &matches, SequenceMatch match)
{
    if (match.length == 0) {
        return;
    }
    if (!matches.empty() && matches.back().originalBegin + matches.back().length == match.originalBegin &&
        matches.back().revisedBegin + matches.back().length == match.revisedBegin) {
        matches.back().length += match.length;
    } else {
        matches.push_back(match);
    }
}

/// Gives equal words equal numbers.
class WordNumbers
{
public:
    [[nodiscard]] std::int32_t of(std::string_view word)
    {
        return m_numbers.try_emplace(word, static_cast<std::int32_t>(m_numbers.size())).first->second;
    }

private:
    std::unordered_map<std::string_view, std::int32_t> m_numbers;
};

std::vector<std::string_view> textsOf(const std::vector<WordPiece> &pieces, std::string_view text)
{
    std::vector<std::string_view> words;
    words.reserve(pieces.size());
    for (const WordPiece &piece : pieces) {
        words.push_back(piece.range.of(text));
    }
    return words;
}

/// Offset at which piece `index` begins, or the end of the text.
std::int64_t offsetOf(const std::vector<WordPiece> &pieces, std::int64_t index)
{
    if (pieces.empty()) {
        return 0;
    }
    return index < static_cast<std::int64_t>(pieces.size()) ? pieces[static_cast<std::size_t>(index)].range.begin
                                                            : pieces.back().range.end;
}

} // namespace

std::vector<SequenceMatch> matchSequences(Sequence32 original, Sequence32 revised)
{
    const std::size_t shorter = std::min(original.size(), revised.size());
    std::size_t prefix = 0;
    while (prefix < shorter && original[prefix] == revised[prefix]) {
        ++prefix;
    }
    std::size_t suffix = 0;
    while (suffix < shorter - prefix &&
           original[original.size() - 1 - suffix] == revised[revised.size() - 1 - suffix]) {
        ++suffix;
    }
    const Sequence32 originalMiddle = original.subspan(prefix, original.size() - prefix - suffix);
    const Sequence32 revisedMiddle = revised.subspan(prefix, revised.size() - prefix - suffix);

    std::vector<SequenceMatch> matches;
    append(matches, {.length = static_cast<std::int64_t>(prefix)});
    const SearchTrace trace = searchShortestScript(originalMiddle, revisedMiddle);
    if (trace.complete) {
        const auto middle = traceBack(trace, static_cast<std::int64_t>(originalMiddle.size()),
                                      static_cast<std::int64_t>(revisedMiddle.size()));
        for (auto match = middle.rbegin(); match != middle.rend(); ++match) {
            append(matches, {.originalBegin = match->originalBegin + static_cast<std::int64_t>(prefix),
                             .revisedBegin = match->revisedBegin + static_cast<std::int64_t>(prefix),
                             .length = match->length});
        }
    }
    append(matches, {.originalBegin = static_cast<std::int64_t>(original.size() - suffix),
                     .revisedBegin = static_cast<std::int64_t>(revised.size() - suffix),
                     .length = static_cast<std::int64_t>(suffix)});
    return matches;
}

std::vector<SequenceMatch> matchWords(std::span<const std::string_view> original,
                                      std::span<const std::string_view> revised)
{
    WordNumbers numbers;
    const auto number = [&numbers](std::span<const std::string_view> words) {
        std::vector<std::int32_t> result;
        result.reserve(words.size());
        for (const std::string_view word : words) {
            result.push_back(numbers.of(word));
        }
        return result;
    };
    const std::vector<std::int32_t> originalNumbers = number(original);
    return matchSequences(originalNumbers, number(revised));
}

std::vector<TextChange> diffWords(std::string_view original, std::string_view revised)
{
    const std::vector<WordPiece> originalPieces = splitIntoWords(original);
    const std::vector<WordPiece> revisedPieces = splitIntoWords(revised);
    std::vector<SequenceMatch> matches = matchWords(textsOf(originalPieces, original), textsOf(revisedPieces, revised));
    matches.push_back({.originalBegin = static_cast<std::int64_t>(originalPieces.size()),
                       .revisedBegin = static_cast<std::int64_t>(revisedPieces.size())});

    std::vector<TextChange> changes;
    std::int64_t originalDone = 0;
    std::int64_t revisedDone = 0;
    for (const SequenceMatch &match : matches) {
        if (match.originalBegin > originalDone || match.revisedBegin > revisedDone) {
            changes.push_back(
                {.original = {offsetOf(originalPieces, originalDone), offsetOf(originalPieces, match.originalBegin)},
                 .revised = {offsetOf(revisedPieces, revisedDone), offsetOf(revisedPieces, match.revisedBegin)}});
        }
        originalDone = match.originalBegin + match.length;
        revisedDone = match.revisedBegin + match.length;
    }
    return changes;
}

} // namespace palimpsest
