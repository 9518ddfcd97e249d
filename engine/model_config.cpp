// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/model_config.h"

#include "engine/sampler.h"
#include "engine/strict_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace palimpsest {

using nlohmann::json;

namespace {

constexpr std::string_view kArchitecture = "DiffusionGemmaForBlockDiffusion";
constexpr std::string_view kModelType = "diffusion_gemma";
constexpr std::string_view kTextModelType = "diffusion_gemma_text";

// A size that some tensor shows is bounded only so that the product of two fits 64 bits; the tensors decide the rest.
constexpr IntegerRange kSize{.min = 1, .max = std::numeric_limits<std::int32_t>::max()};
// No tensor shows these, so damage is told by size: eight and 256 times what the largest published model has.
constexpr IntegerRange kPositions{.min = 1, .max = 1LL << 21U};
constexpr IntegerRange kCanvas{.min = 1, .max = 1LL << 16U};
constexpr IntegerRange kLayers{.min = 1, .max = 4096};

struct HeadShape
{
    std::int64_t headDim = 0;
    std::int64_t kvHeads = 0;
};

struct Rope
{
    double theta = 0.0;
    double rotatedShare = 1.0; ///< of the head's dimensions
};

void requireText(const JsonFields &fields, std::string_view name, std::string_view wanted)
{
    if (const std::string found = fields.string(name); found != wanted)
        fields.failUnsupported(name, describeJson(found), "\"" + std::string(wanted) + "\"");
}

void checkArchitecture(const JsonFields &root)
{
    const std::string wanted = "[\"" + std::string(kArchitecture) + "\"]";
    const json &architectures = root.require("architectures", wanted);
    if (!architectures.is_array() || architectures.size() != 1 || !architectures[0].is_string())
        root.fail("architectures", describeJson(architectures), wanted);
    if (architectures[0] != kArchitecture)
        root.failUnsupported("architectures", describeJson(architectures[0]), "\"" + std::string(kArchitecture) + "\"");
    requireText(root, "model_type", kModelType);
}

/// Variants of the architecture's relatives that change what is computed. Absent, null, zero and false mean off.
void checkNoVariants(const JsonFields &text)
{
    constexpr std::array kMustBeOff{
        "attention_bias",         "hidden_size_per_layer_input", "num_kv_shared_layers",      "use_double_wide_mlp",
        "attn_logit_softcapping", "attention_chunk_size",        "vocab_size_per_layer_input"};
    constexpr std::array kMustBeOn{"tie_word_embeddings", "attention_k_eq_v", "enable_moe_block"};
    for (const std::string_view name : kMustBeOff) {
        const json *value = text.find(name);
        if (value != nullptr && *value != false && *value != 0)
            text.failUnsupported(name, describeJson(*value), "models without it");
    }
    for (const std::string_view name : kMustBeOn) {
        if (!text.optionalBool(name).value_or(true))
            text.failUnsupported(name, "false", "true");
    }
    if (const auto activation = text.string("hidden_activation"); activation != "gelu_pytorch_tanh")
        text.failUnsupported("hidden_activation", describeJson(activation), "\"gelu_pytorch_tanh\"");
    if (const auto mode = text.optionalString("use_bidirectional_attention"); mode && *mode != "vision")
        text.failUnsupported("use_bidirectional_attention", describeJson(*mode), "\"vision\" or null");
}

Rope readRope(const JsonFields &text, std::string_view layerType)
{
    const JsonFields rope = text.object("rope_parameters").object(layerType);
    Rope result;
    result.theta = rope.number("rope_theta", {.min = 1.0, .max = 1e8});
    const std::string type = rope.string("rope_type");
    if (type != "default" && type != "proportional")
        rope.failUnsupported("rope_type", describeJson(type), "\"default\" and \"proportional\"");
    const double share = rope.optionalNumber("partial_rotary_factor", {.min = 0.0, .max = 1.0}).value_or(1.0);
    if (type == "proportional")
        result.rotatedShare = share;
    else if (share != 1.0)
        rope.failUnsupported("partial_rotary_factor", describeJson(share), "1 with rope_type \"default\"");
    if (const double factor = rope.optionalNumber("factor", {.min = 0.0, .max = 1e6}).value_or(1.0); factor != 1.0)
        rope.failUnsupported("factor", describeJson(factor), "1");
    return result;
}

std::vector<LayerKind> readLayerKinds(const JsonFields &text)
{
    const std::int64_t count = text.integer("num_hidden_layers", kLayers);
    const std::string wanted = "a list of " + std::to_string(count) + " texts (num_hidden_layers)";
    const json &types = text.require("layer_types", wanted);
    if (!types.is_array() || std::cmp_not_equal(types.size(), count))
        text.fail("layer_types", describeJson(types), wanted);
    std::vector<LayerKind> kinds;
    for (const json &type : types) {
        // Compared as texts: comparing the json value itself makes GCC 12 at -O3 see an overrun that is not there.
        const auto *kind = type.get_ptr<const json::string_t *>();
        if (kind != nullptr && *kind == "sliding_attention")
            kinds.push_back(LayerKind::Sliding);
        else if (kind != nullptr && *kind == "full_attention")
            kinds.push_back(LayerKind::Full);
        else
            text.failUnsupported("layer_types", describeJson(type), "\"sliding_attention\" and \"full_attention\"");
    }
    return kinds;
}

/// `per_layer_config`: {"3": {"head_dim": 64, "num_key_value_heads": 1}, ...}; what a layer does not name is as for
/// all.
std::map<std::int64_t, HeadShape> readPerLayerConfig(const JsonFields &text, HeadShape common, std::int64_t layerCount)
{
    std::map<std::int64_t, HeadShape> shapes;
    if (!text.has("per_layer_config"))
        return shapes;
    const JsonFields layers = text.object("per_layer_config");
    for (const auto &[key, value] : layers.value().items()) {
        std::int64_t layer = -1;
        const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), layer);
        if (code != std::errc() || end != key.data() + key.size() || layer < 0 || layer >= layerCount)
            layers.fail(describeJson(key), "this key", "the number of a layer, 0 to " + std::to_string(layerCount - 1));
        const JsonFields fields = layers.object(key);
        for (const auto &[name, setting] : fields.value().items()) {
            if (name != "head_dim" && name != "num_key_value_heads")
                fields.failUnsupported(name, describeJson(setting), "head_dim and num_key_value_heads for one layer");
        }
        shapes[layer] = {fields.optionalInteger("head_dim", kSize).value_or(common.headDim),
                         fields.optionalInteger("num_key_value_heads", kSize).value_or(common.kvHeads)};
    }
    return shapes;
}

