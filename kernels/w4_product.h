// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/w4_layout.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// Which of the ways to run a product; for tests and measurements.
enum class W4Variant {
    Automatic,  ///< by the device
    Portable,   ///< cp.async, compute capability 8.0 and up
    CopyEngine, ///< a warp of its own feeds the copy engine, compute capability 9.0 and up
    Warpgroup   ///< the copy engine and warpgroup products, compute capability 9.0 alone
};

} // namespace palimpsest::kernels

/// Behind moeGateUp(), moeDown() and w4Linear(), not for others: the products that they describe (w4_product.cuh).
namespace palimpsest::kernels::w4 {

constexpr int kMaxExperts = 512;
constexpr int kPortableWarps = 4;    // at most
constexpr int kCopyEngineWarps = 11; // at most; one more feeds the engine. 1408 and 2816 rows are 4 and 8 tiles of 11
constexpr int kWarpgroupBlocks = 8;  // row blocks of an item: two warpgroups of four
constexpr int kTileTokens = 64;      // of an item, at most
constexpr int kMostStages = 16;      // of a ring
constexpr int kWarpgroupTokens = 72; // the same of W4Variant::Warpgroup: what two tiles' sums leave registers for

/// What the kernels read; one expert with the identity as its gather list is an ordinary product.
struct Problem
{
    const std::uint8_t *weights = nullptr;       // [experts][w4MatrixBytes]
    const Bf16 *input = nullptr;                 // [*, columns]
    const std::int32_t *expertOffsets = nullptr; // [experts + 1] into the sorted positions, or null: {0, positions}
    const std::int32_t *slots = nullptr;         // [positions] or null: slot == position
    void *out = nullptr;
    std::int64_t matrixBytes = 0;
    std::int64_t outputs = 0; // columns of `out`
    std::int32_t positions = 0;
    std::int32_t experts = 1;
    std::int32_t columns = 0;
    std::int32_t rowBlocks = 0;
    std::int32_t slotsPerToken = 1; // input row of a position when `gatherInput`: slot / slotsPerToken
    std::int32_t gatherInput = 0;
    std::int32_t scatterOutput = 0;        // output row of a position: its slot
    std::int32_t overlap = 0;              // begin beside the launch before: only `input` comes from it
    std::int32_t tileTokens = kTileTokens; // most tokens of an item; the launcher's choice, as are the next two
    std::int32_t warps = 0;                // that multiply
    std::int32_t stages = 0;               // of a ring fed by the copy engine
};

enum class Product {
    GateUp128, // groups of 128, W4RowOrder::GateUp, out: bf16
    Plain64Bf16,
    Plain64Float,
    Plain128Bf16,
    Plain128Float
};

/// Checks what all products have in common, chooses the tile and launches. No positions are nothing to do.
[[nodiscard]] cudaError_t launchProduct(Product product, Problem problem, W4Variant variant, cudaStream_t stream);

struct Device
{
    int multiprocessors = 0;
    int computeMajor = 0;
    int computeMinor = 0;
    int sharedBytes = 0; // that a block may ask for
};

/// Launches with `problem.warps` chosen; the number of items is at most `mostItems`.
[[nodiscard]] cudaError_t launchPortable(Product product, Problem problem, std::int64_t mostItems, const Device &device,
                                         cudaStream_t stream);
[[nodiscard]] cudaError_t launchCopyEngine(Product product, Problem problem, std::int64_t mostItems,
                                           const Device &device, cudaStream_t stream);
[[nodiscard]] cudaError_t launchWarpgroup(Product product, Problem problem, std::int64_t mostItems,
                                          const Device &device, cudaStream_t stream);

} // namespace palimpsest::kernels::w4
