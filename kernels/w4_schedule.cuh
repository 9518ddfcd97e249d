// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

// How the work of a W4 product (w4_product.cuh) is dealt to a persistent grid: items of an expert, some of its weights'
// rows and some of its tokens, in an order that follows from the experts' sizes alone.

#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"
#include "kernels/w4_product.h"

#include <cstdint>

namespace palimpsest::kernels::w4 {

/// Lies in shared memory, hence without initial values.
struct Item
{
    int expert;
    int firstBlock;
    int blocks; // <= warps
    int firstPosition;
    int tokens;         // 0: no such item
    bool sharesWeights; // with the expert's other token tiles
};

constexpr int kListedItems = 32;

/// The experts in order of falling size of their items, in shared memory: where their positions begin, how many they
/// are, and how many token tiles all before them have; and this block's first items, which all its warps ask for.
struct Schedule
{
    Item items[kListedItems];
    std::int32_t expert[kMaxExperts];
    std::int32_t position[kMaxExperts];
    std::int32_t count[kMaxExperts];
    std::int32_t tile[kMaxExperts + 1];
};

__device__ inline int tokenTiles(const Problem &problem, int tokens)
{
    return (tokens + problem.tileTokens - 1) / problem.tileTokens;
}

/// Tokens of an expert's items: even shares, whole matrix tiles.
__device__ inline int tokensOfItem(const Problem &problem, int tokens)
{
    const int tiles = max(1, tokenTiles(problem, tokens));
    return ((tokens + tiles - 1) / tiles + 7) / 8 * 8;
}

/// Ranks the experts; `tile` serves for their unsorted items' sizes. All threads of the block; ends with a barrier.
__device__ inline void rankExperts(Schedule &schedule, const Problem &problem)
{
    const auto first = static_cast<int>(threadIdx.x);
    const auto step = static_cast<int>(blockDim.x);
    const auto begin = [&](int e) {
        return problem.expertOffsets != nullptr ? problem.expertOffsets[e] : e * problem.positions;
    };
    for (int e = first; e < problem.experts; e += step)
        schedule.tile[e] = tokensOfItem(problem, begin(e + 1) - begin(e));
    __syncthreads();
    for (int e = first; e < problem.experts; e += step) {
        const int size = schedule.tile[e];
        int rank = 0;
        for (int other = 0; other < problem.experts; ++other)
            rank += schedule.tile[other] > size || (schedule.tile[other] == size && other < e) ? 1 : 0;
        schedule.expert[rank] = e;
        schedule.position[rank] = begin(e);
        schedule.count[rank] = begin(e + 1) - begin(e);
    }
    __syncthreads();
}

/// Adds up the ranked experts' tiles. All threads of the block; ends with a barrier.
__device__ inline void placeTiles(Schedule &schedule, const Problem &problem)
{
    if (threadIdx.x < 32) {
        const int lane = static_cast<int>(threadIdx.x);
        int total = 0;
        for (int first = 0; first < problem.experts; first += 32) {
            const int rank = first + lane;
            const int sum = warpPrefix(rank < problem.experts ? tokenTiles(problem, schedule.count[rank]) : 0);
            if (rank < problem.experts)
                schedule.tile[rank + 1] = total + sum;
            total += __shfl_sync(kWholeWarp, sum, 31);
        }
        if (lane == 0)
            schedule.tile[0] = 0;
    }
    __syncthreads();
}

/// This block's item of a round: largest experts first, every other round backwards, so that a block whose item is
/// among the largest of one round gets one of the smallest of the next; row tiles with fewer blocks than the others
/// come last of all. In order of expert, row tile, token tile: the tiles that share weights are neighbours in time, so
/// all but the first find them in the second-level cache.
__device__ inline Item findItem(const Schedule &schedule, const Problem &problem, int round)
{
    const auto grid = static_cast<int>(gridDim.x);
    const auto block = static_cast<int>(blockIdx.x);
    int index = round * grid + (round % 2 == 0 ? block : grid - 1 - block);
    int rowTiles = problem.rowBlocks / problem.warps; // of the experts at `index`
    int firstBlock = 0;
    if (index >= schedule.tile[problem.experts] * rowTiles) {
        index -= schedule.tile[problem.experts] * rowTiles;
        firstBlock = rowTiles * problem.warps;
        rowTiles = 1;
        if (firstBlock == problem.rowBlocks || index >= schedule.tile[problem.experts])
            return {};
    }
    int low = 0; // the last rank whose items begin at or before index
    int high = problem.experts - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (schedule.tile[middle] * rowTiles <= index)
            low = middle;
        else
            high = middle - 1;
    }
    const int tiles = schedule.tile[low + 1] - schedule.tile[low];
    const int local = index - schedule.tile[low] * rowTiles;
    const int count = schedule.count[low];
    const int perTile = tokensOfItem(problem, count);
    const int firstToken = local % tiles * perTile;
    Item item;
    item.expert = schedule.expert[low];
    item.firstBlock = firstBlock + local / tiles * problem.warps;
    item.blocks = min(problem.warps, problem.rowBlocks - item.firstBlock);
    item.firstPosition = schedule.position[low] + firstToken;
    item.tokens = min(perTile, count - firstToken);
    item.sharesWeights = tiles > 1;
    return item;
}

/// All threads of the block; ends with a barrier.
__device__ inline void buildSchedule(Schedule &schedule, const Problem &problem)
{
    rankExperts(schedule, problem);
    placeTiles(schedule, problem);
    if (threadIdx.x < kListedItems)
        schedule.items[threadIdx.x] = findItem(schedule, problem, static_cast<int>(threadIdx.x));
    __syncthreads();
}

/// findItem(), looked up where it is listed; for whole warps.
__device__ inline Item itemOfRound(const Schedule &schedule, const Problem &problem, int round)
{
    Item item = round < kListedItems ? schedule.items[round] : findItem(schedule, problem, round);
    item.tokens = ptx::uniform(item.tokens);
    item.blocks = ptx::uniform(item.blocks);
    return item;
}

} // namespace palimpsest::kernels::w4