/// Head sizes of each layer, from either spelling (see parseModelConfig).
std::vector<HeadShape> readHeadShapes(const JsonFields &text, const std::vector<LayerKind> &kinds)
{
    const HeadShape common{text.integer("head_dim", kSize), text.integer("num_key_value_heads", kSize)};
    HeadShape full = common;
    if (!text.has("per_layer_config"))
        full.headDim = text.integer("global_head_dim", kSize);
    else
        full.headDim = text.optionalInteger("global_head_dim", kSize).value_or(common.headDim);
    full.kvHeads = text.optionalInteger("num_global_key_value_heads", kSize).value_or(common.kvHeads);

    std::vector<HeadShape> shapes;
    for (const LayerKind kind : kinds)
        shapes.push_back(kind == LayerKind::Full ? full : common);
    for (const auto &[layer, shape] : readPerLayerConfig(text, common, std::ssize(kinds)))
        shapes[static_cast<std::size_t>(layer)] = shape;
    return shapes;
}

std::vector<LayerConfig> readLayers(const JsonFields &text, std::int64_t attentionHeads)
{
    const std::vector<LayerKind> kinds = readLayerKinds(text);
    const std::vector<HeadShape> shapes = readHeadShapes(text, kinds);
    const Rope slidingRope = readRope(text, "sliding_attention");
    const Rope fullRope = readRope(text, "full_attention");
    std::vector<LayerConfig> layers;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const bool isFull = kinds[i] == LayerKind::Full;
        const HeadShape shape = shapes[i];
        const std::string layer = " in layer " + std::to_string(i);
        if (attentionHeads % shape.kvHeads != 0)
            text.fail("num_attention_heads", std::to_string(attentionHeads),
                      "a multiple of the key/value heads (" + std::to_string(shape.kvHeads) + layer + ")");
        if (shape.headDim % 2 != 0)
            text.fail("head_dim", std::to_string(shape.headDim) + layer, "an even number");
        const Rope &rope = isFull ? fullRope : slidingRope;
        layers.push_back({.kind = kinds[i],
                          .headDim = shape.headDim,
                          .kvHeads = shape.kvHeads,
                          .hasValueProjection = !isFull,
                          .ropeTheta = rope.theta,
                          .rotatedPairs = static_cast<std::int64_t>(
                              std::floor(rope.rotatedShare * static_cast<double>(shape.headDim) / 2.0))});
    }
    return layers;
}

IntegerRange tokenRange(const ModelConfig &config)
{
    return {.min = 0, .max = config.vocabSize - 1};
}

std::vector<TokenId> readTokenList(const JsonFields &fields, std::string_view name, const ModelConfig &config)
{
    std::vector<TokenId> ids;
    for (const std::int64_t id : fields.integerList(name, tokenRange(config)))
        ids.push_back(static_cast<TokenId>(id));
    return ids;
}

