// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/weight_layout.h"

#include "engine/cuda/buffers.h"
#include "engine/error.h"
#include "engine/half_precision.h"
#include "engine/w4_format.h"

#include <cmath>
#include <cstring>
#include <map>
#include <string>

namespace palimpsest::cuda {

namespace {

std::vector<float> floatsOf(const TensorView &tensor)
{
    std::vector<float> values(static_cast<std::size_t>(tensor.elementCount()));
    if (tensor.dtype == Dtype::F32)
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    else
        bf16ToFloat(tensor.bytes.data(), values);
    return values;
}

// theta^(-2i / headDim), in fp32 as the reference computes it.
std::vector<float> ropeFrequencies(const LayerConfig &layer)
{
    std::vector<float> frequencies;
    for (std::int64_t i = 0; i < layer.rotatedPairs; ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(layer.headDim);
        frequencies.push_back(1.0F / std::pow(static_cast<float>(layer.ropeTheta), exponent));
    }
    return frequencies;
}

class Layout
{
public:
    Layout(const Checkpoint &checkpoint, std::byte *base) : m_checkpoint(checkpoint), m_base(base) {}

    [[nodiscard]] WeightLayout run()
    {
        const std::string decoder = "model.decoder.";
        ModelPointers &pointers = m_layout.pointers;
        pointers.finalNorm = vector(decoder + "norm.weight");
        pointers.selfConditioningNorm = vector(decoder + "self_conditioning.pre_norm.weight");
        pointers.selfConditioning = mlp(decoder + "self_conditioning.");
        pointers.embedding = matrices({decoder + "embed_tokens.weight"});
        for (std::size_t i = 0; i < m_checkpoint.config().layers.size(); ++i)
            pointers.layers.push_back(layer(static_cast<std::int64_t>(i)));
        return std::move(m_layout);
    }

private:
    std::byte *place(std::int64_t bytes)
    {
        const auto at = reinterpret_cast<std::uintptr_t>(m_base) + static_cast<std::uintptr_t>(m_layout.bytes);
        m_layout.bytes += alignedBytes(bytes);
        return reinterpret_cast<std::byte *>(at); // an address that nobody reads while the base is null
    }

    const float *vector(std::vector<float> values)
    {
        std::byte *const at = place(std::ssize(values) * static_cast<std::int64_t>(sizeof(float)));
        m_layout.vectors.push_back({std::move(values), at});
        return reinterpret_cast<const float *>(at);
    }
    const float *vector(const std::string &name) { return vector(floatsOf(m_checkpoint.tensor(name))); }

    /// One matrix of the rows of several, so that one product computes them all.
    const Bf16 *matrices(const std::vector<std::string> &names)
    {
        std::int64_t elements = 0;
        for (const std::string &name : names)
            elements += m_checkpoint.tensor(name).elementCount();
        std::byte *at = place(elements * static_cast<std::int64_t>(sizeof(Bf16)));
        const auto *const first = reinterpret_cast<const Bf16 *>(at);
        for (const std::string &name : names) {
            const TensorView &tensor = m_checkpoint.tensor(name);
            m_layout.matrices.push_back({&tensor, at});
            at += tensor.elementCount() * static_cast<std::int64_t>(sizeof(Bf16));
        }
        return first;
    }

    GatedMlpWeights mlp(const std::string &prefix)
    {
        return {.gateUp = matrices({prefix + "gate_proj.weight", prefix + "up_proj.weight"}),
                .down = matrices({prefix + "down_proj.weight"})};
    }

    const std::uint8_t *experts(const TensorView &packed, const TensorView &scale, const TensorView &zero,
                                std::int64_t rows, std::int64_t columns, std::int64_t groupSize,
                                kernels::W4RowOrder order)
    {
        const std::int64_t count = m_checkpoint.config().expertCount;
        std::byte *const at = place(count * kernels::w4MatrixBytes(rows, columns, groupSize));
        m_layout.experts.push_back({&packed, &scale, &zero, at, count, rows, columns, groupSize, order});
        return reinterpret_cast<const std::uint8_t *>(at);
    }

    const float *frequencies(const LayerConfig &shape)
    {
        std::vector<float> values = ropeFrequencies(shape);
        const auto known = m_frequencies.find(values);
        if (known != m_frequencies.end())
            return known->second;
        const float *const at = vector(values);
        m_frequencies.emplace(std::move(values), at);
        return at;
    }

    LayerWeights layer(std::int64_t index)
    {
        const ModelConfig &config = m_checkpoint.config();
        const LayerConfig &shape = config.layers[static_cast<std::size_t>(index)];
        const std::string number = std::to_string(index);
        const std::string prefix = "model.decoder.layers." + number + ".";
        const std::string attention = prefix + "self_attn.";
        std::vector<std::string> projections{attention + "q_proj.weight", attention + "k_proj.weight"};
        if (shape.hasValueProjection)
            projections.push_back(attention + "v_proj.weight");
        const ExpertTensors &tensors = m_checkpoint.experts(index);
        const std::int64_t inner = config.expertIntermediateSize;

        LayerWeights made;
        made.inputNorm = vector(prefix + "input_layernorm.weight");
        made.qkv = matrices(projections);
        made.output = matrices({attention + "o_proj.weight"});
        made.queryNorm = vector(attention + "q_norm.weight");
        made.keyNorm = vector(attention + "k_norm.weight");
        made.frequencies = frequencies(shape);
        made.postAttentionNorm = vector(prefix + "post_attention_layernorm.weight");
        made.preFeedForwardNorm = vector(prefix + "pre_feedforward_layernorm.weight");
        made.mlp = mlp(prefix + "mlp.");
        made.postFeedForwardNorm1 = vector(prefix + "post_feedforward_layernorm_1.weight");
        made.routerScale = vector(prefix + "router.scale");
        made.router = matrices({prefix + "router.proj.weight"});
        made.perExpertScale = vector(prefix + "router.per_expert_scale");
        made.preFeedForwardNorm2 = vector(prefix + "pre_feedforward_layernorm_2.weight");
        made.expertGateUp = experts(tensors.gateUp, tensors.gateUpScale, tensors.gateUpZero, 2 * inner,
                                    config.hiddenSize, kGateUpGroupSize, kernels::W4RowOrder::GateUp);
        made.expertDown = experts(tensors.down, tensors.downScale, tensors.downZero, config.hiddenSize, inner,
                                  kDownGroupSize, kernels::W4RowOrder::Plain);
        made.postFeedForwardNorm2 = vector(prefix + "post_feedforward_layernorm_2.weight");
        made.postFeedForwardNorm = vector(prefix + "post_feedforward_layernorm.weight");
        made.decoderScalar = floatsOf(m_checkpoint.tensor(prefix + "layer_scalar")).front();
        made.encoderScalar =
            floatsOf(m_checkpoint.tensor("model.encoder.language_model.layers." + number + ".layer_scalar")).front();
        return made;
    }

    const Checkpoint &m_checkpoint;
    std::byte *m_base;
    WeightLayout m_layout;
    std::map<std::vector<float>, const float *> m_frequencies;
};

} // namespace

WeightLayout layOutWeights(const Checkpoint &checkpoint, std::byte *base)
{
    if (checkpoint.format() != CheckpointFormat::DgW4a16)
        throw Error(ErrorKind::Unsupported,
                    checkpoint.directory().string() + ": the CUDA backend reads experts in the format " +
                        std::string(kW4FormatName) + " only; the experts of this model are not quantised",
                    checkpoint.directory().string());
    return Layout(checkpoint, base).run();
}

} // namespace palimpsest::cuda
