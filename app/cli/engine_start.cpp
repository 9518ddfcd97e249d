// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/engine_start.h"

#include "engine/cpu/cpu_backend.h"

#include <chrono>
#include <spdlog/spdlog.h>
#include <utility>

namespace palimpsest::cli {

Engine startEngine(const LoadedModel &model, const std::stop_token &stop)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const LoadProgress goOn = [&stop](double) {
        return !stop.stop_requested();
    };
    std::unique_ptr<Backend> backend = cpu::makeCpuBackend(model.checkpoint, {.threads = model.threads}, goOn);
    spdlog::info("backend: {}", backend->info().deviceName);
    SchedulerSettings settings;
    settings.maxBatch = kBatchCanvases;
    Engine engine;
    engine.scheduler = std::make_unique<Scheduler>(std::move(backend), model.tokenizer, settings);
    engine.loadMs = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return engine;
}

} // namespace palimpsest::cli
