// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_combine.h"

#include "kernels/row_vectors.cuh"

#include <type_traits>

namespace palimpsest::kernels {

namespace {

/// A vector of a slot as it lies in memory.
template <typename Slot>
using Packed = std::conditional_t<sizeof(Slot) == 2, uint2, float4>;

__device__ float4 widened(const float4 &v)
{
    return v;
}

__device__ float4 widened(const uint2 &pairs)
{
    return make_float4(ptx::lowBf16(pairs.x), ptx::highBf16(pairs.x), ptx::lowBf16(pairs.y), ptx::highBf16(pairs.y));
}

__device__ float4 addScaled(const float4 &sum, const float4 &v, float factor)
{
    return make_float4(fmaf(v.x, factor, sum.x), fmaf(v.y, factor, sum.y), fmaf(v.z, factor, sum.z),
                       fmaf(v.w, factor, sum.w));
}

/// The weighted sum of a token's slots, in their order. Two are under way at once where there are registers for that.
template <int kVectors, typename Slot>
__device__ __forceinline__ void readSlots(RowVectors<kVectors> &row, const Slot *slots, const float *weights, int count,
                                          std::int64_t hidden)
{
    constexpr int kAtOnce = kVectors <= 3 ? 2 : 1;
    row.forEach([](float4 &v, int) { v = make_float4(0.0F, 0.0F, 0.0F, 0.0F); });
    for (int begin = 0; begin < count; begin += kAtOnce) {
        Packed<Slot> read[kAtOnce][kVectors];
        float factors[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j)
            if (begin + j < count) {
                factors[j] = weights[begin + j];
                row.forEachPlace([&](float4 &, int index, int place) {
                    read[j][place] =
                        streamed(reinterpret_cast<const Packed<Slot> *>(slots + (begin + j) * hidden) + index);
                });
            }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j)
            if (begin + j < count)
                row.forEachPlace(
                    [&](float4 &v, int, int place) { v = addScaled(v, widened(read[j][place]), factors[j]); });
    }
}

/// One block a token; its rows stay in registers between the norms.
template <int kVectors>
__global__ void __launch_bounds__(kRowThreads) combineKernel(const MoeCombineArgs args)
{
    using Weight = EarlyWeight<kVectors>;
    __shared__ float scratch[4][kRowThreads / 32];
    __shared__ float4 weights[3][Weight::kPlaces];
    ptx::letNextStart();
    const Weight denseWeight(args.denseWeight, args.hidden, weights[0]);
    const Weight expertWeight(args.expertWeight, args.hidden, weights[1]);
    const Weight sumWeight(args.sumWeight, args.hidden, weights[2]);
    ptx::waitForPrevious();
    const std::int64_t token = blockIdx.x;
    const std::int64_t first = token * args.hidden;
    const auto slotCount = static_cast<int>(args.slotsPerToken);

    const EarlyRow<kVectors> residual(args.x + first, args.hidden);
    RowVectors<kVectors> dense(args.hidden);
    RowVectors<kVectors> experts(args.hidden);
    readParts(dense, args.dense + first, args.denseParts, args.tokens * args.hidden);
    const std::int64_t firstSlot = token * slotCount;
    if (args.slotsBf16 != nullptr)
        readSlots(experts, args.slotsBf16 + firstSlot * args.hidden, args.slotWeights + firstSlot, slotCount,
                  args.hidden);
    else
        readSlots(experts, args.slotsFloat + firstSlot * args.hidden, args.slotWeights + firstSlot, slotCount,
                  args.hidden);
    const float denseInverse = dense.inverseRms(args.epsilon, scratch[0]);
    const float expertInverse = experts.inverseRms(args.epsilon, scratch[1]);
    awaitEarlyWeights();

    RowVectors<kVectors> &both = dense;
    both.forEachPlace([&](float4 &v, int index, int place) {
        v = added(denseWeight.normalise(v, denseInverse, index),
                  expertWeight.normalise(experts.values[place], expertInverse, index));
    });
    const Weight nextWeight(args.norms[0].weight, args.hidden, weights[0]); // the dense branch's is done with
    const float bothInverse = both.inverseRms(args.epsilon, scratch[2]);
    RowVectors<kVectors> &x = both;
    x.forEachPlace([&](float4 &v, int index, int place) {
        const float4 branch = sumWeight.normalise(v, bothInverse, index);
        v = scaled(added(residual.at(index, place), branch), args.scale);
        storeVector(args.x + first, index, v);
    });

    const bool hasNorms = args.norms[0].out != nullptr || args.norms[1].out != nullptr || args.norms[2].out != nullptr;
    if (!hasNorms)
        return;
    const float inverse = x.inverseRms(args.epsilon, scratch[3]);
    awaitEarlyWeights();
    if (args.norms[0].out != nullptr)
        x.forEach([&](const float4 &v, int index) {
            storeVector(args.norms[0].out + first, index, nextWeight.normalise(v, inverse, index));
        });
#pragma unroll
    for (int i = 1; i < 3; ++i)
        if (args.norms[i].out != nullptr)
            x.forEach([&](const float4 &v, int index) {
                storeVector(args.norms[i].out + first, index, normalised(v, inverse, args.norms[i].weight, index));
            });
}

} // namespace

cudaError_t moeCombine(const MoeCombineArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.tokens, args.hidden) || args.slotsPerToken < 1 || args.slotsPerToken > INT32_MAX ||
        args.denseParts < 1 || (args.slotsBf16 != nullptr) == (args.slotsFloat != nullptr))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    if (args.dense == nullptr || args.slotWeights == nullptr || args.x == nullptr)
        return cudaErrorInvalidValue;
    return PALIMPSEST_LAUNCH_ROWS(combineKernel, args.tokens, args.hidden, stream, args);
}

} // namespace palimpsest::kernels
