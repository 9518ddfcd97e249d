// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/head_sample.h"

#include "kernels/launch.h"
#include "kernels/philox.cuh"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

namespace palimpsest::kernels {

namespace {

// Three launches: the maximum and sums of each block of 256 ids; then noise where it can win, and beside it entropy and
// alternatives; then the best of the parts. Between the first two the row's maximum becomes known, which is what makes
// the noise cheap.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
// Blocks that a warp of the first launch reads one after the other: 8 KiB of logits under way for each warp.
constexpr int kBlocksOfWarp = 8;

struct BlockStats
{
    float maximum;
    BlockSums sums;
};

/// Of a block; the sums in lane 0 alone. For whole warps.
__device__ __forceinline__ BlockStats statsOf(const LogitVector &vector)
{
    float largest = vector.values[0];
#pragma unroll
    for (int element = 1; element < 8; ++element)
        largest = fmaxf(largest, vector.values[element]);
    BlockStats stats{warpMaximum(largest), {0.0F, 0.0F}};
    float sum = 0.0F;
    float weighted = 0.0F;
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
        if (threadIdx.x % 32 == 0) {
            workspace.maxima[row * workspace.blockCount + block] = stats.maximum;
            workspace.sums[row * workspace.blockCount + block] = stats.sums;
        }
    }
}

/// The best block of a row: its maximum, and its number as the id.
__device__ Candidate bestBlock(const float *maxima, std::int64_t count, Candidate *scratch)
{
    Candidate best{-INFINITY, kNoId};
    for (std::int64_t block = threadIdx.x; block < count; block += kThreads) {
        const Candidate candidate{maxima[block], static_cast<std::int32_t>(block)};
        if (best.losesTo(candidate))
            best = candidate;
    }
    return blockBest<kThreads>(best, scratch);
}

/// The largest perturbed logit of a block, if it beats `best`. For whole warps, which share `best`. Where
/// no id has a bias, an id is processed only when its word can win: nearly none is.
__device__ Candidate perturb(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                             std::int64_t block, float blockMaximum, Candidate best)
{
    const bool biased = settings.biasCount > 0;
    const LogitVector vector = biased ? processedBlock(canvas, settings, row, block) : rawBlock(canvas, row, block);
    const LogitProcessing processing(canvas, settings);
    const auto id = static_cast<std::int32_t>(block * kLogitBlock + LogitVector::idOffset(0));
    const uint2 key = make_uint2(ptx::uniform(settings.seedLow), ptx::uniform(settings.seedHigh));
    uint4 words[2]; // of both halves, side by side: one alone waits for its own latencies
#pragma unroll
    for (int i = 0; i < 2; ++i)
        words[i] = philox4x32(make_uint4(static_cast<std::uint32_t>(id) / 4U + 32U * static_cast<unsigned>(i),
                                         static_cast<std::uint32_t>(row), settings.step, settings.stream),
                              key);
    const std::uint32_t floor = best.value == -INFINITY ? 0U : wordFloor(best.value - blockMaximum);
    Candidate mine = best;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const std::uint32_t lanes[4] = {words[i].x, words[i].y, words[i].z, words[i].w};
        if (max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3])) < floor)
            continue;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const float logit = vector.values[i * 4 + c];
            if (lanes[c] < floor || logit == -INFINITY)
                continue;
            // Few words pass the block's floor, fewer this: the double logarithms are rare.
            const float value = biased ? logit : processing(logit);
            if (value + roughGumbelFromWord(lanes[c]) + kRoughGumbelError < mine.value)
                continue;
            const Candidate candidate{value + gumbelFromWord(lanes[c]), id + i * (kLogitBlock / 2) + c};
            if (mine.losesTo(candidate))
                mine = candidate;
        }
    }
    return __any_sync(kWholeWarp, best.losesTo(mine)) ? warpBest(mine) : best;
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

/// The five best of the warp's candidates, in order; lane l gets number l of them. `candidate(i)` is this lane's i-th.
template <int kEach, typename CandidateAt>
__device__ Candidate warpBestFive(CandidateAt candidateAt)
{
    Candidate last{INFINITY, -1};
    Candidate mine{-INFINITY, kNoId};
    for (int place = 0; place < kSampleAlternatives; ++place) {
        Candidate best{-INFINITY, kNoId};
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const Candidate candidate = candidateAt(i);
            if (candidate.losesTo(last) && best.losesTo(candidate))
                best = candidate;
        }
        last = warpBest(best);
        if (static_cast<int>(threadIdx.x) % 32 == place)
            mine = last;
    }
    return mine;
}

/// The best ids of a row, number l of them in lane l of every warp. They lie in the five blocks with the largest maxima
/// (on a tie the earlier block): each of those gives its five best, and the five best of all are taken.
__device__ Candidate findAlternatives(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                      const float *maxima, std::int64_t blockCount)
{
    constexpr int kBest = kSampleAlternatives;
    constexpr int kFound = kWarps * kBest;
    static_assert(kBest <= kWarps && kFound <= 64);
    __shared__ Candidate found[kFound];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto publish = [&](const Candidate &candidate) {
        __syncthreads(); // the list may still be read
        if (lane < kBest)
            found[warp * kBest + lane] = candidate;
        __syncthreads();
    };
    const auto ofList = [&](int i) {
        return lane + i * 32 < kFound ? found[lane + i * 32] : Candidate{-INFINITY, kNoId};
    };

    Candidate best{-INFINITY, kNoId}; // of the blocks, first of this warp's share
    for (std::int64_t first = warp * 128; first < blockCount; first += kWarps * 128) {
        const Candidate before = best;
        best = warpBestFive<5>([&](int i) {
            const std::int64_t block = first + lane + i * 32;
            if (i == 4) // what the blocks before these gave
                return lane < kBest ? before : Candidate{-INFINITY, kNoId};
            return block < blockCount ? Candidate{maxima[block], static_cast<std::int32_t>(block)}
                                      : Candidate{-INFINITY, kNoId};
        });
    }
    publish(best);
    best = warpBestFive<2>(ofList);

    const float blockMaximum = __shfl_sync(kWholeWarp, best.value, warp % kBest);
    const std::int32_t block = __shfl_sync(kWholeWarp, best.id, warp % kBest);
    best = {-INFINITY, kNoId};
    if (warp < kBest && blockMaximum > -INFINITY) {
        const LogitVector vector = processedBlock(canvas, settings, row, block);
        best = warpBestFive<8>([&](int i) {
            return Candidate{vector.values[i], block * kLogitBlock + LogitVector::idOffset(i)};
        });
    }
    publish(best);
    return warpBestFive<2>(ofList);
}

