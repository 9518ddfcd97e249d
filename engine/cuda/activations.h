// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/buffers.h"
#include "engine/cuda/precision.h"
#include "engine/cuda/step_inputs.h"
#include "engine/model_config.h"
#include "kernels/head_sample.h"
#include "kernels/kv_pages.h"

#include <cstdint>
#include <vector>
#include <vector_types.h>

namespace palimpsest::cuda {

using kernels::Bf16;

/// What activations must have room for.
struct ActivationSizes
{
    std::int64_t rows = 0;       ///< of all sequences together
    std::int64_t sequences = 0;  ///< canvases of one step
    std::int64_t canvasRows = 0; ///< rows of one canvas; 0: no head, for prompts alone

    /// The least that both have room for.
    [[nodiscard]] ActivationSizes unitedWith(const ActivationSizes &other) const noexcept;
    friend bool operator==(const ActivationSizes &, const ActivationSizes &) = default;
};

/// The rows that activations are laid out for when `rows` are wanted: a power of two, so that a few layouts serve all.
[[nodiscard]] std::int64_t activationRows(std::int64_t rows) noexcept;

/// Which rotations the layers share: those with the same head size, base and number of pairs.
struct RopeSets
{
    std::vector<std::int64_t> pairs;  ///< [set]
    std::vector<std::size_t> ofLayer; ///< [layer]: its set

    explicit RopeSets(const ModelConfig &config);
};

/// What a pass in fp32 has in place of the bf16 matrices; the shapes are theirs.
struct Fp32Activations
{
    float *normed = nullptr;
    float *expertInput = nullptr;
    float *qkv = nullptr;
    float *queries = nullptr;
    float *attended = nullptr;
    float *denseInner = nullptr;
    float *expertInner = nullptr;
    float *expertOutput = nullptr;
    kernels::Fp32KvPool scratch;
    float *probabilities = nullptr; ///< [canvas rows, vocabulary]: one canvas at a time
};

/// Everything that a pass writes and reads again, in one block of device memory. H hidden, R rows.
struct Activations
{
    Fp32Activations fp32;         ///< or the members in bf16, by the precision
    float *x = nullptr;           ///< [R, H] the residual stream
    Bf16 *normed = nullptr;       ///< [R, H] for the next product
    Bf16 *expertInput = nullptr;  ///< [R, H]
    float *product = nullptr;     ///< [parts, R, H] attention's output product, then the dense branch's
    Bf16 *qkv = nullptr;          ///< [R, (heads + 2 kvHeads) headDim], the widest layer
    Bf16 *queries = nullptr;      ///< [R, heads headDim]
    Bf16 *attended = nullptr;     ///< [R, heads headDim]
    std::vector<float2 *> angles; ///< [rope set]: [R, pairs]
    Bf16 *denseInner = nullptr;   ///< [R, dense intermediate]
    std::int32_t *expertIds = nullptr;
    float *slotWeights = nullptr;
    std::int32_t *expertOffsets = nullptr;
    std::int32_t *slots = nullptr;
    Bf16 *expertInner = nullptr;  ///< [R k, expert intermediate]
    Bf16 *expertOutput = nullptr; ///< [R k, H]
    void *routeWorkspace = nullptr;
    void *attentionWorkspace = nullptr;
    kernels::KvPool scratch; ///< keys and values of running canvases, one layer at a time
    float *soft = nullptr;   ///< [R, H] soft embeddings: self-conditioning's state of the step at work
    void *logits = nullptr;  ///< [rows of all canvases, vocabulary]; in fp32 passes of one canvas at a time
    kernels::LogitType logitType = kernels::LogitType::Fp32;
    void *headWorkspace = nullptr;         ///< for as many rows
    void *conditionWorkspace = nullptr;    ///< likewise
    kernels::RowSample *samples = nullptr; ///< [R]
    std::int32_t *denseRows = nullptr;     ///< [sequences]
    std::int64_t bytes = 0;
};

/// What a pass keeps raw logits as. In 16 bits they are exact to 2^-11 of their size, where bf16 operands leave errors
/// of some tenths; without a soft-cap they might be too large for that.
[[nodiscard]] kernels::LogitType logitType(const ModelConfig &config, Precision precision) noexcept;

/// Lays the activations out from `base` on; with null the sizes alone mean anything.
[[nodiscard]] Activations layOutActivations(const ModelConfig &config, Precision precision,
                                            const ActivationSizes &sizes, std::byte *base);

} // namespace palimpsest::cuda
