// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"
#include "engine/model_config.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace palimpsest {

/// What a tensor of a checkpoint is for, told by its transformers name.
enum class TensorKind {
    Embedding,
    Attention,
    DenseMlp,
    Router,
    Experts,
    Norm,
    SelfConditioning,
    LayerScalar,
    Tied,    ///< a second name of a weight: lm_head, or the encoder's copy of a decoder tensor
    Vision,  ///< the vision tower and its projection
    Unknown, ///< nothing this program knows
};

[[nodiscard]] std::string_view tensorKindName(TensorKind kind) noexcept;

/// `layerCount`: tensors of further layers are unknown.
[[nodiscard]] TensorKind classifyTensor(std::string_view name, std::int64_t layerCount);

/// A tensor the text model needs, experts apart.
struct TensorSpec
{
    std::string name;
    std::vector<std::int64_t> shape;
};

[[nodiscard]] std::vector<TensorSpec> requiredTensors(const ModelConfig &config);

/// All tensors by name. The keys borrow the names inside the views.
using TensorIndex = std::unordered_map<std::string_view, const TensorView *>;

/// The required tensors under their required names, each checked for dtype (bf16 or fp32) and shape; vectors are also
/// checked to be finite. A decoder tensor that is stored only under the encoder's (or lm_head's) name is found there.
///
/// Throws Error InvalidCheckpoint, or Unsupported for another dtype, naming file and tensor.
[[nodiscard]] std::map<std::string, const TensorView *, std::less<>>
findRequiredTensors(const ModelConfig &config, const TensorIndex &index, const std::filesystem::path &directory);

/// Throws unless `tensor` has one of `dtypes` (Unsupported) and the shape (InvalidCheckpoint).
void checkDtypeAndShape(const TensorView &tensor, std::span<const Dtype> dtypes, std::span<const std::int64_t> shape);

} // namespace palimpsest
