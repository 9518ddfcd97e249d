// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/entropy.h"

#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"
#include "kernels/vector_aligned.h"

namespace palimpsest::kernels {

namespace {

// Two blocks of 512 threads with four loads of 16 bytes each: 64 KiB under way on a multiprocessor.
constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kLoads = 4;

/// Of some of a row's x: their maximum, and relative to it the sums of e^(x - maximum) and of the same times
/// (x - maximum).
struct Sums
{
    float maximum = -INFINITY;
    float sum = 0.0F;
    float weighted = 0.0F;

    /// Raises the maximum; what has been summed shrinks by e^-rise.
    __device__ __forceinline__ void raise(float to)
    {
        if (!(to > maximum))
            return;
        if (sum > 0.0F) {
            const float distance = maximum - to;
            const float factor = __expf(distance);
            weighted = factor > 0.0F ? factor * fmaf(distance, sum, weighted) : 0.0F;
            sum *= factor;
        }
        maximum = to;
    }

    __device__ __forceinline__ void add(float x)
    {
        if (x == -INFINITY)
            return;
        const float distance = x - maximum;
        const float weight = __expf(distance);
        sum += weight;
        weighted = weight > 0.0F ? fmaf(weight, distance, weighted) : weighted;
    }

    __device__ __forceinline__ void add(const float4 &four)
    {
        raise(fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)));
        add(four.x);
        add(four.y);
        add(four.z);
        add(four.w);
    }
};

__device__ __forceinline__ double sumOfWarp(double value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    return value;
}

__device__ __forceinline__ Sums sumsOfThread(const EntropyArgs &args)
{
    const auto *row = reinterpret_cast<const float4 *>(args.logits + blockIdx.x * args.vocabSize);
    const std::int64_t vectors = args.vocabSize / 4;
    const float scale = 1.0F / args.temperature;
    Sums sums;
    for (std::int64_t first = threadIdx.x; first < vectors; first += kThreads * kLoads) {
        float4 loaded[kLoads];
#pragma unroll
        for (int i = 0; i < kLoads; ++i)
            loaded[i] = first + i * kThreads < vectors ? __ldcs(row + first + i * kThreads)
                                                       : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
#pragma unroll
        for (const float4 &four : loaded)
            sums.add(make_float4(four.x * scale, four.y * scale, four.z * scale, four.w * scale));
    }
    return sums;
}

__global__ __launch_bounds__(kThreads) void entropyKernel(const EntropyArgs args)
{
    ptx::beginDependent();
    __shared__ float maxima[kWarps];
    __shared__ double totals[2][kWarps];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    Sums sums = sumsOfThread(args);
    const float ofWarp = warpMaximum(sums.maximum);
    if (threadIdx.x % 32 == 0)
        maxima[warp] = ofWarp;
    __syncthreads();
    float maximum = maxima[0];
    for (int i = 1; i < kWarps; ++i)
        maximum = fmaxf(maximum, maxima[i]);
    sums.raise(maximum);
    const double sum = sumOfWarp(static_cast<double>(sums.sum));
    const double weighted = sumOfWarp(static_cast<double>(sums.weighted));
    if (threadIdx.x % 32 == 0) {
        totals[0][warp] = sum;
        totals[1][warp] = weighted;
    }
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    double allSum = 0.0;
    double allWeighted = 0.0;
    for (int i = 0; i < kWarps; ++i) {
        allSum += totals[0][i];
        allWeighted += totals[1][i];
    }
    args.entropyNats[blockIdx.x] = static_cast<float>(log(allSum) - allWeighted / allSum); // 0 / 0 where nothing is
}

} // namespace

cudaError_t entropy(const EntropyArgs &args, cudaStream_t stream)
{
    if (args.rows < 0 || args.rows > 0x7FFFFFFF || args.vocabSize <= 0 || args.vocabSize % 4 != 0 ||
        !(args.temperature > 0.0F) || (args.rows > 0 && (!isVectorAligned(args.logits) || args.entropyNats == nullptr)))
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    return launchDependent(entropyKernel, {.grid = dim3(static_cast<unsigned>(args.rows)), .threads = kThreads}, stream,
                           args);
}

} // namespace palimpsest::kernels