/// All of a row's result but the sampled id.
__device__ void summarise(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                          RowSample &result)
{
    __shared__ double sums[kWarps];
    __shared__ double weightedSums[kWarps];
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const float *maxima = workspace.maxima + row * workspace.blockCount;
    const BlockSums *blockSums = workspace.sums + row * workspace.blockCount;
    const Candidate alternative = findAlternatives(canvas, settings, row, maxima, workspace.blockCount);
    const float maximum = __shfl_sync(kWholeWarp, alternative.value, 0);
    double sum = 0.0;
    double weighted = 0.0;
    for (std::int64_t block = threadIdx.x; block < workspace.blockCount; block += kThreads) {
        if (maxima[block] == -INFINITY)
            continue;
        const float distance = maxima[block] - maximum;
        const auto factor = static_cast<double>(expf(distance));
        const auto blockSum = static_cast<double>(blockSums[block].sum);
        sum += blockSum * factor;
        weighted +=
            (static_cast<double>(blockSums[block].weighted) + blockSum * static_cast<double>(distance)) * factor;
    }
    sum = blockSumDouble(sum, sums);
    weighted = blockSumDouble(weighted, weightedSums);
    if (threadIdx.x < kSampleAlternatives) { // fewer than five ids are allowed: 0 with probability 0
        const bool exists = alternative.value > -INFINITY;
        result.alternativeIds[threadIdx.x] = exists ? alternative.id : 0;
        result.alternativeProbabilities[threadIdx.x] =
            exists ? expf(alternative.value - maximum) / static_cast<float>(sum) : 0.0F;
    }
    if (threadIdx.x != 0)
        return;
    workspace.rows[row] = {maximum, static_cast<float>(sum)};
    result.argmax = alternative.value > -INFINITY ? alternative.id : 0;
    result.entropyNats = static_cast<float>(log(sum) - weighted / sum); // log p = (x - max) - log sum
}

// Five blocks a multiprocessor: an H200 takes the 1280 of a canvas in two rounds.
__global__ __launch_bounds__(kThreads, 5) void noiseKernel(const CanvasLogits canvas, RowSample *results)
{
    ptx::beginDependent();
    __shared__ Candidate scratch[kWarps];
    __shared__ Candidate start;
    __shared__ int shared; ///< the best value of any warp so far, in the order of integers: skips more, decides nothing
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const SampleSettings settings = *canvas.settings;
    const std::int64_t row = blockIdx.y;
    if (blockIdx.x == kSampleParts) { // beside the noise, which does not need it
        summarise(canvas, settings, row, results[row]);
        return;
    }
    const float *maxima = workspace.maxima + row * workspace.blockCount;
    const Candidate top = bestBlock(maxima, workspace.blockCount, scratch);
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
    // A warp's blocks are those of its number, kWarps apart; 32 at a time, of which only those that may win are read.
    for (std::int64_t first = begin + threadIdx.x / 32; first < end; first += 32 * kWarps) {
        const std::int64_t mine = first + static_cast<std::int64_t>(threadIdx.x % 32) * kWarps;
        const float maximum = mine < end ? maxima[mine] : -INFINITY;
        unsigned waiting = __ballot_sync(kWholeWarp, maximum > -INFINITY && maximum + kLargestGumbel >= best.value);
        for (; waiting != 0; waiting &= waiting - 1) {
            const int lane = __ffs(static_cast<int>(waiting)) - 1;
            const float blockMaximum = __shfl_sync(kWholeWarp, maximum, lane);
            const float others = floatOfOrdered(__shfl_sync(kWholeWarp, *static_cast<volatile int *>(&shared), 0));
            if (best.value < others) // an equal value with a lower id must still win
                best = {others, kNoId};
            if (blockMaximum + kLargestGumbel < best.value)
                continue;
            best = perturb(canvas, settings, row, first + static_cast<std::int64_t>(lane) * kWarps, blockMaximum, best);
            if (threadIdx.x % 32 == 0)
                atomicMax(&shared, orderedInteger(best.value));
        }
    }
    best = blockBest<kThreads>(best, scratch);
    if (threadIdx.x == 0) {
        workspace.bestValues[row * kSampleParts + blockIdx.x] = best.value;
        workspace.bestIds[row * kSampleParts + blockIdx.x] = best.id;
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
        status = launchDependent(noiseKernel, {.grid = dim3(kSampleParts + 1, rows), .threads = kThreads}, stream,
                                 canvas, results);
    if (status == cudaSuccess)
        status = launchDependent(
            finishKernel, {.grid = dim3((rows + kFinishThreads - 1) / kFinishThreads), .threads = kFinishThreads},
            stream, canvas, results);
    return status;
}

} // namespace palimpsest::kernels
