// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_parts.cuh"
#include "kernels/bulk_copy.cuh"
#include "kernels/ptx.cuh"
#include "kernels/ptx_sm90.cuh"
#include "kernels/ring_place.cuh"

#include <cuda.h>

#include <cstdint>

/// Shapes of the attention kernels on compute capability 9.0, their shared memory, and the thread that fills it.
///
/// Pages of 64 keys and values arrive through a ring of slots, in boxes of 64 columns:
///
///     keys 0 | keys 1 | values 0 | keys 2 | values 1 | ... | values n - 1
///
/// Blocks of neighbouring heads with the same keys form a cluster: each fetches its share of every slot for all.
/// Without that the second-level cache (9 TB/s here; 16 in clusters of two) cannot keep up with heads of 512 columns.
namespace palimpsest::kernels {

inline constexpr int kTileQueries = 64;
inline constexpr int kBoxBytes = 64 * 128; ///< of 64 rows
inline constexpr int kMostSharedBytes = 227 * 1024;

/// Up to 256 columns, see QueryTile. kD: head size rounded up to 64, 128 or 256; what lies behind the head size reads
/// as zero. Where queries are few, two blocks compute half of the output's columns each, and both all scores; where
/// they are many, a block's two warpgroups take 64 queries each and share what is fetched. None of this changes the
/// order in which a row's numbers are added.
template <int kHeadDim, int kTilesOfQueries = 1, int kBlocksOfColumns = 1>
struct NarrowShape
{
    static constexpr bool kWide = false;
    static constexpr int kD = kHeadDim;
    static constexpr int kTiles = kTilesOfQueries;         ///< of 64 queries in a block, a warpgroup each
    static constexpr int kColumnBlocks = kBlocksOfColumns; ///< blocks that share the output's columns
    static constexpr int kQueries = kTiles * kTileQueries;
    static constexpr int kColumns = kD / kColumnBlocks; ///< of the output, for a warpgroup
    static constexpr int kKeyBoxes = kD / 64;
    static constexpr int kValueBoxes = kColumns / 64;
    static constexpr int kValueRows = 64; ///< of a box
    static constexpr int kQueryBytes = kKeyBoxes * kBoxBytes;
    static constexpr int kSlotBytes = kKeyBoxes * kBoxBytes;
    static constexpr int kSlots = 5;
    static constexpr int kWeightBytes = 0;
    static constexpr int kBarriers = 1 + 2 * kSlots;
    // One producer warp; beside two warpgroups a whole one, which hands its registers to them.
    static constexpr int kThreads = kTiles * 128 + (kTiles == 2 ? 128 : 32);
    static constexpr int kConsumers = kTiles;                    ///< warpgroups that release a slot
    static constexpr int kMostCluster = kValueBoxes < 2 ? 1 : 2; ///< each fetches whole boxes
    static constexpr int kSharedBytes = 1024 + kTiles * kQueryBytes + kSlots * kSlotBytes + kBarriers * 8;
    static_assert(kTiles <= 2 && kSharedBytes <= kMostSharedBytes);
};

/// Up to 512 columns, see WideScores. Slots are quarters of a page, as two pages do not fit: keys of 128 columns, and
/// values of 32 positions for one of two warpgroups.
template <int kBlocksOfColumns = 1>
struct WideShape
{
    static constexpr bool kWide = true;
    static constexpr int kD = 512;
    static constexpr int kTiles = 1;
    static constexpr int kColumnBlocks = kBlocksOfColumns;
    static constexpr int kQueries = kTileQueries;
    static constexpr int kColumns = kD / 2 / kColumnBlocks;
    static constexpr int kKeyBoxes = 2;
    static constexpr int kValueBoxes = kColumns / 64;
    static constexpr int kValueRows = 32;
    static constexpr int kQueryBytes = kD / 64 * kBoxBytes;
    static constexpr int kSlotBytes = kKeyBoxes * kBoxBytes;
    static constexpr int kSlots = 9;
    static constexpr int kWeightStages = 2;
    static constexpr int kWeightTileBytes = kBoxBytes; ///< [64 queries][64 keys]
    static constexpr int kRowBytes = kTileQueries * 4; ///< one number of each query
    static constexpr int kWeightBytes = kWeightStages * (kWeightTileBytes + kRowBytes) + 2 * kRowBytes;
    static constexpr int kBarriers = 1 + 2 * kSlots + 2 * kWeightStages;
    static constexpr int kThreads = 4 * 128; ///< two warpgroups for values, one for scores, one that fetches
    static constexpr int kConsumers = 1;
    static constexpr int kMostCluster = 2; // of four too few fit: 30 where 32 are needed
    static constexpr int kSharedBytes =
        1024 + kTiles * kQueryBytes + kSlots * kSlotBytes + kWeightBytes + kBarriers * 8;
    static_assert(kSharedBytes <= kMostSharedBytes);
};

/// Tensor maps: [rows of 64 positions, headDim] of each pool, and of the queries.
struct AttentionMaps
{
    CUtensorMap queries;
    CUtensorMap cacheKeys;
    CUtensorMap cacheValues;
    CUtensorMap scratchKeys;
    CUtensorMap scratchValues;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Where one page lies, and which of its slots count.
struct PageSpan
{
    bool cached;
    int mapRow;   ///< first row of its keys in the pool's map
    int first;    ///< position of slot 0
    int validEnd; ///< slots at or behind it hold nothing
};

/// What a block computes: blocks of neighbouring heads are neighbours in the grid.
template <typename Shape>
struct BlockPlace
{
    int head;
    int kvHead;
    int columnBlock;
    int tile; ///< of Shape::kQueries queries

