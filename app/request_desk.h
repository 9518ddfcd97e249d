// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/scheduler.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace palimpsest {

/// Whom a request belongs to, as far as taking turns is concerned: an API key, a connection, a window.
using ClientId = std::string;

/// A request that has ended, for counting.
struct FinishedRun
{
    const std::variant<GenerationResult, Error> &outcome;
    double queueMs = 0.0;                 ///< from the submission until it ran, or ended without
    std::optional<double> firstSettledMs; ///< from the submission until its first text was final
};

struct DeskSettings
{
    int maxBatch = 8;       ///< requests that run at once: the scheduler's batch
    int queueCapacity = 64; ///< requests waiting, all clients together, beyond those running
    std::int64_t prefixCacheBytes = SchedulerSettings{}.prefixCacheBytes;
    /// Called on the scheduler's thread when a request has ended with Error Backend; may be null.
    std::function<void()> onDeviceError = {};
    /// Called for every request, before its completion and on the same thread; may be null. Must not throw.
    std::function<void(const FinishedRun &)> onFinished = {};
};

struct DeskStatus
{
    int running = 0;
    int waiting = 0;
    int maxBatch = 0;
    int queueCapacity = 0;
    std::int64_t stepsDone = 0;
    double lastStepMs = 0.0;
    std::uint64_t submitted = 0; ///< since the start, refused ones not counted
    std::uint64_t completed = 0; ///< of these: those that have ended, in whatever way
};

/// A request that was handed in; copies refer to the same one. Calls only post, may come from any thread and also from
/// the desk's callbacks, and do nothing once the request has ended. Dropping the ticket does not cancel.
class Ticket
{
public:
    Ticket() = default; ///< none; every call does nothing

    /// Whether there is a request behind it.
    [[nodiscard]] explicit operator bool() const noexcept { return m_entry != nullptr; }

    void cancel(); ///< takes effect within one step, also while waiting or in prefill; frees a waiting place at once
    void pause();  ///< before the next step; while waiting: before the first one
    void resume();
    void step(); ///< while paused: one denoising step, then paused again
    /// As RequestHandle::freeze; while waiting, the changes are kept for when it runs.
    void freeze(std::int64_t canvas, std::vector<Generation::Freeze> changes);
    /// Requests that will start before this one as things stand; 0 = running, next or ended.
    [[nodiscard]] int queuePosition() const;
    /// Still in the queue: has not begun to run.
    [[nodiscard]] bool waiting() const;

private:
    friend class RequestDesk;
    struct Entry;
    explicit Ticket(std::shared_ptr<Entry> entry) : m_entry(std::move(entry)) {}
    std::shared_ptr<Entry> m_entry;
};

/// Admits requests to a scheduler fairly: clients take turns, so that one with twenty requests does not keep another
/// waiting for all of them; a client's own requests run in order. Keeps the scheduler's batch full, and no more than
/// full, so that a newcomer waits for one request to end and not for a queue of somebody else's. A paused request does
/// not hold up the queue (as long as there are not more than kPausedPlaces of them).
///
/// Owns the scheduler. All members may be called from any thread.
class RequestDesk
{
public:
    static constexpr int kPausedPlaces = 16;

    /// Called exactly once a request, with its result (a cancelled one, too) or the Error that ended it: on the
    /// scheduler's thread, or, for one that never ran, on the desk's. Must not throw; may submit; must not close().
    using Completion = Scheduler::Completion;
    /// Called on the desk's thread when a waiting request's queuePosition has changed, and soon after the submission if
    /// it has to wait. Positions may be skipped; the last call may come when the request runs already.
    using PositionObserver = std::function<void(int position)>;

    /// Throws Error InvalidArgument for settings out of range.
    RequestDesk(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer,
                const DeskSettings &settings = {});
    ~RequestDesk(); ///< close()
    RequestDesk(const RequestDesk &) = delete;
    RequestDesk &operator=(const RequestDesk &) = delete;

    /// Validates and queues. Throws Error InvalidArgument, ContextLength, QueueFull, or Backend once closed, at once,
    /// in the caller's thread; nothing is called back then. `observer` and `onPosition` may be null.
    Ticket submit(const ClientId &client, GenerationRequest request, std::shared_ptr<GenerationObserver> observer,
                  Completion completion, PositionObserver onPosition = {});

    /// Cancels everything, calls the completions that are left, and returns when no callback runs any more. Later
    /// submissions throw. Not from a callback.
    void close();

    [[nodiscard]] DeskStatus status() const;
    /// A guess, from how long requests took so far, of the seconds until one of those that run or wait has ended; at
    /// least 1. For "try again later".
    [[nodiscard]] int secondsUntilFree() const;

private:
    friend class Ticket;
    struct State;
    std::shared_ptr<State> m_state;
};

} // namespace palimpsest
