// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/head_sample.h"

#include "kernels/head_noise.cuh"
#include "kernels/head_summary.cuh"
#include "kernels/launch.h"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

// Three launches: the maximum and sums of each block of 256 ids; then noise where it can win, and beside it entropy and
// alternatives; then the best of the parts. Between the first two the row's maximum becomes known, which is what makes
// the noise cheap.
// Blocks that a warp of the first launch reads one after the other: 8 KiB of logits under way for each warp.
constexpr int kBlocksOfWarp = 8;

struct BlockStats
{
    float maximum;
    uchar2 steps; ///< stepsBelow() of this lane's groups
    BlockSums sums;
};

/// Of a block; the sums in lane 0 alone. For whole warps.
__device__ __forceinline__ BlockStats statsOf(const LogitVector &vector)
{
    const float *const v = vector.values;
    const float first = fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3]));
    const float second = fmaxf(fmaxf(v[4], v[5]), fmaxf(v[6], v[7]));
    BlockStats stats{warpMaximum(fmaxf(first, second)), {}, {0.0F, 0.0F}};
    float sum = 0.0F;
    float weighted = 0.0F;
    if (stats.maximum == -INFINITY)
        return stats;
    stats.steps = {stepsBelow(stats.maximum, first), stepsBelow(stats.maximum, second)};
    // In powers of two. -infinity times 0 would be NaN; 2^-140 counts for nothing.
    constexpr float kLog2E = 1.44269504F;
    constexpr float kLn2 = 0.693147181F;
    const float offset = -stats.maximum * kLog2E;
#pragma unroll
    for (const float value : vector.values) {
        const float distance = fmaxf(fmaf(value, kLog2E, offset), -140.0F);
        const float weight = powerOfTwo(distance);
        sum += weight;
        weighted = fmaf(weight, distance, weighted);
    }
    // Both sums in one tree: the lower lanes go on with the one, the upper with the other.
    const bool upper = threadIdx.x % 32 >= 16;
    const float sent = upper ? sum : weighted;
    float mine = (upper ? weighted : sum) + __shfl_xor_sync(kWholeWarp, sent, 16);
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(kWholeWarp, mine, distance);
    stats.sums = {mine, __shfl_sync(kWholeWarp, mine, 16) * kLn2};
    return stats;
}

__global__ __launch_bounds__(kSampleThreads) void blockStatsKernel(const CanvasLogits canvas)
{
    ptx::beginDependent();
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = *canvas.settings;
    const std::int64_t row = blockIdx.y;
    const std::int64_t first =
        (static_cast<std::int64_t>(blockIdx.x) * kSampleWarps + threadIdx.x / 32) * kBlocksOfWarp;
#pragma unroll 4
    for (int i = 0; i < kBlocksOfWarp; ++i) {
        const std::int64_t block = first + i;
        if (block >= workspace.blockCount)
            return;
        const BlockStats stats = statsOf(processedBlock(canvas, settings, row, block));
        const std::int64_t place = row * workspace.blockCount + block;
        workspace.distances[place * 32 + threadIdx.x % 32] = stats.steps;
        if (threadIdx.x % 32 == 0) {
            workspace.maxima[place] = stats.maximum;
            workspace.sums[place] = stats.sums;
        }
    }
}

/// The best block of a row: its maximum, and its number as the id.
__device__ Candidate bestBlock(const float *maxima, std::int64_t count, Candidate *scratch)
{
    Candidate best{-INFINITY, kNoId};
    for (std::int64_t block = threadIdx.x; block < count; block += kSampleThreads) {
        const Candidate candidate{maxima[block], static_cast<std::int32_t>(block)};
        if (best.losesTo(candidate))
            best = candidate;
    }
    return blockBest<kSampleThreads>(best, scratch);
}

