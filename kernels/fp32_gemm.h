// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/dense_gemm.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct Fp32GemmArgs
{
    std::int64_t rows = 0;
    std::int64_t outputs = 0;
    std::int64_t inputs = 0;
    const float *x = nullptr; ///< [rows, inputs]
    const Bf16 *weight = nullptr;
    WeightLayout layout = WeightLayout::OutputMajor;
    bool gated = false;   ///< the first half of the weight's rows are the gate: gelu_tanh(gate) * up
    float *out = nullptr; ///< [rows, outputs], gated: [rows, outputs / 2]
};

/// y = x W^T in fp32 throughout, for models so small that precision is worth more than speed: no matrix units.
///
/// Shapes     above; row-major and contiguous.
/// Requires   rows <= 64 * 65535; gated: OutputMajor and an even number of outputs.
/// Numerics   fused multiply-adds in the order of the inputs; gelu_tanh with a tangent to 2 ulp. A row's bits depend on
///            the row alone.
/// Cost       2 rows outputs inputs operations at about a fifth of the fp32 rate.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t fp32Gemm(const Fp32GemmArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
