// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/head_sample.h"

#include "kernels/launch.h"
#include "kernels/philox.cuh"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

// Three launches: the maximum and sums of each block of 256 ids; then noise where it can win; then a block a row that
// puts things together. Between the first two the row's maximum becomes known, which is what makes the noise cheap.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
// Blocks that a warp of the first launch reads one after the other: 8 KiB of logits under way for each warp.
constexpr int kBlocksOfWarp = 8;

__device__ __forceinline__ BlockStats statsOf(const LogitVector &vector)
{
    float largest = vector.values[0];
#pragma unroll
    for (int element = 1; element < 8; ++element)
        largest = fmaxf(largest, vector.values[element]);
    BlockStats stats{warpMaximum(largest), 0.0F, 0.0F, 0.0F};
    if (stats.maximum == -INFINITY)
        return stats;
    // In powers of two. -infinity times 0 would be NaN; 2^-140 counts for nothing.
    constexpr float kLog2E = 1.44269504F;
    constexpr float kLn2 = 0.693147181F;
    const float offset = -stats.maximum * kLog2E;
#pragma unroll
    for (const float value : vector.values) {
        const float distance = fmaxf(fmaf(value, kLog2E, offset), -140.0F);
        const float weight = powerOfTwo(distance);
        stats.sum += weight;
        stats.weighted = fmaf(weight, distance, stats.weighted);
    }
    // Both sums in one tree: the lower lanes go on with the one, the upper with the other.
    const bool upper = threadIdx.x % 32 >= 16;
    const float sent = upper ? stats.sum : stats.weighted;
    float mine = (upper ? stats.weighted : stats.sum) + __shfl_xor_sync(kWholeWarp, sent, 16);
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(kWholeWarp, mine, distance);
    stats.sum = mine; // in lane 0, which stores it
    stats.weighted = __shfl_sync(kWholeWarp, mine, 16) * kLn2;
    return stats;
}

__global__ __launch_bounds__(kThreads) void blockStatsKernel(const CanvasLogits canvas)
{
    ptx::beginDependent();
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = *canvas.settings;
    const std::int64_t row = blockIdx.y;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32) * kBlocksOfWarp;
#pragma unroll 4
    for (int i = 0; i < kBlocksOfWarp; ++i) {
        const std::int64_t block = first + i;
        if (block >= workspace.blockCount)
            return;
        const BlockStats stats = statsOf(processedBlock(canvas, settings, row, block));
        if (threadIdx.x % 32 == 0)
            *reinterpret_cast<float4 *>(workspace.blocks + row * workspace.blockCount + block) =
                make_float4(stats.maximum, stats.sum, stats.weighted, 0.0F);
    }
}

/// The best block of a row: its maximum, and its number as the id.
__device__ Candidate bestBlock(const BlockStats *blocks, std::int64_t count, Candidate *scratch)
{
    Candidate best{-INFINITY, kNoId};
    for (std::int64_t block = threadIdx.x; block < count; block += kThreads) {
        const Candidate candidate{blocks[block].maximum, static_cast<std::int32_t>(block)};
        if (best.losesTo(candidate))
            best = candidate;
    }
    return blockBest<kThreads>(best, scratch);
}

/// The largest perturbed logit of a block, if it beats `best`. For whole warps, which share `best`.
__device__ Candidate perturb(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                             std::int64_t block, float blockMaximum, Candidate best)
{
    const LogitVector vector = processedBlock(canvas, settings, row, block);
    const std::uint32_t floor = best.value == -INFINITY ? 0U : wordFloor(best.value - blockMaximum);
    Candidate mine = best;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float *values = vector.values + i * 4;
        const float largest = fmaxf(fmaxf(values[0], values[1]), fmaxf(values[2], values[3]));
        if (!__any_sync(kWholeWarp, largest > -INFINITY && largest + kLargestGumbel >= best.value))
            continue;
        const auto id = static_cast<std::int32_t>(block * kLogitBlock + LogitVector::idOffset(i * 4));
        const uint4 words = philox4x32(make_uint4(static_cast<std::uint32_t>(id) / 4U, static_cast<std::uint32_t>(row),
                                                  settings.step, settings.stream),
                                       make_uint2(settings.seedLow, settings.seedHigh));
        const std::uint32_t lanes[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (lanes[c] < floor || values[c] == -INFINITY)
                continue;
            // Few words pass the block's floor, fewer this: the double logarithms are rare.
            if (values[c] + roughGumbelFromWord(lanes[c]) + kRoughGumbelError < mine.value)
                continue;
            const Candidate candidate{values[c] + gumbelFromWord(lanes[c]), id + c};
            if (mine.losesTo(candidate))
                mine = candidate;
        }
    }
    return warpBest(mine);
}

