// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/added_tokens.h"

#include <cassert>

namespace palimpsest {

AddedTokenTrie::AddedTokenTrie() : m_nodes(1) {}

void AddedTokenTrie::insert(std::string_view content, TokenId id)
{
    assert(!content.empty());
    const auto addNode = [this](char byte) {
        m_nodes.push_back({.byte = byte});
        return static_cast<std::uint32_t>(m_nodes.size() - 1);
    };
    std::uint32_t &root = m_roots[static_cast<unsigned char>(content.front())];
    if (root == kNone)
        root = addNode(content.front());
    std::uint32_t node = root;
    for (const char byte : content.substr(1)) {
        std::uint32_t child = childOf(node, byte);
        if (child == kNone) {
            child = addNode(byte);
            m_nodes[child].nextSibling = m_nodes[node].firstChild;
            m_nodes[node].firstChild = child;
        }
        node = child;
    }
    m_nodes[node].id = id;
}

std::uint32_t AddedTokenTrie::childOf(std::uint32_t parent, char byte) const noexcept
{
    std::uint32_t child = m_nodes[parent].firstChild;
    while (child != kNone && m_nodes[child].byte != byte)
        child = m_nodes[child].nextSibling;
    return child;
}

AddedTokenTrie::Match AddedTokenTrie::longestAt(std::string_view text, std::size_t begin) const noexcept
{
    Match match;
    std::uint32_t node = m_roots[static_cast<unsigned char>(text[begin])];
    for (std::size_t end = begin + 1; node != kNone; ++end) {
        if (m_nodes[node].id >= 0)
            match = {.id = m_nodes[node].id, .begin = begin, .length = end - begin};
        if (end == text.size())
            break;
        node = childOf(node, text[end]);
    }
    return match;
}

AddedTokenTrie::Match AddedTokenTrie::find(std::string_view text, std::size_t from) const noexcept
{
    for (std::size_t begin = from; begin < text.size(); ++begin) {
        const Match match = longestAt(text, begin);
        if (match.length > 0)
            return match;
    }
    return {.begin = text.size()};
}

} // namespace palimpsest
