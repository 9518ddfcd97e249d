// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/w4_product.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct W4LinearArgs
{
    std::int64_t rows = 0;                 ///< of x
    std::int64_t inputs = 0;               ///< K
    std::int64_t outputs = 0;              ///< N
    std::int64_t groupSize = 0;            ///< 64 or 128
    const Bf16 *x = nullptr;               ///< [rows, inputs]
    const std::uint8_t *weights = nullptr; ///< [w4MatrixBytes(outputs, inputs, groupSize)], W4RowOrder::Plain
    Bf16 *outBf16 = nullptr;               ///< [rows, outputs]: this one
    float *outFloat = nullptr;             ///< or this one
    void *workspace = nullptr;             ///< null, or w4LinearWorkspaceBytes(), aligned to 16; contents do not matter
    W4Variant variant = W4Variant::Automatic;
};

/// Into how many parts of the inputs a product is cut where it has a workspace, so that a matrix of few rows fills the
/// device: a function of the weight's shape alone.
[[nodiscard]] int w4LinearParts(std::int64_t outputs, std::int64_t inputs, std::int64_t groupSize) noexcept;

/// Bytes of workspace; 0 where cutting would not help.
[[nodiscard]] std::int64_t w4LinearWorkspaceBytes(std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                                                  std::int64_t groupSize) noexcept;

/// y = x W^T with W in blocks of 4-bit weights (w4_layout.h; w4Repack() makes them).
///
/// With a workspace the product is cut into w4LinearParts() parts whose sums are added in order: three launches instead
/// of one. With and without are different roundings.
///
/// Requires   groupSize 64 or 128, inputs a positive multiple of it, outputs >= 0, 0 <= rows < 2^31, arrays aligned to
///            16 bytes, exactly one of the outputs.
/// Numerics   exact whole-number weights (q - zero), fp32 sums, a group's scale applied to its sum in fp32, one
/// rounding at
///            the store. A row of y depends on its row of x alone: the same bits in any batch.
/// Cost       the weights once for every 64 rows, all but the first time out of the L2 cache.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, cudaErrorNotSupported if the device lacks the
///            variant, else the status of the launch. Asynchronous, no allocation; may be captured in a
///            graph.
[[nodiscard]] cudaError_t w4Linear(const W4LinearArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
