// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/kv_pages.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct CanvasAttentionArgs
{
    std::int64_t sequences = 0;
    std::int64_t rowStride = 0; ///< row r of sequence s is row s * rowStride + r
    const SequenceView *views = nullptr;
    std::int64_t mostCached = 0; ///< no view of this launch, or of a replay of it, shows more cached positions
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    const Bf16 *queries = nullptr; ///< [sequences * rowStride, heads * headDim], of qkvNormRope()
    KvPool cache;
    KvPool scratch;
    Bf16 *out = nullptr; ///< [sequences * rowStride, heads * headDim]; rows behind a sequence's own stay as they are
    void *workspace = nullptr; ///< canvasAttentionWorkspace() bytes, aligned to 16; contents mean nothing afterwards
};

/// Bytes of workspace that these sizes need (pointers are not looked at).
[[nodiscard]] std::int64_t canvasAttentionWorkspace(const CanvasAttentionArgs &args);

/// softmax(q k^T) v with scale 1 for canvases: every row sees the cached positions from firstVisible on and its whole
/// canvas.
///
/// Requires   headDim % 16 == 0, headDim <= 512; heads a multiple of kvHeads; pointers aligned to 16 bytes.
///            Every element of the pools is finite: clear them once. (Slots that hold nothing are multiplied by 0.)
/// Numerics   bf16 operands (probabilities too), fp32 scores, softmax and sums. Long rows of keys are cut into up to
///            four parts, a function of the sequence's own lengths, added in order: a canvas has the same bits in any
///            batch.
/// Cost       4 rows keys heads headDim operations: 3.2 GFLOP for 256 rows, 768 keys, 16 heads of 256.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph and replayed with other views.
[[nodiscard]] cudaError_t canvasAttention(const CanvasAttentionArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