/// Integers in the order of the floats, and back.
__device__ __forceinline__ int orderedInteger(float value)
{
    const int bits = __float_as_int(value);
    return bits >= 0 ? bits : bits ^ 0x7FFFFFFF;
}

__device__ __forceinline__ float floatOfOrdered(int ordered)
{
    return __int_as_float(ordered >= 0 ? ordered : ordered ^ 0x7FFFFFFF);
}

__global__ __launch_bounds__(kThreads) void noiseKernel(const CanvasLogits canvas)
{
    ptx::beginDependent();
    __shared__ Candidate scratch[kWarps];
    __shared__ Candidate start;
    __shared__ int shared; ///< the best value of any warp so far, in the order of integers: skips more, decides nothing
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = *canvas.settings;
    const std::int64_t row = blockIdx.y;
    const BlockStats *blocks = workspace.blocks + row * workspace.blockCount;
    const Candidate top = bestBlock(blocks, workspace.blockCount, scratch);
    if (threadIdx.x < 32) { // a good value early makes the rest cheap
        const Candidate nothing{-INFINITY, kNoId};
        const Candidate found =
            top.value == -INFINITY ? nothing : perturb(canvas, settings, row, top.id, top.value, nothing);
        if (threadIdx.x == 0) {
            start = found;
            shared = orderedInteger(found.value);
        }
    }
    __syncthreads();
    Candidate best = start;
    const std::int64_t begin = workspace.blockCount * blockIdx.x / kSampleParts;
    const std::int64_t end = workspace.blockCount * (blockIdx.x + 1) / kSampleParts;
    for (std::int64_t block = begin + threadIdx.x / 32; block < end; block += kWarps) {
        const float blockMaximum = blocks[block].maximum;
        const Candidate others{floatOfOrdered(*static_cast<volatile int *>(&shared)), kNoId};
        if (best.value < others.value) // an equal value with a lower id must still win
            best = others;
        if (!(blockMaximum > -INFINITY && blockMaximum + kLargestGumbel >= best.value))
            continue;
        best = perturb(canvas, settings, row, block, blockMaximum, best);
        if (threadIdx.x % 32 == 0)
            atomicMax(&shared, orderedInteger(best.value));
    }
    best = blockBest<kThreads>(best, scratch);
    if (threadIdx.x == 0) {
        workspace.bestValues[row * kSampleParts + blockIdx.x] = best.value;
        workspace.bestIds[row * kSampleParts + blockIdx.x] = best.id;
    }
}

/// Sum over the block in double, in a fixed tree. `scratch`: [kWarps].
__device__ double blockSumDouble(double value, double *scratch)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0.0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp)
        total += scratch[warp];
    return total;
}

/// The best ids of a row. They lie in the five blocks with the largest maxima (on a tie the earlier block): each of
/// those gives its five best, and the five best of all are taken.
__device__ void findAlternatives(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                 const BlockStats *blocks, std::int64_t blockCount,
                                 Candidate (&alternatives)[kSampleAlternatives])
{
    constexpr int kBest = kSampleAlternatives;
    static_assert(kBest <= kWarps);
    __shared__ Candidate scratch[kWarps];
    __shared__ Candidate found[kBest * kBest];
    Candidate bound{INFINITY, -1}; // the block taken last: only those behind it are looked at
    Candidate mine{-INFINITY, kNoId};
    for (int place = 0; place < kBest; ++place) {
        Candidate best{-INFINITY, kNoId};
        for (std::int64_t block = threadIdx.x; block < blockCount; block += kThreads) {
            const Candidate candidate{blocks[block].maximum, static_cast<std::int32_t>(block)};
            if (candidate.losesTo(bound) && best.losesTo(candidate))
                best = candidate;
        }
        bound = blockBest<kThreads>(best, scratch);
        if (static_cast<int>(threadIdx.x) / 32 == place)
            mine = bound;
    }
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp < kBest) {
        LogitVector vector;
        for (float &value : vector.values)
            value = -INFINITY;
        if (mine.value > -INFINITY)
            vector = processedBlock(canvas, settings, row, mine.id);
        Candidate last{INFINITY, -1};
        for (int place = 0; place < kBest; ++place) {
            Candidate best{-INFINITY, kNoId};
#pragma unroll
            for (int element = 0; element < 8; ++element) {
                const Candidate candidate{
                    vector.values[element],
                    mine.value > -INFINITY ? mine.id * kLogitBlock + LogitVector::idOffset(element) : kNoId};
                if (candidate.losesTo(last) && best.losesTo(candidate))
                    best = candidate;
            }
            last = warpBest(best);
            if (threadIdx.x % 32 == 0)
                found[warp * kBest + place] = last;
        }
    }
    __syncthreads();
    Candidate last{INFINITY, -1};
    for (Candidate &alternative : alternatives) {
        Candidate best{-INFINITY, kNoId};
        for (const Candidate &candidate : found)
            if (candidate.losesTo(last) && best.losesTo(candidate))
                best = candidate;
        alternative = last = best;
    }
}

