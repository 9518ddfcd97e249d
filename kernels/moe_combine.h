// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/rms_norm.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

struct MoeCombineArgs
{
    std::int64_t tokens = 0;
    std::int64_t hidden = 0;
    std::int64_t slotsPerToken = 0;
    float epsilon = 1e-6F;
    const float *dense = nullptr;        ///< [denseParts, tokens, hidden]: the dense branch's product
    int denseParts = 1;                  ///< at least 1
    const float *denseWeight = nullptr;  ///< [hidden], post-norm 1
    const Bf16 *slotsBf16 = nullptr;     ///< [tokens * slotsPerToken, hidden], of moeDown(): this one
    const float *slotsFloat = nullptr;   ///< or this one
    const float *slotWeights = nullptr;  ///< [tokens, slotsPerToken], of moeRoute()
    const float *expertWeight = nullptr; ///< [hidden], post-norm 2
    const float *sumWeight = nullptr;    ///< [hidden], the norm of both branches' sum
    float *x = nullptr;                  ///< [tokens, hidden], the residual stream, updated in place
    float scale = 1.0F;                  ///< layer_scalar
    NormOutput norms[3] = {};            ///< of the new x, for the products that follow
};

/// The end of a layer:
///     experts = sum over j of slotWeights[j] * slots[j], in the order of j
///     both = norm(dense) * denseWeight + norm(experts) * expertWeight
///     x = (x + norm(both) * sumWeight) * scale, then up to three norms of the new x.
///
/// Requires   hidden % 4 == 0, hidden <= kMostRowColumns, arrays aligned to 16 bytes, exactly one kind of slots. The
///            weights are not written by the kernel just before this one in the stream: reading them begins while that
///            one ends.
/// Numerics   fp32 throughout, each operation rounded by itself or fused as the code says; the order of every sum
///            depends on `hidden` and slotsPerToken alone.
/// Cost       each operand once: at 256 x 2816, 8 slots, one part and one norm 22 MB, 5 us at 4.27 TB/s, less where the
///            L2 cache still has them; 1024 tokens 87 MB, 20 us. Where the chip has the ring (chip.h), and slots are in
///            bf16 and in fours, the dense branch in one part and rows of up to 3072, each block fetches its next
///            tokens' rows by the copy engine; the bits are the same.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launch. Asynchronous, no
///            allocation; may be captured in a CUDA graph.
[[nodiscard]] cudaError_t moeCombine(const MoeCombineArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
