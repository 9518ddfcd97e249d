// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace palimpsest {

/// A hash table from two 32-bit numbers to a small value: open addressing, since half a million merges looked up for
/// every character must not cost a node and a pointer each.
template <typename Value>
class PairTable
{
public:
    explicit PairTable(std::size_t expectedSize = 0)
    {
        while ((std::size_t{1} << m_bits) < 2 * expectedSize)
            ++m_bits;
        m_slots.resize(std::size_t{1} << m_bits);
    }

    /// A pair that is there already takes the new value. At most `expectedSize` different pairs.
    void insert(std::uint32_t first, std::uint32_t second, Value value)
    {
        const std::uint64_t key = keyOf(first, second);
        std::size_t index = home(key);
        while (m_slots[index].key != kEmpty && m_slots[index].key != key)
            index = (index + 1) & (m_slots.size() - 1);
        m_slots[index] = {key, value};
    }

    [[nodiscard]] const Value *find(std::uint32_t first, std::uint32_t second) const noexcept
    {
        const std::uint64_t key = keyOf(first, second);
        for (std::size_t index = home(key); m_slots[index].key != kEmpty; index = (index + 1) & (m_slots.size() - 1)) {
            if (m_slots[index].key == key)
                return &m_slots[index].value;
        }
        return nullptr;
    }

private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0}; // ids and code points stay far below 2^32 - 1

    struct Slot
    {
        std::uint64_t key = kEmpty;
        Value value{};
    };

    static std::uint64_t keyOf(std::uint32_t first, std::uint32_t second) noexcept
    {
        return (std::uint64_t{first} << 32U) | second;
    }
    [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept
    {
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> (64U - m_bits));
    }

    unsigned m_bits = 1;
    std::vector<Slot> m_slots;
};

/// What two neighbouring pieces become; a lower rank goes first.
struct Merge
{
    std::uint32_t rank = 0;
    TokenId merged = 0;
};

using MergeTable = PairTable<Merge>;

/// Merges the pieces of one word: always the pair of lowest rank, of equal pairs the leftmost, until none is left.
///
/// A heap of candidate pairs over a linked list of pieces, so n characters cost O(n log n) whatever they are. Keeps its
/// memory from word to word; one thread at a time.
class BpeWord
{
public:
    struct Piece
    {
        TokenId id = 0;
        std::int64_t begin = 0; ///< where its text begins, as given to append
    };

    explicit BpeWord(const MergeTable &merges) : m_merges(merges) {}

    void clear() noexcept { m_links.clear(); }
    [[nodiscard]] bool empty() const noexcept { return m_links.empty(); }
    /// One character's piece, behind those appended before. At most 2^31 in a word.
    void append(TokenId id, std::int64_t begin);
    void merge();

    /// Calls `visit(Piece)` for what is left, in order.
    template <typename Visit>
    void forEach(Visit visit) const
    {
        for (std::uint32_t i = 0; i < m_links.size(); i = m_links[i].next)
            visit(m_links[i].piece);
    }

    /// Candidates taken from the heap since construction: what the cost is proportional to.
    [[nodiscard]] std::int64_t candidatesTried() const noexcept { return m_candidatesTried; }

private:
    static constexpr std::uint32_t kNoRank = 0xFFFFFFFFU;

    struct Link
    {
        Piece piece;
        std::uint32_t previous = 0;
        std::uint32_t next = 0;       // size() behind the last
        std::uint32_t rank = kNoRank; // of the merge with the next piece; none also once swallowed
        TokenId merged = 0;           // what that merge gives
    };

    void findCandidate(std::uint32_t left);
    void push(std::uint32_t left);
    void join(std::uint32_t left);

    const MergeTable &m_merges;
    std::vector<Link> m_links;
    std::vector<std::uint64_t> m_heap; // rank in the high half, position in the low: smallest first
    std::int64_t m_candidatesTried = 0;
};

} // namespace palimpsest
