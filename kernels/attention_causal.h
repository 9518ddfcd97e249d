// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/kv_pages.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct CausalAttentionArgs
{
    std::int64_t sequences = 0;
    std::int64_t rowStride = 0; ///< row r of sequence s is row s * rowStride + r, at position length + r
    const SequenceView *views = nullptr;
    std::int64_t window = 0; ///< positions that a row of a sliding layer sees, itself included; 0: all before it
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    const Bf16 *queries = nullptr; ///< [sequences * rowStride, heads * headDim], of qkvNormRope()
    KvPool cache;                  ///< the rows' own keys and values are in it already
    Bf16 *out = nullptr;           ///< [sequences * rowStride, heads * headDim]; rows behind a sequence's own stay
};

/// softmax(q k^T) v with scale 1 for a chunk of a prompt: a row sees the positions before it and itself.
///
/// Requires   as canvasAttention(); firstVisible is not looked at.
/// Numerics   as canvasAttention(), never cut into parts: a row meets its keys in blocks of absolute positions,
///            in order, so its bits do not depend on how the prompt was cut into chunks.
/// Returns    as canvasAttention().
[[nodiscard]] cudaError_t causalAttention(const CausalAttentionArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
