// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/w4_layout.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct W4RepackArgs
{
    const std::uint8_t *packed = nullptr; ///< [matrices, rows, columns / 2], low nibble first
    const std::uint16_t *scale = nullptr; ///< [matrices, rows, columns / groupSize] binary16
    const std::uint16_t *zero = nullptr;  ///< the same shape, binary16: whole numbers from 0 to 15 (or -0)
    std::uint8_t *blocks = nullptr;       ///< [matrices][w4MatrixBytes(rows, columns, groupSize)]
    std::int32_t *invalidZeros = nullptr; ///< may be null; set to 1 (never to 0) if a zero point is something else
    std::int64_t matrices = 0;            ///< as many experts as lie in the staging buffer
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t groupSize = 0;
    W4RowOrder order = W4RowOrder::Plain;
};

/// Rearranges matrices of the checkpoint (design, section 3) into blocks for w4Linear() and the expert products
/// (w4_layout.h). Lossless.
///
/// Requires   groupSize 64 or 128; columns a positive multiple of it; packed and blocks aligned to 16 bytes; with
///            W4RowOrder::GateUp rows a multiple of 32.
/// Cost       one read and one write of the matrices; a multiple of the rate of any bus they may come over.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous.
[[nodiscard]] cudaError_t w4Repack(const W4RepackArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
