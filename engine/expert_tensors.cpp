// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/expert_tensors.h"

#include "engine/error.h"
#include "engine/half_precision.h"
#include "engine/strict_json.h"
#include "engine/tensor_inventory.h"
#include "engine/w4_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

namespace palimpsest {

using nlohmann::json;

namespace {

/// One of the tensors that make up a layer's experts.
struct ExpertPart
{
    std::string_view suffix;
    TensorView ExpertTensors::*member;
};

constexpr std::array<ExpertPart, 6> kW4Parts{{{"gu_q", &ExpertTensors::gateUp},
                                              {"gu_s", &ExpertTensors::gateUpScale},
                                              {"gu_z", &ExpertTensors::gateUpZero},
                                              {"dn_q", &ExpertTensors::down},
                                              {"dn_s", &ExpertTensors::downScale},
                                              {"dn_z", &ExpertTensors::downZero}}};
constexpr std::array<ExpertPart, 2> kPlainParts{
    {{"gate_up_proj", &ExpertTensors::gateUp}, {"down_proj", &ExpertTensors::down}}};

std::span<const ExpertPart> partsOf(CheckpointFormat format)
{
    if (format == CheckpointFormat::DgW4a16)
        return kW4Parts;
    return kPlainParts;
}

struct ExpertName
{
    std::string_view modulePath; ///< what stands before "layers.N.experts."
    std::int64_t layer = 0;
    TensorView ExpertTensors::*member = nullptr;
};

/// Splits "<module path>.layers.N.experts.<suffix>".
std::optional<ExpertName> splitExpertName(std::string_view name, std::span<const ExpertPart> parts)
{
    constexpr std::string_view kLayers = "layers.";
    constexpr std::string_view kExperts = ".experts.";
    const std::size_t experts = name.rfind(kExperts);
    if (experts == std::string_view::npos)
        return std::nullopt;
    ExpertName result;
    const std::string_view suffix = name.substr(experts + kExperts.size());
    for (const ExpertPart &part : parts) {
        if (suffix == part.suffix)
            result.member = part.member;
    }
    const std::string_view front = name.substr(0, experts);
    const std::size_t layers = front.rfind(kLayers);
    if (result.member == nullptr || layers == std::string_view::npos)
        return std::nullopt;
    const char *numberBegin = front.data() + layers + kLayers.size();
    const char *numberEnd = front.data() + front.size();
    const auto [end, code] = std::from_chars(numberBegin, numberEnd, result.layer);
    if (code != std::errc() || end != numberEnd)
        return std::nullopt;
    result.modulePath = front.substr(0, layers);
    return result;
}

/// What the first module path that names a layer has for it.
struct FoundLayer
{
    std::optional<std::string_view> modulePath;
    ExpertTensors experts;
};

std::vector<FoundLayer> collectExperts(std::span<const ExpertPart> parts, std::size_t layerCount,
                                       std::span<const TensorView> tensors)
{
    std::vector<FoundLayer> layers(layerCount);
    for (const TensorView &tensor : tensors) {
        const auto name = splitExpertName(tensor.name, parts);
        if (!name || name->layer < 0 || std::cmp_greater_equal(name->layer, layerCount))
            continue;
        FoundLayer &layer = layers[static_cast<std::size_t>(name->layer)];
        if (layer.modulePath.value_or(name->modulePath) != name->modulePath)
            continue;
        layer.modulePath = name->modulePath;
        TensorView &slot = layer.experts.*name->member;
        if (slot.name.empty())
            slot = tensor;
    }
    return layers;
}

/// Of the tensors whose every value is read, beside which the others cost nothing.
std::int64_t bytesOfGroups(std::span<const FoundLayer> layers)
{
    std::int64_t bytes = 0;
    for (const FoundLayer &layer : layers) {
        for (const TensorView *tensor :
             {&layer.experts.gateUpScale, &layer.experts.gateUpZero, &layer.experts.downScale, &layer.experts.downZero})
            bytes += std::ssize(tensor->bytes);
    }
    return bytes;
}

/// `valid` judges one binary16 value by its bits. Whole blocks are tested without a branch, so that the compiler can
/// vectorise: the scales of a large model are a gigabyte.
template <typename Valid>
void checkHalves(const TensorView &tensor, std::string_view wanted, ReadMeter &meter, Valid valid)
{
    constexpr std::size_t kBlock = 4096;
    const std::size_t count = tensor.bytes.size() / sizeof(std::uint16_t);
    std::array<std::uint16_t, kBlock> block{};
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        const std::size_t length = std::min(kBlock, count - begin);
        std::memcpy(block.data(), tensor.bytes.data() + begin * sizeof(std::uint16_t), length * sizeof(std::uint16_t));
        unsigned bad = 0;
        for (std::size_t i = 0; i < length; ++i)
            bad |= valid(block[i]) ? 0U : 1U;
        meter.add(static_cast<std::int64_t>(length * sizeof(std::uint16_t)));
        if (bad == 0)
            continue;
        const auto at = std::find_if_not(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(length), valid);
        const float value = fp16ToFloat(*at);
        throw Error(ErrorKind::InvalidCheckpoint,
                    tensor.file.string() + ": tensor " + tensor.name + ": found " +
                        (std::isnan(value) ? "NaN" : std::to_string(value)) + " at element " +
                        std::to_string(begin + static_cast<std::size_t>(at - block.begin())) + ", wanted " +
                        std::string(wanted),
                    tensor.name);
    }
}

void checkScales(const TensorView &scale, ReadMeter &meter)
{
    checkHalves(scale, "finite scales that are not negative", meter,
                [](std::uint16_t bits) { return bits < 0x7C00U || bits == 0x8000U; });
}

void checkZeros(const TensorView &zero, ReadMeter &meter)
{
    constexpr std::uint16_t kFifteen = 0x4B80;
    checkHalves(zero, "zero points from 0 to 15", meter,
                [](std::uint16_t bits) { return bits <= kFifteen || bits == 0x8000U; });
}

void checkW4Experts(const ExpertTensors &experts, const ModelConfig &config, ReadMeter &meter)
{
    constexpr std::array kNibbles{Dtype::U8};
    constexpr std::array kHalf{Dtype::F16};
    const std::int64_t count = config.expertCount;
    const std::int64_t gateUpRows = 2 * config.expertIntermediateSize;
    const std::int64_t inner = config.expertIntermediateSize;
    const std::int64_t hidden = config.hiddenSize;
    const std::array gateUp{count, gateUpRows, hidden / 2};
    const std::array gateUpGroups{count, gateUpRows, hidden / kGateUpGroupSize};
    const std::array down{count, hidden, inner / 2};
    const std::array downGroups{count, hidden, inner / kDownGroupSize};
    checkDtypeAndShape(experts.gateUp, kNibbles, gateUp);
    checkDtypeAndShape(experts.gateUpScale, kHalf, gateUpGroups);
    checkDtypeAndShape(experts.gateUpZero, kHalf, gateUpGroups);
    checkDtypeAndShape(experts.down, kNibbles, down);
    checkDtypeAndShape(experts.downScale, kHalf, downGroups);
    checkDtypeAndShape(experts.downZero, kHalf, downGroups);
    checkScales(experts.gateUpScale, meter);
    checkScales(experts.downScale, meter);
    checkZeros(experts.gateUpZero, meter);
    checkZeros(experts.downZero, meter);
}

void checkPlainExperts(const ExpertTensors &experts, const ModelConfig &config)
{
    constexpr std::array kDtypes{Dtype::BF16, Dtype::F32};
    const std::int64_t inner = config.expertIntermediateSize;
    checkDtypeAndShape(experts.gateUp, kDtypes, std::array{config.expertCount, 2 * inner, config.hiddenSize});
    checkDtypeAndShape(experts.down, kDtypes, std::array{config.expertCount, config.hiddenSize, inner});
}

void checkMultiple(const std::filesystem::path &directory, std::string_view field, std::int64_t found,
                   std::int64_t group)
{
    if (found % group != 0)
        throw Error(ErrorKind::InvalidCheckpoint,
                    (directory / "config.json").string() + ": field text_config." + std::string(field) + ": found " +
                        std::to_string(found) + ", wanted a multiple of " + std::to_string(group) +
                        ", the group size of " + std::string(kW4FormatName),
                    "text_config." + std::string(field));
}

void checkEqual(const JsonFields &meta, std::string_view name, std::int64_t wanted)
{
    const json *value = meta.find(name);
    if (value != nullptr && *value != wanted)
        meta.fail(name, describeJson(*value), std::to_string(wanted) + " as in config.json");
}

void checkGroupSize(const JsonFields &fields, std::string_view name, std::int64_t wanted)
{
    const json *value = fields.find(name);
    if (value != nullptr && *value != wanted)
        fields.failUnsupported(name, describeJson(*value), std::to_string(wanted));
}

} // namespace

