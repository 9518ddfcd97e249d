// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct W4QuantizeArgs
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t groupSize = 0;
    const float *weights = nullptr; ///< [rows, columns], finite
    std::uint8_t *packed = nullptr; ///< [rows, columns / 2], out: the even column in the low nibble
    std::uint16_t *scale = nullptr; ///< [rows, columns / groupSize], out: binary16
    std::uint16_t *zero = nullptr;  ///< the same, out: whole numbers from 0 to 15, possibly -0
};

/// Quantises to the checkpoint's 4-bit format (design, section 3):
///     scale = max(max - min, 1e-8) / 15, zero = clamp(round(-min / scale), 0, 15), q = clamp(round(w / scale + zero),
///     0, 15)
///
/// Requires   groupSize a multiple of 64 up to 1024, columns a positive multiple of it, rows >= 0.
/// Numerics   fp32 with correctly rounded divisions, halves to even: bit-equal to palimpsest::quantiseW4(). q uses the
/// fp32
///            scale, only the stored one is rounded to binary16 (and is infinite above 65519).
/// Cost       one read of the weights.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous.
[[nodiscard]] cudaError_t w4Quantize(const W4QuantizeArgs &args, cudaStream_t stream);

struct W4DequantizeArgs
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t groupSize = 0;
    const std::uint8_t *packed = nullptr; ///< as in W4QuantizeArgs
    const std::uint16_t *scale = nullptr;
    const std::uint16_t *zero = nullptr;
    float *weights = nullptr; ///< [rows, columns], out
};

/// (q - zero) * scale in fp32: bit-equal to palimpsest::dequantiseW4(). Requirements and returns as for w4Quantize().
[[nodiscard]] cudaError_t w4Dequantize(const W4DequantizeArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
