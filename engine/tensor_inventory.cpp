// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/tensor_inventory.h"

#include "engine/error.h"
#include "engine/half_precision.h"
#include "engine/safetensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace palimpsest {

namespace {

constexpr std::string_view kDecoder = "model.decoder.";
constexpr std::string_view kEncoderText = "model.encoder.language_model.";
constexpr std::string_view kEmbedding = "model.decoder.embed_tokens.weight";
constexpr std::string_view kTiedHead = "lm_head.weight";
constexpr std::array kVisionPrefixes{std::string_view("model.encoder.vision_tower."),
                                     std::string_view("model.encoder.embed_vision.")};

struct LayerTensorName
{
    std::int64_t layer = 0;
    std::string_view rest; ///< behind "layers.N."
};

/// Splits "layers.N.rest".
std::optional<LayerTensorName> splitLayerName(std::string_view name)
{
    constexpr std::string_view kLayers = "layers.";
    if (!name.starts_with(kLayers))
        return std::nullopt;
    name.remove_prefix(kLayers.size());
    LayerTensorName result;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), result.layer);
    if (code != std::errc() || result.layer < 0 || end == name.data() + name.size() || *end != '.')
        return std::nullopt;
    result.rest = name.substr(static_cast<std::size_t>(end - name.data()) + 1);
    return result;
}

TensorKind classifyLayerTensor(std::string_view rest)
{
    if (rest == "layer_scalar")
        return TensorKind::LayerScalar;
    if (rest.starts_with("experts."))
        return TensorKind::Experts;
    if (rest.starts_with("router."))
        return TensorKind::Router;
    if (rest.starts_with("mlp."))
        return TensorKind::DenseMlp;
    if (rest.ends_with("norm.weight") || rest.ends_with("layernorm_1.weight") || rest.ends_with("layernorm_2.weight"))
        return TensorKind::Norm;
    if (rest.starts_with("self_attn."))
        return TensorKind::Attention;
    return TensorKind::Unknown;
}

/// `name` without "model.decoder.".
TensorKind classifyTextTensor(std::string_view name, std::int64_t layerCount)
{
    if (name == "embed_tokens.weight")
        return TensorKind::Embedding;
    if (name == "norm.weight")
        return TensorKind::Norm;
    if (name.starts_with("self_conditioning."))
        return TensorKind::SelfConditioning;
    const auto split = splitLayerName(name);
    return split && split->layer < layerCount ? classifyLayerTensor(split->rest) : TensorKind::Unknown;
}

