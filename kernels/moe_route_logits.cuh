// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_workspace.cuh"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// The first launch of moeRoute(): the product of tokens and experts, in parts.
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
        float values[8];
        float factors[8];
        reinterpret_cast<float4 *>(values)[0] = reinterpret_cast<const float4 *>(x)[0];
        reinterpret_cast<float4 *>(values)[1] = reinterpret_cast<const float4 *>(x)[1];
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
};

/// A load that stays where it is written: left to itself the compiler moves each down to its use, one latency after the
/// other.
__device__ __forceinline__ uint4 loadNow(const Bf16 *source)
{
    uint4 value;
    asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(source));
    return value;
}

struct ProjectSums
{
    float logits[kProjectWarps][kTileTokens][kSumPitch];
    float squares[kProjectWarps][kTileTokens];
};

/// A warp's 32 inputs of a slice for all experts of the tile; beyond the last input everything is zero.
__device__ inline void loadWeights(uint4 (&weights)[kExpertTiles], const MoeRouteArgs &args, int firstExpert,
                                   std::int64_t firstInput, int warp, int lane)
{
    const std::int64_t input = firstInput + warp * 32 + (lane & 3) * 8;
#pragma unroll
    for (int n = 0; n < kExpertTiles; ++n) {
        const int expert = firstExpert + n * 8 + (lane >> 2);
        weights[n] = make_uint4(0, 0, 0, 0);
        if (input < args.hidden && expert < args.experts)
            weights[n] = loadNow(args.weights + expert * args.hidden + input);
    }
}

__device__ inline void projectWarp(const MoeRouteArgs &args, ProjectSums &sums, const uint4 (&weights)[kExpertTiles],
                                   std::int64_t firstToken, std::int64_t firstInput, int warp, int lane)
{
    const int group = lane >> 2;
    const std::int64_t input = firstInput + warp * 32 + (lane & 3) * 8;
    const bool inside = input < args.hidden;
    TokenPart upper = {};
    TokenPart lower = {};
    if (inside) { // tokens beyond the last repeat it; their sums are not used
        upper.load(args.x + min(firstToken + group, args.tokens - 1) * args.hidden + input, args.scale + input);
        lower.load(args.x + min(firstToken + group + 8, args.tokens - 1) * args.hidden + input, args.scale + input);
    }
#pragma unroll
    for (int n = 0; n < kExpertTiles; ++n) {
        float sum[4] = {};
#pragma unroll
        for (int part = 0; part < 3; ++part) { // the small parts first
            const std::uint32_t first[4] = {upper.pairs[part][0], lower.pairs[part][0], upper.pairs[part][1],
                                            lower.pairs[part][1]};
            const std::uint32_t second[4] = {upper.pairs[part][2], lower.pairs[part][2], upper.pairs[part][3],
                                             lower.pairs[part][3]};
            ptx::mma16816(sum, first, weights[n].x, weights[n].y);
            ptx::mma16816(sum, second, weights[n].z, weights[n].w);
        }
        const int column = n * 8 + (lane & 3) * 2;
        *reinterpret_cast<float2 *>(&sums.logits[warp][group][column]) = make_float2(sum[0], sum[1]);
        *reinterpret_cast<float2 *>(&sums.logits[warp][group + 8][column]) = make_float2(sum[2], sum[3]);
    }
    for (TokenPart *part : {&upper, &lower}) {
        part->squares += __shfl_xor_sync(kWholeWarp, part->squares, 1);
        part->squares += __shfl_xor_sync(kWholeWarp, part->squares, 2);
    }
    if ((lane & 3) == 0) {
        sums.squares[warp][group] = upper.squares;
        sums.squares[warp][group + 8] = lower.squares;
    }
}

/// Of one thread, while a tile's slices are added.
struct ProjectTotals
{
    static constexpr int kThreads = kProjectWarps * 32;
    static constexpr int kOutputs = kTileTokens * kTileExperts / kThreads;
    float logits[kOutputs] = {};
    float squares = 0.0F;

    /// Adds the warps' sums in their order.
    __device__ void add(const ProjectSums &sums, int thread)
    {
#pragma unroll
        for (int j = 0; j < kOutputs; ++j) {
            const int at = thread + j * kThreads;
            float sum = 0.0F;
#pragma unroll
            for (int warp = 0; warp < kProjectWarps; ++warp)
                sum += sums.logits[warp][at / kTileExperts][at % kTileExperts];
            logits[j] += sum;
        }
        if (thread < kTileTokens) {
            float sum = 0.0F;
            for (int warp = 0; warp < kProjectWarps; ++warp)
                sum += sums.squares[warp][thread];
            squares += sum;
        }
    }

    __device__ void store(const MoeRouteArgs &args, const Workspace &workspace, int part, std::int64_t firstToken,
                          int firstExpert, int thread) const
    {
#pragma unroll
        for (int j = 0; j < kOutputs; ++j) {
            const int at = thread + j * kThreads;
            const std::int64_t token = firstToken + at / kTileExperts;
            const int expert = firstExpert + at % kTileExperts;
            if (token < args.tokens && expert < args.experts)
                workspace.logits[(part * args.tokens + token) * args.experts + expert] = logits[j];
        }
        if (firstExpert == 0 && thread < kTileTokens && firstToken + thread < args.tokens)
            workspace.squares[part * args.tokens + firstToken + thread] = squares;
    }
};

/// Grid: groups of token tiles, blocks that share the slices, expert tiles. With one part, all slices are added here,
/// else each is a part; either way an output is ((slice 0 + slice 1) + slice 2) ..., a slice the sum of its warps in
/// their order.
template <int kResident>
__global__ void __launch_bounds__(kProjectWarps * 32, kResident)
    projectKernel(const MoeRouteArgs args, const Workspace workspace, int parts, int tilesOfBlock)
{
    extern __shared__ __align__(16) std::uint8_t shared[];
    auto &sums = *reinterpret_cast<ProjectSums *>(shared);
    ptx::letNextStart();
    const int thread = static_cast<int>(threadIdx.x);
    const int firstExpert = static_cast<int>(blockIdx.z) * kTileExperts;
    const auto slices = static_cast<int>((args.hidden + kSliceInputs - 1) / kSliceInputs);
    const std::int64_t firstToken = static_cast<std::int64_t>(blockIdx.x) * tilesOfBlock * kTileTokens;
    const std::int64_t endToken = min(args.tokens, firstToken + static_cast<std::int64_t>(tilesOfBlock) * kTileTokens);

    ProjectTotals totals;
    for (auto slice = static_cast<int>(blockIdx.y); slice < slices; slice += static_cast<int>(gridDim.y)) {
        const std::int64_t firstInput = static_cast<std::int64_t>(slice) * kSliceInputs;
        uint4 weights[kExpertTiles];
        loadWeights(weights, args, firstExpert, firstInput, thread / 32, thread % 32);
        if (!args.besidePrevious)
            ptx::waitForPrevious(); // weights do not depend on it
        for (std::int64_t token = firstToken; token < endToken; token += kTileTokens) {
            projectWarp(args, sums, weights, token, firstInput, thread / 32, thread % 32);
            __syncthreads();
            totals.add(sums, thread);
            __syncthreads();
            if (parts == 1 && slice + 1 < slices)
                continue; // one tile: its sums go on
            totals.store(args, workspace, parts == 1 ? 0 : slice, token, firstExpert, thread);
            totals = {};
        }
    }
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && thread == 0)
        *workspace.finishedBlocks = 0;
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

} // namespace palimpsest::kernels::route
