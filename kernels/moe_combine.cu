// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_combine.h"

#include "kernels/row_vectors.cuh"

namespace palimpsest::kernels {

namespace {

__device__ float4 slotVector(const MoeCombineArgs &args, std::int64_t slot, int index)
{
    if (args.slotsFloat != nullptr)
        return loadVector(args.slotsFloat + slot * args.hidden, index);
    const uint2 pairs = reinterpret_cast<const uint2 *>(args.slotsBf16 + slot * args.hidden)[index];
    return make_float4(ptx::lowBf16(pairs.x), ptx::highBf16(pairs.x), ptx::lowBf16(pairs.y), ptx::highBf16(pairs.y));
}

__device__ float4 addScaled(const float4 &sum, const float4 &v, float factor)
{
    return make_float4(fmaf(v.x, factor, sum.x), fmaf(v.y, factor, sum.y), fmaf(v.z, factor, sum.z),
                       fmaf(v.w, factor, sum.w));
}

/// One block a token; its rows stay in registers between the norms.
template <int kVectors>
__global__ void __launch_bounds__(kRowThreads) combineKernel(const MoeCombineArgs args)
{
    __shared__ float scratch[4][kRowThreads / 32];
    ptx::beginDependent();
    const std::int64_t token = blockIdx.x;
    const std::int64_t first = token * args.hidden;
    const auto slotCount = static_cast<int>(args.slotsPerToken);

    const EarlyRow<kVectors> residual(args.x + first, args.hidden);
    RowVectors<kVectors> dense(args.hidden);
    RowVectors<kVectors> experts(args.hidden);
    dense.forEach([&](float4 &v, int index) {
        v = sumOfParts(args.dense + first, args.denseParts, args.tokens * args.hidden, index);
    });
    experts.forEach([&](float4 &v, int index) {
        v = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#pragma unroll 8
        for (int j = 0; j < slotCount; ++j) {
            const std::int64_t slot = token * slotCount + j;
            v = addScaled(v, slotVector(args, slot, index), args.slotWeights[slot]);
        }
    });
    const float denseInverse = dense.inverseRms(args.epsilon, scratch[0]);
    const float expertInverse = experts.inverseRms(args.epsilon, scratch[1]);

    RowVectors<kVectors> &both = dense;
    for (int i = 0; i < kVectors; ++i) {
        const int index = static_cast<int>(threadIdx.x) + i * kRowThreads;
        if (index < both.vectorCount)
            both.values[i] = added(normalised(dense.values[i], denseInverse, args.denseWeight, index),
                                   normalised(experts.values[i], expertInverse, args.expertWeight, index));
    }
    const float bothInverse = both.inverseRms(args.epsilon, scratch[2]);
    RowVectors<kVectors> &x = both;
    x.forEachPlace([&](float4 &v, int index, int place) {
        const float4 branch = normalised(v, bothInverse, args.sumWeight, index);
        v = scaled(added(residual.at(index, place), branch), args.scale);
        storeVector(args.x + first, index, v);
    });

    const bool hasNorms = args.norms[0].out != nullptr || args.norms[1].out != nullptr || args.norms[2].out != nullptr;
    if (!hasNorms)
        return;
    const float inverse = x.inverseRms(args.epsilon, scratch[3]);
#pragma unroll
    for (const NormOutput &norm : args.norms)
        if (norm.out != nullptr)
            x.forEach([&](const float4 &v, int index) {
                storeVector(norm.out + first, index, normalised(v, inverse, norm.weight, index));
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
    return PALIMPSEST_LAUNCH_ROWS_DEPENDENT(combineKernel, args.tokens, args.hidden, stream, args);
}

} // namespace palimpsest::kernels
