// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/engine_start.h"

#include <chrono>
#include <spdlog/spdlog.h>
#include <utility>

namespace palimpsest::cli {

std::unique_ptr<Backend> startBackend(const LoadedModel &model, const LoadProgress &progress)
{
    LoadedBackend loaded = loadBackend(model.checkpoint, model.backend, progress);
    if (!loaded.whyNotCuda.empty())
        spdlog::log(loaded.hasUnusedDevice ? spdlog::level::warn : spdlog::level::info,
                    "computing on the CPU; CUDA cannot be used: {}", loaded.whyNotCuda);
    spdlog::info("backend: {}", loaded.backend->info().deviceName);
    return std::move(loaded.backend);
}

Engine startEngine(const LoadedModel &model, PromptReuse reuse, const std::stop_token &stop)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const LoadProgress goOn = [&stop](double) {
        return !stop.stop_requested();
    };
    std::unique_ptr<Backend> backend = startBackend(model, goOn);
    SchedulerSettings settings;
    settings.maxBatch = backend->info().kind == "cpu" ? kCpuBatchCanvases : kBatchCanvases;
    if (reuse == PromptReuse::None)
        settings.prefixCacheBytes = 0;
    Engine engine;
    engine.scheduler = std::make_unique<Scheduler>(std::move(backend), model.tokenizer, settings);
    engine.loadMs = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return engine;
}

} // namespace palimpsest::cli
