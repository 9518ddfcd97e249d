// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/model_session.h"

#include "app/settings.h"
#include "engine/error.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <spdlog/spdlog.h>
#include <utility>

namespace palimpsest {

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::optional<ChatFormat> readChatFormat(const std::filesystem::path &directory)
{
    const std::filesystem::path file = directory / "chat_template.jinja";
    if (!std::filesystem::exists(file))
        return std::nullopt;
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (!stream)
        throw Error(ErrorKind::PermissionDenied, file.string() + ": cannot be read", file.string());
    return ChatFormat(ChatFormat::detect(text, file.string()));
}

} // namespace

LoadedModel openWeights(const ModelOptions &options, const LoadProgress &progress)
{
    const Clock::time_point start = Clock::now();
    const Settings settings = readSettings(settingsFile());
    LoadedModel model;
    model.location = findModel(modelSources(options.model, settings));
    spdlog::info("model: {} (from {})", model.location.directory.string(), model.location.origin);
    model.checkpoint = Checkpoint::open(model.location.directory, progress);
    for (const std::string &warning : model.checkpoint->warnings())
        spdlog::info("{}", warning);
    model.backend = {.device = deviceChoiceFromName(options.device).value_or(DeviceChoice::Auto),
                     .threads = options.threads.value_or(settings.threads.value_or(0)),
                     .moduleFolders = defaultModuleFolders()};
    model.openMs = millisecondsSince(start);
    return model;
}

LoadedModel openModel(const ModelOptions &options, const LoadProgress &progress)
{
    const Clock::time_point start = Clock::now();
    LoadedModel model = openWeights(options, progress);
    model.tokenizer = openTokenizer(model.location);
    requireTokenizerFits(*model.tokenizer, model.checkpoint->config(),
                         (model.location.directory / "tokenizer.json").string());
    model.chat = readChatFormat(model.location.directory);
    model.openMs = millisecondsSince(start);
    return model;
}

std::shared_ptr<const Tokenizer> openTokenizer(const ModelLocation &location)
{
    const std::filesystem::path file = location.directory / "tokenizer.json";
    if (!std::filesystem::exists(file)) {
        throw Error(ErrorKind::InvalidCheckpoint,
                    file.string() + ": not there; wanted the tokenizer that belongs to the model", file.string());
    }
    return Tokenizer::load(file);
}

std::unique_ptr<Backend> startBackend(const LoadedModel &model, const LoadProgress &progress)
{
    LoadedBackend loaded = loadBackend(model.checkpoint, model.backend, progress);
    if (!loaded.whyNotCuda.empty())
        spdlog::log(loaded.hasUnusedDevice ? spdlog::level::warn : spdlog::level::info,
                    "computing on the CPU; CUDA cannot be used: {}", loaded.whyNotCuda);
    spdlog::info("backend: {}", loaded.backend->info().deviceName);
    return std::move(loaded.backend);
}

int batchCanvases(const BackendInfo &backend) noexcept
{
    return backend.kind == "cpu" ? kCpuBatchCanvases : kBatchCanvases;
}

const ChatFormat &requireChat(const LoadedModel &model, std::string_view remedy)
{
    if (model.chat)
        return *model.chat;
    const std::string file = (model.location.directory / "chat_template.jinja").string();
    throw Error(ErrorKind::InvalidCheckpoint,
                file + ": not there, so messages cannot be put to this model; " + std::string(remedy), file);
}

} // namespace palimpsest
