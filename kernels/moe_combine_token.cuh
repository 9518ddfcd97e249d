// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_combine.h"
#include "kernels/row_vectors.cuh"

/// What both forms of moeCombine() do with a token once its slots are added up.
namespace palimpsest::kernels::combine {

__device__ __forceinline__ float4 widened(const float4 &v)
{
    return v;
}

__device__ __forceinline__ float4 widened(const uint2 &pairs)
{
    return make_float4(ptx::lowBf16(pairs.x), ptx::highBf16(pairs.x), ptx::lowBf16(pairs.y), ptx::highBf16(pairs.y));
}

__device__ __forceinline__ float4 addScaled(const float4 &sum, const float4 &v, float factor)
{
    return make_float4(fmaf(v.x, factor, sum.x), fmaf(v.y, factor, sum.y), fmaf(v.z, factor, sum.z),
                       fmaf(v.w, factor, sum.w));
}

/// Of one reduction each: the dense branch's, the experts', both branches' and that of the new x.
using Scratch = float[4][kRowThreads / 32];

/// What is done, and for whom.
struct Token
{
    const MoeCombineArgs &args;
    std::int64_t first; ///< element of the token's row
    Scratch &scratch;
};

/// A token's branches. `dense` gets what comes of them.
template <int kVectors>
struct Branches
{
    RowVectors<kVectors> dense;
    RowVectors<kVectors> experts;
    float denseInverse = 0.0F; ///< of dense.inverseRms()

    __device__ explicit Branches(std::int64_t hidden) : dense(hidden), experts(hidden) {}
};

/// Norms, residual and the norms of what follows. `residual` is EarlyRow or of its kind. `weights` has the norms' as
/// dense, experts and sum, and next() for the first of those that follow, called once the dense branch's has served;
/// await() comes before they are read.
template <int kVectors, typename Residual, typename Weights>
__device__ __forceinline__ void finishToken(const Token &token, Branches<kVectors> &branches, const Residual &residual,
                                            const Weights &weights)
{
    const MoeCombineArgs &args = token.args;
    const std::int64_t first = token.first;
    const float expertInverse = branches.experts.inverseRms(args.epsilon, token.scratch[1]);
    weights.await();
    RowVectors<kVectors> &both = branches.dense;
    both.forEachPlace([&](float4 &v, int index, int place) {
        v = added(weights.dense.normalise(v, branches.denseInverse, index),
                  weights.experts.normalise(branches.experts.values[place], expertInverse, index));
    });
    const auto &nextWeight = weights.next();
    const float bothInverse = both.inverseRms(args.epsilon, token.scratch[2]);
    RowVectors<kVectors> &x = both;
    x.forEachPlace([&](float4 &v, int index, int place) {
        const float4 branch = weights.sum.normalise(v, bothInverse, index);
        v = scaled(added(residual.at(index, place), branch), args.scale);
        storeVector(args.x + first, index, v);
    });

    if (args.norms[0].out == nullptr && args.norms[1].out == nullptr && args.norms[2].out == nullptr)
        return;
    const float inverse = x.inverseRms(args.epsilon, token.scratch[3]);
    weights.await();
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

} // namespace palimpsest::kernels::combine
