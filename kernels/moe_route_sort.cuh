// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_workspace.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// The slots in order of their experts: every block counts and ranks its own, the last one to finish places all.
namespace palimpsest::kernels::route {

/// A block's own choices, in order of their slots, and how many there are of each expert in every 32 of them.
struct BlockChoices
{
    static constexpr int kWarps = kBlockSlots / 32;
    std::int32_t experts[kBlockSlots];
    std::uint8_t counts[kWarps][kMostRoutedExperts];

    __device__ void clear()
    {
        for (int i = static_cast<int>(threadIdx.x); i < kWarps * kMostRoutedExperts / 16; i += kChooseThreads)
            reinterpret_cast<uint4 *>(counts)[i] = make_uint4(0, 0, 0, 0);
    }
};

/// What the last block sorts with.
struct SortState
{
    // [blocks][experts]: counts, then how many slots of an expert are in earlier blocks
    std::uint16_t before[kBlocksAtOnce * kMostRoutedExperts];
    std::int32_t next[kMostRoutedExperts]; // where the slots of the next blocks go
    std::int32_t warpTotals[kChooseWarps];
};

/// Leaves this block's counts and ranks for the last block; all threads.
__device__ inline void countChoices(const MoeRouteArgs &args, const Workspace &workspace, BlockChoices &choices)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const int warp = thread / 32;
    const std::int64_t firstSlot = static_cast<std::int64_t>(blockIdx.x) * kChooseWarps * args.slotsPerToken;
    const std::int64_t left = args.tokens * args.slotsPerToken - firstSlot;
    const auto slots = static_cast<int>(min(left, static_cast<std::int64_t>(kChooseWarps) * args.slotsPerToken));
    const int expert = thread < slots ? choices.experts[thread] : -1;
    const unsigned same = __match_any_sync(kWholeWarp, expert);
    int rank = __popc(same & ((1U << static_cast<unsigned>(thread % 32)) - 1U));
    if (expert >= 0 && rank == 0)
        choices.counts[warp][expert] = static_cast<std::uint8_t>(__popc(same));
    __syncthreads();
    if (expert >= 0) {
        for (int earlier = 0; earlier < warp; ++earlier)
            rank += choices.counts[earlier][expert];
        workspace.ranks[firstSlot + thread] = static_cast<std::uint16_t>(rank);
    }
    for (int counted = thread; counted < experts; counted += kChooseThreads) {
        int count = 0;
#pragma unroll
        for (const auto &ofWarp : choices.counts)
            count += ofWarp[counted];
        workspace.counts[static_cast<std::int64_t>(blockIdx.x) * experts + counted] = static_cast<std::uint16_t>(count);
    }
}

/// Sum over all blocks of the counts of an expert; other blocks wrote them: past the first-level cache.
__device__ inline int countOf(const MoeRouteArgs &args, const Workspace &workspace, int expert)
{
    int total = 0;
#pragma unroll 16
    for (unsigned block = 0; block < gridDim.x; ++block)
        total += __ldcg(workspace.counts + static_cast<std::int64_t>(block) * args.experts + expert);
    return total;
}

/// Where each expert's slots begin; all threads, experts <= threads, `total` of the thread's expert.
__device__ inline void placeExperts(const MoeRouteArgs &args, SortState &state, int total)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const int warp = thread / 32;
    const int inclusive = warpPrefix(total);
    if (thread % 32 == 31)
        state.warpTotals[warp] = inclusive;
    __syncthreads();
    int place = inclusive - total;
    for (int w = 0; w < warp; ++w)
        place += state.warpTotals[w];
    if (thread < experts) {
        state.next[thread] = place;
        args.expertOffsets[thread] = place;
        if (thread == experts - 1)
            args.expertOffsets[experts] = place + total;
    }
}

/// Some of the slots to be placed, kPerThread a thread: loads first, so that one latency is waited for.
struct SlotBatch
{
    static constexpr int kPerThread = 16;
    static constexpr int kSlots = kPerThread * kChooseThreads;
    std::int32_t experts[kPerThread];
    int ranks[kPerThread];

