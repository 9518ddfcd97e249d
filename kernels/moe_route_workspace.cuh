// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route.h"

#include <cstdint>

/// What the two launches of moeRoute() know of each other: how they cut their work, and the memory between them.
namespace palimpsest::kernels::route {

// First launch: a block multiplies tokens by up to 128 experts over a slice of 256 inputs, and adds its sums of each 32
// inputs in their order. Few tokens: 16 a block, 32 inputs a warp; what counts is to start all loads at once. Many: 48
// a block, so that the slice's weights are fetched once for all of them, 16 tokens and half of the experts a warp; as
// many as leave room for two blocks on a multiprocessor.
inline constexpr int kTileTokens = 16;
inline constexpr int kTileExperts = 128;
inline constexpr int kExpertTiles = kTileExperts / 8;
inline constexpr int kSliceParts = 8; // of 32 inputs
inline constexpr int kSliceInputs = kSliceParts * 32;
inline constexpr int kProjectWarps = kSliceParts;
inline constexpr int kSumPitch = kTileExperts + 8; // so that the 8 rows of a fragment fall into different banks
inline constexpr int kManyTiles = 3;
inline constexpr int kManyTokens = kManyTiles * kTileTokens;
inline constexpr int kManyWarps = 2 * kManyTiles;
// Few tiles are spread over these many blocks, each taking several slices: half of an H200's multiprocessors, so that a
// dense product beside them finds the other half empty. More would take too long that way.
inline constexpr std::int64_t kFewBlocks = 66;
inline constexpr std::int64_t kFewTiles = 16;
// Small blocks that an H200 holds at a time, two a multiprocessor; where there would be more, they are large.
inline constexpr std::int64_t kMostSmallBlocks = 2 * 132;

// Second launch: a warp chooses for a token; the last block to finish brings the slots in order.
inline constexpr int kChooseWarps = 16;
inline constexpr int kChooseThreads = kChooseWarps * 32;
inline constexpr int kBlockSlots = kChooseWarps * static_cast<int>(kMostSlotsPerToken); // at most
inline constexpr int kBlocksAtOnce = 64; // whose counts the last block holds

__host__ __device__ constexpr std::int64_t sliceCount(std::int64_t hidden)
{
    return (hidden + kSliceInputs - 1) / kSliceInputs;
}

/// The workspace: a counter, then what the blocks that choose leave for the last of them: how many slots of each expert
/// they have [blocks][experts] and each slot's place among those of its block and expert [slots]; then partial sums of
/// squares [slices][tokens] and partial logits [slices][tokens][experts].
struct Workspace
{
    unsigned *finishedBlocks;
    std::uint16_t *counts;
    std::uint16_t *ranks;
    float *squares;
    float *logits;
};

inline constexpr std::int64_t kCounterBytes = 16;

/// Places for sums of squares; what lies behind them is aligned for whole vectors.
inline std::int64_t squareCount(std::int64_t tokens, std::int64_t hidden)
{
    return (sliceCount(hidden) * tokens + 3) / 4 * 4;
}

/// Of one of the arrays of 16-bit numbers, for at most `tokens` tokens.
inline std::int64_t countBytes(std::int64_t tokens)
{
    return (tokens + kChooseWarps - 1) / kChooseWarps * kMostRoutedExperts * 2;
}

static_assert(kBlockSlots <= kMostRoutedExperts, "a block's ranks fit where its counts would");
static_assert(kBlockSlots <= kChooseThreads, "a thread counts one of them");

inline Workspace workspaceOf(const MoeRouteArgs &args)
{
    auto *base = static_cast<std::uint8_t *>(args.workspace);
    const std::int64_t bytes = countBytes(args.tokens);
    auto *squares = reinterpret_cast<float *>(base + kCounterBytes + 2 * bytes);
    return {reinterpret_cast<unsigned *>(base), reinterpret_cast<std::uint16_t *>(base + kCounterBytes),
            reinterpret_cast<std::uint16_t *>(base + kCounterBytes + bytes), squares,
            squares + squareCount(args.tokens, args.hidden)};
}

} // namespace palimpsest::kernels::route
