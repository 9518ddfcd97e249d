// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/head_sample.h"
#include "kernels/reduce.cuh"

#include <cstdint>

/// How a warp reads a block of 256 processed logits, and what is known of each block and row.
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
    uchar2 *distances; ///< [rows, blockCount, 32]: stepsBelow() of each lane's two groups of four ids
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

__host__ __device__ inline SampleWorkspace sampleWorkspace(const CanvasLogits &canvas)
{
    SampleWorkspace made{};
    made.blockCount = logitBlocks(canvas.vocabSize);
    made.sums = static_cast<BlockSums *>(canvas.workspace);
    made.rows = reinterpret_cast<RowStats *>(made.sums + canvas.rows * made.blockCount);
    made.maxima = reinterpret_cast<float *>(made.rows + canvas.rows);
    made.bestValues = made.maxima + canvas.rows * made.blockCount;
    made.bestIds = reinterpret_cast<std::int32_t *>(made.bestValues + canvas.rows * kSampleParts);
    made.distances = reinterpret_cast<uchar2 *>(made.bestIds + canvas.rows * kSampleParts);
    return made;
}

/// 2^x; relative error 2^-22.
__device__ __forceinline__ float powerOfTwo(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

/// Eight processed logits of a block: element i * 4 + c of lane l has id block * 256 + i * 128 + l * 4 + c.
struct LogitVector
{
    float values[8];

    __device__ __forceinline__ static int idOffset(int element)
    {
        return element / 4 * 128 + static_cast<int>(threadIdx.x) % 32 * 4 + element % 4;
    }
};

/// x / t rounded once, from the rounded reciprocal r of t (Markstein 1990).
__device__ __forceinline__ float dividedBy(float x, float t, float r)
{
    const float quotient = x * r;
    const float result = fmaf(fmaf(-quotient, t, x), r, quotient);
    return isinf(x) ? x : result; // a banned id
}

/// The soft-cap as scale * tanh(x / cap) = scale - 2 scale / (e^(2 x / cap) + 1); the exponential saturates on both
/// sides. Absolute error of the hyperbolic tangent 3e-7.
struct Softcap
{
    float exponentScale; ///< 2 log2(e) / cap
    float scale;         ///< cap, or cap / temperature where nothing comes between the two

    __device__ __forceinline__ float operator()(float x) const
    {
        float power;
        float inverse;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * exponentScale));
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0F));
        return fmaf(-2.0F * scale, inverse, scale);
    }
};

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
    const std::int64_t first = block * kLogitBlock;
    const float *logits = canvas.logits + row * canvas.vocabSize + first;
    const int left = static_cast<int>(min(canvas.vocabSize - first, std::int64_t{kLogitBlock})); // a multiple of 8
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int offset = LogitVector::idOffset(i * 4);
        float4 value = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (offset < left)
            value = __ldcs(reinterpret_cast<const float4 *>(logits + offset));
        vector.values[i * 4] = value.x;
        vector.values[i * 4 + 1] = value.y;
        vector.values[i * 4 + 2] = value.z;
        vector.values[i * 4 + 3] = value.w;
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
#pragma unroll
        for (int element = 0; element < 8; ++element)
            if (first + LogitVector::idOffset(element / 4 * 4) < canvas.vocabSize)
                vector.values[element] = cap(vector.values[element]);
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
    float value = canvas.logits[row * canvas.vocabSize + id];
    if (settings.biasCount == 0)
        return processing(value);
    if (processing.capped)
        value = Softcap{processing.cap.exponentScale, canvas.softcap}(value);
    const std::int32_t at = firstBias(settings, id);
    if (at < settings.biasCount && settings.bias[at].id == id)
        value += settings.bias[at].bias;
    return dividedBy(value, settings.temperature, processing.reciprocal);
}

/// How far the largest of some values lies below their block's, in eighths, in one byte. Both operations
/// round down, so that upperBound() is never too small. The last value says "as far or further": nothing wins from
/// there, as the best value is at most 3.14 (the least noise) below the row's largest.
__device__ __forceinline__ std::uint8_t stepsBelow(float blockMaximum, float largest)
{
    constexpr float kFarthest = 255.0F / 8.0F;
    static_assert(kFarthest > 16.64F + 3.14F);
    const float distance = fminf(__fsub_rd(blockMaximum, largest), kFarthest);
    return static_cast<std::uint8_t>(__float_as_uint(__fmaf_rd(distance, 8.0F, 0x1p23F))); // its integers' last bits
}

/// At least the largest of those values; within an eighth of it where it is less than 32 below the block's.
__device__ __forceinline__ float upperBound(float blockMaximum, std::uint8_t steps)
{
    return fmaf(-0.125F, static_cast<float>(steps), blockMaximum);
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
