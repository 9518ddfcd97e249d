// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/moe_route.h"

#include <cstdint>

/// What the two launches of moeRoute() know of each other: how they cut their work, and the memory between them.
namespace palimpsest::kernels::route {

// First launch: a block multiplies 16 tokens by up to 128 experts over a slice of 256 inputs, 32 inputs a warp, and
// adds its warps' sums. Many small blocks: the whole product is 0.1 G multiplications, what counts is to start all
// loads at once.
inline constexpr int kTileTokens = 16;
inline constexpr int kTileExperts = 128;
inline constexpr int kExpertTiles = kTileExperts / 8;
inline constexpr int kProjectWarps = 8;
inline constexpr int kSliceInputs = kProjectWarps * 32;
inline constexpr int kSumPitch = kTileExperts + 8; // so that the 8 rows of a fragment fall into different banks
// From here on the token tiles fill the device, and slices are summed in place.
inline constexpr std::int64_t kManyTokens = 2048;
// Few tiles are spread over these many blocks, each taking several slices: half of an H200's multiprocessors, so that a
// dense product beside them finds the other half empty. More would take too long that way.
inline constexpr std::int64_t kFewBlocks = 66;
inline constexpr std::int64_t kFewTiles = 16;
// Blocks that an H200 holds at a time, two a multiprocessor; of more tiles a block takes several, one after the other.
inline constexpr std::int64_t kManyBlocks = 2 * 132;

// Second launch: a warp chooses for a token; the last block to finish brings the slots in order.
inline constexpr int kChooseWarps = 16;
inline constexpr int kChooseThreads = kChooseWarps * 32;
inline constexpr int kBlockSlots = kChooseWarps * static_cast<int>(kMostSlotsPerToken); // at most
inline constexpr int kBlocksAtOnce = 64; // whose counts the last block holds

constexpr std::int64_t sliceCount(std::int64_t hidden)
{
    return (hidden + kSliceInputs - 1) / kSliceInputs;
}

/// The workspace: a counter, then what the blocks that choose leave for the last of them: how many slots of each expert
/// they have [blocks][experts] and each slot's place among those of its block and expert [slots]; then partial sums of
/// squares [parts][tokens] and partial logits [parts][tokens][experts].
struct Workspace
{
    unsigned *finishedBlocks;
    std::uint16_t *counts;
    std::uint16_t *ranks;
    float *squares;
    float *logits;
};

inline constexpr std::int64_t kCounterBytes = 16;

inline std::int64_t partCount(std::int64_t tokens, std::int64_t hidden)
{
    return tokens >= kManyTokens ? 1 : sliceCount(hidden);
}

/// Of one of the arrays of 16-bit numbers, for at most `tokens` tokens.
inline std::int64_t countBytes(std::int64_t tokens)
{
    return (tokens + kChooseWarps - 1) / kChooseWarps * kMostRoutedExperts * 2;
}

static_assert(kChooseWarps * kMostSlotsPerToken <= kMostRoutedExperts, "a block's ranks fit where its counts would");

inline Workspace workspaceOf(const MoeRouteArgs &args, std::int64_t parts)
{
    auto *base = static_cast<std::uint8_t *>(args.workspace);
    const std::int64_t bytes = countBytes(args.tokens);
    auto *squares = reinterpret_cast<float *>(base + kCounterBytes + 2 * bytes);
    return {reinterpret_cast<unsigned *>(base), reinterpret_cast<std::uint16_t *>(base + kCounterBytes),
            reinterpret_cast<std::uint16_t *>(base + kCounterBytes + bytes), squares, squares + parts * args.tokens};
}

} // namespace palimpsest::kernels::route