std::optional<TokenId> readToken(const JsonFields &fields, std::string_view name, const ModelConfig &config)
{
    const auto id = fields.optionalInteger(name, tokenRange(config));
    return id ? std::optional(static_cast<TokenId>(*id)) : std::nullopt;
}

void readTextSizes(const JsonFields &text, ModelConfig &config)
{
    config.vocabSize = text.integer("vocab_size", kSize);
    config.hiddenSize = text.integer("hidden_size", kSize);
    config.denseIntermediateSize = text.integer("intermediate_size", kSize);
    config.attentionHeads = text.integer("num_attention_heads", kSize);
    config.expertCount = text.integer("num_experts", kSize);
    config.expertsPerToken = text.integer("top_k_experts", {.min = 1, .max = config.expertCount});
    config.expertIntermediateSize = text.integer("moe_intermediate_size", kSize);
    config.maxPositions = text.integer("max_position_embeddings", kPositions);
    config.slidingWindow = text.integer("sliding_window", {.min = 1, .max = config.maxPositions});
    config.rmsNormEpsilon = text.number("rms_norm_eps", {.min = 1e-12, .max = 1e-4});
    config.finalLogitSoftcap =
        text.optionalNumber("final_logit_softcapping", {.min = 1e-3, .max = 1e3}).value_or(config.finalLogitSoftcap);
}

} // namespace

ModelConfig parseModelConfig(std::string_view jsonText, const std::string &path)
{
    const json document = parseStrictJson(jsonText, path);
    const JsonFields root(document, path);
    checkArchitecture(root);
    if (!root.optionalBool("tie_word_embeddings").value_or(true))
        root.failUnsupported("tie_word_embeddings", "false", "true");
    const JsonFields text = root.object("text_config");
    if (text.has("model_type"))
        requireText(text, "model_type", kTextModelType);
    checkNoVariants(text);

    ModelConfig config;
    readTextSizes(text, config);
    config.canvasLength =
        root.integer("canvas_length", {.min = kCanvas.min, .max = std::min(kCanvas.max, config.maxPositions)});
    config.layers = readLayers(text, config.attentionHeads);
    config.padTokenId = readToken(text, "pad_token_id", config).value_or(config.padTokenId);
    config.bosTokenId = readToken(text, "bos_token_id", config).value_or(config.bosTokenId);
    config.eosTokenIds = readTokenList(text, "eos_token_id", config);
    config.imageTokenId = readToken(root, "image_token_id", config);
    config.hasVisionConfig = root.has("vision_config");
    return config;
}

GenerationDefaults parseGenerationDefaults(std::string_view jsonText, const std::string &path, const ModelConfig &model)
{
    constexpr NumberRange kTemperature{.min = 0.0, .max = kHighestTemperature};
    constexpr NumberRange kNats{.min = 0.0, .max = 1e6};
    const json document = parseStrictJson(jsonText, path);
    const JsonFields root(document, path);
    GenerationDefaults defaults;
    defaults.maxNewTokens = root.optionalInteger("max_new_tokens", kSize).value_or(defaults.maxNewTokens);
    defaults.maxDenoisingSteps =
        static_cast<int>(root.optionalInteger("max_denoising_steps", {.min = 1, .max = kMostDenoisingSteps})
                             .value_or(defaults.maxDenoisingSteps));
    defaults.tMin = root.optionalNumber("t_min", kTemperature).value_or(defaults.tMin);
    defaults.tMax = root.optionalNumber("t_max", kTemperature).value_or(defaults.tMax);
    defaults.stabilityThreshold =
        static_cast<int>(root.optionalInteger("stability_threshold", {.min = 0, .max = kMostDenoisingSteps})
                             .value_or(defaults.stabilityThreshold));
    defaults.confidenceThresholdNats =
        root.optionalNumber("confidence_threshold", kNats).value_or(defaults.confidenceThresholdNats);
    if (root.has("sampler_config")) {
        const JsonFields sampler = root.object("sampler_config");
        constexpr std::string_view kSampler = "EntropyBoundSamplerConfig";
        if (sampler.optionalString("_cls_name").value_or(std::string(kSampler)) != kSampler)
            requireText(sampler, "_cls_name", kSampler);
        defaults.entropyBoundNats = sampler.optionalNumber("entropy_bound", kNats).value_or(defaults.entropyBoundNats);
    }
    defaults.padTokenId = readToken(root, "pad_token_id", model);
    defaults.eosTokenIds = readTokenList(root, "eos_token_id", model);
    return defaults;
}

} // namespace palimpsest
