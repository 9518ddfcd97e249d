// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/checkpoint.h"

#include "engine/checkpoint_files.h"
#include "engine/error.h"
#include "engine/expert_tensors.h"
#include "engine/read_meter.h"
#include "engine/tensor_inventory.h"
#include "engine/w4_format.h"

#include <cassert>
#include <map>
#include <set>
#include <utility>

namespace palimpsest {

namespace fs = std::filesystem;

std::int64_t TensorView::elementCount() const noexcept
{
    return std::ssize(bytes) / dtypeSize(dtype);
}

struct Checkpoint::Contents
{
    fs::path directory;
    CheckpointFormat format = CheckpointFormat::Transformers;
    ModelConfig config;
    GenerationDefaults generation;
    WeightFiles weights;
    std::map<std::string, const TensorView *, std::less<>> tensors; ///< required ones, into weights.tensors
    std::vector<ExpertTensors> experts;
    std::vector<std::string> warnings;
    bool hasVision = false;
};

namespace {

std::string requireTextFile(const fs::path &path)
{
    auto text = readTextFile(path);
    if (!text)
        throw Error(ErrorKind::NotFound, path.string() + ": the file is missing; this is not a complete model folder",
                    path.string());
    return std::move(*text);
}

GenerationDefaults readGenerationDefaults(const fs::path &path, const ModelConfig &config,
                                          std::vector<std::string> &warnings)
{
    GenerationDefaults defaults;
    if (const auto text = readTextFile(path))
        defaults = parseGenerationDefaults(*text, path.string(), config);
    else
        warnings.push_back(path.filename().string() + " is missing; the usual generation settings are used.");
    if (defaults.eosTokenIds.empty())
        defaults.eosTokenIds = config.eosTokenIds;
    return defaults;
}

CheckpointFormat readFormat(const fs::path &directory, std::span<const fs::path> weightFiles, const ModelConfig &config)
{
    const fs::path metaPath = directory / "w4_meta.json";
    if (const auto text = readTextFile(metaPath)) {
        requireFiles(directory, checkW4Meta(*text, metaPath.string(), config), metaPath);
        return CheckpointFormat::DgW4a16;
    }
    for (const fs::path &file : weightFiles) {
        if (file.filename().string().starts_with("experts_"))
            throw Error(ErrorKind::InvalidCheckpoint,
                        metaPath.string() + ": the file is missing, but " + file.filename().string() +
                            " says that this is a model in the format " + std::string(kW4FormatName),
                        metaPath.string());
    }
    return CheckpointFormat::Transformers;
}

TensorIndex indexTensors(std::span<const TensorView> tensors, std::vector<std::string> &warnings)
{
    TensorIndex index;
    std::vector<std::string> expertTwice;
    for (const TensorView &tensor : tensors) {
        const auto [place, isNew] = index.emplace(tensor.name, &tensor);
        if (isNew)
            continue;
        const std::string both = place->second->file.string() + " and " + tensor.file.string();
        if (tensor.name.find(".experts.") == std::string::npos)
            throw Error(ErrorKind::InvalidCheckpoint,
                        "the tensor " + tensor.name + " is in two files, " + both +
                            "; remove the one that is left over",
                        tensor.name);
        expertTwice.push_back(tensor.name);
    }
    if (!expertTwice.empty())
        warnings.push_back(
            "Expert tensors that are in two files, of which the first counts: " + countAndExamples(expertTwice) + ".");
    return index;
}

/// Where the tensors that are read have their bytes.
std::set<const std::byte *> readTensors(const std::map<std::string, const TensorView *, std::less<>> &required,
                                        std::span<const ExpertTensors> experts)
{
    std::set<const std::byte *> places;
    for (const auto &[name, tensor] : required)
        places.insert(tensor->bytes.data());
    for (const ExpertTensors &layer : experts) {
        for (const TensorView *tensor :
             {&layer.gateUp, &layer.gateUpScale, &layer.gateUpZero, &layer.down, &layer.downScale, &layer.downZero})
            places.insert(tensor->bytes.data());
    }
    return places;
}

void warnOfUnread(std::span<const TensorView> tensors, const std::set<const std::byte *> &read, std::int64_t layerCount,
                  std::vector<std::string> &warnings)
{
    std::vector<std::string> copies;
    std::vector<std::string> unknown;
    for (const TensorView &tensor : tensors) {
        const TensorKind kind = classifyTensor(tensor.name, layerCount);
        if (kind == TensorKind::Vision || read.contains(tensor.bytes.data()))
            continue;
        const bool isCopy = kind == TensorKind::Tied || kind == TensorKind::Experts;
        (isCopy ? copies : unknown).push_back(tensor.name);
    }
    if (!copies.empty())
        warnings.push_back("Second copies of weights, not read: " + countAndExamples(copies) + ".");
    if (!unknown.empty())
        warnings.push_back("Tensors that are not known, not read: " + countAndExamples(unknown) + ".");
}

} // namespace

std::shared_ptr<const Checkpoint> Checkpoint::open(const fs::path &directory, const LoadProgress &progress)
{
    ReadMeter meter(progress);
    auto contents = std::make_unique<Contents>();
    Contents &c = *contents;
    requireDirectory(directory);
    c.directory = directory;
    const fs::path configPath = directory / "config.json";
    c.config = parseModelConfig(requireTextFile(configPath), configPath.string());
    c.generation = readGenerationDefaults(directory / "generation_config.json", c.config, c.warnings);

    const WeightFileList weightFiles = listWeightFiles(directory, c.warnings);
    c.format = readFormat(directory, weightFiles.paths, c.config);
    c.weights = mapWeightFiles(weightFiles, meter, c.warnings);
    const TensorIndex index = indexTensors(c.weights.tensors, c.warnings);
    c.tensors = findRequiredTensors(c.config, index, directory);
    c.experts = findExperts(c.format, c.config, c.weights.tensors, directory, meter);
    const std::int64_t layerCount = std::ssize(c.config.layers);
    warnOfUnread(c.weights.tensors, readTensors(c.tensors, c.experts), layerCount, c.warnings);
    for (const TensorView &tensor : c.weights.tensors)
        c.hasVision = c.hasVision || classifyTensor(tensor.name, layerCount) == TensorKind::Vision;

    std::shared_ptr<const Checkpoint> checkpoint(new Checkpoint(std::move(contents)));
    checkpoint->checkUnchanged();
    meter.finish();
    return checkpoint;
}

Checkpoint::Checkpoint(std::unique_ptr<Contents> contents) : m_contents(std::move(contents)) {}

Checkpoint::~Checkpoint() = default;

const fs::path &Checkpoint::directory() const noexcept
{
    return m_contents->directory;
}

CheckpointFormat Checkpoint::format() const noexcept
{
    return m_contents->format;
}

const ModelConfig &Checkpoint::config() const noexcept
{
    return m_contents->config;
}

const GenerationDefaults &Checkpoint::generationDefaults() const noexcept
{
    return m_contents->generation;
}

const TensorView &Checkpoint::tensor(std::string_view name) const
{
    const auto found = m_contents->tensors.find(name);
    if (found == m_contents->tensors.end())
        throw Error(ErrorKind::InvalidCheckpoint,
                    m_contents->directory.string() + ": the text model has no tensor " + std::string(name),
                    std::string(name));
    return *found->second;
}

const ExpertTensors &Checkpoint::experts(std::int64_t layer) const
{
    assert(layer >= 0 && layer < std::ssize(m_contents->experts));
    return m_contents->experts[static_cast<std::size_t>(layer)];
}

std::span<const TensorView> Checkpoint::allTensors() const noexcept
{
    return m_contents->weights.tensors;
}

std::span<const CheckpointFile> Checkpoint::files() const noexcept
{
    return m_contents->weights.files;
}

std::span<const std::string> Checkpoint::warnings() const noexcept
{
    return m_contents->warnings;
}

std::int64_t Checkpoint::weightBytes() const noexcept
{
    std::int64_t total = 0;
    for (const CheckpointFile &file : m_contents->weights.files)
        total += file.bytes;
    return total;
}

bool Checkpoint::hasVisionTensors() const noexcept
{
    return m_contents->hasVision;
}

void Checkpoint::releasePages(const TensorView &tensor) const noexcept
{
    for (const MappedFile &mapping : m_contents->weights.mappings)
        mapping.releasePages(tensor.bytes); // ignores what is not its own
}

void Checkpoint::checkUnchanged() const
{
    for (const MappedFile &mapping : m_contents->weights.mappings) {
        if (mapping.changedOnDisk())
            throw Error(ErrorKind::Io,
                        mapping.path().string() + ": the file was changed while it was open; load the model again",
                        mapping.path().string());
    }
}

} // namespace palimpsest