    __device__ BlockPlace(std::int64_t heads, std::int64_t kvHeads)
    {
        const auto count = static_cast<int>(heads);
        const int rest = static_cast<int>(blockIdx.x) / count;
        head = static_cast<int>(blockIdx.x) - rest * count;
        kvHead = head / (count / static_cast<int>(kvHeads));
        columnBlock = rest % Shape::kColumnBlocks;
        tile = rest / Shape::kColumnBlocks;
    }
};

template <typename Shape>
struct Shared
{
    std::uint32_t base;
    int cluster; ///< blocks that fetch together

    __device__ std::uint32_t queries(int tile) const
    {
        return base + static_cast<std::uint32_t>(tile) * Shape::kQueryBytes;
    }
    __device__ std::uint32_t slot(int slot) const
    {
        return queries(Shape::kTiles) + static_cast<std::uint32_t>(slot) * Shape::kSlotBytes;
    }
    __device__ std::uint32_t weights() const { return slot(Shape::kSlots); }
    __device__ std::uint32_t barrier(int index) const
    {
        return weights() + Shape::kWeightBytes + static_cast<std::uint32_t>(index) * 8U;
    }
    __device__ std::uint32_t queriesFull() const { return barrier(0); }
    __device__ std::uint32_t full(int slot) const { return barrier(1 + slot); }
    __device__ std::uint32_t empty(int slot) const { return barrier(1 + Shape::kSlots + slot); }

    /// By one warpgroup: all that it read of the slot it has multiplied.
    __device__ void release(int slot) const
    {
        if (threadIdx.x % 128 >= static_cast<unsigned>(cluster))
            return;
        if (cluster == 1)
            ptx::barrierArrive(empty(slot));
        else
            ptx::barrierArriveAt(empty(slot), threadIdx.x % 128);
    }
};

/// Aligns the block's shared memory and prepares the barriers of its ring, those of the whole cluster.
template <typename Shape>
__device__ Shared<Shape> prepareShared(const AttentionMaps &maps, int cluster)
{
    extern __shared__ std::uint8_t memory[];
    const Shared<Shape> shared{(ptx::sharedAddress(memory) + 1023U) & ~1023U, cluster};
    if (threadIdx.x == 0) {
        ptx::barrierInit(shared.queriesFull(), 1);
        for (int slot = 0; slot < Shape::kSlots; ++slot) {
            ptx::barrierInit(shared.full(slot), 1);
            ptx::barrierInit(shared.empty(slot), static_cast<std::uint32_t>(Shape::kConsumers * cluster));
        }
        if constexpr (Shape::kWide)
            for (int stage = 0; stage < Shape::kWeightStages; ++stage) {
                ptx::barrierInit(shared.barrier(1 + 2 * Shape::kSlots + stage), 128); // full
                ptx::barrierInit(shared.barrier(1 + 2 * Shape::kSlots + Shape::kWeightStages + stage),
                                 2 * 128); // empty
            }
        ptx::barrierInitFence();
    } else if (threadIdx.x == 32) {
        ptx::prefetchTensorMap(&maps.queries);
        ptx::prefetchTensorMap(&maps.cacheKeys);
        ptx::prefetchTensorMap(&maps.cacheValues);
        ptx::prefetchTensorMap(&maps.scratchKeys);
        ptx::prefetchTensorMap(&maps.scratchValues);
    }
    __syncthreads();
    if (cluster > 1)
        ptx::clusterBarrier();
    return shared;
}

/// Fills the ring. One thread does all of it.
template <typename Shape>
class Feed
{
public:
    __device__ Feed(const AttentionMaps &maps, Shared<Shape> shared, int columnBlock)
        : m_maps(maps),
          m_shared(shared),
          m_columnBlock(columnBlock),
          m_rank(shared.cluster > 1 ? static_cast<int>(ptx::clusterRank()) : 0)
    {
    }

