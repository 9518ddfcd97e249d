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

template <int kVectors>
__global__ __launch_bounds__(kRowThreads) void residualNormKernel(const ResidualNormArgs args)
{
    ptx::beginDependent();
    __shared__ float branchScratch[kRowThreads / 32];
    __shared__ float scratch[kRowThreads / 32];
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * args.columns;
    const std::int64_t partStride = args.rows * args.columns;
    const EarlyRow<kVectors> x(args.x + start, args.columns);
    RowVectors<kVectors> row(args.columns);
    row.forEach([&](float4 &v, int index) { v = sumOfParts(args.branch + start, args.parts, partStride, index); });
    const float branchInverse = row.inverseRms(args.epsilon, branchScratch);
    row.forEachPlace([&](float4 &v, int index, int place) {
        const float4 sum = added(x.at(index, place), normalised(v, branchInverse, args.branchWeight, index));
        v = scaled(sum, args.scale);
        storeVector(args.x + start, index, v);
    });
    if (args.norms[0].out == nullptr && args.norms[1].out == nullptr && args.norms[2].out == nullptr)
        return;
    const float inverse = row.inverseRms(args.epsilon, scratch);
    row.forEach([&](const float4 &v, int index) {
#pragma unroll
        for (int i = 0; i < 3; ++i)
            if (args.norms[i].out != nullptr)
                storeVector(args.norms[i].out + start, index, normalised(v, inverse, args.norms[i].weight, index));
    });
}

} // namespace

cudaError_t rmsNorm(const RmsNormArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.rows, args.columns) || args.in == nullptr ||
        (args.outFloat == nullptr && args.outBf16 == nullptr))
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    return PALIMPSEST_LAUNCH_ROWS_DEPENDENT(rmsNormKernel, args.rows, args.columns, stream, args);
}

cudaError_t residualNorm(const ResidualNormArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.rows, args.columns) || args.x == nullptr || args.branch == nullptr || args.parts < 1)
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    return PALIMPSEST_LAUNCH_ROWS_DEPENDENT(residualNormKernel, args.rows, args.columns, stream, args);
}

} // namespace palimpsest::kernels
