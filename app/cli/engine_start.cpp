// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/engine_start.h"

#include <chrono>
#include <utility>

namespace palimpsest::cli {

Engine startEngine(const LoadedModel &model, PromptReuse reuse, const std::stop_token &stop)
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const LoadProgress goOn = [&stop](double) {
        return !stop.stop_requested();
    };
    std::unique_ptr<Backend> backend = startBackend(model, goOn);
    SchedulerSettings settings;
    settings.maxBatch = batchCanvases(backend->info());
    if (reuse == PromptReuse::None)
        settings.prefixCacheBytes = 0;
    Engine engine;
    engine.scheduler = std::make_unique<Scheduler>(std::move(backend), model.tokenizer, settings);
    engine.loadMs = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return engine;
}

} // namespace palimpsest::cli
