// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/head_sample.h"

#include "kernels/head_noise.cuh"
#include "kernels/head_summary.cuh"
#include "kernels/launch.h"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"
#include "kernels/vector_aligned.h"

namespace palimpsest::kernels {

namespace {

// Three launches: the maximum and sums of each block of 256 ids; then noise where it can win, and beside it entropy and
// alternatives; then the best of the parts. Between the first two the row's maximum becomes known, which is what makes
// the noise cheap.

// Blocks that a warp of the first launch reads one after the other, and how many are under way at a time: 2 KiB for
// each warp.
constexpr int kBlocksOfWarp = 8;
constexpr int blocksAtOnce(LogitType type)
{
    return type == LogitType::Fp32 ? 2 : 4;
}

constexpr std::int64_t kMostSampledIds = (std::int64_t{1} << 31) - 16384; // the noise looks two rounds of tiles ahead

struct BlockStats
{
    float maximum;
    std::uint8_t steps[2]; ///< stepsBelow() of this lane's groups of four
    BlockSums sums;
};

/// A lane's sums over some of a block's ids, the distances from its maximum in powers of two.
struct LaneSums
{
    float sum = 0.0F;
    float weighted = 0.0F;

    __device__ __forceinline__ void add(float distance)
    {
        const float weight = ptx::exp2Approximate(distance);
        sum += weight;
        weighted = fmaf(weight, distance, weighted);
    }

    /// Of the warp, in lane 0 alone: both in one tree, the lower lanes go on with the one, the upper with the other.
    [[nodiscard]] __device__ __forceinline__ BlockSums ofWarp() const
    {
        constexpr float kLn2 = 0.693147181F;
        const bool upper = threadIdx.x % 32 >= 16;
        const float sent = upper ? sum : weighted;
        float mine = (upper ? weighted : sum) + __shfl_xor_sync(kWholeWarp, sent, 16);
#pragma unroll
        for (int distance = 8; distance > 0; distance /= 2)
            mine += __shfl_xor_sync(kWholeWarp, mine, distance);
        return {mine, __shfl_sync(kWholeWarp, mine, 16) * kLn2};
    }
};

/// Of a block of processed logits; the sums in lane 0 alone. For whole warps.
__device__ __forceinline__ BlockStats statsOf(const LogitVector &vector)
{
    const float *const v = vector.values;
    const float first = fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3]));
    const float second = fmaxf(fmaxf(v[4], v[5]), fmaxf(v[6], v[7]));
    BlockStats stats{warpMaximum(fmaxf(first, second)), {}, {0.0F, 0.0F}};
    if (stats.maximum == -INFINITY)
        return stats;
    stats.steps[0] = stepsBelow(stats.maximum, first);
    stats.steps[1] = stepsBelow(stats.maximum, second);
    const float offset = -stats.maximum * kLog2E;
    LaneSums sums;
#pragma unroll
    for (const float value : vector.values)
        sums.add(fmaxf(fmaf(value, kLog2E, offset), -140.0F)); // -infinity times 0 would be NaN; 2^-140 is nothing
    stats.sums = sums.ofWarp();
    return stats;
}

/// The same of raw logits that have nothing but a soft-cap before them, none behind the vocabulary.
__device__ __forceinline__ BlockStats softcappedStatsOf(const Softcap &cap, LogitVector &vector)
{
    float *const v = vector.values;
#pragma unroll
    for (float &value : vector.values)
        value = cap.reciprocal(value);
    // The largest value has the least reciprocal. None is negative: they are in the order of integers.
    const float first = fminf(fminf(v[0], v[1]), fminf(v[2], v[3]));
    const float second = fminf(fminf(v[4], v[5]), fminf(v[6], v[7]));
    const float least = __uint_as_float(__reduce_min_sync(kWholeWarp, __float_as_uint(fminf(first, second))));
    BlockStats stats{cap.ofReciprocal(least), {}, {0.0F, 0.0F}};
    stats.steps[0] = stepsBelow(stats.maximum, cap.ofReciprocal(first));
    stats.steps[1] = stepsBelow(stats.maximum, cap.ofReciprocal(second));
    const SoftcappedDistance distanceOf(cap, stats.maximum);
    LaneSums sums;
#pragma unroll
    for (const float reciprocal : vector.values)
        sums.add(distanceOf(reciprocal));
    stats.sums = sums.ofWarp();
    return stats;
}

/// Where a warp's results go, from its first block on.
struct StatsPlaces
{
    uchar2 *distances; ///< of this lane
    float *maxima;
    BlockSums *sums;

    __device__ __forceinline__ void store(int block, const BlockStats &stats) const
    {
        distances[block * (kLogitBlock / 8)] = make_uchar2(stats.steps[0], stats.steps[1]);
        if (threadIdx.x % 32 == 0) {
            maxima[block] = stats.maximum;
            sums[block] = stats.sums;
        }
    }
};

/// All of a warp's blocks where there is nothing but a soft-cap. Instructions count here: with the checks that other
/// processing needs they take longer than reading the logits.
template <LogitType kType>
__device__ __forceinline__ void softcappedStats(const CanvasLogits &canvas, const SampleSettings &settings,
                                                std::int64_t row, std::int64_t first, const StatsPlaces &places)
{
    constexpr int kAtOnce = blocksAtOnce(kType);
    const Softcap cap = LogitProcessing(canvas, settings).cap;
    const std::int64_t index = row * canvas.vocabSize + first * kLogitBlock + LogitVector::idOffset(0);
#pragma unroll 1
    for (int begin = 0; begin < kBlocksOfWarp; begin += kAtOnce) {
        PackedLogits<kType> raw[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i)
            raw[i] = PackedLogits<kType>::read(canvas, index + (begin + i) * kLogitBlock);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            LogitVector vector;
            raw[i].unpack(vector.values);
            places.store(begin + i, softcappedStatsOf(cap, vector));
        }
    }
}

