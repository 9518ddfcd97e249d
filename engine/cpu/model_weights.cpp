// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/model_weights.h"

#include "engine/error.h"
#include "engine/half_precision.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <new>
#include <string>

namespace palimpsest::cpu {

namespace {

/// Collects what has to be repacked, to be run in parallel later.
class Repacking
{
public:
    explicit Repacking(const Checkpoint &checkpoint) : m_checkpoint(checkpoint) {}

    void panels(WeightPanels &target, const std::string &name, std::int64_t outputs, std::int64_t inputs)
    {
        m_jobs.push_back([this, &target, name, outputs, inputs] {
            const TensorView &tensor = m_checkpoint.tensor(name);
            target = WeightPanels::fromTensor(tensor, 0, outputs, inputs);
            m_checkpoint.releasePages(tensor);
        });
    }

    void mlp(GatedMlpPanels &target, const std::string &prefix, std::int64_t inner, std::int64_t hidden)
    {
        panels(target.gate, prefix + "gate_proj.weight", inner, hidden);
        panels(target.up, prefix + "up_proj.weight", inner, hidden);
        panels(target.down, prefix + "down_proj.weight", hidden, inner);
    }

    void experts(std::vector<ExpertPanels> &target, std::int64_t layer)
    {
        const ModelConfig &config = m_checkpoint.config();
        target.resize(static_cast<std::size_t>(config.expertCount));
        for (std::int64_t expert = 0; expert < config.expertCount; ++expert)
            m_jobs.push_back([this, &target, layer, expert] {
                target[static_cast<std::size_t>(expert)] = repackExpert(m_checkpoint.experts(layer), expert);
            });
    }

    void run(ThreadPool &pool, const LoadProgress &progress) const
    {
        std::atomic<bool> cancelled{false};
        std::int64_t done = 0;
        // In slices, because progress is reported on the calling thread.
        const auto total = static_cast<std::int64_t>(m_jobs.size());
        constexpr std::int64_t kSlice = 64;
        for (std::int64_t first = 0; first < total; first += kSlice) {
            const std::int64_t count = std::min(kSlice, total - first);
            pool.run(count, [&](std::int64_t item, int) { m_jobs[static_cast<std::size_t>(first + item)](); });
            done += count;
            if (progress && !progress(static_cast<double>(done) / static_cast<double>(total)))
                throw Error(ErrorKind::Backend, "loading the model was cancelled");
        }
    }

private:
    [[nodiscard]] ExpertPanels repackExpert(const ExpertTensors &tensors, std::int64_t expert) const
    {
        const ModelConfig &config = m_checkpoint.config();
        const std::int64_t inner = config.expertIntermediateSize;
        const std::int64_t hidden = config.hiddenSize;
        const std::int64_t gateRow = expert * 2 * inner;
        ExpertPanels made;
        if (tensors.quantised) {
            const auto gateUp = [&](std::int64_t row) {
                return WeightPanels::fromW4(tensors.gateUp, tensors.gateUpScale, tensors.gateUpZero, row, inner,
                                            hidden);
            };
            made.gate = gateUp(gateRow);
            made.up = gateUp(gateRow + inner);
            made.down =
                WeightPanels::fromW4(tensors.down, tensors.downScale, tensors.downZero, expert * hidden, hidden, inner);
        } else {
            made.gate = WeightPanels::fromTensor(tensors.gateUp, gateRow, inner, hidden);
            made.up = WeightPanels::fromTensor(tensors.gateUp, gateRow + inner, inner, hidden);
            made.down = WeightPanels::fromTensor(tensors.down, expert * hidden, hidden, inner);
        }
        return made;
    }

