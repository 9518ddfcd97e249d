// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_token.cuh"
#include "kernels/moe_route_workspace.cuh"
#include "kernels/ptx.cuh"

#include <cstdint>

/// The first launch of moeRoute(): the product of tokens and experts, in slices of the inputs. This one for few tokens.
namespace palimpsest::kernels::route {

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
        multiplyPart(sum, upper, lower, weights[n]);
        const int column = n * 8 + (lane & 3) * 2;
        *reinterpret_cast<float2 *>(&sums.logits[warp][group][column]) = make_float2(sum[0], sum[1]);
        *reinterpret_cast<float2 *>(&sums.logits[warp][group + 8][column]) = make_float2(sum[2], sum[3]);
    }
    upper.addSquares();
    lower.addSquares();
    if ((lane & 3) == 0) {
        sums.squares[warp][group] = upper.squares;
        sums.squares[warp][group + 8] = lower.squares;
    }
}

/// Adds the warps' sums in their order.
__device__ inline void storeSlice(const MoeRouteArgs &args, const Workspace &workspace, const ProjectSums &sums,
                                  int slice, std::int64_t firstToken, int firstExpert)
{
    constexpr int kThreads = kProjectWarps * 32;
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int at = thread; at < kTileTokens * kTileExperts; at += kThreads) {
        float sum = 0.0F;
#pragma unroll
        for (int warp = 0; warp < kProjectWarps; ++warp)
            sum += sums.logits[warp][at / kTileExperts][at % kTileExperts];
        const std::int64_t token = firstToken + at / kTileExperts;
        const int expert = firstExpert + at % kTileExperts;
        if (token < args.tokens && expert < args.experts)
            workspace.logits[(slice * args.tokens + token) * args.experts + expert] = sum;
    }
    if (firstExpert != 0 || thread >= kTileTokens || firstToken + thread >= args.tokens)
        return;
    float sum = 0.0F;
    for (int warp = 0; warp < kProjectWarps; ++warp)
        sum += sums.squares[warp][thread];
    workspace.squares[slice * args.tokens + firstToken + thread] = sum;
}

/// Grid: token tiles, blocks that share the slices, expert tiles. An output of a slice is the sum of its warps in their
/// order.
__global__ void __launch_bounds__(kProjectWarps * 32) projectKernel(const MoeRouteArgs args, const Workspace workspace)
{
    extern __shared__ __align__(16) std::uint8_t shared[];
    auto &sums = *reinterpret_cast<ProjectSums *>(shared);
    ptx::letNextStart();
    const int thread = static_cast<int>(threadIdx.x);
    const int firstExpert = static_cast<int>(blockIdx.z) * kTileExperts;
    const auto slices = static_cast<int>(sliceCount(args.hidden));
    const std::int64_t firstToken = static_cast<std::int64_t>(blockIdx.x) * kTileTokens;
    for (auto slice = static_cast<int>(blockIdx.y); slice < slices; slice += static_cast<int>(gridDim.y)) {
        const std::int64_t firstInput = static_cast<std::int64_t>(slice) * kSliceInputs;
        uint4 weights[kExpertTiles];
        loadWeights(weights, args, firstExpert, firstInput, thread / 32, thread % 32);
        if (!args.besidePrevious)
            ptx::waitForPrevious(); // weights do not depend on it
        projectWarp(args, sums, weights, firstToken, firstInput, thread / 32, thread % 32);
        __syncthreads();
        storeSlice(args, workspace, sums, slice, firstToken, firstExpert);
        __syncthreads();
    }
    resetFinished(workspace);
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

} // namespace palimpsest::kernels::route
