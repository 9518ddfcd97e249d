// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/kv_pages.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// Whom a row sees.
enum class Fp32Visibility {
    Causal, ///< the cache up to its own position, which is in there already; with a window the last `window` of them
    Canvas  ///< the cache from the view's firstVisible on, and the whole canvas in the scratch pages
};

struct Fp32AttentionArgs
{
    std::int64_t sequences = 0;
    std::int64_t rowStride = 0; ///< row r of sequence s is row s * rowStride + r of every matrix
    const SequenceView *views = nullptr;
    Fp32Visibility visibility = Fp32Visibility::Canvas;
    std::int64_t window = 0; ///< Causal: positions that a row sees, itself included; 0: all
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    const float *queries = nullptr; ///< [rows, heads, headDim]
    Fp32KvPool cache;
    Fp32KvPool scratch;   ///< Canvas
    float *out = nullptr; ///< [rows, heads, headDim]
};

/// softmax(q k^T) v in fp32 throughout, for models so small that precision is worth more than speed.
///
/// Requires   headDim % 4 == 0, headDim <= 512, heads a multiple of kvHeads, sequences * rowStride < 2^31.
/// Numerics   online softmax over 128 keys at a time, from the first one that the row sees: a row's bits depend on the
///            row and the keys that it sees.
/// Cost       each row and head reads its keys and values, out of the cache: 4 heads of 64 over 768 keys and 256 rows
///            are 400 MB.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
/// Source     Milakov and Gimelshein 2018, "Online normalizer calculation for softmax".
[[nodiscard]] cudaError_t fp32Attention(const Fp32AttentionArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
