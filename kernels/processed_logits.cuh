// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/head_sample.h"
#include "kernels/philox.cuh"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"
#include "kernels/softcap.cuh"

#include <cstdint>

/// How a warp reads a block of 256 processed logits, and what is known of each block and row. Rows are counted through
/// all canvases of a step.
namespace palimpsest::kernels {

inline constexpr int kLogitBlock = 256;

/// What is known of a block beside its maximum, which lies apart (the noise looks at little else).
struct BlockSums
{
    float sum;      ///< of exp(x - maximum)
    float weighted; ///< of exp(x - maximum) (x - maximum)
};

struct RowStats
{
    float maximum;
    float sum; ///< of exp(x - maximum) over the row
};

/// What lies in CanvasLogits::workspace.
struct SampleWorkspace
{
    BlockSums *sums;   ///< [rows, blockCount]
    RowStats *rows;    ///< [rows]
    float *maxima;     ///< [rows, blockCount], of the processed logits; -infinity where all ids are banned
    float *bestValues; ///< [rows, kSampleParts]
    std::int32_t *bestIds;
    std::uint8_t *distances; ///< [rows, distanceStride()]: stepsBelow() of each group of four ids
    std::int64_t blockCount;
};

/// Threads of a block that works on a row.
inline constexpr int kSampleThreads = 256;
inline constexpr int kSampleWarps = kSampleThreads / 32;

/// Blocks of threads that share a row when noise is added.
inline constexpr int kSampleParts = 2;

__host__ __device__ inline std::int64_t logitBlocks(std::int64_t vocabSize)
{
    return (vocabSize + kLogitBlock - 1) / kLogitBlock;
}

/// Blocks whose distances a warp reads at once, eight bytes a lane.
inline constexpr int kTileBlocks = 4;

__host__ __device__ inline std::int64_t distanceStride(std::int64_t blockCount)
{
    return (blockCount + kTileBlocks - 1) / kTileBlocks * (kTileBlocks * kLogitBlock / 4);
}

__host__ __device__ inline SampleWorkspace sampleWorkspace(const CanvasLogits &canvas)
{
    SampleWorkspace made{};
    made.blockCount = logitBlocks(canvas.vocabSize);
    made.distances = static_cast<std::uint8_t *>(canvas.workspace);
    const std::int64_t rows = canvas.allRows();
    made.sums = reinterpret_cast<BlockSums *>(made.distances + rows * distanceStride(made.blockCount));
    made.rows = reinterpret_cast<RowStats *>(made.sums + rows * made.blockCount);
    made.maxima = reinterpret_cast<float *>(made.rows + rows);
    made.bestValues = made.maxima + rows * made.blockCount;
    made.bestIds = reinterpret_cast<std::int32_t *>(made.bestValues + rows * kSampleParts);
    return made;
}

/// Eight logits of a block: element i of lane l has id block * 256 + l * 8 + i.
struct LogitVector
{
    float values[8];

    __device__ __forceinline__ static int idOffset(int element)
    {
        return static_cast<int>(threadIdx.x) % 32 * 8 + element;
    }
};

/// Eight logits as they lie in memory.
template <LogitType kType>
struct PackedLogits
{
    uint4 words[kType == LogitType::Fp32 ? 2 : 1];

    /// Read once: not to stay in the cache.
    __device__ __forceinline__ static PackedLogits read(const CanvasLogits &canvas, std::int64_t index)
    {
        constexpr int kBytes = kType == LogitType::Fp32 ? 4 : 2;
        const auto *from = reinterpret_cast<const uint4 *>(static_cast<const char *>(canvas.logits) + index * kBytes);
        PackedLogits read;
#pragma unroll
        for (int i = 0; i < kBytes / 2; ++i)
            read.words[i] = __ldcs(from + i);
        return read;
    }

    __device__ __forceinline__ void unpack(float (&values)[8]) const
    {
        if constexpr (kType == LogitType::Fp32) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                values[i * 4] = __uint_as_float(words[i].x);
                values[i * 4 + 1] = __uint_as_float(words[i].y);
                values[i * 4 + 2] = __uint_as_float(words[i].z);
                values[i * 4 + 3] = __uint_as_float(words[i].w);
            }
        } else {
            const std::uint32_t pairs[4] = {words[0].x, words[0].y, words[0].z, words[0].w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                values[i * 2] = ptx::lowFp16(pairs[i]);
                values[i * 2 + 1] = ptx::highFp16(pairs[i]);
            }
        }
    }
};

