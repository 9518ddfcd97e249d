// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/w4_product.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct MoeArgs
{
    std::int64_t tokens = 0;
    std::int64_t slotsPerToken = 0; ///< experts a token uses
    std::int64_t experts = 0;
    std::int64_t hidden = 0;
    std::int64_t inner = 0;
    const Bf16 *input = nullptr;             ///< [tokens, hidden]
    const std::int32_t *expertIds = nullptr; ///< [tokens, slotsPerToken], each from 0 to experts - 1
    const float *slotWeights = nullptr;      ///< [tokens, slotsPerToken]
    const std::uint8_t *gateUp = nullptr;    ///< [experts][w4MatrixBytes(2 inner, hidden, 128)], W4RowOrder::GateUp
    const std::uint8_t *down = nullptr;      ///< [experts][w4MatrixBytes(hidden, inner, 64)], W4RowOrder::Plain
    void *workspace = nullptr;               ///< moeWorkspaceBytes(), aligned to 16; contents do not matter
    float *out = nullptr;                    ///< [tokens, hidden]
    W4Variant variant = W4Variant::Automatic;
};

/// Bytes of workspace; depends on tokens, slotsPerToken, experts, hidden and inner alone.
[[nodiscard]] std::int64_t moeWorkspaceBytes(const MoeArgs &args) noexcept;

/// A mixture of gated experts with 4-bit weights, from routed tokens to their combined output:
///     out[t] = sum over j of slotWeights[t][j] * down_e (gelu_tanh(gate_e x_t) * (up_e x_t)),  e = expertIds[t][j]
///
/// Sorts the choices by expert, then one product with all experts' gate and up matrices, one with the down matrices and
/// the weighted sum. w4Repack() makes the weights from the packed format of w4_quantize.h. moeRoute() chooses experts
/// as DiffusionGemma does, and moeGateUp(), moeDown() and moeCombine() are the parts that its engine puts together
/// itself.
///
/// Requires   hidden % 128 == 0, inner % 64 == 0, 1 <= experts <= 512, tokens * slotsPerToken < 2^31, arrays aligned to
///            16 bytes. An expert id outside the range makes the slot's output undefined, nothing else.
/// Numerics   as moeGateUp() and moeDown(): exact whole-number weights, fp32 sums, a group's scale applied to its sum
/// in
///            fp32; inner activations rounded to bf16; slots and their sum in fp32, in the order of j. A token's bits
///            do not depend on the other tokens.
/// Cost       the packed weights of the experts that have tokens, once; at 256 tokens and 8 of 128 experts of 2816 x
/// 704
///            412 MB, 97 us at 4.27 TB/s. Four launches.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, cudaErrorNotSupported if the device lacks the
///            variant, else the status of the launches. Asynchronous, no allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t moe(const MoeArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
