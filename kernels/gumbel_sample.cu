// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/gumbel_sample.h"

#include "kernels/launch.h"
#include "kernels/philox.cuh"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"
#include "kernels/vector_aligned.h"

namespace palimpsest::kernels {

namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / 32;
constexpr int kLoads = 4; // of 16 bytes, under way at a time

/// The better of `best` and the four ids from `first` on, with their noise; what cannot reach `floor` may be left out.
__device__ __forceinline__ Candidate perturbed(const GumbelSampleArgs &args, const float (&values)[4],
                                               std::int32_t first, float floor, Candidate best)
{
    const float largest = fmaxf(fmaxf(values[0], values[1]), fmaxf(values[2], values[3]));
    if (largest == -INFINITY || largest + kLargestGumbel < floor)
        return best;
    const uint4 words =
        philox4x32(make_uint4(static_cast<std::uint32_t>(first) / 4U, blockIdx.x, args.step, args.stream),
                   make_uint2(static_cast<std::uint32_t>(args.seed), static_cast<std::uint32_t>(args.seed >> 32U)));
    const std::uint32_t lanes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        // The double logarithms only where a fast one comes close. What is added to a value is rounded before, so that
        // the bound holds whatever the value's own rounding is.
        if (values[c] == -INFINITY || values[c] + (roughGumbelFromWord(lanes[c]) + kRoughGumbelError) < floor)
            continue;
        const Candidate candidate{values[c] + gumbelFromWord(lanes[c]), first + c};
        if (best.losesTo(candidate))
            best = candidate;
    }
    return best;
}

__global__ __launch_bounds__(kThreads) void gumbelSampleKernel(const GumbelSampleArgs args)
{
    ptx::beginDependent();
    __shared__ Candidate scratch[kWarps];
    __shared__ int shared; // the best value of any thread so far, in the order of integers: skips more, decides nothing
    if (threadIdx.x == 0)
        shared = orderedInteger(-INFINITY);
    __syncthreads();
    const auto *row = reinterpret_cast<const float4 *>(args.logits + blockIdx.x * args.vocabSize);
    const std::int64_t vectors = args.vocabSize / 4;
    const float reciprocal = 1.0F / args.temperature;
    Candidate likeliest{-INFINITY, kNoId};
    Candidate sampled{-INFINITY, kNoId};
    for (std::int64_t first = threadIdx.x; first < vectors; first += kThreads * kLoads) {
        float4 loaded[kLoads];
#pragma unroll
        for (int i = 0; i < kLoads; ++i)
            loaded[i] = first + i * kThreads < vectors ? __ldcs(row + first + i * kThreads)
                                                       : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
#pragma unroll
        for (int i = 0; i < kLoads; ++i) {
            const float raw[4] = {loaded[i].x, loaded[i].y, loaded[i].z, loaded[i].w};
            const auto id = static_cast<std::int32_t>((first + i * kThreads) * 4);
            float values[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                values[c] = dividedBy(raw[c], args.temperature, reciprocal);
                const Candidate candidate{values[c], id + c};
                if (likeliest.losesTo(candidate))
                    likeliest = candidate;
            }
            if (args.sampled == nullptr)
                continue;
            const float floor = fmaxf(sampled.value, floatOfOrdered(*static_cast<volatile int *>(&shared)));
            const Candidate better = perturbed(args, values, id, floor, sampled);
            if (better.value > floor)
                atomicMax(&shared, orderedInteger(better.value));
            sampled = better;
        }
    }
    likeliest = blockBest<kThreads>(likeliest, scratch);
    if (args.sampled != nullptr)
        sampled = blockBest<kThreads>(sampled, scratch);
    if (threadIdx.x != 0)
        return;
    if (args.argmax != nullptr)
        args.argmax[blockIdx.x] = likeliest.value == -INFINITY ? 0 : likeliest.id;
    if (args.sampled != nullptr)
        args.sampled[blockIdx.x] = sampled.value == -INFINITY ? 0 : sampled.id;
}

} // namespace

cudaError_t gumbelSample(const GumbelSampleArgs &args, cudaStream_t stream)
{
    if (args.rows < 0 || args.rows > 0x7FFFFFFF || args.vocabSize <= 0 || args.vocabSize % 4 != 0 ||
        args.vocabSize > 0x7FFFFFFF - kThreads * kLoads * 4 || !(args.temperature > 0.0F) ||
        (args.rows > 0 && (!isVectorAligned(args.logits) || (args.sampled == nullptr && args.argmax == nullptr))))
        return cudaErrorInvalidValue;
    if (args.rows == 0)
        return cudaSuccess;
    return launchDependent(gumbelSampleKernel, {.grid = dim3(static_cast<unsigned>(args.rows)), .threads = kThreads},
                           stream, args);
}

} // namespace palimpsest::kernels
