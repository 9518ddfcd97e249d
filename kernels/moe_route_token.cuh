// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_workspace.cuh"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// What both forms of moeRoute()'s first launch share: tokens split into exact parts, and their products.
namespace palimpsest::kernels::route {

/// value = high + middle + low, each a bf16; the remainder is below 2^-24 of the value.
struct Split
{
    float high;
    float middle;
    float low;
};

__device__ inline Split split(float value)
{
    Split parts;
    parts.high = ptx::fromBf16(ptx::toBf16(value));
    const float rest = value - parts.high; // exact, as is the next
    parts.middle = ptx::fromBf16(ptx::toBf16(rest));
    parts.low = rest - parts.middle;
    return parts;
}

/// One token's part of the A fragments of a warp's 32 inputs, split in three. Lane t of a group of four holds inputs 8
/// t to 8 t + 7; the order of the inputs is the same for both operands, so any will do, and this one is a 16-byte load.
struct TokenPart
{
    std::uint32_t pairs[3][4]; // [low, middle, high][inputs 2 i, 2 i + 1]
    float squares = 0.0F;

    __device__ void load(const float *x, const float *scale)
    {
        const auto *const inputs = reinterpret_cast<const float4 *>(x);
        set(inputs[0], inputs[1], scale);
    }

    __device__ void set(const float4 &x0, const float4 &x1, const float *scale)
    {
        const float values[8] = {x0.x, x0.y, x0.z, x0.w, x1.x, x1.y, x1.z, x1.w};
        float factors[8];
        reinterpret_cast<float4 *>(factors)[0] = reinterpret_cast<const float4 *>(scale)[0];
        reinterpret_cast<float4 *>(factors)[1] = reinterpret_cast<const float4 *>(scale)[1];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            squares += values[2 * i] * values[2 * i];
            squares += values[2 * i + 1] * values[2 * i + 1];
            const Split even = split(values[2 * i] * factors[2 * i]);
            const Split odd = split(values[2 * i + 1] * factors[2 * i + 1]);
            pairs[0][i] = ptx::packBf16(even.low, odd.low);
            pairs[1][i] = ptx::packBf16(even.middle, odd.middle);
            pairs[2][i] = ptx::packBf16(even.high, odd.high);
        }
    }

    /// Over the four lanes that hold the token's 32 inputs.
    __device__ void addSquares()
    {
        squares += __shfl_xor_sync(kWholeWarp, squares, 1);
        squares += __shfl_xor_sync(kWholeWarp, squares, 2);
    }
};

/// 16 tokens and 32 inputs by 8 experts; the small parts first.
__device__ __forceinline__ void multiplyPart(float (&sum)[4], const TokenPart &upper, const TokenPart &lower,
                                             const uint4 &weights)
{
#pragma unroll
    for (int part = 0; part < 3; ++part) {
        const std::uint32_t first[4] = {upper.pairs[part][0], lower.pairs[part][0], upper.pairs[part][1],
                                        lower.pairs[part][1]};
        const std::uint32_t second[4] = {upper.pairs[part][2], lower.pairs[part][2], upper.pairs[part][3],
                                         lower.pairs[part][3]};
        ptx::mma16816(sum, first, weights.x, weights.y);
        ptx::mma16816(sum, second, weights.z, weights.w);
    }
}

/// For the second launch, which counts its blocks.
__device__ inline void resetFinished(const Workspace &workspace)
{
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0)
        *workspace.finishedBlocks = 0;
}

} // namespace palimpsest::kernels::route
