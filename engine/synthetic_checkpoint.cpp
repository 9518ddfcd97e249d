// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/synthetic_checkpoint.h"

#include "engine/error.h"
#include "engine/half_precision.h"
#include "engine/model_config.h"
#include "engine/philox.h"
#include "engine/tensor_inventory.h"
#include "engine/w4_format.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace palimpsest {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Random numbers that are made, and the length of one write.
constexpr std::size_t kPoolNumbers = std::size_t{1} << 21U;
constexpr std::size_t kBlockBytes = std::size_t{4} << 20U;

enum class Fill {
    Normal,  ///< bf16, `deviation`
    Nibbles, ///< packed weights
    Constant ///< 16-bit patterns, all equal
};

struct PlannedTensor
{
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::int64_t bytes = 0;
    Fill fill = Fill::Normal;
    float mean = 0.0F;
    float deviation = 0.0F;
    std::uint16_t pattern = 0;
};

struct PlannedFile
{
    std::string name;
    std::vector<PlannedTensor> tensors;
};

std::int64_t product(const std::vector<std::int64_t> &shape)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

json configJson(const SyntheticShape &shape)
{
    json layerTypes = json::array();
    for (std::int64_t layer = 0; layer < shape.layers; ++layer)
        layerTypes.push_back((layer + 1) % shape.fullEvery == 0 ? "full_attention" : "sliding_attention");
    json text{{"model_type", "diffusion_gemma_text"},
              {"vocab_size", shape.vocabSize},
              {"hidden_size", shape.hiddenSize},
              {"intermediate_size", shape.denseIntermediateSize},
              {"num_hidden_layers", shape.layers},
              {"num_attention_heads", shape.heads},
              {"num_key_value_heads", shape.slidingKvHeads},
              {"head_dim", shape.slidingHeadDim},
              {"global_head_dim", shape.fullHeadDim},
              {"num_global_key_value_heads", shape.fullKvHeads},
              {"hidden_activation", "gelu_pytorch_tanh"},
              {"max_position_embeddings", shape.maxPositions},
              {"rms_norm_eps", 1e-6},
              {"pad_token_id", 0},
              {"eos_token_id", 1},
              {"bos_token_id", 2},
              {"tie_word_embeddings", true},
              {"attention_bias", false},
              {"sliding_window", shape.slidingWindow},
              {"layer_types", layerTypes},
              {"final_logit_softcapping", 30.0},
              {"use_bidirectional_attention", nullptr},
              {"num_experts", shape.experts},
              {"top_k_experts", shape.expertsPerToken},
              {"moe_intermediate_size", shape.expertIntermediateSize}};
    text["rope_parameters"] = {
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}}},
        {"full_attention",
         {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1000000.0}}}};
    return {{"model_type", "diffusion_gemma"},
            {"architectures", {"DiffusionGemmaForBlockDiffusion"}},
            {"text_config", std::move(text)},
            {"canvas_length", shape.canvasLength},
            {"tie_word_embeddings", true}};
}

PlannedTensor plannedVector(const TensorSpec &spec, const ModelConfig &config)
{
    PlannedTensor tensor{.name = spec.name, .dtype = "BF16", .shape = spec.shape, .mean = 1.0F, .deviation = 0.05F};
    const std::string_view name = spec.name;
    if (name.ends_with(".layer_scalar") || name.ends_with("per_expert_scale"))
        tensor.deviation = 0.0F;
    else if (name.ends_with("router.scale")) // router logits of deviation 1: it is multiplied by hidden^-0.5 later
        tensor.mean = static_cast<float>(std::sqrt(static_cast<double>(config.hiddenSize)));
    else if (name.find("post_") != std::string_view::npos)
        tensor.mean = 0.5F;
    else if (name.ends_with("q_norm.weight") || name.ends_with("k_norm.weight")) // scores of deviation 2 or so
        tensor.mean = static_cast<float>(std::sqrt(2.0 / std::sqrt(static_cast<double>(spec.shape[0]))));
    return tensor;
}

PlannedFile plannedModelFile(const ModelConfig &config)
{
    PlannedFile file{"model.safetensors", {}};
    for (const TensorSpec &spec : requiredTensors(config)) {
        PlannedTensor tensor =
            spec.shape.size() == 1
                ? plannedVector(spec, config)
                : PlannedTensor{.name = spec.name,
                                .dtype = "BF16",
                                .shape = spec.shape,
                                .deviation = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.shape[1])))};
        tensor.bytes = product(spec.shape) * 2;
        file.tensors.push_back(std::move(tensor));
    }
    return file;
}