// Grid: parts of a row, rows of a canvas, canvases.
template <LogitType kType>
__global__ __launch_bounds__(kSampleThreads) void blockStatsKernel(const CanvasLogits canvas)
{
    ptx::beginDependent();
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = canvas.settings[blockIdx.z];
    const std::int64_t row = blockIdx.z * canvas.rows + blockIdx.y;
    const std::int64_t first =
        (static_cast<std::int64_t>(blockIdx.x) * kSampleWarps + threadIdx.x / 32) * kBlocksOfWarp;
    const std::int64_t place = row * workspace.blockCount + first;
    auto *const distances =
        workspace.distances + row * distanceStride(workspace.blockCount) + first * (kLogitBlock / 4);
    const StatsPlaces places{reinterpret_cast<uchar2 *>(distances) + threadIdx.x % 32, workspace.maxima + place,
                             workspace.sums + place};
    if (canvas.softcap > 0.0F && settings.biasCount == 0 && (first + kBlocksOfWarp) * kLogitBlock <= canvas.vocabSize) {
        softcappedStats<kType>(canvas, settings, row, first, places);
        return;
    }
#pragma unroll 1
    for (int i = 0; i < kBlocksOfWarp && first + i < workspace.blockCount; ++i)
        places.store(i, statsOf(processedBlock(canvas, settings, row, first + i)));
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

// Grid: rows of a canvas, parts of a row and its summary, canvases. Four blocks a multiprocessor: an H200 takes the
// noise of a canvas at once, and the summaries as its blocks end.
__global__ __launch_bounds__(kSampleThreads, 4) void noiseKernel(const CanvasLogits canvas, RowSample *results)
{
    ptx::beginDependent();
    __shared__ Candidate scratch[kSampleWarps];
    __shared__ Candidate start;
    __shared__ int shared;
    __shared__ IdGroup queues[kSampleWarps][NoiseQueue::kPlaces];
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = canvas.settings[blockIdx.z];
    const std::int64_t row = blockIdx.z * canvas.rows + blockIdx.x;
    const auto part = static_cast<int>(blockIdx.y);
    if (part == kSampleParts) { // beside the noise, which does not need it
        summarise(canvas, settings, row, results[row]);
        return;
    }
    const NoiseRow noise{canvas, settings, row, blockIdx.x};
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
    const auto tiles = static_cast<int>((workspace.blockCount + kTileBlocks - 1) / kTileBlocks);
    Candidate best = bestOfTiles(noise, tiles * part / kSampleParts, tiles * (part + 1) / kSampleParts, start, shared,
                                 NoiseQueue(queues[threadIdx.x / 32]));
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
    if (row >= canvas.allRows())
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
    const std::int64_t blocks = logitBlocks(vocabSize);
    const std::int64_t row = distanceStride(blocks) +
                             blocks * static_cast<std::int64_t>(sizeof(BlockSums) + sizeof(float)) +
                             static_cast<std::int64_t>(sizeof(RowStats)) +
                             kSampleParts * static_cast<std::int64_t>(sizeof(float) + sizeof(std::int32_t));
    return rows * row;
}

bool isAllowed(const CanvasLogits &canvases)
{
    constexpr std::int64_t kMostRows = 65535;
    return canvases.rows >= 0 && canvases.rows <= kMostRows && canvases.canvases >= 0 &&
           canvases.canvases <= kMostRows && canvases.allRows() <= kMostRows && canvases.vocabSize > 0 &&
           canvases.vocabSize % 8 == 0 && canvases.vocabSize <= kMostSampledIds && isVectorAligned(canvases.logits) &&
           canvases.settings != nullptr && isVectorAligned(canvases.workspace);
}

cudaError_t headSample(const CanvasLogits &canvases, RowSample *results, cudaStream_t stream)
{
    if (!isAllowed(canvases) || results == nullptr)
        return cudaErrorInvalidValue;
    if (canvases.allRows() == 0)
        return cudaSuccess;
    const auto rows = static_cast<unsigned>(canvases.rows);
    const auto count = static_cast<unsigned>(canvases.canvases);
    constexpr std::int64_t kBlocksOfBlock = kSampleWarps * kBlocksOfWarp;
    const auto parts = static_cast<unsigned>((logitBlocks(canvases.vocabSize) + kBlocksOfBlock - 1) / kBlocksOfBlock);
    const auto blockStats =
        canvases.type == LogitType::Fp32 ? blockStatsKernel<LogitType::Fp32> : blockStatsKernel<LogitType::Fp16>;
    cudaError_t status =
        launchDependent(blockStats, {.grid = dim3(parts, rows, count), .threads = kSampleThreads}, stream, canvases);
    if (status == cudaSuccess)
        status = launchDependent(noiseKernel, {.grid = dim3(rows, kSampleParts + 1, count), .threads = kSampleThreads},
                                 stream, canvases, results);
    if (status == cudaSuccess)
        status = launchDependent(
            finishKernel,
            {.grid = dim3((rows * count + kFinishThreads - 1) / kFinishThreads), .threads = kFinishThreads}, stream,
            canvases, results);
    return status;
}

} // namespace palimpsest::kernels
