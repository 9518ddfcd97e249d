// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/model_session.h"
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

/// Whether the command's requests begin alike, so that keeping what was computed for their prompts is worth its memory.
enum class PromptReuse {
    None,   ///< passages that share an instruction of a dozen tokens, or a single request
    Shared, ///< candidates of one edit: the same prompt several times
};

/// Throws Error OutOfMemory or Backend; Backend "cancelled" if `stop` was requested.
[[nodiscard]] Engine startEngine(const LoadedModel &model, PromptReuse reuse, const std::stop_token &stop);

} // namespace palimpsest::cli
