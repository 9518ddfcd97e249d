// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace palimpsest::kernels {

/// How 4-bit weights lie in device memory: the layout that the product kernels stream.
///
/// A matrix [rows, columns] with groups of `groupSize` columns becomes a sequence of blocks of 32 rows by one group:
///
///     block(group, rowBlock) at ((group * w4RowBlocks(rows)) + rowBlock) * w4BlockBytes(groupSize)
///
/// so that any number of neighbouring row blocks of a group is one piece of memory, which one copy brings in. A block
/// is
///
///     nibbles [groupSize / 32][32 lanes][16 bytes], then parameters [8][4] of 4 bytes.
///
/// The 16 bytes of a lane are the operands of four `mma.m16n8k16`: words (k half 0, upper tile), (0, lower), (1,
/// upper), (1, lower); in a word, bits [4r, 4r + 4) and [16 + 4r, 16 + 4r + 4) are the even and the odd column of
/// register r of the A fragment. A parameter is (binary16 scale) | (bf16 of -zero / 64) << 16; the four of index g
/// belong to rows g and g + 8 of the upper tile, then of the lower.
///
/// `W4RowOrder` says which row of the matrix a row of a tile is. Rows beyond the matrix have scale 0.
enum class W4RowOrder {
    /// Row 4 g + 2 tile + half of the block is row g + 8 half of the tile: a thread ends up with four neighbouring
    /// outputs.
    Plain,
    /// For [2 inner, columns], gate rows first: a block is 16 gate and 16 up rows; row g of a tile is gate row
    /// 16 block + 2 g + tile and row g + 8 the up row of that number, so that both meet in one thread.
    GateUp
};

inline constexpr int kW4BlockRows = 32;

[[nodiscard]] constexpr std::int64_t w4RowBlocks(std::int64_t rows) noexcept
{
    return (rows + kW4BlockRows - 1) / kW4BlockRows;
}

[[nodiscard]] constexpr std::int64_t w4BlockBytes(std::int64_t groupSize) noexcept
{
    return kW4BlockRows * groupSize / 2 + kW4BlockRows * 4;
}

/// Bytes of one matrix; a multiple of 128. `columns` is a multiple of `groupSize`.
[[nodiscard]] constexpr std::int64_t w4MatrixBytes(std::int64_t rows, std::int64_t columns,
                                                   std::int64_t groupSize) noexcept
{
    return w4RowBlocks(rows) * (columns / groupSize) * w4BlockBytes(groupSize);
}

} // namespace palimpsest::kernels
