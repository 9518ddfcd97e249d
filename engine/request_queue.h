// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/generation.h"
#include "engine/scheduler.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

namespace palimpsest {

struct FreezeOrder
{
    std::int64_t canvas = 0;
    std::vector<Generation::Freeze> changes;
};

/// What a request's handles and the scheduler's loop share. The first part never changes; the second is guarded by the
/// mutex of the request's `RequestQueue`.
struct RequestControl
{
    RequestId id = 0;
    std::vector<std::int64_t> canvasLengths;
    std::int64_t vocabSize = 0;
    std::stop_source cancelled;

    bool paused = false;
    int stepsGranted = 0;
    std::vector<FreezeOrder> freezes;
    bool finished = false;
};

/// A request on its way to the loop.
struct Submission
{
    std::shared_ptr<RequestControl> control;
    Generation generation;
    std::shared_ptr<GenerationObserver> observer;
    Scheduler::Completion completion;
    std::chrono::steady_clock::time_point submitted;
};

/// The messages between any thread and the scheduler's: requests waiting in order, and orders for those that run.
/// Outlives the scheduler as long as handles do; then nobody reads the messages.
class RequestQueue
{
public:
    RequestQueue(int maxBatch, int capacity);

    // Any thread.

    /// Throws Error QueueFull.
    void submit(std::unique_ptr<Submission> submission);
    void cancel(RequestControl &control);
    void pause(RequestControl &control);
    void resume(RequestControl &control);
    void step(RequestControl &control);
    void freeze(RequestControl &control, FreezeOrder order);
    [[nodiscard]] int position(const RequestControl &control) const;
    [[nodiscard]] SchedulerStatus status() const;
    /// Ends the loop after the step in flight.
    void stop();

    // The scheduler's thread.

    /// A running request, as far as waiting for work is concerned.
    struct Running
    {
        RequestControl *control = nullptr;
        bool encodes = false; ///< it has tokens to encode; else it denoises next
    };
    /// What to do for the running request of the same index.
    struct Orders
    {
        bool cancel = false;
        bool mayStep = false; ///< a granted step counts as taken
        std::vector<FreezeOrder> freezes;
    };
    struct Turn
    {
        bool stopping = false;
        std::vector<Orders> orders;
        std::vector<std::unique_ptr<Submission>> admitted;  ///< run from now on
        std::vector<std::unique_ptr<Submission>> cancelled; ///< given up while they were waiting
    };
    /// Waits until there is something to do, and says what.
    [[nodiscard]] Turn nextTurn(std::span<const Running> running);
    /// Everything that waits, when the loop ends.
    [[nodiscard]] std::vector<std::unique_ptr<Submission>> takeWaiting();
    void recordStep(double stepMs);
    /// Frees a running request's place; orders for it are ignored from now on.
    void finished(RequestControl &control);

private:
    [[nodiscard]] bool hasWork(std::span<const Running> running) const;
    template <typename Change>
    void post(RequestControl &control, Change &&change);

    const std::size_t m_maxBatch;
    const std::size_t m_capacity;
    mutable std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::unique_ptr<Submission>> m_waiting;
    std::size_t m_running = 0;
    std::int64_t m_stepsDone = 0;
    double m_lastStepMs = 0.0;
    bool m_posted = false; ///< something came in since the last turn
    bool m_stopping = false;
};

} // namespace palimpsest