/// A logit, and four of them from a multiple of four on.
__device__ __forceinline__ float rawLogit(const CanvasLogits &canvas, std::int64_t index)
{
    return canvas.type == LogitType::Fp32 ? static_cast<const float *>(canvas.logits)[index]
                                          : ptx::fromFp16(static_cast<const std::uint16_t *>(canvas.logits)[index]);
}

__device__ __forceinline__ float4 rawFour(const CanvasLogits &canvas, std::int64_t index)
{
    if (canvas.type == LogitType::Fp32)
        return static_cast<const float4 *>(canvas.logits)[index / 4];
    const uint2 pairs = static_cast<const uint2 *>(canvas.logits)[index / 4];
    return make_float4(ptx::lowFp16(pairs.x), ptx::highFp16(pairs.x), ptx::lowFp16(pairs.y), ptx::highFp16(pairs.y));
}

/// x / t rounded once, from the rounded reciprocal r of t (Markstein 1990).
__device__ __forceinline__ float dividedBy(float x, float t, float r)
{
    const float quotient = x * r;
    const float result = fmaf(fmaf(-quotient, t, x), r, quotient);
    return isinf(x) ? x : result; // a banned id
}

/// The first entry whose id is at least `id`, or their count.
__device__ inline std::int32_t firstBias(const SampleSettings &settings, std::int64_t id)
{
    std::int32_t low = 0;
    std::int32_t high = settings.biasCount;
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        if (settings.bias[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Adds the biases of the ids [first, first + 256) to a warp's block.
__device__ inline void addBias(LogitVector &vector, const SampleSettings &settings, std::int64_t first)
{
    for (std::int32_t at = firstBias(settings, first);
         at < settings.biasCount && settings.bias[at].id < first + kLogitBlock; ++at) {
        const auto offset = static_cast<int>(settings.bias[at].id - first);
#pragma unroll
        for (int element = 0; element < 8; ++element)
            if (LogitVector::idOffset(element) == offset)
                vector.values[element] += settings.bias[at].bias;
    }
}

/// Soft-cap and temperature of one logit where no id has a bias; keeps the logits' order but for rounding.
struct LogitProcessing
{
    Softcap cap;
    bool capped;
    float temperature;
    float reciprocal;

    __device__ __forceinline__ LogitProcessing(const CanvasLogits &canvas, const SampleSettings &settings)
        : cap{kTwoLog2E / canvas.softcap, canvas.softcap / settings.temperature},
          capped(canvas.softcap > 0.0F),
          temperature(settings.temperature),
          reciprocal(1.0F / settings.temperature)
    {
    }

    __device__ __forceinline__ float operator()(float logit) const
    {
        return capped ? cap(logit) : dividedBy(logit, temperature, reciprocal);
    }

    static constexpr float kTwoLog2E = 2.88539008F;
};

/// Reads a block of a row as it is; ids behind the vocabulary become -infinity. For whole warps.
__device__ __forceinline__ LogitVector rawBlock(const CanvasLogits &canvas, std::int64_t row, std::int64_t block)
{
    LogitVector vector;
    const std::int64_t id = block * kLogitBlock + LogitVector::idOffset(0);
    const std::int64_t index = row * canvas.vocabSize + id;
    if (id >= canvas.vocabSize) { // a multiple of 8
#pragma unroll
        for (float &value : vector.values)
            value = -INFINITY;
    } else if (canvas.type == LogitType::Fp32) {
        PackedLogits<LogitType::Fp32>::read(canvas, index).unpack(vector.values);
    } else {
        PackedLogits<LogitType::Fp16>::read(canvas, index).unpack(vector.values);
    }
    return vector;
}

/// Reads and processes a block of a row; ids behind the vocabulary become -infinity. For whole warps.
__device__ __forceinline__ LogitVector processedBlock(const CanvasLogits &canvas, const SampleSettings &settings,
                                                      std::int64_t row, std::int64_t block)
{
    LogitVector vector = rawBlock(canvas, row, block);
    const std::int64_t first = block * kLogitBlock;
    const LogitProcessing processing(canvas, settings);
    const bool biased = settings.biasCount > 0;
    if (canvas.softcap > 0.0F) {
        const Softcap cap{processing.cap.exponentScale, biased ? canvas.softcap : processing.cap.scale};
        if (first + LogitVector::idOffset(0) < canvas.vocabSize) {
#pragma unroll
            for (float &value : vector.values)
                value = cap(value);
        }
        if (!biased)
            return vector;
    }
    if (biased)
        addBias(vector, settings, first);
#pragma unroll
    for (float &value : vector.values)
        value = dividedBy(value, settings.temperature, processing.reciprocal);
    return vector;
}

/// One of the values that processedBlock() gives, bit for bit.
__device__ inline float processedAt(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                    std::int32_t id)
{
    if (id >= canvas.vocabSize)
        return -INFINITY;
    const LogitProcessing processing(canvas, settings);
    float value = rawLogit(canvas, row * canvas.vocabSize + id);
    if (settings.biasCount == 0)
        return processing(value);
    if (processing.capped)
        value = Softcap{processing.cap.exponentScale, canvas.softcap}(value);
    const std::int32_t at = firstBias(settings, id);
    if (at < settings.biasCount && settings.bias[at].id == id)
        value += settings.bias[at].bias;
    return dividedBy(value, settings.temperature, processing.reciprocal);
}

/// Of the group of four ids that begins with `first`, a multiple of four, the values that processedBlock() gives.
__device__ inline float4 processedFour(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                       std::int32_t first)
{
    if (first >= canvas.vocabSize)
        return make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    const LogitProcessing processing(canvas, settings);
    const float4 raw = rawFour(canvas, row * canvas.vocabSize + first);
    if (settings.biasCount == 0)
        return make_float4(processing(raw.x), processing(raw.y), processing(raw.z), processing(raw.w));
    float values[4] = {raw.x, raw.y, raw.z, raw.w};
    std::int32_t at = firstBias(settings, first);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        if (processing.capped)
            values[c] = Softcap{processing.cap.exponentScale, canvas.softcap}(values[c]);
        if (at < settings.biasCount && settings.bias[at].id == first + c)
            values[c] += settings.bias[at++].bias;
        values[c] = dividedBy(values[c], settings.temperature, processing.reciprocal);
    }
    return make_float4(values[0], values[1], values[2], values[3]);
}

// How far the largest of some values lies below their block's is kept in steps of a quarter, below 128. Everything is
// rounded so that no id that can win is left out.
inline constexpr float kStepsOfOne = 4.0F;
inline constexpr int kMostSteps = 127; ///< so far or further
static_assert(static_cast<float>(kMostSteps) / kStepsOfOne > kLargestGumbel - kSmallestGumbel, "none so far can win");

__device__ __forceinline__ std::uint8_t stepsBelow(float blockMaximum, float largest)
{
    constexpr float kFarthest = static_cast<float>(kMostSteps) / kStepsOfOne;
    const float distance = fminf(__fsub_rd(blockMaximum, largest), kFarthest);
    // A sum that is rounded down to integers: its last bits.
    return static_cast<std::uint8_t>(__float_as_uint(__fmaf_rd(distance, kStepsOfOne, 0x1p23F)));
}

/// At least the largest of those values, and within a quarter of it where it is less than 31 below the block's.
__device__ __forceinline__ float upperBound(float blockMaximum, std::uint32_t steps)
{
    return fmaf(-1.0F / kStepsOfOne, static_cast<float>(steps), blockMaximum);
}

/// Up to how many steps below its block's largest a value may win against `best` with noise of at most `most`; negative
/// if even the largest cannot. A sum of value and noise is rounded by at most 2^-24 of `best`, where it reaches it.
__device__ __forceinline__ int stepsThatMayWin(float blockMaximum, float best, float most)
{
    const float reach = blockMaximum - best + (most + 0x1p-22F * fabsf(best));
    return reach >= 0.0F ? min(__float2int_rd(reach * kStepsOfOne), kMostSteps) : -1; // not a number: all are banned
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

/// A value and its id; the larger value wins, on a tie the lower id.
struct Candidate
{
    float value;
    std::int32_t id;

    __device__ __forceinline__ bool losesTo(const Candidate &other) const
    {
        return other.value > value || (other.value == value && other.id < id);
    }
};

inline constexpr std::int32_t kNoId = 0x7FFFFFFF;

__device__ __forceinline__ Candidate warpBest(Candidate best)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const Candidate other{__shfl_xor_sync(kWholeWarp, best.value, distance),
                              __shfl_xor_sync(kWholeWarp, best.id, distance)};
        if (best.losesTo(other))
            best = other;
    }
    return best;
}

/// Best candidate of a block of `kThreads`, known to all of them; two barriers. `scratch`: [kThreads / 32].
template <int kThreads>
__device__ __forceinline__ Candidate blockBest(Candidate best, Candidate *scratch)
{
    best = warpBest(best);
    __syncthreads(); // scratch may still be read from before
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = best;
    __syncthreads();
    best = scratch[0];
#pragma unroll
    for (int warp = 1; warp < kThreads / 32; ++warp)
        if (best.losesTo(scratch[warp]))
            best = scratch[warp];
    return best;
}

} // namespace palimpsest::kernels
