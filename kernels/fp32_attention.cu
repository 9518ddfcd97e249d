// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/fp32_attention.h"

#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

namespace palimpsest::kernels {

namespace {

constexpr int kThreads = 128; // a key each, then some columns each
constexpr int kWarps = kThreads / 32;
constexpr int kMostHeadDim = 512;
constexpr int kMostColumns = kMostHeadDim / kThreads;

/// The keys that a row sees, numbered from 0: cached ones, then those of the canvas.
struct Visible
{
    std::int64_t firstCached;
    std::int64_t cached;
    std::int64_t count;
};

__device__ Visible visibleTo(const Fp32AttentionArgs &args, const SequenceView &view, std::int64_t offset)
{
    if (args.visibility == Fp32Visibility::Canvas) {
        const std::int64_t cached = view.length - view.firstVisible;
        return {view.firstVisible, cached, cached + view.rows};
    }
    const std::int64_t end = view.length + offset + 1;
    const std::int64_t begin = args.window > 0 ? max(end - args.window, std::int64_t{0}) : 0;
    return {begin, end - begin, end - begin};
}

/// Elements from the start of a pool to a visible key of this block's kv head.
__device__ std::int64_t placeOf(const Fp32AttentionArgs &args, const SequenceView &view, const Visible &visible,
                                std::int64_t sequence, std::int64_t kvHead, std::int64_t key)
{
    const bool isCached = key < visible.cached;
    const std::int64_t position = isCached ? visible.firstCached + key : key - visible.cached;
    const std::int64_t page = isCached ? view.pageTable[position / kPagePositions]
                                       : sequence * scratchPages(args.rowStride) + position / kPagePositions;
    return ((page * args.kvHeads + kvHead) * kPagePositions + position % kPagePositions) * args.headDim;
}

__device__ float dot(const float *query, const float *key, int headDim)
{
    float sum = 0.0F;
    for (int i = 0; i < headDim; i += 4) {
        const float4 k = *reinterpret_cast<const float4 *>(key + i);
        const float4 q = *reinterpret_cast<const float4 *>(query + i);
        sum = fmaf(q.x, k.x, sum);
        sum = fmaf(q.y, k.y, sum);
        sum = fmaf(q.z, k.z, sum);
        sum = fmaf(q.w, k.w, sum);
    }
    return sum;
}

/// Over the block; a barrier before and one after, so that `scratch` serves again.
__device__ float blockMaximum(float value, float *scratch)
{
    value = warpMaximum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    __syncthreads();
    for (int warp = 0; warp < kWarps; ++warp)
        value = fmaxf(value, scratch[warp]);
    return value;
}

__global__ __launch_bounds__(kThreads) void fp32AttentionKernel(const Fp32AttentionArgs args)
{
    ptx::beginDependent();
    __shared__ __align__(16) float query[kMostHeadDim];
    __shared__ float weights[kThreads];
    __shared__ std::int64_t places[kThreads];
    __shared__ float scratch[kWarps];
    const std::int64_t row = blockIdx.x;
    const std::int64_t head = blockIdx.y;
    const std::int64_t sequence = row / args.rowStride;
    const std::int64_t offset = row % args.rowStride;
    const SequenceView &view = args.views[sequence];
    if (offset >= view.rows)
        return;
    const std::int64_t kvHead = head / (args.heads / args.kvHeads);
    const auto headDim = static_cast<int>(args.headDim);
    const auto thread = static_cast<int>(threadIdx.x);
    const bool isCanvas = args.visibility == Fp32Visibility::Canvas;
    const float *own = args.queries + (row * args.heads + head) * headDim;
    for (int i = thread; i < headDim; i += kThreads)
        query[i] = own[i];
    const Visible visible = visibleTo(args, view, offset);
    float maximum = -INFINITY;
    float sum = 0.0F; // the same in every thread
    float output[kMostColumns] = {};
    for (std::int64_t first = 0; first < visible.count; first += kThreads) {
        const std::int64_t key = first + thread;
        __syncthreads(); // the query is there; the last keys' weights have been used
        float score = -INFINITY;
        if (key < visible.count) {
            const std::int64_t place = placeOf(args, view, visible, sequence, kvHead, key);
            places[thread] = place;
            score =
                dot(query, (isCanvas && key >= visible.cached ? args.scratch.keys : args.cache.keys) + place, headDim);
        }
        const float before = maximum;
        maximum = fmaxf(maximum, blockMaximum(score, scratch));
        weights[thread] = expf(score - maximum);
        const float factor = expf(before - maximum);
        sum *= factor;
        for (float &value : output)
            value *= factor;
        __syncthreads();
        const auto keys = static_cast<int>(min(visible.count - first, std::int64_t{kThreads}));
        for (int i = 0; i < keys; ++i) {
            const float weight = weights[i];
            sum += weight;
            const float *values =
                (isCanvas && first + i >= visible.cached ? args.scratch.values : args.cache.values) + places[i];
#pragma unroll
            for (int c = 0; c < kMostColumns; ++c)
                if (thread + c * kThreads < headDim)
                    output[c] = fmaf(weight, values[thread + c * kThreads], output[c]);
        }
    }
    float *out = args.out + (row * args.heads + head) * headDim;
#pragma unroll
    for (int c = 0; c < kMostColumns; ++c)
        if (thread + c * kThreads < headDim)
            out[thread + c * kThreads] = output[c] / sum;
}

} // namespace

cudaError_t fp32Attention(const Fp32AttentionArgs &args, cudaStream_t stream)
{
    const bool isCanvas = args.visibility == Fp32Visibility::Canvas;
    if (args.sequences < 0 || args.rowStride < 0 || args.heads <= 0 || args.heads > 65535 || args.kvHeads <= 0 ||
        args.heads % args.kvHeads != 0 || args.headDim <= 0 || args.headDim % 4 != 0 || args.headDim > kMostHeadDim ||
        args.window < 0 || args.sequences * args.rowStride > INT32_MAX)
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0)
        return cudaSuccess;
    // A canvas without a context reads nothing of the cache, which may not exist yet.
    if (args.views == nullptr || args.queries == nullptr || args.out == nullptr ||
        (isCanvas ? args.scratch.keys == nullptr || args.scratch.values == nullptr
                  : args.cache.keys == nullptr || args.cache.values == nullptr))
        return cudaErrorInvalidValue;
    const dim3 grid(static_cast<unsigned>(args.sequences * args.rowStride), static_cast<unsigned>(args.heads));
    return launchDependent(fp32AttentionKernel, {.grid = grid, .threads = kThreads}, stream, args);
}

} // namespace palimpsest::kernels
