// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cpu/compute.h"
#include "engine/cpu/kv_blocks.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace palimpsest::cpu {

/// Keys and values of up to 64 positions that queries may see.
struct KeyBlock
{
    const KvBlock *block = nullptr;
    std::int64_t firstPosition = 0;
    std::int64_t end = 0; ///< one past the last valid position, at most firstPosition + 64
};

/// Positions [begin, end) that one query sees.
struct VisibleRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

/// Consecutive rows of a query matrix that look at the same blocks: a canvas, or a chunk of a prompt.
struct QueryGroup
{
    std::int64_t firstRow = 0;
    std::int64_t rows = 0;
    std::vector<KeyBlock> blocks;                          ///< ascending positions; the order of summation
    std::function<VisibleRange(std::int64_t row)> visible; ///< row counted from firstRow
};

/// softmax(q k^T) v, scale 1, fp32, with an online softmax over blocks of 64 keys in position order (Milakov and
/// Gimelshein 2018; Rabe and Staats 2021).
///
/// queries, out [rows, heads * headDim]; heads share the kv heads evenly. A row's bits depend on its own visible keys
/// only: a block that a row does not see leaves its state exactly as it was.
void addAttention(Section &section, Compute &compute, const std::vector<QueryGroup> &groups, const KvLayout &layout,
                  std::int64_t heads, const Matrix &queries, Matrix &out);

} // namespace palimpsest::cpu
