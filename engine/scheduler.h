// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/error.h"
#include "engine/events.h"
#include "engine/generation.h"

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <variant>

namespace palimpsest {

struct SchedulerSettings
{
    int maxBatch = 8;                             ///< canvases in one denoising step
    int queueCapacity = 64;                       ///< requests waiting, beyond those running
    std::int64_t prefixCacheBytes = 256LL << 20U; ///< cache kept for requests that share a beginning
};

struct SchedulerStatus
{
    int running = 0;
    int waiting = 0;
    std::int64_t stepsDone = 0;
    double lastStepMs = 0.0;
};

/// Handle of a submitted request; copies refer to the same one. All calls only post to the scheduler and may come from
/// any thread. Dropping the handle does not cancel.
class RequestHandle
{
public:
    [[nodiscard]] RequestId id() const noexcept;
    void cancel(); ///< takes effect within one step, also while waiting or in prefill
    void pause();  ///< before the next step
    void resume();
    void step(); ///< while paused: one denoising step, then paused again
    /// Effective at the next step; ignored if that canvas is not the running one by then. Throws Error InvalidArgument
    /// at once for a position or an id out of range.
    void freeze(std::int64_t canvas, std::vector<Generation::Freeze> changes);
    /// Requests that will start before this one; 0 = running or next.
    [[nodiscard]] int queuePosition() const;

private:
    friend class Scheduler;
    struct Shared;
    std::shared_ptr<Shared> m_shared;
};

/// Runs requests on one backend: a thread of its own, first come first served, batched at the granularity of one
/// denoising step. Results are identical to running alone (Backend's determinism).
///
/// Owns the backend and is the only one to touch it. The destructor cancels everything and joins after the step in
/// flight.
class Scheduler
{
public:
    /// Called on the scheduler's thread exactly once a request: with its result (a cancelled one, too), or with the
    /// Error that ended it. Must not throw; may submit.
    using Completion = std::function<void(std::variant<GenerationResult, Error>)>;

    /// `tokenizer` may be null: answers then have tokens and no text. Throws Error InvalidArgument for settings that
    /// are out of range.
    Scheduler(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer,
              SchedulerSettings settings = {});
    ~Scheduler();
    Scheduler(const Scheduler &) = delete;
    Scheduler &operator=(const Scheduler &) = delete;

    /// Validates and queues. Throws Error InvalidArgument, ContextLength or QueueFull at once, in the caller's thread.
    RequestHandle submit(GenerationRequest request, std::shared_ptr<GenerationObserver> observer,
                         Completion completion);

    /// submit and wait. Throws the request's Error.
    [[nodiscard]] GenerationResult run(GenerationRequest request,
                                       std::shared_ptr<GenerationObserver> observer = nullptr);

    [[nodiscard]] SchedulerStatus status() const;
    [[nodiscard]] const ModelConfig &config() const noexcept;
    [[nodiscard]] const BackendInfo &backendInfo() const noexcept;
    [[nodiscard]] const std::shared_ptr<const Tokenizer> &tokenizer() const noexcept;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace palimpsest
