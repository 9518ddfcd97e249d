// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/prefix_cache.h"
#include "engine/request_queue.h"

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace palimpsest {

/// What the scheduler's thread does: takes requests from the queue, has the backend encode and denoise for all of them
/// in turn, and tells observers. Everything here lives on that thread; no lock is held over the backend or a callback.
class SchedulerLoop
{
public:
    SchedulerLoop(Backend &backend, RequestQueue &queue, const SchedulerSettings &settings);
    ~SchedulerLoop();
    SchedulerLoop(const SchedulerLoop &) = delete;
    SchedulerLoop &operator=(const SchedulerLoop &) = delete;

    /// Returns once the queue was stopped and every request has ended.
    void run();

private:
    struct ActiveRequest;
    using Outcome = std::variant<GenerationResult, Error>;

    void admit(std::unique_ptr<Submission> submission);
    void follow(std::span<RequestQueue::Orders> orders);
    void encodeChunk(ActiveRequest &request);
    void finishEncoding(ActiveRequest &request);
    void denoise(std::span<ActiveRequest *const> batch);
    void evaluateStep(ActiveRequest &request, double stepMs);
    void cancel(ActiveRequest &request);
    void endWaiting(std::vector<std::unique_ptr<Submission>> submissions);
    void end(ActiveRequest &request, std::optional<Error> error);
    void dropEnded();
    void cancelAll();
    template <typename Work>
    bool guarded(ActiveRequest &request, Work &&work);

    Backend &m_backend;
    RequestQueue &m_queue;
    PrefixCache m_cache;
    std::vector<std::unique_ptr<ActiveRequest>> m_running; ///< in order of admission
};

} // namespace palimpsest