// Nibbles are uniform, 0 to 15: around a zero point of 7 or 8 their deviation is 4.6.
void planExpertMatrix(PlannedFile &file, const std::string &prefix, std::int64_t experts, std::int64_t rows,
                      std::int64_t columns, std::int64_t groupSize)
{
    constexpr double kNibbleDeviation = 4.61;
    const auto scale = static_cast<float>(1.0 / (kNibbleDeviation * std::sqrt(static_cast<double>(columns))));
    const std::vector<std::int64_t> groups{experts, rows, columns / groupSize};
    file.tensors.push_back({.name = prefix + "q",
                            .dtype = "U8",
                            .shape = {experts, rows, columns / 2},
                            .bytes = experts * rows * columns / 2,
                            .fill = Fill::Nibbles});
    for (const auto &[letter, value] : {std::pair{"s", scale}, std::pair{"z", 8.0F}})
        file.tensors.push_back({.name = prefix + letter,
                                .dtype = "F16",
                                .shape = groups,
                                .bytes = product(groups) * 2,
                                .fill = Fill::Constant,
                                .pattern = floatToFp16(value)});
}

std::vector<PlannedFile> plannedFiles(const ModelConfig &config)
{
    std::vector<PlannedFile> files{plannedModelFile(config)};
    for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
        std::string number = std::to_string(layer);
        PlannedFile file{
            "experts_" + std::string(5 - std::min<std::size_t>(5, number.size()), '0') + number + ".safetensors", {}};
        const std::string prefix = "model.decoder.layers." + number + ".experts.";
        planExpertMatrix(file, prefix + "gu_", config.expertCount, 2 * config.expertIntermediateSize, config.hiddenSize,
                         kGateUpGroupSize);
        planExpertMatrix(file, prefix + "dn_", config.expertCount, config.hiddenSize, config.expertIntermediateSize,
                         kDownGroupSize);
        files.push_back(std::move(file));
    }
    return files;
}

/// Length of the header with its eight bytes of length, and the header's text.
std::string headerOf(const PlannedFile &file)
{
    json header = json::object();
    std::int64_t at = 0;
    for (const PlannedTensor &tensor : file.tensors) {
        header[tensor.name] = {
            {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes}}};
        at += tensor.bytes;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' '); // data begin at a multiple of eight
    std::string bytes;
    for (unsigned shift = 0; shift < 64; shift += 8)
        bytes.push_back(static_cast<char>(text.size() >> shift));
    return bytes + text;
}

[[noreturn]] void failWriting(const fs::path &path)
{
    const std::error_code code(errno, std::generic_category());
    const bool denied = code == std::errc::permission_denied || code == std::errc::read_only_file_system;
    throw Error(denied ? ErrorKind::PermissionDenied : ErrorKind::Io,
                path.string() + ": cannot be written: " + code.message(), path.string());
}

class OutputFile
{
public:
    explicit OutputFile(fs::path path) : m_path(std::move(path))
    {
        m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (m_descriptor < 0)
            failWriting(m_path);
    }
    ~OutputFile() { (void)::close(m_descriptor); }
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    /// Returns false, with errno set, if that fails: called on several threads.
    [[nodiscard]] bool write(std::int64_t offset, const void *bytes, std::size_t count) const
    {
        const auto *from = static_cast<const char *>(bytes);
        while (count > 0) {
            const ssize_t written = ::pwrite(m_descriptor, from, count, static_cast<off_t>(offset));
            if (written < 0 && errno == EINTR)
                continue;
            if (written <= 0)
                return false;
            from += written;
            offset += written;
            count -= static_cast<std::size_t>(written);
        }
        return true;
    }
    [[nodiscard]] const fs::path &path() const noexcept { return m_path; }

private:
    fs::path m_path;
    int m_descriptor = -1;
};

/// Standard normal numbers and random bytes, made once.
struct RandomPools
{
    std::vector<float> normal;
    std::vector<std::uint32_t> words;

    explicit RandomPools(std::uint64_t seed) : normal(kPoolNumbers), words(kPoolNumbers)
    {
        const NoiseAddress address{.seed = seed, .canvas = 0, .step = 0};
        for (std::size_t i = 0; i < kPoolNumbers; i += 4) {
            const PhiloxBlock block = address.block(NoiseKind::InitialCanvas, 0, static_cast<std::uint32_t>(i));
            std::copy(block.begin(), block.end(), words.begin() + static_cast<std::ptrdiff_t>(i));
            for (std::size_t pair = 0; pair < 4; pair += 2) { // Box and Muller 1958
                const float radius = std::sqrt(-2.0F * std::log(uniformFromWord(block.at(pair))));
                const float angle = 2.0F * std::numbers::pi_v<float> * uniformFromWord(block.at(pair + 1));
                normal[i + pair] = radius * std::cos(angle);
                normal[i + pair + 1] = radius * std::sin(angle);
            }
        }
    }
};

/// One piece of a tensor, at most kBlockBytes.
struct WriteTask
{
    const OutputFile *file = nullptr;
    const PlannedTensor *tensor = nullptr;
    std::int64_t offset = 0;
    std::size_t bytes = 0;
    std::uint64_t number = 0; ///< of all tasks: where in the pools it begins follows from it
};

