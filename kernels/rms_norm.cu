// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/rms_norm.h"

#include "kernels/row_vectors.cuh"

namespace palimpsest::kernels {

namespace {

template <int kVectors>
__global__ __launch_bounds__(kRowThreads) void rmsNormKernel(const RmsNormArgs args)
{
    ptx::beginDependent();
    __shared__ float scratch[kRowThreads / 32];
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * args.columns;
    RowVectors<kVectors> row(args.columns);
    row.forEach([&](float4 &v, int index) { v = scaled(loadVector(args.in + start, index), args.inputScale); });
    const float inverse = row.inverseRms(args.epsilon, scratch);
    row.forEach([&](const float4 &v, int index) {
        const float4 result = normalised(v, inverse, args.weight, index);
        if (args.outFloat != nullptr)
            storeVector(args.outFloat + start, index, result);
        if (args.outBf16 != nullptr)
            storeVector(args.outBf16 + start, index, result);
    });
}

template <int kVectors, int kPartsAtOnce>
__device__ __forceinline__ void normResidual(const ResidualNormArgs &args)
{
    using Weight = EarlyWeight<kVectors>;
    __shared__ float branchScratch[kRowThreads / 32];
    __shared__ float scratch[kRowThreads / 32];
    __shared__ float4 weights[3][Weight::kPlaces];
    ptx::letNextStart();
    const Weight branchWeight(args.branchWeight, args.columns, weights[0]);
    const Weight normWeights[2] = {{args.norms[0].weight, args.columns, weights[1]},
                                   {args.norms[1].weight, args.columns, weights[2]}};
    ptx::waitForPrevious();
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * args.columns;
    const EarlyRow<kVectors> x(args.x + start, args.columns);
    RowVectors<kVectors> row(args.columns);
    readParts<kPartsAtOnce>(row, args.branch + start, args.parts, args.rows * args.columns);
    const float branchInverse = row.inverseRms(args.epsilon, branchScratch);
    awaitEarlyWeights();
    row.forEachPlace([&](float4 &v, int index, int place) {
        v = scaled(added(x.at(index, place), branchWeight.normalise(v, branchInverse, index)), args.scale);
        storeVector(args.x + start, index, v);
    });
    if (args.norms[0].out == nullptr && args.norms[1].out == nullptr && args.norms[2].out == nullptr)
        return;
    const float inverse = row.inverseRms(args.epsilon, scratch);
    row.forEach([&](const float4 &v, int index) {
#pragma unroll
        for (int i = 0; i < 2; ++i)
            if (args.norms[i].out != nullptr)
                storeVector(args.norms[i].out + start, index, normWeights[i].normalise(v, inverse, index));
        if (args.norms[2].out != nullptr)
            storeVector(args.norms[2].out + start, index, normalised(v, inverse, args.norms[2].weight, index));
    });
}

template <int kVectors>
__global__ __launch_bounds__(kRowThreads) void residualNormKernel(const ResidualNormArgs args)
{
    normResidual<kVectors, 3>(args);
}

/// Of a branch in one part: its registers leave room for a fourth block on a multiprocessor, which on an H200 takes
/// 1024 rows in 13 us instead of 14; a fifth takes nothing more.
template <int kVectors>
__global__ __launch_bounds__(kRowThreads,
                             kVectors <= 3 ? 4 : 1) void residualNormOfOneKernel(const ResidualNormArgs args)
{
    normResidual<kVectors, 1>(args);
}

} // namespace

cudaError_t rmsNorm(const RmsNormArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.rows, args.columns) || args.in == nullptr ||
        (args.outFloat == nullptr && args.outBf16 == nullptr))
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    return PALIMPSEST_LAUNCH_ROWS(rmsNormKernel, args.rows, args.columns, stream, args);
}

cudaError_t residualNorm(const ResidualNormArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.rows, args.columns) || args.x == nullptr || args.branch == nullptr || args.parts < 1)
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    if (args.parts == 1)
        return PALIMPSEST_LAUNCH_ROWS(residualNormOfOneKernel, args.rows, args.columns, stream, args);
    return PALIMPSEST_LAUNCH_ROWS(residualNormKernel, args.rows, args.columns, stream, args);
}

} // namespace palimpsest::kernels
