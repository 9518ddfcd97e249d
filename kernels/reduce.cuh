// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Reductions over a warp and a block with a fixed tree, so that the bits depend on the values and their places alone.
namespace palimpsest::kernels {

inline constexpr unsigned kWholeWarp = 0xFFFFFFFFU;

__device__ __forceinline__ float warpSum(float value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    return value;
}

__device__ __forceinline__ float warpMaximum(float value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, distance));
    return value;
}

/// Sum of the values of this lane and of those before it.
__device__ __forceinline__ int warpPrefix(int value)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(kWholeWarp, value, distance);
        value += lane >= distance ? other : 0;
    }
    return value;
}

/// Sum over a block of kThreads, known to all its threads. `scratch` is shared, [kThreads / 32]; the block may use it
/// again after the next barrier.
template <int kThreads>
__device__ __forceinline__ float blockSum(float value, float *scratch)
{
    constexpr int kWarps = kThreads / 32;
    static_assert(kThreads % 32 == 0 && kWarps <= 32);
    value = warpSum(value);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0F;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp)
        total += scratch[warp];
    return total;
}

} // namespace palimpsest::kernels
