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

/// Whether the command's requests begin alike, so that keeping what was computed for their prompts is worth its memory.
enum class PromptReuse {
    None,   ///< passages that share an instruction of a dozen tokens, or a single request
    Shared, ///< candidates of one edit: the same prompt several times
};

/// Throws Error OutOfMemory or Backend; Backend "cancelled" if `stop` was requested.
[[nodiscard]] Engine startEngine(const LoadedModel &model, PromptReuse reuse, const std::stop_token &stop);

/// Most canvases that a scheduler of startEngine computes in one step.
inline constexpr int kBatchCanvases = 8;
/// The same on a CPU, which one canvas keeps busy: more at a time only settle later and hold more memory.
inline constexpr int kCpuBatchCanvases = 3;

} // namespace palimpsest::cli