    const Checkpoint &m_checkpoint;
    std::vector<std::function<void()>> m_jobs;
};

// RoPE frequencies of one layer: theta^(-2i/headDim) for the pairs that rotate (proportional RoPE: a part of them).
std::vector<float> inverseFrequencies(const LayerConfig &layer)
{
    std::vector<float> out;
    for (std::int64_t i = 0; i < layer.rotatedPairs; ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(layer.headDim);
        out.push_back(1.0F / std::pow(static_cast<float>(layer.ropeTheta), exponent));
    }
    return out;
}

std::int64_t bytesOf(const GatedMlpPanels &mlp)
{
    return mlp.gate.bytes() + mlp.up.bytes() + mlp.down.bytes();
}

std::int64_t bytesOf(const LayerWeights &layer)
{
    const AttentionWeights &attention = layer.attention;
    std::int64_t sum = attention.query.bytes() + attention.key.bytes() + attention.value.bytes() +
                       attention.output.bytes() + bytesOf(layer.mlp) + layer.router.bytes();
    for (const ExpertPanels &expert : layer.experts)
        sum += expert.gate.bytes() + expert.up.bytes() + expert.down.bytes();
    return sum;
}

void prepareLayer(LayerWeights &layer, std::int64_t index, const Checkpoint &checkpoint, Repacking &repacking)
{
    const ModelConfig &config = checkpoint.config();
    const LayerConfig &shape = config.layers[static_cast<std::size_t>(index)];
    const std::string prefix = "model.decoder.layers." + std::to_string(index) + ".";
    const auto vector = [&](const char *name) {
        return floatsOf(checkpoint.tensor(prefix + name));
    };
    layer.inputNorm = vector("input_layernorm.weight");
    layer.postAttentionNorm = vector("post_attention_layernorm.weight");
    layer.preFeedForwardNorm = vector("pre_feedforward_layernorm.weight");
    layer.postFeedForwardNorm1 = vector("post_feedforward_layernorm_1.weight");
    layer.preFeedForwardNorm2 = vector("pre_feedforward_layernorm_2.weight");
    layer.postFeedForwardNorm2 = vector("post_feedforward_layernorm_2.weight");
    layer.postFeedForwardNorm = vector("post_feedforward_layernorm.weight");
    layer.routerScale = vector("router.scale");
    for (float &scale : layer.routerScale)
        scale *= static_cast<float>(std::pow(static_cast<double>(config.hiddenSize), -0.5));
    layer.perExpertScale = vector("router.per_expert_scale");
    layer.decoderScalar = vector("layer_scalar").front();
    layer.encoderScalar =
        floatsOf(checkpoint.tensor("model.encoder.language_model.layers." + std::to_string(index) + ".layer_scalar"))
            .front();

    AttentionWeights &attention = layer.attention;
    attention.queryNorm = vector("self_attn.q_norm.weight");
    attention.keyNorm = vector("self_attn.k_norm.weight");
    attention.inverseFrequencies = inverseFrequencies(shape);
    const std::int64_t queries = config.attentionHeads * shape.headDim;
    const std::int64_t keys = shape.kvHeads * shape.headDim;
    repacking.panels(attention.query, prefix + "self_attn.q_proj.weight", queries, config.hiddenSize);
    repacking.panels(attention.key, prefix + "self_attn.k_proj.weight", keys, config.hiddenSize);
    if (shape.hasValueProjection)
        repacking.panels(attention.value, prefix + "self_attn.v_proj.weight", keys, config.hiddenSize);
    repacking.panels(attention.output, prefix + "self_attn.o_proj.weight", config.hiddenSize, queries);
    repacking.mlp(layer.mlp, prefix + "mlp.", config.denseIntermediateSize, config.hiddenSize);
    repacking.panels(layer.router, prefix + "router.proj.weight", config.expertCount, config.hiddenSize);
    repacking.experts(layer.experts, index);
}

} // namespace

ModelWeights ModelWeights::load(std::shared_ptr<const Checkpoint> checkpoint, ThreadPool &pool,
                                const LoadProgress &progress)
try {
    const ModelConfig &config = checkpoint->config();
    ModelWeights made;
    made.layers.resize(config.layers.size());
    made.finalNorm = floatsOf(checkpoint->tensor("model.decoder.norm.weight"));
    const std::string conditioning = "model.decoder.self_conditioning.";
    made.selfConditioningNorm = floatsOf(checkpoint->tensor(conditioning + "pre_norm.weight"));
    made.embedding = checkpoint->tensor("model.decoder.embed_tokens.weight");
    const auto address = reinterpret_cast<std::uintptr_t>(made.embedding.bytes.data());
    if (address % static_cast<std::uintptr_t>(dtypeSize(made.embedding.dtype)) != 0) {
        made.alignedEmbedding.assign(made.embedding.bytes.begin(), made.embedding.bytes.end());
        made.embedding.bytes = made.alignedEmbedding;
    }

    made.head = WeightPanels::inPlace(made.embedding, config.vocabSize, config.hiddenSize);

    Repacking repacking(*checkpoint);
    repacking.mlp(made.selfConditioning, conditioning, config.denseIntermediateSize, config.hiddenSize);
    for (std::size_t i = 0; i < made.layers.size(); ++i)
        prepareLayer(made.layers[i], static_cast<std::int64_t>(i), *checkpoint, repacking);
    repacking.run(pool, progress);

    for (std::size_t i = 0; i < made.layers.size(); ++i) {
        made.bytes += bytesOf(made.layers[i]);
        const ExpertTensors &experts = checkpoint->experts(static_cast<std::int64_t>(i));
        for (const TensorView *tensor : {&experts.gateUp, &experts.gateUpScale, &experts.gateUpZero, &experts.down,
                                         &experts.downScale, &experts.downZero})
            checkpoint->releasePages(*tensor);
    }
    made.bytes +=
        bytesOf(made.selfConditioning) + made.head.bytes() + static_cast<std::int64_t>(made.embedding.bytes.size());
    made.checkpoint = std::move(checkpoint);
    return made;
} catch (const std::bad_alloc &) {
    throw Error(ErrorKind::OutOfMemory, "there is not enough memory to load the model");
}

void ModelWeights::embed(TokenId id, float factor, float *out) const
{
    const auto hidden = static_cast<std::size_t>(embedding.shape[1]);
    const std::size_t offset =
        static_cast<std::size_t>(id) * hidden * static_cast<std::size_t>(dtypeSize(embedding.dtype));
    const std::span<float> row(out, hidden);
    if (embedding.dtype == Dtype::F32)
        std::memcpy(out, embedding.bytes.data() + offset, hidden * sizeof(float));
    else
        bf16ToFloat(embedding.bytes.data() + offset, row);
    for (float &value : row)
        value *= factor;
}

} // namespace palimpsest::cpu
