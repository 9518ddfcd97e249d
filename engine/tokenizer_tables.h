// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/added_tokens.h"
#include "engine/bpe.h"
#include "engine/piece_table.h"
#include "engine/tokenizer.h"

#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Which characters may ever stand on the two sides of a merge. Where they may not, a word can be cut in two without a
/// change in its tokens: merging then works on a few characters at a time instead of on the whole text.
class JoinTable
{
public:
    explicit JoinTable(std::vector<std::uint64_t> pairs); ///< as packed by `pack`, in any order, with repetitions

    [[nodiscard]] static std::uint64_t pack(char32_t left, char32_t right) noexcept
    {
        return (std::uint64_t{left} << 32U) | right;
    }
    [[nodiscard]] bool mayJoin(char32_t left, char32_t right) const noexcept
    {
        if (left < kAscii && right < kAscii)
            return m_ascii[left * kAscii + right];
        return m_others.find(left, right) != nullptr;
    }

private:
    static constexpr std::size_t kAscii = 128;

    std::bitset<kAscii * kAscii> m_ascii;
    PairTable<std::uint8_t> m_others;
};

/// Everything a tokenizer looks things up in.
struct TokenizerTables
{
    PieceTable pieces;
    MergeTable merges;
    JoinTable joins; ///< a space stands for U+2581
    AddedTokenTrie added;
    std::array<TokenId, 128> asciiPieces{}; ///< -1 = spelled in bytes; a space has the piece of U+2581
    std::array<TokenId, 256> bytePieces{};
};

/// Throws as Tokenizer::parse.
[[nodiscard]] TokenizerTables buildTokenizerTables(std::string_view json, const std::string &path);

/// Appends the tokens of `text`, which is valid UTF-8 of less than 2 GiB; `end` of the spans is not set.
/// Returns the number of merge candidates tried: what the cost is proportional to, beside the length.
std::int64_t encodeText(const TokenizerTables &tables, std::string_view text, SpecialTokens mode,
                        std::vector<TokenSpan> &spans);

} // namespace palimpsest
