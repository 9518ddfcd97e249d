// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/head_sample.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct SelfConditionArgs
{
    CanvasLogits canvas; ///< one or several, after headSample() with the same workspace
    std::int64_t hidden = 0;
    const Bf16 *table = nullptr;       ///< [vocabSize, hidden], the embedding
    float *out = nullptr;              ///< [canvases, rows, hidden]: softmax(processed) times the table, not scaled
    void *workspace = nullptr;         ///< selfConditionWorkspace() bytes
    std::int32_t *denseRows = nullptr; ///< [canvases]: receives how many rows took the dense product; may be null
};

/// Bytes of workspace for this many rows of all canvases.
[[nodiscard]] std::int64_t selfConditionWorkspace(std::int64_t rows, std::int64_t vocabSize, std::int64_t hidden);

/// The soft embedding of canvases, which the next step's decoder input is made from.
///
/// A row is gathered if at most 192 ids carry more than 2^-26 of its probability each and all others together carry at
/// most 2^-20, which is below the dense product's own rounding (weights in bf16: 2^-9 each). After the first steps
/// nearly every row is. The other rows go through one dense product with the embedding, whose launches do nothing if
/// there are none.
///
/// Shapes     above; row-major, contiguous.
/// Requires   hidden % 8 == 0 and what headSample() does; table, out and workspace aligned to 16 bytes.
/// Numerics   gathered rows: fp32 weights and sums in the order of the ids. Dense rows: exp(x - maximum) rounded to
///            bf16, fp32 sums; ids whose probability is below 2^-16 of the largest one's square are rounded to a power
///            of two, which adds less than bf16 does and keeps their sum. Which way a row takes and its bits depend on
///            the row alone, not on the batch.
/// Cost       gathered rows: the logits of the blocks that matter and one read of each id's embedding. Dense: the table
///            once (1.48 GB: 0.35 ms at 4.27 TB/s) and 2 * vocabSize * hidden operations for each row, where those
///            beyond the last multiple of 256 count as 128 if they are the only ones and at most 128, else as 256.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t selfCondition(const SelfConditionArgs &args, cudaStream_t stream);

/// Its two halves. Gathered rows are in `out` behind the first, and the logits are not needed any more; all rows are
/// behind the second.
[[nodiscard]] cudaError_t selfConditionRows(const SelfConditionArgs &args, cudaStream_t stream);
[[nodiscard]] cudaError_t selfConditionProduct(const SelfConditionArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
