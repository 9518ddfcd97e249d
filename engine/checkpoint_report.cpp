// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/checkpoint_report.h"

#include "engine/safetensors.h"
#include "engine/tensor_inventory.h"
#include "engine/w4_format.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace palimpsest {

namespace {

using Setting = CheckpointReport::Setting;

std::string text(double value)
{
    std::ostringstream stream; // six significant digits, without trailing zeros: 1e-06, 0.005, 30
    stream << value;
    return stream.str();
}

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

std::string text(const std::vector<TokenId> &ids)
{
    std::string list;
    for (const TokenId id : ids)
        list += (list.empty() ? "" : ", ") + std::to_string(id);
    return list.empty() ? "none" : list;
}

/// One row for each group of layers that are alike: "layers 0-2, 4-6 (sliding)".
void appendLayerSettings(std::vector<Setting> &settings, const ModelConfig &config)
{
    std::vector<std::pair<LayerConfig, std::string>> groups;
    for (std::size_t begin = 0; begin < config.layers.size();) {
        std::size_t end = begin + 1;
        while (end < config.layers.size() && config.layers[end] == config.layers[begin])
            ++end;
        const std::string range =
            std::to_string(begin) + (end - begin > 1 ? "-" + std::to_string(end - 1) : std::string());
        const auto same = std::find_if(groups.begin(), groups.end(),
                                       [&](const auto &group) { return group.first == config.layers[begin]; });
        if (same == groups.end())
            groups.emplace_back(config.layers[begin], range);
        else
            same->second += ", " + range;
        begin = end;
    }
    for (const auto &[layer, numbers] : groups) {
        const bool isSliding = layer.kind == LayerKind::Sliding;
        settings.push_back(
            {"layers " + numbers, std::string(isSliding ? "sliding" : "full") + " attention, " + text(layer.kvHeads) +
                                      (layer.kvHeads == 1 ? " key/value head of " : " key/value heads of ") +
                                      text(layer.headDim) + ", RoPE theta " + text(layer.ropeTheta) + " on " +
                                      text(2 * layer.rotatedPairs) + " of " + text(layer.headDim) + " dimensions"});
    }
}

std::vector<Setting> configSettings(const Checkpoint &checkpoint)
{
    const ModelConfig &config = checkpoint.config();
    std::vector<Setting> settings{{"vocabulary", text(config.vocabSize)},
                                  {"hidden size", text(config.hiddenSize)},
                                  {"dense MLP size", text(config.denseIntermediateSize)},
                                  {"experts", text(config.expertCount) + " of size " +
                                                  text(config.expertIntermediateSize) + ", " +
                                                  text(config.expertsPerToken) + " for each token"},
                                  {"layers", text(std::ssize(config.layers))},
                                  {"attention heads", text(config.attentionHeads)},
                                  {"sliding window", text(config.slidingWindow) + " tokens"}};
    appendLayerSettings(settings, config);
    settings.push_back({"canvas", text(config.canvasLength) + " tokens"});
    settings.push_back({"context", text(config.maxPositions) + " tokens"});
    settings.push_back({"logit soft-cap", text(config.finalLogitSoftcap)});
    settings.push_back({"RMS norm epsilon", text(config.rmsNormEpsilon)});
    settings.push_back({"padding token", std::to_string(config.padTokenId)});
    settings.push_back({"begin token", std::to_string(config.bosTokenId)});
    settings.push_back({"end tokens", text(config.eosTokenIds)});
    settings.push_back({"vision", checkpoint.hasVisionTensors() ? "tower present, not used for text" : "none"});
    return settings;
}

std::vector<Setting> generationSettings(const GenerationDefaults &defaults)
{
    return {{"new tokens, at most", text(defaults.maxNewTokens)},
            {"denoising steps, at most", std::to_string(defaults.maxDenoisingSteps)},
            {"entropy bound", text(defaults.entropyBoundNats) + " nats"},
            {"temperature", text(defaults.tMax) + " to " + text(defaults.tMin)},
            {"stability threshold", std::to_string(defaults.stabilityThreshold) + " steps"},
            {"confidence threshold", text(defaults.confidenceThresholdNats) + " nats"},
            {"end tokens", text(defaults.eosTokenIds)}};
}

/// Weights a tensor holds: two in a packed byte, none in the scales and zero points that belong to them.
std::int64_t parameterCount(const TensorView &tensor, TensorKind kind)
{
    if (kind != TensorKind::Experts || tensor.dtype == Dtype::BF16 || tensor.dtype == Dtype::F32)
        return tensor.elementCount();
    return tensor.dtype == Dtype::U8 ? 2 * tensor.elementCount() : 0;
}

bool isPartOfTextModel(TensorKind kind)
{
    return kind != TensorKind::Tied && kind != TensorKind::Vision && kind != TensorKind::Unknown;
}

void appendTensors(CheckpointReport &report, const Checkpoint &checkpoint)
{
    std::map<TensorKind, CheckpointReport::KindTotal> totals;
    for (const TensorView &tensor : checkpoint.allTensors()) {
        const TensorKind kind = classifyTensor(tensor.name, std::ssize(checkpoint.config().layers));
        const std::string kindName(tensorKindName(kind));
        const std::int64_t bytes = std::ssize(tensor.bytes);
        const std::int64_t parameters = parameterCount(tensor, kind);
        report.tensors.push_back({.name = tensor.name,
                                  .kind = kindName,
                                  .dtype = std::string(dtypeName(tensor.dtype)),
                                  .shape = shapeText(tensor.shape),
                                  .bytes = bytes,
                                  .file = tensor.file.filename().string()});
        CheckpointReport::KindTotal &total = totals[kind];
        total.kind = kindName;
        total.bytes += bytes;
        total.tensorCount += 1;
        total.parameterCount += parameters;
        report.parameterCount += isPartOfTextModel(kind) ? parameters : 0;
    }
    for (auto &[kind, total] : totals)
        report.kinds.push_back(std::move(total));
    std::stable_sort(report.kinds.begin(), report.kinds.end(),
                     [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
}

} // namespace

CheckpointReport makeCheckpointReport(const Checkpoint &checkpoint)
{
    CheckpointReport report;
    report.directory = checkpoint.directory().string();
    report.config = configSettings(checkpoint);
    report.generation = generationSettings(checkpoint.generationDefaults());
    if (checkpoint.format() == CheckpointFormat::DgW4a16) {
        report.format = kW4FormatName;
        report.groupSizes = {{"gate_up", kGateUpGroupSize}, {"down", kDownGroupSize}};
    } else {
        report.format = "transformers (experts not quantised)";
    }
    for (const CheckpointFile &file : checkpoint.files())
        report.files.push_back({file.path.filename().string(), file.bytes, file.tensorCount});
    report.fileBytes = checkpoint.weightBytes();
    appendTensors(report, checkpoint);
    report.warnings.assign(checkpoint.warnings().begin(), checkpoint.warnings().end());
    return report;
}

} // namespace palimpsest