void fill(const WriteTask &task, const RandomPools &pools, std::uint64_t seed, std::vector<std::uint16_t> &block)
{
    const PlannedTensor &tensor = *task.tensor;
    block.resize((task.bytes + 1) / 2);
    if (tensor.fill == Fill::Constant) {
        std::ranges::fill(block, tensor.pattern);
        return;
    }
    const NoiseAddress address{.seed = seed, .canvas = 1, .step = 0};
    std::size_t from = address.block(NoiseKind::Renoise, 0, static_cast<std::uint32_t>(task.number))[0] % kPoolNumbers;
    for (std::uint16_t &value : block) {
        value = tensor.fill == Fill::Normal ? floatToBf16(tensor.mean + tensor.deviation * pools.normal[from])
                                            : static_cast<std::uint16_t>(pools.words[from] >> 8U);
        from = from + 1 == kPoolNumbers ? 0 : from + 1;
    }
}

void runTasks(const std::vector<WriteTask> &tasks, std::uint64_t seed, const std::function<bool(double)> &goOn)
{
    const RandomPools pools(seed);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> stop{false};
    std::atomic<const WriteTask *> failed{nullptr};
    std::atomic<int> failure{0};
    const auto work = [&](bool reports) {
        std::vector<std::uint16_t> block;
        for (std::size_t i = next++; i < tasks.size() && !stop; i = next++) {
            fill(tasks[i], pools, seed, block);
            if (!tasks[i].file->write(tasks[i].offset, block.data(), tasks[i].bytes)) {
                failure = errno;
                failed = &tasks[i];
                stop = true;
            }
            if (reports && goOn && !goOn(static_cast<double>(i + 1) / static_cast<double>(tasks.size())))
                stop = true;
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (unsigned core = 1; core < std::thread::hardware_concurrency(); ++core)
            helpers.emplace_back(work, false);
        work(true);
    }
    if (const WriteTask *const task = failed; task != nullptr) {
        errno = failure;
        failWriting(task->file->path());
    }
    if (stop)
        throw Error(ErrorKind::Backend, "writing the model was cancelled");
}

void writeText(const fs::path &path, const std::string &text)
{
    const OutputFile file(path);
    if (!file.write(0, text.data(), text.size()))
        failWriting(path);
}

void makeEmptyDirectory(const fs::path &directory)
{
    std::error_code code;
    fs::create_directories(directory, code);
    if (code) {
        errno = code.value();
        failWriting(directory);
    }
    if (!fs::is_empty(directory))
        throw Error(ErrorKind::InvalidArgument,
                    directory.string() + ": the folder is not empty; name one that is or that does not exist yet",
                    directory.string());
}

ModelConfig configOf(const SyntheticShape &shape)
{
    return parseModelConfig(configJson(shape).dump(), "config.json");
}

} // namespace

const std::vector<SyntheticShape> &syntheticShapes()
{
    static const std::vector<SyntheticShape> kShapes{
        {"tiny", 512, 256, 192, 6, 3, 4, 32, 2, 64, 1, 64, 8, 2, 64, 4096, 32},
        {"demo", 8192, 256, 512, 8, 4, 4, 64, 2, 128, 1, 256, 32, 4, 128, 8192, 256},
        {"26b", 262144, 2816, 2112, 30, 6, 16, 256, 8, 512, 2, 1024, 128, 8, 704, 262144, 256}};
    return kShapes;
}

std::optional<SyntheticShape> syntheticShape(std::string_view name)
{
    const auto found = std::ranges::find(syntheticShapes(), name, &SyntheticShape::name);
    return found == syntheticShapes().end() ? std::nullopt : std::optional(*found);
}

std::int64_t syntheticBytes(const SyntheticShape &shape)
{
    std::int64_t bytes = 0;
    for (const PlannedFile &file : plannedFiles(configOf(shape)))
        for (const PlannedTensor &tensor : file.tensors)
            bytes += tensor.bytes;
    return bytes;
}

void writeSyntheticCheckpoint(const SyntheticShape &shape, const fs::path &directory, std::uint64_t seed,
                              const std::function<bool(double)> &goOn)
{
    makeEmptyDirectory(directory);
    const std::vector<PlannedFile> files = plannedFiles(configOf(shape));
    writeText(directory / "config.json", configJson(shape).dump(1) + "\n");
    const json meta{{"format", kW4FormatName},
                    {"gate_up_group", kGateUpGroupSize},
                    {"down_group", kDownGroupSize},
                    {"num_layers", shape.layers}};
    writeText(directory / "w4_meta.json", meta.dump(1) + "\n");
    std::vector<std::unique_ptr<OutputFile>> outputs;
    std::vector<WriteTask> tasks;
    for (const PlannedFile &file : files) {
        outputs.push_back(std::make_unique<OutputFile>(directory / file.name));
        const std::string header = headerOf(file);
        if (!outputs.back()->write(0, header.data(), header.size()))
            failWriting(outputs.back()->path());
        auto at = static_cast<std::int64_t>(header.size());
        for (const PlannedTensor &tensor : file.tensors) {
            for (std::int64_t done = 0; done < tensor.bytes; done += static_cast<std::int64_t>(kBlockBytes))
                tasks.push_back({.file = outputs.back().get(),
                                 .tensor = &tensor,
                                 .offset = at + done,
                                 .bytes = std::min(kBlockBytes, static_cast<std::size_t>(tensor.bytes - done)),
                                 .number = tasks.size()});
            at += tensor.bytes;
        }
    }
    runTasks(tasks, seed, goOn);
}

} // namespace palimpsest
