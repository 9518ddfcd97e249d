// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"

#include <cstdint>

/// How keys and values lie in device memory; what writes and reads them includes this.
///
/// A page holds 64 consecutive positions of one layer, bf16: keys [kvHeads][64][headDim], and values the same in a pool
/// of their own. Page borders are multiples of 64 in absolute positions, so a row meets its keys in the same order and
/// the same blocks however a prefix was cut into chunks. A sequence has a table of page numbers for each kind of layer
/// (full layers keep all pages, sliding ones their window); a page number means the same place in the pool of every
/// layer of that kind. Forks share pages; the engine copies a partial one before it is written.
///
/// The keys of a running canvas go into scratch pages, which are numbered by canvas and begin at the canvas's first
/// position, and which layers of one shape share.
namespace palimpsest::kernels {

inline constexpr std::int64_t kPagePositions = 64;

/// One sequence of a launch, in device memory, so that a captured graph can be replayed at other lengths.
struct SequenceView
{
    const std::int32_t *pageTable = nullptr; ///< page of positions [64 i, 64 i + 64); below firstVisible unused
    std::int32_t length = 0;                 ///< positions in the cache before this launch's rows
    std::int32_t rows = 0;                   ///< rows of this launch that belong to it, at most the launch's rowStride
    /// First cached position that a canvas sees: 0, or in a sliding layer max(0, length - (window - 1)).
    std::int32_t firstVisible = 0;
};

/// Pools of one layer (or of the scratch pages).
struct KvPool
{
    Bf16 *keys = nullptr;   ///< [pages][kvHeads][64][headDim]
    Bf16 *values = nullptr; ///< the same
};

/// The same in fp32, for the kernels whose names begin so.
struct Fp32KvPool
{
    float *keys = nullptr;
    float *values = nullptr;
};

/// Elements of a page of keys.
[[nodiscard]] constexpr std::int64_t pageElements(std::int64_t kvHeads, std::int64_t headDim)
{
    return kvHeads * kPagePositions * headDim;
}

/// Scratch pages that one canvas of up to `rows` rows takes.
[[nodiscard]] constexpr std::int64_t scratchPages(std::int64_t rows)
{
    return (rows + kPagePositions - 1) / kPagePositions;
}

} // namespace palimpsest::kernels
