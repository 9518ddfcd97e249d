// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"
#include "kernels/bf16.h"
#include "kernels/w4_layout.h"

#include <cstdint>
#include <vector>

namespace palimpsest::cuda {

using kernels::Bf16;

/// A gated MLP: down(gelu(gate x) * (up x)).
struct GatedMlpWeights
{
    const Bf16 *gateUp = nullptr; ///< [2 inner, hidden], gate rows first
    const Bf16 *down = nullptr;   ///< [hidden, inner]
};

/// Pointers into device memory; norms and scalars fp32, matrices bf16 as the checkpoint stores them, experts in the
/// kernels' 4-bit blocks.
struct LayerWeights
{
    const float *inputNorm = nullptr;
    const Bf16 *qkv = nullptr; ///< [(heads + 2 kvHeads) * headDim, hidden], without values where the layer has none
    const Bf16 *output = nullptr;
    const float *queryNorm = nullptr;
    const float *keyNorm = nullptr;
    const float *frequencies = nullptr; ///< [rotatedPairs]; layers with equal ones share the array
    const float *postAttentionNorm = nullptr;
    const float *preFeedForwardNorm = nullptr;
    GatedMlpWeights mlp;
    const float *postFeedForwardNorm1 = nullptr;
    const float *routerScale = nullptr;
    const Bf16 *router = nullptr;
    const float *perExpertScale = nullptr;
    const float *preFeedForwardNorm2 = nullptr;
    const std::uint8_t *expertGateUp = nullptr;
    const std::uint8_t *expertDown = nullptr;
    const float *postFeedForwardNorm2 = nullptr;
    const float *postFeedForwardNorm = nullptr;
    float encoderScalar = 1.0F;
    float decoderScalar = 1.0F;
};

struct ModelPointers
{
    std::vector<LayerWeights> layers;
    const float *finalNorm = nullptr;
    const float *selfConditioningNorm = nullptr;
    GatedMlpWeights selfConditioning;
    const Bf16 *embedding = nullptr; ///< [vocabulary, hidden]
};

/// A tensor that goes to the device as it is (bf16, or fp32 rounded to it).
struct MatrixPiece
{
    const TensorView *tensor = nullptr;
    std::byte *target = nullptr;
};

/// A small fp32 array, widened on the host.
struct VectorPiece
{
    std::vector<float> values;
    std::byte *target = nullptr;
};

/// The packed matrices of all experts of one layer, repacked on the device.
struct ExpertPiece
{
    const TensorView *packed = nullptr;
    const TensorView *scale = nullptr;
    const TensorView *zero = nullptr;
    std::byte *target = nullptr;
    std::int64_t experts = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t groupSize = 0;
    kernels::W4RowOrder order = kernels::W4RowOrder::Plain;
};

/// Where every weight goes in one block of device memory.
struct WeightLayout
{
    ModelPointers pointers;
    std::vector<MatrixPiece> matrices;
    std::vector<VectorPiece> vectors;
    std::vector<ExpertPiece> experts;
    std::int64_t bytes = 0;
};

/// Lays the weights out from `base` on; with null the sizes alone mean anything. Throws Error Unsupported where the
/// experts are not in dg-w4a16-v1.
[[nodiscard]] WeightLayout layOutWeights(const Checkpoint &checkpoint, std::byte *base);

} // namespace palimpsest::cuda
