// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/unified_diff.h"

#include "engine/word_diff.h"

#include <algorithm>
#include <span>
#include <vector>

namespace palimpsest::documents {

namespace {

using Lines = std::vector<std::string_view>;

/// Each with its line feed, if it has one.
Lines splitIntoLines(std::string_view text)
{
    Lines lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t feed = text.find('\n', begin);
        const std::size_t end = feed == std::string_view::npos ? text.size() : feed + 1;
        lines.push_back(text.substr(begin, end - begin));
        begin = end;
    }
    return lines;
}

/// Lines [begin, end).
struct LineRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] std::int64_t length() const noexcept { return end - begin; }
};

struct LineChange
{
    LineRange original;
    LineRange revised;
};

std::vector<LineChange> changesBetween(const Lines &original, const Lines &revised)
{
    std::vector<SequenceMatch> matches = matchWords(original, revised);
    const auto originalCount = static_cast<std::int64_t>(original.size());
    const auto revisedCount = static_cast<std::int64_t>(revised.size());
    matches.push_back({.originalBegin = originalCount, .revisedBegin = revisedCount, .length = 0});
    std::vector<LineChange> changes;
    std::int64_t originalDone = 0;
    std::int64_t revisedDone = 0;
    for (const SequenceMatch &match : matches) {
        if (match.originalBegin > originalDone || match.revisedBegin > revisedDone) {
            changes.push_back({.original = {.begin = originalDone, .end = match.originalBegin},
                               .revised = {.begin = revisedDone, .end = match.revisedBegin}});
        }
        originalDone = match.originalBegin + match.length;
        revisedDone = match.revisedBegin + match.length;
    }
    return changes;
}

/// How many of the changes share a hunk with the first: those whose context meets.
std::size_t hunkLength(std::span<const LineChange> changes)
{
    std::size_t count = 1;
    while (count < changes.size() &&
           changes[count].original.begin - changes[count - 1].original.end <= 2 * kDiffContextLines)
        ++count;
    return count;
}

/// A range as hunk headers give it: counted from 1; an empty one by the line in front of it.
std::string position(LineRange range)
{
    const std::int64_t first = range.length() == 0 ? range.begin : range.begin + 1;
    if (range.length() == 1)
        return std::to_string(first);
    return std::to_string(first) + "," + std::to_string(range.length());
}

class DiffWriter
{
public:
    DiffWriter(const Lines &original, const Lines &revised) : m_original(original), m_revised(revised) {}

    void names(const DiffNames &names) { m_text = "--- " + names.original + "\n+++ " + names.revised + "\n"; }

    void hunk(std::span<const LineChange> changes)
    {
        const LineChange &first = changes.front();
        const LineChange &last = changes.back();
        const std::int64_t before = std::min(kDiffContextLines, first.original.begin);
        const std::int64_t after =
            std::min(kDiffContextLines, static_cast<std::int64_t>(m_original.size()) - last.original.end);
        const LineRange original{.begin = first.original.begin - before, .end = last.original.end + after};
        const LineRange revised{.begin = first.revised.begin - before, .end = last.revised.end + after};
        m_text += "@@ -" + position(original) + " +" + position(revised) + " @@\n";
        std::int64_t done = original.begin;
        for (const LineChange &change : changes) {
            lines(' ', m_original, {.begin = done, .end = change.original.begin});
            lines('-', m_original, change.original);
            lines('+', m_revised, change.revised);
            done = change.original.end;
        }
        lines(' ', m_original, {.begin = done, .end = original.end});
    }

    [[nodiscard]] std::string take() { return std::move(m_text); }

private:
    void lines(char sign, const Lines &source, LineRange range)
    {
        for (std::int64_t line = range.begin; line < range.end; ++line) {
            const std::string_view text = source[static_cast<std::size_t>(line)];
            m_text += sign;
            m_text += text;
            if (!text.ends_with('\n'))
                m_text += "\n\\ No newline at end of file\n";
        }
    }

    const Lines &m_original;
    const Lines &m_revised;
    std::string m_text;
};

} // namespace

std::string unifiedDiff(std::string_view original, std::string_view revised, const DiffNames &names)
{
    if (original == revised)
        return {};
    const Lines originalLines = splitIntoLines(original);
    const Lines revisedLines = splitIntoLines(revised);
    const std::vector<LineChange> changes = changesBetween(originalLines, revisedLines);
    DiffWriter writer(originalLines, revisedLines);
    writer.names(names);
    for (std::span<const LineChange> rest(changes); !rest.empty();) {
        const std::size_t count = hunkLength(rest);
        writer.hunk(rest.first(count));
        rest = rest.subspan(count);
    }
    return writer.take();
}

} // namespace palimpsest::documents
