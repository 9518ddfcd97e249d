// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"
#include "kernels/rms_norm.h"

#include <cstdint>

/// A row of fp32 in the registers of one block: thread t holds the vectors of four t, t + kRowThreads, ...
namespace palimpsest::kernels {

inline constexpr int kRowThreads = 256;

/// kVectors * kRowThreads * 4 columns at most.
template <int kVectors>
struct RowVectors
{
    float4 values[kVectors];
    int vectorCount; ///< of the row

    __device__ explicit RowVectors(std::int64_t columns) : vectorCount(static_cast<int>(columns / 4)) {}

    /// Calls body(value, index of the vector) for this thread's vectors.
    template <typename Body>
    __device__ __forceinline__ void forEach(Body body)
    {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int index = static_cast<int>(threadIdx.x) + i * kRowThreads;
            if (index < vectorCount)
                body(values[i], index);
        }
    }

    /// The same with the place in `values` behind the index.
    template <typename Body>
    __device__ __forceinline__ void forEachPlace(Body body)
    {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            const int index = static_cast<int>(threadIdx.x) + i * kRowThreads;
            if (index < vectorCount)
                body(values[i], index, i);
        }
    }

    /// (mean(v^2) + epsilon)^-0.5 of the row; a barrier. `scratch`: [kRowThreads / 32].
    __device__ __forceinline__ float inverseRms(float epsilon, float *scratch)
    {
        float sum = 0.0F;
        forEach([&](const float4 &v, int) {
            const float first = fmaf(v.x, v.x, __fmul_rn(v.y, v.y));
            const float second = fmaf(v.z, v.z, __fmul_rn(v.w, v.w));
            sum = __fadd_rn(sum, __fadd_rn(first, second));
        });
        const float total = blockSum<kRowThreads>(sum, scratch);
        return 1.0F / sqrtf(total / static_cast<float>(vectorCount * 4) + epsilon);
    }
};

__device__ __forceinline__ float4 loadVector(const float *row, int index)
{
    return reinterpret_cast<const float4 *>(row)[index];
}

/// What one block alone reads, once: past the first-level cache, which keeps the weights for all blocks.
template <typename Vector>
__device__ __forceinline__ Vector streamed(const Vector *vector)
{
    return __ldcg(vector);
}

__device__ __forceinline__ float4 streamVector(const float *row, int index)
{
    return streamed(reinterpret_cast<const float4 *>(row) + index);
}

/// A row that is needed only behind a reduction over others: read before it where there are registers for that, so that
/// its latency does not come on top.
template <int kVectors>
class EarlyRow
{
public:
    __device__ EarlyRow(const float *row, std::int64_t columns) : m_row(row)
    {
        if constexpr (kIsEarly) {
#pragma unroll
            for (int i = 0; i < kVectors; ++i) {
                const int index = static_cast<int>(threadIdx.x) + i * kRowThreads;
                if (index < static_cast<int>(columns / 4))
                    m_values[i] = streamVector(row, index);
            }
        }
    }

    /// The vector of a place and index of RowVectors::forEachPlace().
    __device__ __forceinline__ float4 at(int index, int place) const
    {
        if constexpr (kIsEarly)
            return m_values[place];
        else
            return streamVector(m_row, index);
    }

private:
    static constexpr bool kIsEarly = kVectors <= 3;
    const float *m_row;
    float4 m_values[kIsEarly ? kVectors : 1];
};

__device__ __forceinline__ void storeVector(float *row, int index, const float4 &value)
{
    reinterpret_cast<float4 *>(row)[index] = value;
}

__device__ __forceinline__ void storeVector(Bf16 *row, int index, const float4 &value)
{
    reinterpret_cast<uint2 *>(row)[index] =
        make_uint2(ptx::packBf16(value.x, value.y), ptx::packBf16(value.z, value.w));
}

// Rounded one by one: fused as the compiler sees fit, a row's bits would depend on the kernel that it goes through.

__device__ __forceinline__ float4 scaled(const float4 &v, float factor)
{
    return make_float4(__fmul_rn(v.x, factor), __fmul_rn(v.y, factor), __fmul_rn(v.z, factor), __fmul_rn(v.w, factor));
}

__device__ __forceinline__ float4 added(const float4 &a, const float4 &b)
{
    return make_float4(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z), __fadd_rn(a.w, b.w));
}

__device__ __forceinline__ float4 multiplied(const float4 &a, const float4 &b)
{
    return make_float4(__fmul_rn(a.x, b.x), __fmul_rn(a.y, b.y), __fmul_rn(a.z, b.z), __fmul_rn(a.w, b.w));
}