__global__ __launch_bounds__(kThreads) void finishKernel(const CanvasLogits canvas, RowSample *results)
{
    ptx::beginDependent();
    __shared__ double sums[kWarps];
    __shared__ double weightedSums[kWarps];
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = *canvas.settings;
    const std::int64_t row = blockIdx.x;
    const BlockStats *blocks = workspace.blocks + row * workspace.blockCount;
    Candidate alternatives[kSampleAlternatives];
    findAlternatives(canvas, settings, row, blocks, workspace.blockCount, alternatives);
    const float maximum = alternatives[0].value;
    double sum = 0.0;
    double weighted = 0.0;
    for (std::int64_t block = threadIdx.x; block < workspace.blockCount; block += kThreads) {
        const BlockStats stats = blocks[block];
        if (stats.maximum == -INFINITY)
            continue;
        const float distance = stats.maximum - maximum;
        const auto factor = static_cast<double>(expf(distance));
        sum += static_cast<double>(stats.sum) * factor;
        weighted += (static_cast<double>(stats.weighted) + static_cast<double>(stats.sum) * distance) * factor;
    }
    sum = blockSumDouble(sum, sums);
    weighted = blockSumDouble(weighted, weightedSums);
    if (threadIdx.x != 0)
        return;
    workspace.rows[row] = {maximum, static_cast<float>(sum)};
    Candidate best{-INFINITY, kNoId};
    for (int part = 0; part < kSampleParts; ++part) {
        const Candidate candidate{workspace.bestValues[row * kSampleParts + part],
                                  workspace.bestIds[row * kSampleParts + part]};
        if (best.losesTo(candidate))
            best = candidate;
    }
    RowSample result;
    result.argmax = alternatives[0].value > -INFINITY ? alternatives[0].id : 0;
    result.sampled = best.id == kNoId ? 0 : best.id;
    result.entropyNats = static_cast<float>(log(sum) - weighted / sum); // log p = (x - max) - log sum
    for (int i = 0; i < kSampleAlternatives; ++i) {
        const Candidate &alternative = alternatives[i];
        if (alternative.value == -INFINITY)
            continue; // fewer than five ids are allowed: 0 with probability 0
        result.alternativeIds[i] = alternative.id;
        result.alternativeProbabilities[i] =
            static_cast<float>(exp(static_cast<double>(alternative.value - maximum)) / sum);
    }
    results[row] = result;
}

} // namespace

std::int64_t headSampleWorkspace(std::int64_t rows, std::int64_t vocabSize)
{
    const std::int64_t row = logitBlocks(vocabSize) * static_cast<std::int64_t>(sizeof(BlockStats)) +
                             static_cast<std::int64_t>(sizeof(RowStats)) +
                             kSampleParts * static_cast<std::int64_t>(sizeof(float) + sizeof(std::int32_t));
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
    constexpr std::int64_t kBlocksOfBlock = kWarps * kBlocksOfWarp;
    const auto parts = static_cast<unsigned>((logitBlocks(canvas.vocabSize) + kBlocksOfBlock - 1) / kBlocksOfBlock);
    cudaError_t status =
        launchDependent(blockStatsKernel, {.grid = dim3(parts, rows), .threads = kThreads}, stream, canvas);
    if (status == cudaSuccess)
        status = launchDependent(noiseKernel, {.grid = dim3(kSampleParts, rows), .threads = kThreads}, stream, canvas);
    if (status == cudaSuccess)
        status = launchDependent(finishKernel, {.grid = dim3(rows), .threads = kThreads}, stream, canvas, results);
    return status;
}

} // namespace palimpsest::kernels
