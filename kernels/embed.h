// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/rms_norm.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct EmbedArgs
{
    std::int64_t rows = 0;
    std::int64_t columns = 0; ///< hidden size
    std::int64_t vocabSize = 0;
    const std::int32_t *ids = nullptr; ///< [rows]; one outside the vocabulary gives a row of zeros
    const Bf16 *table = nullptr;       ///< [vocabSize, columns]
    float scale = 1.0F;                ///< sqrt(hidden size)
    const float *signal = nullptr;     ///< [parts, rows, columns]: the self-conditioning block's output, or null
    int parts = 1;
    bool normalise = false; ///< divide by the root mean square, as the decoder does after adding the signal
    float epsilon = 1e-6F;
    float *x = nullptr; ///< [rows, columns]
    NormOutput norm{};  ///< of x, for the first layer's product
};

/// x = table[id] * scale + sum of the signal's parts, then a norm without weight where asked for, and a norm of x.
///
/// Requires   as rmsNorm().
/// Numerics   fp32; the reduction tree depends on `columns` alone.
/// Cost       one read of the rows' embeddings, one write of x: 5 MB at 256 x 2816.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t embed(const EmbedArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
