// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// Which of an expert's two products (moe_w4_gemm.h).
enum class Fp32ExpertProduct {
    GateUp, ///< out [positions, inner] = gelu_tanh(gate) * up of the position's token; groups of 128,
            ///< W4RowOrder::GateUp
    Down    ///< out [slots, hidden] of the position's inner activations; groups of 64, W4RowOrder::Plain
};

struct Fp32ExpertsArgs
{
    Fp32ExpertProduct product = Fp32ExpertProduct::GateUp;
    std::int64_t tokens = 0;
    std::int64_t slotsPerToken = 0;
    std::int64_t experts = 0;
    std::int64_t hidden = 0;
    std::int64_t inner = 0;
    const float *input = nullptr;                ///< GateUp: [tokens, hidden]; Down: [positions, inner]
    const std::uint8_t *weights = nullptr;       ///< as moeGateUp() and moeDown() take them
    const std::int32_t *expertOffsets = nullptr; ///< [experts + 1]
    const std::int32_t *slots = nullptr;         ///< [positions]
    float *out = nullptr;
};

/// The experts' products in fp32 throughout, for models so small that precision is worth more than speed.
///
/// Requires   hidden % 128 == 0, inner % 64 == 0, 1 <= experts <= 65535, tokens * slotsPerToken < 2^31; weights aligned
///            to 16 bytes.
/// Numerics   weights (q - zero) * scale rounded once to fp32, as the CPU has them; fused multiply-adds in the order of
///            the inputs. An output's bits depend on its token and expert alone.
/// Cost       the packed weights once for each 32 positions of an expert; no matrix units.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t fp32Experts(const Fp32ExpertsArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
