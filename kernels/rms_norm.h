// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// Widest row that the row kernels take: a row lies in the registers of one block.
inline constexpr std::int64_t kMostRowColumns = 16384;

/// One normalised copy of a row: out[r][c] = x[r][c] * inverseRms(r) * weight[c].
struct NormOutput
{
    const float *weight = nullptr; ///< [columns]; null: 1
    Bf16 *out = nullptr;           ///< [rows, columns]; null: this copy is not wanted
};

struct RmsNormArgs
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    float epsilon = 1e-6F;
    const float *in = nullptr;     ///< [rows, columns]
    float inputScale = 1.0F;       ///< multiplies the input first
    const float *weight = nullptr; ///< [columns]; null: 1
    float *outFloat = nullptr;     ///< [rows, columns], may be `in`; either this or outBf16 or both
    Bf16 *outBf16 = nullptr;       ///< [rows, columns]
};

/// Divides every row by its root mean square: out = s * (mean(s^2) + epsilon)^-0.5 * weight with s = in * inputScale.
///
/// Requires   columns % 4 == 0, columns <= kMostRowColumns, pointers aligned to 16 bytes (bf16: 8), rows >= 0.
/// Numerics   fp32 throughout; the reduction tree depends on `columns` alone, so a row gives the same bits in any
///            batch.
/// Cost       one read and one write of the matrix: at 256 x 2816 4.3 MB, 1 us out of the L2 cache.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
/// Source     Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", eq. 4.
[[nodiscard]] cudaError_t rmsNorm(const RmsNormArgs &args, cudaStream_t stream);

struct ResidualNormArgs
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    float epsilon = 1e-6F;
    float *x = nullptr;                  ///< [rows, columns], the residual stream, updated in place
    const float *branch = nullptr;       ///< [parts, rows, columns]: a product, split along its inputs or whole
    int parts = 1;                       ///< at least 1
    const float *branchWeight = nullptr; ///< [columns]; null: 1
    float scale = 1.0F;                  ///< multiplies the sum: layer_scalar
    NormOutput norms[3];                 ///< of the new x, for the products that follow
};

/// x = (x + rmsNorm(sum of the branch's parts) * branchWeight) * scale, then up to three norms of the new x.
///
/// Requires, numerics and returns as for rmsNorm; the parts are added in their order. The weights are not written by
/// the kernel just before this one in the stream: reading them begins while that one ends. Cost       reads x and the
/// parts, writes x and the norms: at 256 x 2816 with 3 parts and 2 norms 17 MB, 3 us out of
///            the L2 cache.
[[nodiscard]] cudaError_t residualNorm(const ResidualNormArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