    __device__ void fetchQueries(int column, int row) const
    {
        const std::uint32_t full = m_shared.queriesFull();
        ptx::barrierExpect(full, Shape::kTiles * Shape::kQueryBytes);
        for (int tile = 0; tile < Shape::kTiles; ++tile)
            for (int box = 0; box < Shape::kD / 64; ++box)
                ptx::copyBox2(m_shared.queries(tile) + static_cast<std::uint32_t>(box) * kBoxBytes, &m_maps.queries,
                              full, column + box * 64, row + tile * kTileQueries);
    }

    template <typename PageAt>
    __device__ void fetchPages(int pages, PageAt pageAt)
    {
        PageSpan previous{};
        for (int i = 0; i < pages; ++i) {
            const PageSpan page = pageAt(i);
            const CUtensorMap &keys = page.cached ? m_maps.cacheKeys : m_maps.scratchKeys;
            for (int column = 0; column < Shape::kD; column += Shape::kKeyBoxes * 64)
                fetchSlot<Shape::kKeyBoxes, 64>(keys, column, page.mapRow);
            if (i > 0)
                fetchValues(previous);
            previous = page;
        }
        fetchValues(previous);
    }

private:
    __device__ void fetchValues(const PageSpan &page)
    {
        constexpr int kGroups = Shape::kWide ? 2 : 1;
        const CUtensorMap &values = page.cached ? m_maps.cacheValues : m_maps.scratchValues;
        for (int row = 0; row < kPage; row += Shape::kValueRows)
            for (int group = 0; group < kGroups; ++group)
                fetchSlot<Shape::kValueBoxes, Shape::kValueRows>(
                    values, (m_columnBlock * kGroups + group) * Shape::kColumns, page.mapRow + row);
    }

    template <int kBoxes, int kRows>
    __device__ void fetchSlot(const CUtensorMap &map, int firstColumn, int row)
    {
        constexpr std::uint32_t kBytes = kRows * 128;
        const int share = kBoxes / m_shared.cluster;
        const auto everyone = static_cast<std::uint16_t>((1U << static_cast<unsigned>(m_shared.cluster)) - 1U);
        const std::uint32_t full = m_shared.full(m_place.slot);
        ptx::barrierWait(m_shared.empty(m_place.slot), m_place.parity ^ 1U);
        ptx::barrierExpect(full, kBoxes * kBytes);
        for (int box = m_rank * share; box < (m_rank + 1) * share; ++box) {
            const std::uint32_t target = m_shared.slot(m_place.slot) + static_cast<std::uint32_t>(box) * kBytes;
            if (m_shared.cluster == 1)
                ptx::copyBox2(target, &map, full, firstColumn + box * 64, row);
            else
                ptx::copyBox2Multicast(target, &map, full, everyone, firstColumn + box * 64, row);
        }
        m_place.advance();
    }

    const AttentionMaps &m_maps;
    Shared<Shape> m_shared;
    SlotPlace<Shape::kSlots> m_place;
    int m_columnBlock;
    int m_rank;
};

#endif

} // namespace palimpsest::kernels
