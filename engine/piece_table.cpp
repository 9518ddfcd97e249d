// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/piece_table.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <functional>

namespace palimpsest {

namespace {

constexpr std::string_view kSpaceMark = "\u2581";

/// The byte that `<0x41>` names; nothing for any other spelling.
std::optional<std::uint8_t> namedByte(std::string_view spelling)
{
    if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling.back() != '>')
        return std::nullopt;
    std::uint8_t value = 0;
    const char *end = spelling.data() + 5;
    const auto result = std::from_chars(spelling.data() + 3, end, value, 16);
    return result.ec == std::errc() && result.ptr == end ? std::optional(value) : std::nullopt;
}

std::string withSpaces(std::string_view spelling)
{
    std::string text;
    for (std::size_t mark = 0; !spelling.empty(); spelling.remove_prefix(mark)) {
        mark = spelling.find(kSpaceMark);
        text += spelling.substr(0, mark);
        if (mark == std::string_view::npos)
            break;
        text += ' ';
        mark += kSpaceMark.size();
    }
    return text;
}

} // namespace

PieceTable::PieceTable(TokenId maxId, std::size_t pieceCount)
    : m_pieces(static_cast<std::size_t>(maxId) + 1), m_slots(std::bit_ceil(2 * pieceCount + 1), -1)
{
}

PieceTable::Slice PieceTable::store(std::string_view text)
{
    const Slice slice{static_cast<std::uint32_t>(m_text.size()), static_cast<std::uint32_t>(text.size())};
    m_text += text;
    return slice;
}

std::size_t PieceTable::slotOf(std::string_view spelling) const noexcept
{
    std::size_t slot = std::hash<std::string_view>{}(spelling) & (m_slots.size() - 1);
    while (m_slots[slot] >= 0 && this->spelling(m_slots[slot]) != spelling)
        slot = (slot + 1) & (m_slots.size() - 1);
    return slot;
}

PieceTable::Insertion PieceTable::insert(std::string_view spelling, TokenId id)
{
    Piece &piece = m_pieces[static_cast<std::size_t>(id)];
    if (piece.spelling.length > 0)
        return Insertion::IdTaken;
    TokenId &slot = m_slots[slotOf(spelling)];
    if (slot >= 0)
        return Insertion::SpellingTaken;
    piece.spelling = store(spelling);
    piece.bytes = piece.spelling;
    if (const std::optional<std::uint8_t> byte = namedByte(spelling)) {
        const char character = static_cast<char>(*byte);
        piece.bytes = store({&character, 1});
        piece.byte = true;
    } else if (spelling.find(kSpaceMark) != std::string_view::npos) {
        piece.bytes = store(withSpaces(spelling));
    }
    slot = id;
    return Insertion::Done;
}

bool PieceTable::contains(TokenId id) const noexcept
{
    return id >= 0 && id < size() && m_pieces[static_cast<std::size_t>(id)].spelling.length > 0;
}

std::optional<TokenId> PieceTable::find(std::string_view spelling) const noexcept
{
    const TokenId id = m_slots[slotOf(spelling)];
    return id >= 0 ? std::optional(id) : std::nullopt;
}

std::string_view PieceTable::spelling(TokenId id) const noexcept
{
    return contains(id) ? view(m_pieces[static_cast<std::size_t>(id)].spelling) : std::string_view();
}

std::string_view PieceTable::bytes(TokenId id) const noexcept
{
    return contains(id) ? view(m_pieces[static_cast<std::size_t>(id)].bytes) : std::string_view();
}

bool PieceTable::isByte(TokenId id) const noexcept
{
    return contains(id) && m_pieces[static_cast<std::size_t>(id)].byte;
}

bool PieceTable::isSpecial(TokenId id) const noexcept
{
    return contains(id) && m_pieces[static_cast<std::size_t>(id)].special;
}

} // namespace palimpsest