/// v * inverse * weight, the weight a row or null.
__device__ __forceinline__ float4 normalised(const float4 &v, float inverse, const float *weight, int index)
{
    const float4 unit = scaled(v, inverse);
    return weight == nullptr ? unit : multiplied(unit, loadVector(weight, index));
}

/// A weight that is needed behind a reduction. No launch writes weights, so they are fetched into shared memory before
/// the wait for the launch before this one, where the row is short enough; each thread fetches what it reads itself.
template <int kVectors>
class EarlyWeight
{
public:
    static constexpr bool kIsEarly = kVectors <= 3;
    static constexpr int kPlaces = kIsEarly ? kVectors * kRowThreads : 1;

    /// `places`: [kPlaces], shared. Ends with awaitEarlyWeights(), once for all weights.
    __device__ EarlyWeight(const float *weight, std::int64_t columns, float4 *places)
        : m_weight(weight), m_places(places)
    {
        if constexpr (kIsEarly) {
            if (weight == nullptr)
                return;
#pragma unroll
            for (int i = 0; i < kVectors; ++i) {
                const int index = static_cast<int>(threadIdx.x) + i * kRowThreads;
                if (index < static_cast<int>(columns / 4))
                    ptx::copyAsyncShared16(ptx::sharedAddress(places + index), weight + index * 4);
            }
        }
    }

    /// v * inverse * weight.
    __device__ __forceinline__ float4 normalise(const float4 &v, float inverse, int index) const
    {
        const float4 unit = scaled(v, inverse);
        if (m_weight == nullptr)
            return unit;
        if constexpr (kIsEarly)
            return multiplied(unit, m_places[index]);
        else
            return multiplied(unit, loadVector(m_weight, index));
    }

private:
    const float *m_weight;
    float4 *m_places;
};

__device__ __forceinline__ void awaitEarlyWeights()
{
    ptx::copyAsyncCommit();
    ptx::copyAsyncWait<0>();
}

/// Adds the parts [parts][stride] of a split product at this vector, in their order.
__device__ __forceinline__ float4 sumOfParts(const float *first, int parts, std::int64_t stride, int index)
{
    float4 sum = loadVector(first, index);
    for (int part = 1; part < parts; ++part)
        sum = added(sum, loadVector(first + part * stride, index));
    return sum;
}

/// The same for the whole row. Up to kMostAtOnce parts are under way at once where there are registers for that: one
/// after the other, each would add its latency.
template <int kMostAtOnce = 3, int kVectors>
__device__ __forceinline__ void readParts(RowVectors<kVectors> &row, const float *first, int parts, std::int64_t stride)
{
    constexpr int kAtOnce = kVectors <= 3 ? kMostAtOnce : 1;
    for (int begin = 0; begin < parts; begin += kAtOnce) {
        float4 read[kAtOnce][kVectors];
#pragma unroll
        for (int part = 0; part < kAtOnce; ++part)
            if (begin + part < parts)
                row.forEachPlace([&](float4 &, int index, int place) {
                    read[part][place] = streamVector(first + (begin + part) * stride, index);
                });
#pragma unroll
        for (int part = 0; part < kAtOnce; ++part)
            if (begin + part < parts)
                row.forEachPlace([&](float4 &v, int, int place) {
                    v = begin + part == 0 ? read[part][place] : added(v, read[part][place]);
                });
    }
}

/// Launches kernel<vectors>(args) for the smallest row that holds `columns`, through launchDependent(): a cudaError_t.
#define PALIMPSEST_LAUNCH_ROWS(kernel, rowCount, columnCount, stream, ...)                                             \
    launchDependent((columnCount) <= 1 * 4 * kRowThreads   ? kernel<1>                                                 \
                    : (columnCount) <= 3 * 4 * kRowThreads ? kernel<3>                                                 \
                    : (columnCount) <= 8 * 4 * kRowThreads ? kernel<8>                                                 \
                                                           : kernel<16>,                                               \
                    {.grid = dim3(static_cast<unsigned>(rowCount)), .threads = kRowThreads}, stream, __VA_ARGS__)

static_assert(kMostRowColumns == 16 * 4 * kRowThreads);

/// What the row kernels ask of a matrix.
[[nodiscard]] inline bool rowsAreAllowed(std::int64_t rows, std::int64_t columns)
{
    return rows >= 0 && rows <= 0x7FFFFFFF && columns > 0 && columns % 4 == 0 && columns <= kMostRowColumns;
}

} // namespace palimpsest::kernels
