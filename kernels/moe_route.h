// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace palimpsest::kernels {

/// Most experts that moeRoute() chooses among, and most that it chooses for a token.
inline constexpr std::int64_t kMostRoutedExperts = 256;
inline constexpr std::int64_t kMostSlotsPerToken = 16;

struct MoeRouteArgs
{
    std::int64_t tokens = 0;
    std::int64_t hidden = 0;
    std::int64_t experts = 0;
    std::int64_t slotsPerToken = 0;        ///< experts a token uses
    float epsilon = 1e-6F;                 ///< of the norm
    const float *x = nullptr;              ///< [tokens, hidden], the residual stream
    const float *scale = nullptr;          ///< [hidden]
    const Bf16 *weights = nullptr;         ///< [experts, hidden]
    const float *perExpertScale = nullptr; ///< [experts]
    void *workspace = nullptr;             ///< moeRouteWorkspaceBytes(), aligned to 16; contents do not matter
    std::int32_t *expertIds = nullptr;     ///< [tokens, slotsPerToken], out: descending probability
    float *slotWeights = nullptr; ///< [tokens, slotsPerToken], out: renormalised to sum 1, times perExpertScale
    /// For moeRouteLogits() and moeRouteChoose(): the launch before this one in the stream has nothing to do with it
    /// and lets it start when all before is complete (DenseGemmArgs::besideNext). This one then runs beside it and ends
    /// after it, so that what waits for this one has both.
    bool besidePrevious = false;
    std::int32_t *expertOffsets = nullptr; ///< [experts + 1], out: where each expert's positions begin
    std::int32_t *slots = nullptr;         ///< [positions], out: slots by expert, in an expert ascending
};

[[nodiscard]] std::int64_t moeRouteWorkspaceBytes(std::int64_t tokens, std::int64_t hidden,
                                                  std::int64_t experts) noexcept;

/// Chooses the experts of each token and sorts the choices by expert:
///     logits = (x * (mean(x^2) + epsilon)^-0.5 * scale * hidden^-0.5) weights^T
///     probabilities = softmax(logits); the slotsPerToken largest, of equal ones the lower index first.
///
/// Requires   hidden % 8 == 0, experts in 1..kMostRoutedExperts, slotsPerToken in 1..min(experts, kMostSlotsPerToken),
///            tokens * slotsPerToken < 2^31; x, scale and weights aligned to 16 bytes.
/// Numerics   as precise as fp32: x * scale is split exactly into three bf16, whose products with the bf16 weights are
///            exact, and summed in fp32; the row's factor is applied to the sum. The order of summation depends on
///            `hidden` alone, so a token gives the same bits in any batch. A token whose logits are no numbers gets the
///            first experts and weights that are no numbers either.
/// Cost       two launches. At 256 x 2816 and 128 experts 3 MB of x, 12 MB of weights out of the L2 cache, 1.4 MB of
///            partial sums written and read.
/// Returns    cudaErrorInvalidValue if a requirement does not hold, else the status of the launches. Asynchronous, no
///            allocation; may be captured in a graph.
[[nodiscard]] cudaError_t moeRoute(const MoeRouteArgs &args, cudaStream_t stream);

/// Its two launches, for a caller who puts others between them: the logits into the workspace, then the choices. At up
/// to 256 tokens they leave half of an H200 to a launch beside them.
[[nodiscard]] cudaError_t moeRouteLogits(const MoeRouteArgs &args, cudaStream_t stream);
[[nodiscard]] cudaError_t moeRouteChoose(const MoeRouteArgs &args, cudaStream_t stream);

} // namespace palimpsest::kernels
