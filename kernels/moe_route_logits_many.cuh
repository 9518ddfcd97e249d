// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route_token.cuh"
#include "kernels/moe_route_workspace.cuh"
#include "kernels/ptx.cuh"

#include <cstdint>

/// The first launch of moeRoute() for many tokens, with the same bits: each warp has outputs of its own, so that a
/// block needs a slice's weights once and adds its parts in registers.
namespace palimpsest::kernels::route {

/// Of a slice: weights in the order in which lanes read them, tokens in pieces of 16 bytes.
struct SliceOperands
{
    static constexpr int kPieces = kSliceInputs / 4; // of a token
    uint4 weights[kSliceParts][kExpertTiles][32];
    float4 tokens[kManyTokens][kPieces]; // see pieceOf()
    float scale[kSliceInputs];

    /// Where a token's piece lies: neighbouring rows read from different banks.
    __device__ static int pieceOf(int row, int piece) { return piece ^ (row & 1); }

    /// Both begin copies; beyond the last input, expert or token everything is zero.
    __device__ void fetchWeights(const MoeRouteArgs &args, int firstExpert, std::int64_t firstInput);
    __device__ void fetchTokens(const MoeRouteArgs &args, std::int64_t firstToken, std::int64_t firstInput);
};

__device__ inline void SliceOperands::fetchWeights(const MoeRouteArgs &args, int firstExpert, std::int64_t firstInput)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 8
    for (int i = static_cast<int>(threadIdx.x) / 32; i < kSliceParts * kExpertTiles; i += kManyWarps) {
        const int expert = firstExpert + i % kExpertTiles * 8 + lane / 4;
        const std::int64_t input = firstInput + i / kExpertTiles * 32 + lane % 4 * 8;
        const bool inside = expert < args.experts && input < args.hidden;
        ptx::copyAsync16(ptx::sharedAddress(&weights[i / kExpertTiles][i % kExpertTiles][lane]),
                         args.weights + (inside ? expert * args.hidden + input : 0), inside);
    }
    const std::int64_t input = firstInput + threadIdx.x * 4;
    if (threadIdx.x < kPieces)
        ptx::copyAsync16(ptx::sharedAddress(scale + threadIdx.x * 4), args.scale + (input < args.hidden ? input : 0),
                         input < args.hidden);
}

__device__ inline void SliceOperands::fetchTokens(const MoeRouteArgs &args, std::int64_t firstToken,
                                                  std::int64_t firstInput)
{
#pragma unroll 8
    for (int i = static_cast<int>(threadIdx.x); i < kManyTokens * kPieces; i += kManyWarps * 32) {
        const int row = i / kPieces;
        const int piece = i % kPieces;
        const std::int64_t input = firstInput + piece * 4;
        const bool inside = firstToken + row < args.tokens && input < args.hidden;
        ptx::copyAsync16(ptx::sharedAddress(&tokens[row][pieceOf(row, piece)]),
                         args.x + (inside ? (firstToken + row) * args.hidden + input : 0), inside);
    }
}

/// What a warp has added of a slice: outputs of its tiles as mma.m16n8k16 leaves them, and squares of two tokens.
struct SliceTotals
{
    static constexpr int kTiles = kExpertTiles / 2;
    float logits[kTiles][4] = {};
    float upperSquares = 0.0F;
    float lowerSquares = 0.0F;

    /// `row`: the upper token of this lane; the lower one is eight behind it.
    __device__ void add(const SliceOperands &slice, int part, int row, int firstTile, int lane)
    {
        TokenPart upper = {};
        TokenPart lower = {};
        const float *const scale = slice.scale + part * 32 + lane % 4 * 8;
        const int first = SliceOperands::pieceOf(row, part * 8 + lane % 4 * 2); // row and row + 8 are alike in this
        const int second = SliceOperands::pieceOf(row, part * 8 + lane % 4 * 2 + 1);
        upper.set(slice.tokens[row][first], slice.tokens[row][second], scale);
        lower.set(slice.tokens[row + 8][first], slice.tokens[row + 8][second], scale);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
            float sum[4] = {};
            multiplyPart(sum, upper, lower, slice.weights[part][firstTile + n][lane]);
#pragma unroll
            for (int c = 0; c < 4; ++c)
                logits[n][c] += sum[c];
        }
        upper.addSquares();
        lower.addSquares();
        upperSquares += upper.squares;
        lowerSquares += lower.squares;
    }

    /// `token`: the upper one of this lane; the lower one is eight behind it.
    __device__ void store(const MoeRouteArgs &args, const Workspace &workspace, int slice, std::int64_t token,
                          int firstExpert, int lane) const
    {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::int64_t row = slice * args.tokens + token + half * 8;
            if (token + half * 8 >= args.tokens)
                continue;
            if (firstExpert == 0 && lane % 4 == 0)
                workspace.squares[row] = half == 0 ? upperSquares : lowerSquares;
            float *const out = workspace.logits + row * args.experts + firstExpert + lane % 4 * 2;
#pragma unroll
            for (int n = 0; n < kTiles; ++n) {
                const auto left = static_cast<int>(args.experts) - firstExpert - n * 8 - lane % 4 * 2;
                if (args.experts % 2 == 0) { // then pairs are aligned and whole
                    if (left > 0)
                        *reinterpret_cast<float2 *>(out + n * 8) =
                            make_float2(logits[n][half * 2], logits[n][half * 2 + 1]);
                    continue;
                }
                for (int c = 0; c < min(left, 2); ++c)
                    out[n * 8 + c] = logits[n][half * 2 + c];
            }
        }
    }
};

/// Grid: groups of kManyTokens tokens, slices, expert tiles.
__global__ void __launch_bounds__(kManyWarps * 32, 2)
    projectManyKernel(const MoeRouteArgs args, const Workspace workspace)
{
    extern __shared__ __align__(16) std::uint8_t shared[];
    auto &operands = *reinterpret_cast<SliceOperands *>(shared);
    ptx::letNextStart();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int firstExpert = static_cast<int>(blockIdx.z) * kTileExperts;
    const auto slice = static_cast<int>(blockIdx.y);
    const std::int64_t firstInput = static_cast<std::int64_t>(slice) * kSliceInputs;
    const std::int64_t firstToken = static_cast<std::int64_t>(blockIdx.x) * kManyTokens;
    operands.fetchWeights(args, firstExpert, firstInput); // they do not depend on the launch before
    if (!args.besidePrevious)
        ptx::waitForPrevious();
    operands.fetchTokens(args, firstToken, firstInput);
    ptx::copyAsyncCommit();
    ptx::copyAsyncWait<0>();
    __syncthreads();

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int firstTile = warp / kManyTiles * SliceTotals::kTiles;
    const int row = warp % kManyTiles * kTileTokens + lane / 4;
    SliceTotals totals;
#pragma unroll 1
    for (int part = 0; part < kSliceParts; ++part)
        totals.add(operands, part, row, firstTile, lane);
    totals.store(args, workspace, slice, firstToken + row, firstExpert + firstTile * 8, lane);
    resetFinished(workspace);
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

} // namespace palimpsest::kernels::route