void appendLayer(std::vector<TensorSpec> &specs, const ModelConfig &config, std::size_t layer)
{
    const std::int64_t hidden = config.hiddenSize;
    const std::int64_t dense = config.denseIntermediateSize;
    const LayerConfig &sizes = config.layers[layer];
    const std::int64_t queryRows = config.attentionHeads * sizes.headDim;
    const std::int64_t keyRows = sizes.kvHeads * sizes.headDim;
    const std::string number = std::to_string(layer);
    const auto add = [&](std::string_view rest, std::vector<std::int64_t> shape) {
        specs.push_back({std::string(kDecoder) + "layers." + number + "." + std::string(rest), std::move(shape)});
    };
    add("self_attn.q_proj.weight", {queryRows, hidden});
    add("self_attn.k_proj.weight", {keyRows, hidden});
    if (sizes.hasValueProjection)
        add("self_attn.v_proj.weight", {keyRows, hidden});
    add("self_attn.o_proj.weight", {hidden, queryRows});
    add("self_attn.q_norm.weight", {sizes.headDim});
    add("self_attn.k_norm.weight", {sizes.headDim});
    add("mlp.gate_proj.weight", {dense, hidden});
    add("mlp.up_proj.weight", {dense, hidden});
    add("mlp.down_proj.weight", {hidden, dense});
    for (const std::string_view norm :
         {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "pre_feedforward_layernorm_2",
          "post_feedforward_layernorm", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"})
        add(std::string(norm) + ".weight", {hidden});
    add("router.proj.weight", {config.expertCount, hidden});
    add("router.scale", {hidden});
    add("router.per_expert_scale", {config.expertCount});
    add("layer_scalar", {1});
    specs.push_back({std::string(kEncoderText) + "layers." + number + ".layer_scalar", {1}});
}

const TensorView *findTensor(const TensorIndex &index, std::string_view name)
{
    if (const auto found = index.find(name); found != index.end())
        return found->second;
    const bool ownScalar = name.ends_with(".layer_scalar"); // differs between the two roles
    if (!name.starts_with(kDecoder) || ownScalar)
        return nullptr;
    const std::string copy = std::string(kEncoderText) + std::string(name.substr(kDecoder.size()));
    if (const auto found = index.find(copy); found != index.end())
        return found->second;
    if (const auto found = index.find(kTiedHead); name == kEmbedding && found != index.end())
        return found->second;
    return nullptr;
}

void checkFinite(const TensorView &tensor)
{
    std::vector<float> values(static_cast<std::size_t>(tensor.elementCount()));
    if (tensor.dtype == Dtype::BF16)
        bf16ToFloat(tensor.bytes.data(), values);
    else
        std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    const auto bad = std::find_if_not(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    if (bad != values.end())
        throw Error(ErrorKind::InvalidCheckpoint,
                    tensor.file.string() + ": tensor " + tensor.name + ": found " + (std::isnan(*bad) ? "NaN" : "inf") +
                        " at index " + std::to_string(bad - values.begin()) + ", wanted finite numbers",
                    tensor.name);
}

} // namespace

std::string_view tensorKindName(TensorKind kind) noexcept
{
    switch (kind) {
    case TensorKind::Embedding:
        return "embedding";
    case TensorKind::Attention:
        return "attention";
    case TensorKind::DenseMlp:
        return "dense MLP";
    case TensorKind::Router:
        return "router";
    case TensorKind::Experts:
        return "experts";
    case TensorKind::Norm:
        return "norm";
    case TensorKind::SelfConditioning:
        return "self-conditioning";
    case TensorKind::LayerScalar:
        return "layer scalar";
    case TensorKind::Tied:
        return "tied copy";
    case TensorKind::Vision:
        return "vision";
    case TensorKind::Unknown:
        break;
    }
    return "unknown";
}

TensorKind classifyTensor(std::string_view name, std::int64_t layerCount)
{
    if (name == kTiedHead)
        return TensorKind::Tied;
    for (const std::string_view prefix : kVisionPrefixes) {
        if (name.starts_with(prefix))
            return TensorKind::Vision;
    }
    if (name.starts_with(kDecoder))
        return classifyTextTensor(name.substr(kDecoder.size()), layerCount);
    if (name.starts_with(kEncoderText)) {
        const TensorKind kind = classifyTextTensor(name.substr(kEncoderText.size()), layerCount);
        return kind == TensorKind::LayerScalar || kind == TensorKind::Unknown ? kind : TensorKind::Tied;
    }
    // Experts may stand below any module path (design, section 3).
    const std::size_t layers = name.find("layers.");
    const auto split = layers == std::string_view::npos ? std::nullopt : splitLayerName(name.substr(layers));
    const bool isExpert = split && split->layer < layerCount && split->rest.starts_with("experts.");
    return isExpert ? TensorKind::Experts : TensorKind::Unknown;
}

std::vector<TensorSpec> requiredTensors(const ModelConfig &config)
{
    const std::int64_t hidden = config.hiddenSize;
    const std::int64_t dense = config.denseIntermediateSize;
    std::vector<TensorSpec> specs{{std::string(kEmbedding), {config.vocabSize, hidden}}};
    for (std::size_t layer = 0; layer < config.layers.size(); ++layer)
        appendLayer(specs, config, layer);
    const std::string conditioning = std::string(kDecoder) + "self_conditioning.";
    specs.push_back({std::string(kDecoder) + "norm.weight", {hidden}});
    specs.push_back({conditioning + "pre_norm.weight", {hidden}});
    specs.push_back({conditioning + "gate_proj.weight", {dense, hidden}});
    specs.push_back({conditioning + "up_proj.weight", {dense, hidden}});
    specs.push_back({conditioning + "down_proj.weight", {hidden, dense}});
    return specs;
}

std::map<std::string, const TensorView *, std::less<>>
findRequiredTensors(const ModelConfig &config, const TensorIndex &index, const std::filesystem::path &directory)
{
    constexpr std::array kDtypes{Dtype::BF16, Dtype::F32};
    std::map<std::string, const TensorView *, std::less<>> tensors;
    for (TensorSpec &spec : requiredTensors(config)) {
        const TensorView *tensor = findTensor(index, spec.name);
        if (tensor == nullptr)
            throw Error(ErrorKind::InvalidCheckpoint,
                        directory.string() + ": the tensor " + spec.name + " " + shapeText(spec.shape) +
                            " is in none of the weight files; the model is incomplete, download it again",
                        spec.name);
        checkDtypeAndShape(*tensor, kDtypes, spec.shape);
        if (spec.shape.size() == 1)
            checkFinite(*tensor);
        tensors.emplace(std::move(spec.name), tensor);
    }
    return tensors;
}

void checkDtypeAndShape(const TensorView &tensor, std::span<const Dtype> dtypes, std::span<const std::int64_t> shape)
{
    const std::string subject = tensor.file.string() + ": tensor " + tensor.name + ": found ";
    if (std::find(dtypes.begin(), dtypes.end(), tensor.dtype) == dtypes.end()) {
        std::string wanted;
        for (const Dtype dtype : dtypes)
            wanted += (wanted.empty() ? "" : " or ") + std::string(dtypeName(dtype));
        throw Error(ErrorKind::Unsupported,
                    subject + "dtype " + std::string(dtypeName(tensor.dtype)) + ", wanted " + wanted, tensor.name);
    }
    if (!std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end()))
        throw Error(ErrorKind::InvalidCheckpoint,
                    subject + "shape " + shapeText(tensor.shape) + ", wanted " + shapeText(shape) +
                        " by the sizes in config.json",
                    tensor.name);
}

} // namespace palimpsest
