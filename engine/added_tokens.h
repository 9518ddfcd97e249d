// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Finds the spellings of added tokens in a text: a trie over bytes.
class AddedTokenTrie
{
public:
    struct Match
    {
        TokenId id = 0;
        std::size_t begin = 0;
        std::size_t length = 0; ///< 0 = nothing found
    };

    AddedTokenTrie();

    /// `content` is not empty.
    void insert(std::string_view content, TokenId id);

    /// The leftmost match at or behind byte `from`; of several that begin there, the longest.
    [[nodiscard]] Match find(std::string_view text, std::size_t from) const noexcept;

private:
    static constexpr std::uint32_t kNone = 0; // node 0 is unused

    struct Node
    {
        char byte = 0;
        TokenId id = -1; // token whose spelling ends here
        std::uint32_t firstChild = kNone;
        std::uint32_t nextSibling = kNone;
    };

    [[nodiscard]] std::uint32_t childOf(std::uint32_t parent, char byte) const noexcept;
    [[nodiscard]] Match longestAt(std::string_view text, std::size_t begin) const noexcept;

    std::array<std::uint32_t, 256> m_roots{}; // by first byte
    std::vector<Node> m_nodes;
};

} // namespace palimpsest
