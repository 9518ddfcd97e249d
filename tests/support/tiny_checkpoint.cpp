// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/tiny_checkpoint.h"

#include "engine/half_precision.h"

#include <bit>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <utility>

namespace palimpsest::test {

namespace {

constexpr std::int64_t kVocab = 40;
constexpr std::int64_t kHidden = 128;
constexpr std::int64_t kDense = 32;
constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kSlidingHeadDim = 16;
constexpr std::int64_t kFullHeadDim = 32;
constexpr std::int64_t kSlidingKvHeads = 2;
constexpr std::int64_t kFullKvHeads = 1;
constexpr std::int64_t kExperts = 4;
constexpr std::int64_t kExpertSize = 64;
constexpr std::int64_t kLayerCount = 2;

std::int64_t elementCount(const std::vector<std::int64_t> &shape)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

template <typename Number>
void append(std::vector<std::uint8_t> &bytes, Number number)
{
    for (std::size_t i = 0; i < sizeof number; ++i)
        bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

/// Draws the weights of the model, in bf16 or fp32.
class Weights
{
public:
    Weights(std::map<std::string, TinyTensor> &tensors, std::string dtype, std::uint32_t seed)
        : m_tensors(tensors), m_dtype(std::move(dtype)), m_random(seed)
    {
    }

    /// Values of mean +- spread, uniformly. (std::uniform_real_distribution differs between libraries.)
    void add(const std::string &name, const std::vector<std::int64_t> &shape, float mean, float spread)
    {
        TinyTensor tensor{m_dtype, shape, {}};
        for (std::int64_t i = elementCount(shape); i > 0; --i) {
            const float unit = static_cast<float>(m_random() >> 8U) * 0x1p-23F - 1.0F;
            const float value = mean + spread * unit;
            if (m_dtype == "F32")
                append(tensor.bytes, std::bit_cast<std::uint32_t>(value));
            else
                append(tensor.bytes, floatToBf16(value));
        }
        m_tensors[name] = std::move(tensor);
    }

    void addMatrix(const std::string &name, std::int64_t rows, std::int64_t columns)
    {
        add(name, {rows, columns}, 0.0F, 0.15F);
    }

    void addNorm(const std::string &name, std::int64_t size) { add(name, {size}, 1.0F, 0.2F); }

    void addNibbles(const std::string &name, const std::vector<std::int64_t> &shape)
    {
        TinyTensor tensor{"U8", shape, {}};
        for (std::int64_t i = elementCount(shape); i > 0; --i)
            tensor.bytes.push_back(static_cast<std::uint8_t>(m_random() >> 24U));
        m_tensors[name] = std::move(tensor);
    }

private:
    std::map<std::string, TinyTensor> &m_tensors;
    std::string m_dtype;
    std::mt19937 m_random;
};

void addLayer(Weights &weights, std::int64_t layer)
{
    const bool isFull = layer == kLayerCount - 1;
    const std::int64_t headDim = isFull ? kFullHeadDim : kSlidingHeadDim;
    const std::int64_t keyRows = headDim * (isFull ? kFullKvHeads : kSlidingKvHeads);
    const std::string number = std::to_string(layer);
    const std::string prefix = "model.decoder.layers." + number + ".";
    weights.addMatrix(prefix + "self_attn.q_proj.weight", kHeads * headDim, kHidden);
    weights.addMatrix(prefix + "self_attn.k_proj.weight", keyRows, kHidden);
    if (!isFull)
        weights.addMatrix(prefix + "self_attn.v_proj.weight", keyRows, kHidden);
    weights.addMatrix(prefix + "self_attn.o_proj.weight", kHidden, kHeads * headDim);
    weights.addNorm(prefix + "self_attn.q_norm.weight", headDim);
    weights.addNorm(prefix + "self_attn.k_norm.weight", headDim);
    weights.addMatrix(prefix + "mlp.gate_proj.weight", kDense, kHidden);
    weights.addMatrix(prefix + "mlp.up_proj.weight", kDense, kHidden);
    weights.addMatrix(prefix + "mlp.down_proj.weight", kHidden, kDense);
    for (const char *norm :
         {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "pre_feedforward_layernorm_2",
          "post_feedforward_layernorm", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2"})
        weights.addNorm(prefix + norm + ".weight", kHidden);
    weights.add(prefix + "router.proj.weight", {kExperts, kHidden}, 0.0F, 1.0F);
    weights.addNorm(prefix + "router.scale", kHidden);
    weights.addNorm(prefix + "router.per_expert_scale", kExperts);
    weights.add(prefix + "layer_scalar", {1}, 0.9F, 0.05F);
    weights.add("model.encoder.language_model.layers." + number + ".layer_scalar", {1}, 0.8F, 0.05F);
}

void addCommon(Weights &weights)
{
    const std::string conditioning = "model.decoder.self_conditioning.";
    weights.addMatrix("model.decoder.embed_tokens.weight", kVocab, kHidden);
    weights.addNorm("model.decoder.norm.weight", kHidden);
    weights.addNorm(conditioning + "pre_norm.weight", kHidden);
    weights.addMatrix(conditioning + "gate_proj.weight", kDense, kHidden);
    weights.addMatrix(conditioning + "up_proj.weight", kDense, kHidden);
    weights.addMatrix(conditioning + "down_proj.weight", kHidden, kDense);
}

void addPlainExperts(Weights &weights, const std::string &prefix)
{
    weights.add(prefix + "gate_up_proj", {kExperts, 2 * kExpertSize, kHidden}, 0.0F, 0.15F);
    weights.add(prefix + "down_proj", {kExperts, kHidden, kExpertSize}, 0.0F, 0.15F);
}

void addW4Experts(std::map<std::string, TinyTensor> &file, const std::string &prefix, std::uint32_t seed)
{
    constexpr std::int64_t kGateUpGroup = 128;
    constexpr std::int64_t kDownGroup = 64;
    const std::uint16_t scale = floatToFp16(0.02F);
    const std::uint16_t zero = floatToFp16(8.0F);
    const std::vector<std::int64_t> gateUpGroups{kExperts, 2 * kExpertSize, kHidden / kGateUpGroup};
    const std::vector<std::int64_t> downGroups{kExperts, kHidden, kExpertSize / kDownGroup};
    Weights weights(file, "U8", seed);
    weights.addNibbles(prefix + "gu_q", {kExperts, 2 * kExpertSize, kHidden / 2});
    weights.addNibbles(prefix + "dn_q", {kExperts, kHidden, kExpertSize / 2});
    file[prefix + "gu_s"] = TinyTensor::ofHalves("F16", gateUpGroups, scale);
    file[prefix + "gu_z"] = TinyTensor::ofHalves("F16", gateUpGroups, zero);
    file[prefix + "dn_s"] = TinyTensor::ofHalves("F16", downGroups, scale);
    file[prefix + "dn_z"] = TinyTensor::ofHalves("F16", downGroups, zero);
}

nlohmann::json tinyConfig()
{
    return nlohmann::json::parse(R"({
        "architectures": ["DiffusionGemmaForBlockDiffusion"], "model_type": "diffusion_gemma", "canvas_length": 8,
        "tie_word_embeddings": true,
        "text_config": {
            "model_type": "diffusion_gemma_text", "vocab_size": 40, "hidden_size": 128, "intermediate_size": 32,
            "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16,
            "global_head_dim": 32, "num_global_key_value_heads": 1, "hidden_activation": "gelu_pytorch_tanh",
            "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "pad_token_id": 0, "bos_token_id": 2,
            "eos_token_id": 1, "tie_word_embeddings": true, "attention_bias": false, "sliding_window": 6,
            "layer_types": ["sliding_attention", "full_attention"], "final_logit_softcapping": 30.0,
            "use_bidirectional_attention": null, "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 64,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6}
            }
        }
    })");
}

} // namespace

TinyTensor TinyTensor::ofHalves(std::string dtype, std::vector<std::int64_t> shape, std::uint16_t fill)
{
    TinyTensor tensor{std::move(dtype), std::move(shape), {}};
    for (std::int64_t i = elementCount(tensor.shape); i > 0; --i)
        append(tensor.bytes, fill);
    return tensor;
}

TinyTensor TinyTensor::ofBytes(std::vector<std::int64_t> shape, std::uint8_t fill)
{
    const auto count = static_cast<std::size_t>(elementCount(shape));
    return {"U8", std::move(shape), std::vector<std::uint8_t>(count, fill)};
}

std::string safetensorsText(const std::map<std::string, TinyTensor> &tensors)
{
    nlohmann::json header = nlohmann::json::object();
    std::string data;
    for (const auto &[name, tensor] : tensors) {
        header[name] = {{"dtype", tensor.dtype},
                        {"shape", tensor.shape},
                        {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
        data.append(tensor.bytes.begin(), tensor.bytes.end());
    }
    const std::string headerText = header.dump();
    std::string file;
    for (unsigned shift = 0; shift < 64; shift += 8)
        file.push_back(static_cast<char>(headerText.size() >> shift));
    return file + headerText + data;
}

TinyCheckpoint::TinyCheckpoint(TinyFormat format, std::uint32_t seed) : config(tinyConfig())
{
    generationConfig = nlohmann::json::parse(R"({
        "max_new_tokens": 16, "max_denoising_steps": 8, "t_min": 0.4, "t_max": 0.8, "stability_threshold": 1,
        "confidence_threshold": 0.005, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": [1],
        "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.1}
    })");
    auto &model = weights["model.safetensors"];
    Weights draws(model, format == TinyFormat::F32 ? "F32" : "BF16", seed);
    addCommon(draws);
    for (std::int64_t layer = 0; layer < kLayerCount; ++layer) {
        addLayer(draws, layer);
        const std::string experts = "model.decoder.layers." + std::to_string(layer) + ".experts.";
        if (format == TinyFormat::DgW4a16)
            addW4Experts(weights["experts_0000" + std::to_string(layer) + ".safetensors"], experts,
                         seed + 1 + static_cast<std::uint32_t>(layer));
        else
            addPlainExperts(draws, experts);
    }
    if (format == TinyFormat::DgW4a16)
        w4Meta = {{"format", "dg-w4a16-v1"}, {"gate_up_group", 128}, {"down_group", 64}, {"num_layers", kLayerCount}};
}

TinyTensor &TinyCheckpoint::tensor(const std::string &name)
{
    for (auto &[file, tensors] : weights) {
        if (const auto found = tensors.find(name); found != tensors.end())
            return found->second;
    }
    throw std::runtime_error("the tiny checkpoint has no tensor " + name);
}

void TinyCheckpoint::rename(const std::string &from, const std::string &to)
{
    for (auto &[file, tensors] : weights) {
        if (auto node = tensors.extract(from)) {
            node.key() = to;
            tensors.insert(std::move(node));
            return;
        }
    }
    throw std::runtime_error("the tiny checkpoint has no tensor " + from);
}

void TinyCheckpoint::write(const std::filesystem::path &directory) const
{
    std::filesystem::create_directories(directory);
    writeFile(directory / "config.json", config.dump(1));
    writeFile(directory / "generation_config.json", generationConfig.dump(1));
    if (!w4Meta.is_null())
        writeFile(directory / "w4_meta.json", w4Meta.dump(1));
    for (const auto &[name, tensors] : weights)
        writeFile(directory / name, safetensorsText(tensors));
}

void writeFile(const std::filesystem::path &path, std::string_view content)
{
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path.string());
}

std::string readFile(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace palimpsest::test
