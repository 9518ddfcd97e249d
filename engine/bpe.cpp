// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/bpe.h"

#include <algorithm>
#include <cassert>
#include <functional>

namespace palimpsest {

void BpeWord::append(TokenId id, std::int64_t begin)
{
    const auto index = static_cast<std::uint32_t>(m_links.size());
    assert(index < 0x80000000U);
    m_links.push_back({.piece = {.id = id, .begin = begin}, .previous = index - 1, .next = index + 1});
}

void BpeWord::merge()
{
    if (m_links.size() < 2)
        return;
    m_heap.clear();
    for (std::uint32_t left = 0; left + 1 < m_links.size(); ++left) {
        findCandidate(left);
        if (m_links[left].rank != kNoRank)
            m_heap.push_back((std::uint64_t{m_links[left].rank} << 32U) | left);
    }
    std::ranges::make_heap(m_heap, std::greater{});
    while (!m_heap.empty()) {
        std::ranges::pop_heap(m_heap, std::greater{});
        const std::uint64_t candidate = m_heap.back();
        m_heap.pop_back();
        ++m_candidatesTried;
        const auto left = static_cast<std::uint32_t>(candidate);
        if (m_links[left].rank == candidate >> 32U) // else its pieces have changed meanwhile
            join(left);
    }
}

void BpeWord::findCandidate(std::uint32_t left)
{
    Link &link = m_links[left];
    link.rank = kNoRank;
    if (link.next == m_links.size())
        return;
    const Merge *merge = m_merges.find(static_cast<std::uint32_t>(link.piece.id),
                                       static_cast<std::uint32_t>(m_links[link.next].piece.id));
    if (merge) {
        link.rank = merge->rank;
        link.merged = merge->merged;
    }
}

void BpeWord::push(std::uint32_t left)
{
    findCandidate(left);
    if (m_links[left].rank == kNoRank)
        return;
    m_heap.push_back((std::uint64_t{m_links[left].rank} << 32U) | left);
    std::ranges::push_heap(m_heap, std::greater{});
}

void BpeWord::join(std::uint32_t left)
{
    Link &link = m_links[left];
    const std::uint32_t swallowed = link.next;
    link.piece.id = link.merged;
    link.next = m_links[swallowed].next;
    m_links[swallowed].rank = kNoRank;
    if (link.next < m_links.size())
        m_links[link.next].previous = left;
    push(left);
    if (left > 0)
        push(link.previous);
}

} // namespace palimpsest
