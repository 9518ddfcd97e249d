// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/proofread_paragraphs.h"

#include "engine/text_boundaries.h"

#include <algorithm>
#include <optional>

namespace palimpsest {

namespace {

// Word-wrapped files have lines of 60 to 80 characters; a paragraph's lines are rarely much shorter, and a longer line
// is a paragraph that was not wrapped.
constexpr std::int64_t kShortestWrappedLine = 40;
constexpr std::int64_t kLongestWrappedLine = 120;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Bytes of a line without its line end.
std::vector<ByteRange> splitIntoLines(std::string_view text)
{
    std::vector<ByteRange> lines;
    std::int64_t begin = text.starts_with(kByteOrderMark) ? static_cast<std::int64_t>(kByteOrderMark.size()) : 0;
    const auto size = static_cast<std::int64_t>(text.size());
    for (std::int64_t i = begin; i < size; ++i) {
        const char c = text[static_cast<std::size_t>(i)];
        if (c == '\n' || c == '\r') {
            lines.push_back({begin, i});
            if (c == '\r' && i + 1 < size && text[static_cast<std::size_t>(i + 1)] == '\n') {
                ++i;
            }
            begin = i + 1;
        }
    }
    lines.push_back({begin, size});
    return lines;
}

std::int64_t characterCount(std::string_view text)
{
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Bytes of the list or heading marker a line's visible part begins with, its white space included; 0 if there is none.
std::int64_t markerLength(std::string_view line)
{
    std::size_t length = 0;
    if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") || line.starts_with("-\t")) {
        length = 1;
    } else if (line.starts_with("\xE2\x80\xA2")) { // a bullet
        length = 3;
    } else if (line.starts_with('#')) {
        length = std::min(line.find_first_not_of('#'), line.size());
    } else {
        while (length < line.size() && isDigit(line[length])) {
            ++length;
        }
        length = length > 0 && length <= 3 && length < line.size() && (line[length] == '.' || line[length] == ')')
                     ? length + 1
                     : 0;
    }
    const std::size_t text = line.find_first_not_of(" \t", length);
    if (length == 0 || text == std::string_view::npos || text == length) {
        return 0;
    }
    return static_cast<std::int64_t>(text);
}

/// "```" or "~~~" if the line opens or closes a fenced block.
std::optional<std::string_view> fenceOf(std::string_view line)
{
    if (line.starts_with("```") || line.starts_with("~~~")) {
        return line.substr(0, 3);
    }
    return std::nullopt;
}

/// Reads a text line by line and collects paragraphs.
class ParagraphReader
{
public:
    explicit ParagraphReader(std::string_view text)
        : m_text(text), m_lines(splitIntoLines(text)), m_result{.paragraphs = {}, .flowing = std::string(text)}
    {
    }

    [[nodiscard]] ParagraphSplit read()
    {
        std::size_t next = frontMatterLines();
        if (next > 0) {
            passThrough(0, next);
        }
        while (next < m_lines.size()) {
            next = readFrom(next);
        }
        for (Paragraph &paragraph : m_result.paragraphs) {
            paragraph.passThrough = paragraph.passThrough || looksLikeCode(paragraph.range.of(m_text));
        }
        return std::move(m_result);
    }

private:
    [[nodiscard]] ByteRange visible(std::size_t line) const { return trimWhiteSpace(m_text, m_lines[line]); }

    /// Lines of a block between two "---" at the beginning of the text.
    [[nodiscard]] std::size_t frontMatterLines() const
    {
        if (m_lines.front().of(m_text) != "---") {
            return 0;
        }
        for (std::size_t line = 1; line < m_lines.size(); ++line) {
            if (m_lines[line].of(m_text) == "---") {
                return line + 1;
            }
        }
        return 0;
    }

    void passThrough(std::size_t begin, std::size_t end)
    {
        const ByteRange range = trimWhiteSpace(m_text, {m_lines[begin].begin, m_lines[end - 1].end});
        m_result.paragraphs.push_back({.range = range, .passThrough = true});
        m_continues = false;
    }

    /// Handles the line, or the block of lines, that begins here; returns the line behind it.
    [[nodiscard]] std::size_t readFrom(std::size_t line)
    {
        const ByteRange range = visible(line);
        const std::string_view content = range.of(m_text);
        if (content.empty()) {
            m_continues = false;
            return line + 1;
        }
        if (const auto fence = fenceOf(content)) {
            std::size_t end = line + 1;
            while (end < m_lines.size() && fenceOf(visible(end).of(m_text)) != fence) {
                ++end;
            }
            end = std::min(end + 1, m_lines.size());
            passThrough(line, end);
            return end;
        }
        // Tables are code to a proofreader, and a quotation is somebody else's words.
        if (content.starts_with('|') || content.starts_with('>')) {
            passThrough(line, line + 1);
            return line + 1;
        }
        addProse(line, range);
        return line + 1;
    }

    void addProse(std::size_t line, ByteRange range)
    {
        const std::int64_t marker = markerLength(range.of(m_text));
        if (m_continues && marker == 0) {
            Paragraph &paragraph = m_result.paragraphs.back();
            const auto gap = static_cast<std::size_t>(paragraph.range.end);
            m_result.flowing.replace(gap, static_cast<std::size_t>(range.begin) - gap,
                                     static_cast<std::size_t>(range.begin) - gap, ' ');
            paragraph.range.end = range.end;
        } else {
            m_result.paragraphs.push_back({.range = {range.begin + marker, range.end}});
        }
        const std::int64_t width = characterCount(m_lines[line].of(m_text));
        const bool isHeading = marker > 0 && range.of(m_text).starts_with('#');
        m_continues = !isHeading && width >= kShortestWrappedLine && width <= kLongestWrappedLine;
    }

    std::string_view m_text;
    std::vector<ByteRange> m_lines;
    ParagraphSplit m_result;
    bool m_continues = false; ///< the next line may belong to the last paragraph
};

} // namespace

ParagraphSplit splitIntoParagraphs(std::string_view text)
{
    return ParagraphReader(text).read();
}

bool looksLikeCode(std::string_view text) noexcept
{
    // English prose with brackets stays below 3 %; C, JSON and shell lie above 10 %. Markdown's * _ ` do not count.
    constexpr double kMostSymbolsInProse = 0.08;
    constexpr std::string_view kCodeSymbols = "{}[]();=<>|\\/$#@&+^~";
    std::int64_t letters = 0;
    std::int64_t symbols = 0;
    std::int64_t visible = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        letters += (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80 ? 1 : 0;
        symbols += kCodeSymbols.find(c) != std::string_view::npos ? 1 : 0;
        visible += byte > ' ' ? 1 : 0;
    }
    return letters == 0 || static_cast<double>(symbols) > kMostSymbolsInProse * static_cast<double>(visible);
}

} // namespace palimpsest
