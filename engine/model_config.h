// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

enum class LayerKind { Sliding, Full };

/// What differs from layer to layer (design, section 2, "Attention").
struct LayerConfig
{
    LayerKind kind = LayerKind::Sliding;
    std::int64_t headDim = 0;
    std::int64_t kvHeads = 0;
    bool hasValueProjection = true; ///< full layers have none: v is the k projection before k-norm
    double ropeTheta = 0.0;
    std::int64_t rotatedPairs = 0; ///< frequencies that are not zero, of headDim / 2 (proportional RoPE rotates a part)

    friend bool operator==(const LayerConfig &, const LayerConfig &) = default;
};

/// Sizes of one DiffusionGemma checkpoint, read from `config.json`; nothing in the engine assumes others.
struct ModelConfig
{
    std::int64_t vocabSize = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t denseIntermediateSize = 0;
    std::int64_t attentionHeads = 0;
    std::int64_t slidingWindow = 0;
    std::int64_t expertCount = 0;
    std::int64_t expertsPerToken = 0;
    std::int64_t expertIntermediateSize = 0;
    double rmsNormEpsilon = 1e-6;
    double finalLogitSoftcap = 30.0;
    std::int64_t maxPositions = 0; ///< context length in tokens: prompt, committed canvases and the running canvas
    std::int64_t canvasLength = 0; ///< tokens in one canvas
    std::vector<LayerConfig> layers;

    TokenId padTokenId = 0;
    TokenId bosTokenId = 2;
    std::vector<TokenId> eosTokenIds; ///< from config.json; `GenerationDefaults` usually holds more
    std::optional<TokenId> imageTokenId;
    bool hasVisionConfig = false;
};

/// `generation_config.json`: what a request uses where it says nothing else.
struct GenerationDefaults
{
    std::int64_t maxNewTokens = 256;
    int maxDenoisingSteps = 48;
    double entropyBoundNats = 0.1;
    double tMin = 0.4;
    double tMax = 0.8;
    int stabilityThreshold = 1;
    double confidenceThresholdNats = 0.005;
    std::optional<TokenId> padTokenId;
    std::vector<TokenId> eosTokenIds;
};

/// Parses and validates the text of a `config.json`; `path` is for messages.
///
/// Reads both spellings of the full layers' sizes: `global_head_dim`/`num_global_key_value_heads`, and
/// `per_layer_config` (transformers 5.17). Throws Error InvalidCheckpoint (field, found, wanted) or Unsupported
/// (architecture, activation, RoPE type named).
[[nodiscard]] ModelConfig parseModelConfig(std::string_view json, const std::string &path);

/// Parses and validates the text of a `generation_config.json`; absent fields keep their defaults.
[[nodiscard]] GenerationDefaults parseGenerationDefaults(std::string_view json, const std::string &path,
                                                         const ModelConfig &model);

} // namespace palimpsest
