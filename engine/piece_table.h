// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// The pieces of a vocabulary, by id and by spelling. Ids may have gaps.
class PieceTable
{
public:
    /// For ids up to `maxId` and at most `pieceCount` pieces.
    PieceTable(TokenId maxId, std::size_t pieceCount);

    enum class Insertion { Done, SpellingTaken, IdTaken };
    /// `spelling` is not empty. Nothing changes unless the result is Done.
    [[nodiscard]] Insertion insert(std::string_view spelling, TokenId id);
    void markSpecial(TokenId id) { m_pieces[static_cast<std::size_t>(id)].special = true; }

    [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(m_pieces.size()); }
    [[nodiscard]] bool contains(TokenId id) const noexcept;
    [[nodiscard]] std::optional<TokenId> find(std::string_view spelling) const noexcept;
    [[nodiscard]] std::string_view spelling(TokenId id) const noexcept;
    /// What the piece stands for: U+2581 is a space, `<0x0A>` is one byte.
    [[nodiscard]] std::string_view bytes(TokenId id) const noexcept;
    [[nodiscard]] bool isByte(TokenId id) const noexcept;
    [[nodiscard]] bool isSpecial(TokenId id) const noexcept;

private:
    struct Slice
    {
        std::uint32_t begin = 0;
        std::uint32_t length = 0;
    };
    struct Piece
    {
        Slice spelling; // length 0 = no such id
        Slice bytes;
        bool byte = false;
        bool special = false;
    };

    [[nodiscard]] std::string_view view(Slice slice) const noexcept
    {
        return std::string_view(m_text).substr(slice.begin, slice.length);
    }
    [[nodiscard]] Slice store(std::string_view text);
    [[nodiscard]] std::size_t slotOf(std::string_view spelling) const noexcept;

    std::string m_text;
    std::vector<Piece> m_pieces;  // by id
    std::vector<TokenId> m_slots; // open addressing by spelling, -1 = free
};

} // namespace palimpsest
