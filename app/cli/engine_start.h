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

/// Throws Error OutOfMemory or Backend; Backend "cancelled" if `stop` was requested.
[[nodiscard]] Engine startEngine(const LoadedModel &model, const std::stop_token &stop);

/// Canvases that a scheduler of startEngine computes in one step.
inline constexpr int kBatchCanvases = 8;

} // namespace palimpsest::cli
