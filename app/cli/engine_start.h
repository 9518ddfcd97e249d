// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/model_session.h"
#include "engine/scheduler.h"

#include <memory>
#include <stop_token>

namespace palimpsest::cli {

/// The model loaded onto the device, and the thread that runs it.
struct Engine
{
    std::unique_ptr<Scheduler> scheduler;
    double loadMs = 0.0; ///< of the weights, without opening the folder
};

/// The model's weights on the device that was asked for. Where CUDA was not asked for by name and cannot be used, the
/// CPU computes, and the log says why: as a warning if there is a device that could have been meant.
[[nodiscard]] std::unique_ptr<Backend> startBackend(const LoadedModel &model, const LoadProgress &progress);

/// Throws Error OutOfMemory or Backend; Backend "cancelled" if `stop` was requested.
[[nodiscard]] Engine startEngine(const LoadedModel &model, const std::stop_token &stop);

/// Canvases that a scheduler of startEngine computes in one step.
inline constexpr int kBatchCanvases = 8;

} // namespace palimpsest::cli
