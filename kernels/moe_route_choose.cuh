// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_workspace.cuh"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

#include <cmath>
#include <cstdint>

/// The second launch of moeRoute(): each token's experts, and the slots in order of their experts.
namespace palimpsest::kernels::route {

/// Softmax over one token's logits, expert = lane + 32 i; beyond the last expert the probability is -1.
template <int kExpertsPerLane>
__device__ void probabilitiesOf(float (&values)[kExpertsPerLane], const MoeRouteArgs &args, const Workspace &workspace,
                                int parts, std::int64_t token, int lane)
{
    float squares = 0.0F;
    for (int first = 0; first < parts; first += 32) {
        const int mine = first + lane;
        const float part = mine < parts ? workspace.squares[mine * args.tokens + token] : 0.0F;
        for (int i = 0; i < min(32, parts - first); ++i)
            squares += __shfl_sync(kWholeWarp, part, i);
    }
#pragma unroll
    for (float &value : values)
        value = 0.0F;
    const float *logits = workspace.logits + token * args.experts + lane;
    const std::int64_t partStride = args.tokens * args.experts;
    constexpr int kPartsAtOnce = 12; // the latency of their loads is what this takes
    for (int first = 0; first < parts; first += kPartsAtOnce) {
        float loaded[kPartsAtOnce][kExpertsPerLane];
#pragma unroll
        for (int part = 0; part < kPartsAtOnce; ++part)
#pragma unroll
            for (int i = 0; i < kExpertsPerLane; ++i)
                loaded[part][i] = first + part < parts && lane + 32 * i < args.experts
                                      ? logits[(first + part) * partStride + 32 * i]
                                      : 0.0F;
#pragma unroll
        for (int part = 0; part < kPartsAtOnce; ++part)
#pragma unroll
            for (int i = 0; i < kExpertsPerLane; ++i)
                values[i] += loaded[part][i];
    }
    const auto hidden = static_cast<float>(args.hidden);
    const float factor = 1.0F / sqrtf(squares / hidden + args.epsilon) / sqrtf(hidden);
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i) {
        values[i] = lane + 32 * i < args.experts ? values[i] * factor : -INFINITY;
        largest = fmaxf(largest, values[i]);
    }
    largest = warpMaximum(largest);
    float total = 0.0F;
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i) {
        values[i] = lane + 32 * i < args.experts ? expf(values[i] - largest) : 0.0F;
        total += values[i];
    }
    total = warpSum(total);
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i)
        values[i] = lane + 32 * i < args.experts ? values[i] / total : -1.0F;
}

/// Takes the most probable expert, of equal ones the lowest, out of `values`.
template <int kExpertsPerLane>
__device__ void takeLargest(float (&values)[kExpertsPerLane], int lane, float &probability, int &expert)
{
    float best = -2.0F;
    int mine = 0;
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i)
        if (values[i] > best) {
            best = values[i];
            mine = lane + 32 * i;
        }
    // Probabilities are not negative, so their bits are in their order; taken ones and places beyond the last become 0.
    const unsigned bits = best >= 0.0F ? __float_as_uint(best) : 0U;
    const unsigned largest = __reduce_max_sync(kWholeWarp, bits);
    const bool isCandidate = best >= 0.0F && bits == largest;
    expert = static_cast<int>(__reduce_min_sync(kWholeWarp, isCandidate ? static_cast<unsigned>(mine) : ~0U));
    probability = __uint_as_float(largest);
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i)
        if (lane + 32 * i == expert)
            values[i] = -2.0F;
}

/// The whole warp; lane j gets choice j, the others keep what is in `chosen`.
template <int kExpertsPerLane>
__device__ void chooseExperts(const MoeRouteArgs &args, const Workspace &workspace, int parts, std::int64_t token,
                              int lane, std::int32_t &chosen)
{
    float values[kExpertsPerLane];
    probabilitiesOf<kExpertsPerLane>(values, args, workspace, parts, token, lane);
    const auto choices = static_cast<int>(args.slotsPerToken);
    float total = 0.0F;
    float mine = 0.0F;
    int myExpert = 0;
    for (int j = 0; j < choices; ++j) {
        float probability = 0.0F;
        int expert = 0;
        takeLargest(values, lane, probability, expert);
        total += probability;
        if (lane == j) {
            mine = probability;
            myExpert = expert;
        }
    }
    if (lane < choices) {
        args.expertIds[token * choices + lane] = myExpert;
        chosen = myExpert;
        args.slotWeights[token * choices + lane] = mine / total * args.perExpertScale[myExpert];
    }
}

/// A block's own choices, in order of their slots, and how many there are of each expert.
struct BlockChoices
{
    std::int32_t experts[kBlockSlots];
    unsigned counts[kMostRoutedExperts];
};

/// What the last block sorts with.
struct SortState
{
    std::uint16_t before[kBlocksAtOnce][kMostRoutedExperts]; // counts, then the slots of an expert in earlier blocks
    std::int32_t next[kMostRoutedExperts];                   // where the slots of the next blocks go
    std::int32_t warpTotals[kChooseWarps];
};