// Grid: rows, parts of a row and its summary. Five blocks a multiprocessor: an H200 takes the noise of a canvas at
// once, and the summaries in what that leaves.
__global__ __launch_bounds__(kSampleThreads, 5) void noiseKernel(const CanvasLogits canvas, RowSample *results)
{
    ptx::beginDependent();
    __shared__ Candidate scratch[kSampleWarps];
    __shared__ Candidate start;
    __shared__ int shared;
    __shared__ NoiseQueue queues[kSampleWarps];
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = *canvas.settings;
    const std::int64_t row = blockIdx.x;
    const auto part = static_cast<int>(blockIdx.y);
    if (part == kSampleParts) { // beside the noise, which does not need it
        summarise(canvas, settings, row, results[row]);
        return;
    }
    const NoiseRow noise{canvas, settings, row};
    const Candidate top = bestBlock(workspace.maxima + row * workspace.blockCount, workspace.blockCount, scratch);
    if (threadIdx.x < 32) { // a good value early makes the rest cheap
        const Candidate found =
            top.value == -INFINITY ? Candidate{-INFINITY, kNoId} : bestOfBlock(noise, top.id, top.value);
        if (threadIdx.x == 0) {
            start = found;
            shared = orderedInteger(found.value);
        }
    }
    __syncthreads();
    const std::int64_t begin = workspace.blockCount * part / kSampleParts;
    const std::int64_t end = workspace.blockCount * (part + 1) / kSampleParts;
    Candidate best = bestOfBlocks(noise, begin, end, start, shared, queues[threadIdx.x / 32]);
    best = blockBest<kSampleThreads>(best, scratch);
    if (threadIdx.x == 0) {
        workspace.bestValues[row * kSampleParts + part] = best.value;
        workspace.bestIds[row * kSampleParts + part] = best.id;
    }
}

constexpr int kFinishThreads = 128;

// A thread a row: the best of the parts.
__global__ __launch_bounds__(kFinishThreads) void finishKernel(const CanvasLogits canvas, RowSample *results)
{
    ptx::beginDependent();
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kFinishThreads + threadIdx.x;
    if (row >= canvas.rows)
        return;
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    Candidate best{-INFINITY, kNoId};
    for (int part = 0; part < kSampleParts; ++part) {
        const Candidate candidate{workspace.bestValues[row * kSampleParts + part],
                                  workspace.bestIds[row * kSampleParts + part]};
        if (best.losesTo(candidate))
            best = candidate;
    }
    results[row].sampled = best.id == kNoId ? 0 : best.id;
}

} // namespace

std::int64_t headSampleWorkspace(std::int64_t rows, std::int64_t vocabSize)
{
    const std::int64_t row = logitBlocks(vocabSize) * static_cast<std::int64_t>(sizeof(BlockSums) + sizeof(float)) +
                             static_cast<std::int64_t>(sizeof(RowStats)) +
                             kSampleParts * static_cast<std::int64_t>(sizeof(float) + sizeof(std::int32_t)) +
                             logitBlocks(vocabSize) * 32 * static_cast<std::int64_t>(sizeof(uchar2));
    return rows * row;
}

cudaError_t headSample(const CanvasLogits &canvas, RowSample *results, cudaStream_t stream)
{
    if (canvas.rows < 0 || canvas.rows > 65535 || canvas.vocabSize <= 0 || canvas.vocabSize % 8 != 0 ||
        canvas.vocabSize > 0x7FFFFFFF - kLogitBlock || canvas.logits == nullptr || canvas.settings == nullptr ||
        canvas.workspace == nullptr || results == nullptr)
        return cudaErrorInvalidValue;
    if (canvas.rows == 0)
        return cudaSuccess;
    const auto rows = static_cast<unsigned>(canvas.rows);
    constexpr std::int64_t kBlocksOfBlock = kSampleWarps * kBlocksOfWarp;
    const auto parts = static_cast<unsigned>((logitBlocks(canvas.vocabSize) + kBlocksOfBlock - 1) / kBlocksOfBlock);
    cudaError_t status =
        launchDependent(blockStatsKernel, {.grid = dim3(parts, rows), .threads = kSampleThreads}, stream, canvas);
    if (status == cudaSuccess)
        status = launchDependent(noiseKernel, {.grid = dim3(rows, kSampleParts + 1), .threads = kSampleThreads}, stream,
                                 canvas, results);
    if (status == cudaSuccess)
        status = launchDependent(
            finishKernel, {.grid = dim3((rows + kFinishThreads - 1) / kFinishThreads), .threads = kFinishThreads},
            stream, canvas, results);
    return status;
}

} // namespace palimpsest::kernels
