// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/run_board.h"
#include "engine/generation.h"
#include "engine/scheduler.h"

#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

namespace palimpsest::cli {

/// Requests of one run, made when their turn comes.
struct RequestQueue
{
    std::size_t count = 0;
    std::function<GenerationRequest(std::size_t)> make; ///< called in ascending order, by the thread that runs
    /// Called on the scheduler's thread for each result, before the board's slot is finished; may be empty.
    std::function<void(std::size_t, const GenerationResult &)> onResult;
};

/// Runs requests, a few ahead of the batch, and returns their results in order when all are done. A requested stop
/// cancels what runs and makes no more requests: the rest of the results then are empty with FinishReason::Cancelled.
/// The first Error of a request cancels the others and is thrown.
[[nodiscard]] std::vector<GenerationResult> runRequests(Scheduler &scheduler, const RequestQueue &queue,
                                                        RunBoard &board, const std::stop_token &stop);

} // namespace palimpsest::cli
