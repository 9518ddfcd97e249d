// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/w4_quantize.h"

#include "kernels/reduce.cuh"

#include <cuda_fp16.h>

namespace palimpsest::kernels {

namespace {

constexpr int kThreads = 256;
constexpr float kLargestNibble = 15.0F;
constexpr float kSmallestRange = 1e-8F; // keeps the scale of a constant group above zero

/// As std::clamp: a zero keeps its sign.
__device__ float clampToNibble(float value)
{
    return value < 0.0F ? 0.0F : value > kLargestNibble ? kLargestNibble : value;
}

__device__ unsigned nibbleOf(float weight, float scale, float zero)
{
    return static_cast<unsigned>(clampToNibble(rintf(__fadd_rn(__fdiv_rn(weight, scale), zero))));
}

/// A warp quantises one group; lane l holds the pairs of columns l, l + 32, ...
__global__ void __launch_bounds__(kThreads) quantizeKernel(const W4QuantizeArgs args, std::int64_t groups)
{
    const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
    if (group >= groups)
        return;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const auto pairs = static_cast<int>(args.groupSize / 2);
    const float *weights = args.weights + group * args.groupSize;
    float low = INFINITY;
    float high = -INFINITY;
    for (int pair = lane; pair < pairs; pair += 32) {
        const float even = weights[2 * pair];
        const float odd = weights[2 * pair + 1];
        low = fminf(low, fminf(even, odd));
        high = fmaxf(high, fmaxf(even, odd));
    }
    low = -warpMaximum(-low);
    high = warpMaximum(high);
    const float scale = __fdiv_rn(fmaxf(__fsub_rn(high, low), kSmallestRange), kLargestNibble);
    const float zero = clampToNibble(rintf(__fdiv_rn(-low, scale)));
    for (int pair = lane; pair < pairs; pair += 32)
        args.packed[group * pairs + pair] = static_cast<std::uint8_t>(
            nibbleOf(weights[2 * pair], scale, zero) | (nibbleOf(weights[2 * pair + 1], scale, zero) << 4U));
    if (lane == 0) {
        args.scale[group] = __half_as_ushort(__float2half_rn(scale));
        args.zero[group] = __half_as_ushort(__float2half_rn(zero));
    }
}

__global__ void __launch_bounds__(kThreads) dequantizeKernel(const W4DequantizeArgs args, std::int64_t bytes)
{
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (at >= bytes)
        return;
    const std::int64_t group = at / (args.groupSize / 2);
    const float scale = __half2float(__ushort_as_half(args.scale[group]));
    const float zero = __half2float(__ushort_as_half(args.zero[group]));
    const unsigned byte = args.packed[at];
    args.weights[2 * at] = __fmul_rn(static_cast<float>(byte & 15U) - zero, scale);
    args.weights[2 * at + 1] = __fmul_rn(static_cast<float>(byte >> 4U) - zero, scale);
}

template <typename Args>
bool isAllowed(const Args &args)
{
    return args.groupSize > 0 && args.groupSize <= 1024 && args.groupSize % 64 == 0 && args.columns > 0 &&
           args.columns % args.groupSize == 0 && args.rows >= 0 &&
           (args.rows == 0 || (args.packed != nullptr && args.scale != nullptr && args.zero != nullptr &&
                               args.weights != nullptr && args.rows <= INT64_MAX / args.columns));
}

cudaError_t gridFor(std::int64_t items, std::int64_t perBlock, unsigned &blocks)
{
    const std::int64_t count = (items + perBlock - 1) / perBlock;
    blocks = static_cast<unsigned>(count);
    return count <= INT32_MAX ? cudaSuccess : cudaErrorInvalidValue;
}

} // namespace

cudaError_t w4Quantize(const W4QuantizeArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const std::int64_t groups = args.rows * (args.columns / args.groupSize);
    unsigned blocks = 0;
    const cudaError_t status = gridFor(groups, kThreads / 32, blocks);
    if (status != cudaSuccess || blocks == 0)
        return status;
    quantizeKernel<<<blocks, kThreads, 0, stream>>>(args, groups);
    return cudaGetLastError();
}

cudaError_t w4Dequantize(const W4DequantizeArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const std::int64_t bytes = args.rows * args.columns / 2;
    unsigned blocks = 0;
    const cudaError_t status = gridFor(bytes, kThreads, blocks);
    if (status != cudaSuccess || blocks == 0)
        return status;
    dequantizeKernel<<<blocks, kThreads, 0, stream>>>(args, bytes);
    return cudaGetLastError();
}

} // namespace palimpsest::kernels