std::vector<std::string> checkW4Meta(std::string_view jsonText, const std::string &path, const ModelConfig &config)
{
    const json document = parseStrictJson(jsonText, path);
    const JsonFields meta(document, path);
    if (const std::string format = meta.string("format"); format != kW4FormatName)
        meta.failUnsupported("format", describeJson(format), "\"" + std::string(kW4FormatName) + "\"");
    if (const json *bits = meta.find("bits"); bits != nullptr && *bits != kW4Bits)
        meta.failUnsupported("bits", describeJson(*bits), std::to_string(kW4Bits));
    if (meta.has("group_size")) {
        const JsonFields sizes = meta.object("group_size");
        checkGroupSize(sizes, "gate_up_proj", kGateUpGroupSize);
        checkGroupSize(sizes, "down_proj", kDownGroupSize);
    }
    checkGroupSize(meta, "gate_up_group", kGateUpGroupSize);
    checkGroupSize(meta, "down_group", kDownGroupSize);
    for (const std::string_view name : {"scale_dtype", "zero_dtype"}) {
        if (const auto dtype = meta.optionalString(name); dtype && *dtype != "float16")
            meta.failUnsupported(name, describeJson(*dtype), "\"float16\"");
    }
    checkEqual(meta, "num_layers", std::ssize(config.layers));
    checkEqual(meta, "num_experts", config.expertCount);

    std::vector<std::string> files;
    if (meta.has("weight_map")) {
        const JsonFields map = meta.object("weight_map");
        for (const auto &[tensor, file] : map.value().items())
            files.push_back(map.string(tensor));
    }
    return files;
}

