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
        forEach([&](const float4 &v, int) { sum += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w); });
        const float total = blockSum<kRowThreads>(sum, scratch);
        return 1.0F / sqrtf(total / static_cast<float>(vectorCount * 4) + epsilon);
    }
};

__device__ __forceinline__ float4 loadVector(const float *row, int index)
{
    return reinterpret_cast<const float4 *>(row)[index];
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
                    m_values[i] = loadVector(row, index);
            }
        }
    }

    /// The vector of a place and index of RowVectors::forEachPlace().
    __device__ __forceinline__ float4 at(int index, int place) const
    {
        if constexpr (kIsEarly)
            return m_values[place];
        else
            return loadVector(m_row, index);
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

__device__ __forceinline__ float4 scaled(const float4 &v, float factor)
{
    return make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}

__device__ __forceinline__ float4 added(const float4 &a, const float4 &b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// v * inverse * weight, the weight a row or null.
__device__ __forceinline__ float4 normalised(const float4 &v, float inverse, const float *weight, int index)
{
    const float4 unit = scaled(v, inverse);
    if (weight == nullptr)
        return unit;
    const float4 w = loadVector(weight, index);
    return make_float4(unit.x * w.x, unit.y * w.y, unit.z * w.z, unit.w * w.w);
}

/// Adds the parts [parts][stride] of a split product at this vector, in their order.
__device__ __forceinline__ float4 sumOfParts(const float *first, int parts, std::int64_t stride, int index)
{
    float4 sum = loadVector(first, index);
    for (int part = 1; part < parts; ++part)
        sum = added(sum, loadVector(first + part * stride, index));
    return sum;
}

/// Launches kernel<vectors>(args) for the smallest row that holds `columns`.
#define PALIMPSEST_LAUNCH_ROWS(kernel, rowCount, columnCount, stream, ...)                                             \
    do {                                                                                                               \
        const auto grid = static_cast<unsigned>(rowCount);                                                             \
        if ((columnCount) <= 1 * 4 * kRowThreads)                                                                      \
            kernel<1><<<grid, kRowThreads, 0, stream>>>(__VA_ARGS__);                                                  \
        else if ((columnCount) <= 3 * 4 * kRowThreads)                                                                 \
            kernel<3><<<grid, kRowThreads, 0, stream>>>(__VA_ARGS__);                                                  \
        else if ((columnCount) <= 8 * 4 * kRowThreads)                                                                 \
            kernel<8><<<grid, kRowThreads, 0, stream>>>(__VA_ARGS__);                                                  \
        else                                                                                                           \
            kernel<16><<<grid, kRowThreads, 0, stream>>>(__VA_ARGS__);                                                 \
    } while (false)

/// The same through launchDependent(), as a cudaError_t.
#define PALIMPSEST_LAUNCH_ROWS_DEPENDENT(kernel, rowCount, columnCount, stream, ...)                                   \
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
