// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/text_cells.h"

#include "engine/error.h"
#include "engine/utf8.h"

#include <algorithm>
#include <cwchar>
#include <utility>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kUnprintable = "\xC2\xB7"; // a middle dot: calm, and one column wide everywhere
constexpr int kTabColumns = 4;
constexpr char32_t kZeroWidthJoiner = 0x200D;

/// Characters that say nothing on paper but can reorder or hide what is around them.
bool isInvisibleControl(char32_t codePoint) noexcept
{
    return (codePoint >= 0x200B && codePoint <= 0x200F && codePoint != kZeroWidthJoiner) ||
           (codePoint >= 0x202A && codePoint <= 0x202E) || (codePoint >= 0x2060 && codePoint <= 0x206F) ||
           codePoint == 0xFEFF || codePoint == 0x00AD;
}

/// Cells under construction: remembers which characters belong to the cell before.
class CellWriter
{
public:
    explicit CellWriter(const CharacterWidths &widths) : m_widths(widths) {}

    /// `bytes` is one character, or one byte that belongs to none.
    void add(std::string_view bytes, Style style)
    {
        const Utf8Character character = readUtf8(bytes, 0);
        if (character.codePoint == U'\n') {
            m_cells.push_back({"\n", 0, style});
        } else if (character.codePoint == U'\t') {
            m_cells.insert(m_cells.end(), kTabColumns, Cell{" ", 1, style});
        } else if (character.codePoint == U'\r') {
            return; // half of a CRLF line end
        } else if (character.length == 0 || m_widths.columns(character.codePoint) < 0) {
            m_cells.push_back({std::string(kUnprintable), 1, style});
        } else if (!isInvisibleControl(character.codePoint)) {
            addVisible(bytes, m_widths.columns(character.codePoint), style);
        }
    }

    [[nodiscard]] std::vector<Cell> take() { return std::move(m_cells); }

private:
    void addVisible(std::string_view bytes, int columns, Style style)
    {
        // A mark without a letter in front of it stands on a space. The number of marks a cell keeps is bounded, so
        // that noise cannot pile up a tower that the terminal draws over other lines.
        constexpr std::size_t kMaxCellBytes = 24;
        if (columns > 0) {
            m_cells.push_back({std::string(bytes), columns, style});
        } else if (m_cells.empty() || m_cells.back().columns == 0) {
            m_cells.push_back({" " + std::string(bytes), 1, style});
        } else if (m_cells.back().text.size() + bytes.size() <= kMaxCellBytes) {
            m_cells.back().text += bytes;
        }
    }

    const CharacterWidths &m_widths;
    std::vector<Cell> m_cells;
};

} // namespace

CharacterWidths::CharacterWidths() : m_locale(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr))
{
    if (m_locale == nullptr)
        throw Error(ErrorKind::Unsupported, "this system has no C.UTF-8 locale, which the live view needs");
}

CharacterWidths::~CharacterWidths()
{
    ::freelocale(m_locale);
}

int CharacterWidths::columns(char32_t codePoint) const noexcept
{
    static_assert(sizeof(wchar_t) == sizeof(char32_t), "wcwidth takes a code point only where wchar_t holds one");
    const locale_t previous = ::uselocale(m_locale);
    const int columns = ::wcwidth(static_cast<wchar_t>(codePoint));
    ::uselocale(previous);
    return columns;
}

std::vector<Cell> toCells(std::span<const StyledText> texts, const CharacterWidths &widths)
{
    // A character may be spread over several pieces (byte tokens), so the bytes are read as one stream; a character has
    // the style of its first byte.
    std::string bytes;
    for (const StyledText &piece : texts)
        bytes += piece.text;
    CellWriter writer(widths);
    std::size_t piece = 0;
    std::size_t pieceEnd = texts.empty() ? 0 : texts.front().text.size();
    for (std::size_t offset = 0; offset < bytes.size();) {
        while (offset >= pieceEnd)
            pieceEnd += texts[++piece].text.size();
        const std::size_t length = std::max<std::size_t>(1, readUtf8(bytes, offset).length);
        writer.add(std::string_view(bytes).substr(offset, length), texts[piece].style);
        offset += length;
    }
    return writer.take();
}

std::string printable(std::string_view text, const CharacterWidths &widths)
{
    std::string result;
    result.reserve(text.size());
    for (std::size_t offset = 0; offset < text.size();) {
        const Utf8Character character = readUtf8(text, offset);
        const bool isLayout = character.codePoint == U'\n' || character.codePoint == U'\t';
        const bool isSafe = character.length > 0 && (isLayout || widths.columns(character.codePoint) >= 0);
        result += isSafe ? text.substr(offset, character.length) : kUnprintable;
        offset += std::max<std::size_t>(1, character.length);
    }
    return result;
}

} // namespace palimpsest::cli