std::vector<ExpertTensors> findExperts(CheckpointFormat format, const ModelConfig &config,
                                       std::span<const TensorView> tensors, const std::filesystem::path &directory,
                                       ReadMeter &meter)
{
    const bool quantised = format == CheckpointFormat::DgW4a16;
    if (quantised) {
        checkMultiple(directory, "hidden_size", config.hiddenSize, kGateUpGroupSize);
        checkMultiple(directory, "moe_intermediate_size", config.expertIntermediateSize, kDownGroupSize);
    }
    const std::span<const ExpertPart> parts = partsOf(format);
    std::vector<ExpertTensors> result;
    std::vector<FoundLayer> layers = collectExperts(parts, config.layers.size(), tensors);
    meter.begin(1.0, bytesOfGroups(layers));
    for (FoundLayer &layer : layers) {
        layer.experts.quantised = quantised;
        for (const ExpertPart &part : parts) {
            if (!(layer.experts.*part.member).name.empty())
                continue;
            const std::string name = std::string(layer.modulePath.value_or("model.decoder.")) + "layers." +
                                     std::to_string(result.size()) + ".experts." + std::string(part.suffix);
            throw Error(ErrorKind::InvalidCheckpoint,
                        directory.string() + ": the expert tensor " + name +
                            " is in none of the weight files; the model is incomplete, download it again",
                        name);
        }
        if (quantised)
            checkW4Experts(layer.experts, config, meter);
        else
            checkPlainExperts(layer.experts, config);
        result.push_back(std::move(layer.experts));
    }
    return result;
}

} // namespace palimpsest
