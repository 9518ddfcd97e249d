// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// How a weight matrix lies in memory.
enum class WeightLayout {
    OutputMajor, ///< [outputs, inputs], as checkpoints store linear layers
    InputMajor,  ///< [inputs, outputs]: the embedding as a sum over the vocabulary
};

/// What a product is stored as.
enum class GemmEpilogue {
    Float,     ///< out: float [parts, rows, outputs]
    HalfWidth, ///< out: Bf16 [rows, outputs]
    Fp16,      ///< out: IEEE binary16 [rows, outputs]; what is too large becomes the largest finite one
    GatedGelu, ///< out: Bf16 [rows, outputs / 2]; the first half of the weight's rows are the gate, the second the up
               ///< projection: gelu_tanh(gate) * up, rounded once
};

struct DenseGemmArgs
{
    std::int64_t rows = 0;
    std::int64_t outputs = 0;
    std::int64_t inputs = 0;
    const Bf16 *x = nullptr; ///< [rows, inputs]
    const Bf16 *weight = nullptr;
    WeightLayout layout = WeightLayout::OutputMajor;
    GemmEpilogue epilogue = GemmEpilogue::Float;
    void *out = nullptr;
    int parts = 1; ///< 1, or for Float what denseGemmParts() says: the product is left as that many summands
    /// The parts' sums are added here, in their order, and stored as one summand: the bits are the same.
    bool addParts = false;
    /// Null, or for Float a count in device memory: only the first `*activeRows` rows are wanted and written; 0 costs
    /// a launch.
    const std::int32_t *activeRows = nullptr;
    /// The launch after this one in the stream has nothing to do with it (MoeRouteArgs::besidePrevious): it may start
    /// when all before this one is complete, and run beside this one.
    bool besideNext = false;
};

/// Into how many summands along the inputs a Float product should be cut so that a small one fills the device; whoever
/// reads the product next adds them in order. A function of the weight's shape alone: the number of rows must not
/// change the bits of a row.
[[nodiscard]] int denseGemmParts(std::int64_t outputs, std::int64_t inputs, WeightLayout layout);

/// Whether it is faster to have the parts added by the product (`addParts`) than by who reads it. Depends on the
/// device.
[[nodiscard]] bool denseGemmAddsParts(std::int64_t rows, std::int64_t outputs, int parts);

/// y = x W^T with bf16 operands and fp32 accumulation.
///
/// Shapes     above; all row-major and contiguous.
/// Requires   inputs % 8 == 0 and outputs % 8 == 0 (16-byte loads), for GatedGelu outputs % 16 == 0; pointers aligned
///            to 16 bytes; OutputMajor for GatedGelu and Fp16; rows from 0 to 65535 * 128; parts as above. The weight
///            is not written by the kernel just before this one in the stream: reading it begins while that one ends.
/// Numerics   products summed in fp32 in an order that depends on the weight's shape alone; Float stores the sum,
///            the others round it once. gelu_tanh in fp32 with the exact hyperbolic tangent's identity, error 1e-6.
/// Cost       2 rows outputs inputs operations; the weight is fetched once for every 256 or 128 rows on Hopper
///            (compute capability 9.0: TMA, mbarrier, wgmma), all but the first time out of the cache; for every 128
///            rows by the portable kernel.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t denseGemm(const DenseGemmArgs &args, cudaStream_t stream);

/// Which kernel denseGemm() takes; tests and benchmarks compare them.
enum class GemmVariant { Best, Portable };
[[nodiscard]] cudaError_t denseGemm(const DenseGemmArgs &args, GemmVariant variant, cudaStream_t stream);

} // namespace palimpsest::kernels
