// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/marked_text.h"

#include "app/cli/frame_painter.h"

#include <algorithm>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kRemoved = "\x1b[9;31m"; // struck through as well, so that it is not told by colour alone
constexpr std::string_view kAdded = "\x1b[1;32m";

bool hasColour(const TerminalCapabilities &terminal)
{
    return terminal.depth != ColourDepth::None;
}

/// Builds the lines of a word difference and remembers which of them hold a change.
class DiffWriter
{
public:
    DiffWriter(const TerminalCapabilities &terminal, const CharacterWidths &widths)
        : m_colour(hasColour(terminal)), m_isTerminal(terminal.isTerminal), m_widths(widths)
    {
    }

    void same(std::string_view text)
    {
        for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
            m_line += shown(text.substr(0, end));
            endLine();
            text.remove_prefix(end + 1);
        }
        m_line += shown(text);
    }

    void change(std::string_view removed, std::string_view added)
    {
        m_lineChanged = true;
        mark(removed, "[-", "-]", kRemoved);
        mark(added, "{+", "+}", kAdded);
        m_extraLines += std::count(removed.begin(), removed.end(), '\n');
    }

    [[nodiscard]] std::string take()
    {
        endLine();
        return std::move(m_text);
    }

private:
    [[nodiscard]] std::string shown(std::string_view text) const
    {
        std::string result = m_isTerminal ? printable(text, m_widths) : std::string(text);
        std::erase(result, '\r');
        return result;
    }

    void mark(std::string_view text, std::string_view open, std::string_view close, std::string_view sgr)
    {
        if (text.empty())
            return;
        m_line += m_colour ? sgr : std::string_view();
        m_line.append(open).append(shown(text)).append(close);
        m_line += m_colour ? kPlain : std::string_view();
    }

    void endLine()
    {
        if (m_lineChanged)
            m_text += std::to_string(m_lineNumber) + ": " + m_line + "\n";
        m_line.clear();
        m_lineNumber += 1 + m_extraLines;
        m_extraLines = 0;
        m_lineChanged = false;
    }

    bool m_colour;
    bool m_isTerminal;
    const CharacterWidths &m_widths;
    std::string m_text;
    std::string m_line;
    std::ptrdiff_t m_lineNumber = 1;
    std::ptrdiff_t m_extraLines = 0; ///< line ends of the original inside a change
    bool m_lineChanged = false;
};

} // namespace

std::vector<StyledText> markChanges(std::string_view revised, std::span<const TextChange> changes)
{
    std::vector<StyledText> pieces;
    std::int64_t done = 0;
    const auto add = [&](std::int64_t end, Ink ink) {
        if (end > done)
            pieces.push_back({std::string(ByteRange{done, end}.of(revised)), {ink, 0}});
        done = end;
    };
    for (const TextChange &change : changes) {
        add(change.revised.begin, Ink::Settled);
        add(change.revised.end, Ink::Changed);
    }
    add(static_cast<std::int64_t>(revised.size()), Ink::Settled);
    return pieces;
}

std::string markedText(std::string_view revised, std::span<const TextChange> changes,
                       const TerminalCapabilities &terminal, const CharacterWidths &widths)
{
    std::string text;
    for (const StyledText &piece : markChanges(revised, changes)) {
        const std::string sgr = sgrParameters(piece.style, terminal.depth, terminal.background);
        const std::string safe = printable(piece.text, widths);
        if (sgr.empty() || !hasColour(terminal))
            text += safe;
        else
            text.append("\x1b[").append(sgr).append("m").append(safe).append(kPlain);
    }
    return text;
}

std::string wordDiff(std::string_view original, std::string_view revised, std::span<const TextChange> changes,
                     const TerminalCapabilities &terminal, const CharacterWidths &widths)
{
    DiffWriter writer(terminal, widths);
    std::int64_t done = 0;
    for (const TextChange &change : changes) {
        writer.same(ByteRange{done, change.original.begin}.of(original));
        writer.change(change.original.of(original), change.revised.of(revised));
        done = change.original.end;
    }
    writer.same(original.substr(static_cast<std::size_t>(done)));
    return changes.empty() ? "" : writer.take();
}

} // namespace palimpsest::cli
