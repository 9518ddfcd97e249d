// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"
#include "engine/cpu/thread_pool.h"
#include "engine/cpu/weight_panels.h"

#include <memory>
#include <vector>

namespace palimpsest::cpu {

struct ExpertPanels
{
    WeightPanels gate; ///< [I, H]
    WeightPanels up;   ///< [I, H]
    WeightPanels down; ///< [H, I]
};

/// A gated MLP: down(gelu(gate x) * (up x)).
struct GatedMlpPanels
{
    WeightPanels gate;
    WeightPanels up;
    WeightPanels down;
};

struct AttentionWeights
{
    WeightPanels query;
    WeightPanels key;
    WeightPanels value; ///< empty where the layer has no value projection
    WeightPanels output;
    std::vector<float> queryNorm;
    std::vector<float> keyNorm;
    std::vector<float> inverseFrequencies; ///< [rotatedPairs]
};

struct LayerWeights
{
    std::vector<float> inputNorm;
    AttentionWeights attention;
    std::vector<float> postAttentionNorm;
    std::vector<float> preFeedForwardNorm;
    GatedMlpPanels mlp;
    std::vector<float> postFeedForwardNorm1;
    std::vector<float> routerScale; ///< router.scale times hidden^-0.5
    WeightPanels router;
    std::vector<float> perExpertScale;
    std::vector<float> preFeedForwardNorm2;
    std::vector<ExpertPanels> experts;
    std::vector<float> postFeedForwardNorm2;
    std::vector<float> postFeedForwardNorm;
    float encoderScalar = 1.0F;
    float decoderScalar = 1.0F;
};

/// All weights of the text model, repacked for the CPU.
struct ModelWeights
{
    std::vector<LayerWeights> layers;
    std::vector<float> finalNorm;
    std::vector<float> selfConditioningNorm;
    GatedMlpPanels selfConditioning;
    WeightPanels head;                       ///< the embedding matrix as a product, [V, H]
    TensorView embedding;                    ///< [V, H] for look-ups: in the mapped file, or in `alignedEmbedding`
    std::vector<std::byte> alignedEmbedding; ///< a copy, where the file holds the tensor at an odd address
    std::shared_ptr<const Checkpoint> checkpoint;
    std::int64_t bytes = 0;

    /// Repacks weight by weight on the pool and gives the mapped pages back, so the peak stays near one copy. Throws
    /// Error Backend "cancelled" when `progress` returns false, OutOfMemory.
    [[nodiscard]] static ModelWeights load(std::shared_ptr<const Checkpoint> checkpoint, ThreadPool &pool,
                                           const LoadProgress &progress);

    /// Writes the embedding of `id` times `factor`, [H].
    void embed(TokenId id, float factor, float *out) const;
};

} // namespace palimpsest::cpu
