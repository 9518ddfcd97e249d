// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_sort.cuh"
#include "kernels/moe_route_workspace.cuh"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

#include <cmath>
#include <cstdint>

/// The second launch of moeRoute(): each token's experts, then their slots in order.
namespace palimpsest::kernels::route {

/// Some slices' logits of one token, expert = lane + 32 i.
template <int kExpertsPerLane>
struct LogitParts
{
    static constexpr int kAtOnce = 12; // the latency of their loads is what this takes
    float values[kAtOnce][kExpertsPerLane];

    __device__ LogitParts(const MoeRouteArgs &args, const Workspace &workspace, std::int64_t token, int first, int lane)
    {
        const auto slices = static_cast<int>(sliceCount(args.hidden));
        const float *logits = workspace.logits + (first * args.tokens + token) * args.experts + lane;
#pragma unroll
        for (int slice = 0; slice < kAtOnce; ++slice) {
#pragma unroll
            for (int i = 0; i < kExpertsPerLane; ++i)
                values[slice][i] = first + slice < slices && lane + 32 * i < args.experts ? logits[32 * i] : 0.0F;
            logits += args.tokens * args.experts;
        }
    }

    __device__ void addTo(float (&sums)[kExpertsPerLane]) const
    {
#pragma unroll
        for (int slice = 0; slice < kAtOnce; ++slice)
#pragma unroll
            for (int i = 0; i < kExpertsPerLane; ++i)
                sums[i] += values[slice][i];
    }
};

/// Softmax over one token's logits, expert = lane + 32 i; beyond the last expert the probability is -1.
template <int kExpertsPerLane>
__device__ void probabilitiesOf(float (&values)[kExpertsPerLane], const MoeRouteArgs &args, const Workspace &workspace,
                                std::int64_t token, int lane)
{
    using Parts = LogitParts<kExpertsPerLane>;
    const auto slices = static_cast<int>(sliceCount(args.hidden));
    const Parts firstParts(args, workspace, token, 0, lane); // under way while the squares are added
    float squares = 0.0F;
    for (int first = 0; first < slices; first += 32) {
        const int mine = first + lane;
        const float part = mine < slices ? workspace.squares[mine * args.tokens + token] : 0.0F;
        for (int i = 0; i < min(32, slices - first); ++i)
            squares += __shfl_sync(kWholeWarp, part, i);
    }
#pragma unroll
    for (float &value : values)
        value = 0.0F;
    firstParts.addTo(values);
    for (int first = Parts::kAtOnce; first < slices; first += Parts::kAtOnce)
        Parts(args, workspace, token, first, lane).addTo(values);
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
    for (int i = 0; i < kExpertsPerLane; ++i) // of no numbers 0: there are experts to choose even then
        values[i] = lane + 32 * i < args.experts ? fmaxf(values[i] / total, 0.0F) : -1.0F;
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
__device__ void chooseExperts(const MoeRouteArgs &args, const Workspace &workspace, std::int64_t token, int lane,
                              std::int32_t &chosen)
{
    float values[kExpertsPerLane];
    probabilitiesOf<kExpertsPerLane>(values, args, workspace, token, lane);
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

template <int kExpertsPerLane>
__global__ void __launch_bounds__(kChooseThreads) chooseKernel(const MoeRouteArgs args, const Workspace workspace)
{
    __shared__ union {
        BlockChoices choices;
        SortState sort;
    } state;
    __shared__ bool isLast;
    const auto thread = static_cast<int>(threadIdx.x);
    state.choices.clear();
    ptx::letNextStart();
    if (!args.besidePrevious)
        ptx::waitForPrevious();
    const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kChooseWarps + thread / 32;
    if (token < args.tokens) {
        const auto choices = static_cast<int>(args.slotsPerToken);
        std::int32_t chosen = 0;
        chooseExperts<kExpertsPerLane>(args, workspace, token, thread % 32, chosen);
        if (thread % 32 < choices)
            state.choices.experts[thread / 32 * choices + thread % 32] = chosen;
    }
    __syncthreads();
    countChoices(args, workspace, state.choices);
    __syncthreads();
    if (thread == 0) // the block's choices are visible before the count says so, the others' after it
        isLast = ptx::addAcquireRelease(workspace.finishedBlocks, 1U) == gridDim.x - 1;
    __syncthreads();
    if (isLast)
        sortSlots(args, workspace, state.sort);
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

} // namespace palimpsest::kernels::route