    __device__ void load(const MoeRouteArgs &args, const Workspace &workspace, std::int64_t firstSlot, int count)
    {
#pragma unroll
        for (int k = 0; k < kPerThread; ++k) {
            const int i = static_cast<int>(threadIdx.x) + k * kChooseThreads;
            experts[k] = i < count ? __ldcg(args.expertIds + firstSlot + i) : -1;
            ranks[k] = i < count ? __ldcg(workspace.ranks + firstSlot + i) : 0;
        }
    }

    /// `firstOfChunk`: the first of these slots among those of the blocks that `state` counts.
    __device__ void place(const MoeRouteArgs &args, const SortState &state, std::int64_t firstSlot,
                          int firstOfChunk) const
    {
        const auto slotsOfBlock = static_cast<unsigned>(args.slotsPerToken) * kChooseWarps;
#pragma unroll
        for (int k = 0; k < kPerThread; ++k) {
            if (experts[k] < 0)
                continue;
            const auto i = threadIdx.x + static_cast<unsigned>(k * kChooseThreads);
            const unsigned block = (static_cast<unsigned>(firstOfChunk) + i) / slotsOfBlock;
            const int before = state.before[block * static_cast<unsigned>(args.experts) + experts[k]];
            args.slots[state.next[experts[k]] + before + ranks[k]] = static_cast<std::int32_t>(firstSlot + i);
        }
    }
};

/// Turns an expert's counts in some blocks into those of the blocks before each; returns their sum.
__device__ inline int scanBlocks(SortState &state, int blocks, int experts, int expert)
{
    constexpr int kAtOnce = 16;
    int sum = 0;
    for (int first = 0; first < blocks; first += kAtOnce) {
        int counts[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i)
            counts[i] = first + i < blocks ? state.before[(first + i) * experts + expert] : 0;
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (first + i < blocks)
                state.before[(first + i) * experts + expert] = static_cast<std::uint16_t>(sum);
            sum += counts[i];
        }
    }
    return sum;
}

/// Stable counting sort of the slots by expert; one block, some blocks' slots at a time.
__device__ inline void sortSlots(const MoeRouteArgs &args, const Workspace &workspace, SortState &state)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const auto slotsOfBlock = static_cast<int>(args.slotsPerToken) * kChooseWarps;
    const std::int64_t slots = args.tokens * args.slotsPerToken;
    const auto allBlocks = static_cast<int>(gridDim.x);
    for (int firstBlock = 0; firstBlock < allBlocks; firstBlock += kBlocksAtOnce) {
        const int blocks = min(kBlocksAtOnce, allBlocks - firstBlock);
        const std::int64_t firstSlot = static_cast<std::int64_t>(firstBlock) * slotsOfBlock;
        const auto count = static_cast<int>(min(slots - firstSlot, static_cast<std::int64_t>(blocks) * slotsOfBlock));
#pragma unroll 16
        for (int i = thread; i < blocks * experts; i += kChooseThreads)
            state.before[i] = __ldcg(workspace.counts + static_cast<std::int64_t>(firstBlock) * experts + i);
        SlotBatch batch;
        batch.load(args, workspace, firstSlot, count);
        __syncthreads();
        const int sum = thread < experts ? scanBlocks(state, blocks, experts, thread) : 0;
        if (firstBlock == 0) {
            const bool isAll = blocks == allBlocks;
            placeExperts(args, state, isAll || thread >= experts ? sum : countOf(args, workspace, thread));
        }
        __syncthreads();
        batch.place(args, state, firstSlot, 0);
        for (int first = SlotBatch::kSlots; first < count; first += SlotBatch::kSlots) {
            batch.load(args, workspace, firstSlot + first, count - first);
            batch.place(args, state, firstSlot + first, first);
        }
        __syncthreads();
        if (thread < experts)
            state.next[thread] += sum;
    }
}

} // namespace palimpsest::kernels::route