/// Leaves this block's counts and ranks for the last block. Counting by atomics is exact in any order.
__device__ inline void countChoices(const MoeRouteArgs &args, const Workspace &workspace, BlockChoices &choices)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const std::int64_t firstSlot = static_cast<std::int64_t>(blockIdx.x) * kChooseWarps * args.slotsPerToken;
    const std::int64_t left = args.tokens * args.slotsPerToken - firstSlot;
    const auto slots = static_cast<int>(min(left, static_cast<std::int64_t>(kChooseWarps) * args.slotsPerToken));
    if (thread < slots) {
        const int expert = choices.experts[thread];
        int rank = 0;
#pragma unroll 8
        for (int other = 0; other < thread; ++other)
            rank += choices.experts[other] == expert ? 1 : 0;
        workspace.ranks[firstSlot + thread] = static_cast<std::uint16_t>(rank);
        atomicAdd(&choices.counts[expert], 1U);
    }
    __syncthreads();
    for (int expert = thread; expert < experts; expert += kChooseThreads)
        workspace.counts[static_cast<std::int64_t>(blockIdx.x) * experts + expert] =
            static_cast<std::uint16_t>(choices.counts[expert]);
}

/// Sum over all blocks of the counts of this thread's expert; other blocks wrote them: past the first-level cache.
__device__ inline int countOf(const MoeRouteArgs &args, const Workspace &workspace, int expert)
{
    int total = 0;
#pragma unroll 16
    for (unsigned block = 0; block < gridDim.x; ++block)
        total += __ldcg(workspace.counts + static_cast<std::int64_t>(block) * args.experts + expert);
    return total;
}

/// Where each expert's slots begin; all threads, experts <= threads.
__device__ inline void placeExperts(const MoeRouteArgs &args, const Workspace &workspace, SortState &state)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const int warp = thread / 32;
    const int lane = thread % 32;
    const int total = thread < experts ? countOf(args, workspace, thread) : 0;
    int sum = total;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(kWholeWarp, sum, distance);
        sum += lane >= distance ? other : 0;
    }
    if (lane == 31)
        state.warpTotals[warp] = sum;
    __syncthreads();
    int place = sum - total;
    for (int w = 0; w < warp; ++w)
        place += state.warpTotals[w];
    if (thread < experts) {
        state.next[thread] = place;
        args.expertOffsets[thread] = place;
        if (thread == experts - 1)
            args.expertOffsets[experts] = place + total;
    }
}

/// Stable counting sort of the slots by expert; one block, some blocks' slots at a time.
__device__ inline void sortSlots(const MoeRouteArgs &args, const Workspace &workspace, SortState &state)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const auto slotsOfBlock = static_cast<int>(args.slotsPerToken) * kChooseWarps;
    const std::int64_t slots = args.tokens * args.slotsPerToken;
    placeExperts(args, workspace, state);
    for (int firstBlock = 0; firstBlock < static_cast<int>(gridDim.x); firstBlock += kBlocksAtOnce) {
        const int blocks = min(kBlocksAtOnce, static_cast<int>(gridDim.x) - firstBlock);
        __syncthreads();
#pragma unroll 8
        for (int i = thread; i < blocks * experts; i += kChooseThreads)
            state.before[i / experts][i % experts] =
                __ldcg(workspace.counts + static_cast<std::int64_t>(firstBlock) * experts + i);
        __syncthreads();
        int sum = 0;
        if (thread < experts) {
            for (int block = 0; block < blocks; ++block) {
                const int count = state.before[block][thread];
                state.before[block][thread] = static_cast<std::uint16_t>(sum);
                sum += count;
            }
        }
        __syncthreads();
        const std::int64_t firstSlot = static_cast<std::int64_t>(firstBlock) * slotsOfBlock;
        const auto count = static_cast<int>(min(slots - firstSlot, static_cast<std::int64_t>(blocks) * slotsOfBlock));
#pragma unroll 4
        for (int i = thread; i < count; i += kChooseThreads) {
            const int expert = __ldcg(args.expertIds + firstSlot + i);
            const int rank = __ldcg(workspace.ranks + firstSlot + i);
            args.slots[state.next[expert] + state.before[i / slotsOfBlock][expert] + rank] =
                static_cast<std::int32_t>(firstSlot + i);
        }
        __syncthreads();
        if (thread < experts)
            state.next[thread] += sum;
    }
}

template <int kExpertsPerLane>
__global__ void __launch_bounds__(kChooseThreads)
    chooseKernel(const MoeRouteArgs args, const Workspace workspace, int parts)
{
    __shared__ union {
        BlockChoices choices;
        SortState sort;
    } state;
    __shared__ bool isLast;
    const auto thread = static_cast<int>(threadIdx.x);
    for (int expert = thread; expert < kMostRoutedExperts; expert += kChooseThreads)
        state.choices.counts[expert] = 0;
    ptx::letNextStart();
    if (!args.besidePrevious)
        ptx::waitForPrevious();
    const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kChooseWarps + thread / 32;
    if (token < args.tokens) {
        const auto choices = static_cast<int>(args.slotsPerToken);
        std::int32_t chosen = 0;
        chooseExperts<kExpertsPerLane>(args, workspace, parts, token, thread % 32, chosen);
        if (thread % 32 < choices)
            state.choices.experts[thread / 32 * choices + thread % 32] = chosen;
    }
    __syncthreads();
    countChoices(args, workspace, state.choices);
    __syncthreads();
    if (thread == 0) { // the block's choices are visible before the count says so, the others' after it
        __threadfence();
        isLast = atomicAdd(workspace.finishedBlocks, 1U) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (isLast)
        sortSlots(args, workspace, state.sort);
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

} // namespace palimpsest::kernels::route
