// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/embed.h"

#include "kernels/row_vectors.cuh"

namespace palimpsest::kernels {

namespace {

template <int kVectors>
__global__ __launch_bounds__(kRowThreads) void embedKernel(const EmbedArgs args)
{
    ptx::beginDependent();
    __shared__ float firstScratch[kRowThreads / 32];
    __shared__ float scratch[kRowThreads / 32];
    const std::int64_t start = static_cast<std::int64_t>(blockIdx.x) * args.columns;
    const std::int64_t id = args.ids[blockIdx.x];
    const bool known = id >= 0 && id < args.vocabSize;
    const auto *embedding = reinterpret_cast<const uint2 *>(args.table + (known ? id : 0) * args.columns);
    const float scale = known ? args.scale : 0.0F;
    RowVectors<kVectors> row(args.columns);
    row.forEach([&](float4 &v, int index) {
        const uint2 packed = embedding[index];
        v = scaled(make_float4(ptx::lowBf16(packed.x), ptx::highBf16(packed.x), ptx::lowBf16(packed.y),
                               ptx::highBf16(packed.y)),
                   scale);
        if (args.signal != nullptr)
            v = added(v, sumOfParts(args.signal + start, args.parts, args.rows * args.columns, index));
    });
    if (args.normalise) {
        const float inverse = row.inverseRms(args.epsilon, firstScratch);
        row.forEach([&](float4 &v, int) { v = scaled(v, inverse); });
    }
    row.forEach([&](const float4 &v, int index) { storeVector(args.x + start, index, v); });
    if (args.norm.out == nullptr)
        return;
    const float inverse = row.inverseRms(args.epsilon, scratch);
    row.forEach([&](const float4 &v, int index) {
        storeVector(args.norm.out + start, index, normalised(v, inverse, args.norm.weight, index));
    });
}

} // namespace

cudaError_t embed(const EmbedArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.rows, args.columns) || args.vocabSize <= 0 || args.ids == nullptr ||
        args.table == nullptr || args.x == nullptr || args.parts < 1)
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    return PALIMPSEST_LAUNCH_ROWS(embedKernel, args.rows, args.columns, stream, args);
}

} // namespace palimpsest::kernels
