// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/w4_product.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// The experts of one layer, from routed tokens to the outputs of the slots. A *slot* is one choice of a token:
/// token * slotsPerToken + j; a *position* is a place in the list of slots sorted by expert (moeRoute()).

struct MoeGateUpArgs
{
    std::int64_t tokens = 0;
    std::int64_t slotsPerToken = 0;
    std::int64_t experts = 0;
    std::int64_t hidden = 0;
    std::int64_t inner = 0;
    const Bf16 *input = nullptr;                 ///< [tokens, hidden]
    const std::uint8_t *weights = nullptr;       ///< [experts][w4MatrixBytes(2 inner, hidden, 128)], W4RowOrder::GateUp
    const std::int32_t *expertOffsets = nullptr; ///< [experts + 1], from 0 to tokens * slotsPerToken
    const std::int32_t *slots = nullptr;         ///< [positions]
    Bf16 *out = nullptr;                         ///< [positions, inner]
    W4Variant variant = W4Variant::Automatic;
};

/// out[p] = bf16(gelu_tanh(gate) * up), gate and up the products of the position's token with its expert's two halves.
///
/// Requires   hidden % 128 == 0, inner % 16 == 0, 1 <= experts <= 512, arrays aligned to 16 bytes, positions < 2^31.
/// Numerics   exact whole-number weights (q - zero), fp32 sums, a group's scale applied to its sum in fp32; gelu in
/// fp32; one
///            rounding at the store. An output's bits depend on its token and expert alone.
/// Cost       the packed weights of the experts that have tokens, once, and tokens * slotsPerToken * hidden * 2 bytes
/// out
///            of the L2 cache for every 352 rows of weights. At 26B shapes and 256 tokens 270 MB, floor 0.063 ms at
///            4.27 TB/s.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, cudaErrorNotSupported if the device lacks the
///            variant, else the status of the launch. One launch, asynchronous, no allocation; may be captured in a
///            graph.
[[nodiscard]] cudaError_t moeGateUp(const MoeGateUpArgs &args, cudaStream_t stream);

struct MoeDownArgs
{
    std::int64_t tokens = 0;
    std::int64_t slotsPerToken = 0;
    std::int64_t experts = 0;
    std::int64_t hidden = 0;
    std::int64_t inner = 0;
    const Bf16 *input = nullptr;                 ///< [positions, inner], of moeGateUp()
    const std::uint8_t *weights = nullptr;       ///< [experts][w4MatrixBytes(hidden, inner, 64)], W4RowOrder::Plain
    const std::int32_t *expertOffsets = nullptr; ///< as in MoeGateUpArgs
    const std::int32_t *slots = nullptr;         ///< as in MoeGateUpArgs
    Bf16 *outBf16 = nullptr;                     ///< [slots, hidden]: this one
    float *outFloat = nullptr;                   ///< or this one
    bool followsGateUp = false; ///< the launch before this one in the stream is the moeGateUp() that writes `input`
    W4Variant variant = W4Variant::Automatic;
};

/// out[slot] = the product of the slot's inner activations with its expert's down matrix; weighting is moeCombine()'s.
///
/// With followsGateUp, blocks begin while the last ones of moeGateUp() still run and prepare their lists of work;
/// everything but `input` must have been complete before that began.
///
/// Requires   inner % 64 == 0, else as for moeGateUp(); exactly one of the outputs.
/// Numerics, returns as for moeGateUp().
/// Cost       at 26B shapes and 256 tokens 142 MB of weights and 12 MB of output, floor 0.036 ms at 4.27 TB/s.
[[nodiscard]] cudaError_t moeDown(const MoeDownArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
