// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/request_desk.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

// What is behind RequestDesk and Ticket; for their sources alone.
namespace palimpsest {

using DeskClock = std::chrono::steady_clock;
using DeskOutcome = std::variant<GenerationResult, Error>;

/// Notes when the first text settles. Used on the scheduler's thread alone, once the request runs.
class FirstSettled : public GenerationObserver
{
public:
    explicit FirstSettled(std::shared_ptr<GenerationObserver> observer) : m_observer(std::move(observer)) {}

    void onPrefill(const PrefillEvent &event) override
    {
        if (m_observer)
            m_observer->onPrefill(event);
    }
    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        if (m_observer)
            m_observer->onStep(event);
    }
    void onCanvas(const CanvasEvent &event) override
    {
        if (!m_time && event.settledTokens > 0)
            m_time = DeskClock::now();
        if (m_observer)
            m_observer->onCanvas(event);
    }
    [[nodiscard]] std::optional<DeskClock::time_point> time() const { return m_time; }

private:
    std::shared_ptr<GenerationObserver> m_observer;
    std::optional<DeskClock::time_point> m_time;
};

/// Everything but the first part is guarded by the mutex of the desk's state.
struct Ticket::Entry
{
    std::weak_ptr<RequestDesk::State> desk;
    ClientId client;
    DeskClock::time_point submitted = DeskClock::now();
    std::vector<std::int64_t> canvasLengths;
    std::int64_t vocabSize = 0;

    enum class Phase { Waiting, Running, Ended };
    Phase phase = Phase::Waiting;
    GenerationRequest request; ///< until it runs
    std::shared_ptr<GenerationObserver> observer;
    RequestDesk::Completion completion;
    RequestDesk::PositionObserver onPosition;
    int toldPosition = -1;
    DeskClock::time_point started;
    std::optional<RequestHandle> handle;        ///< while it runs
    std::shared_ptr<FirstSettled> firstSettled; ///< where runs are counted
    bool paused = false;
    int stepsGranted = 0;                                                          ///< while it waits
    std::vector<std::pair<std::int64_t, std::vector<Generation::Freeze>>> freezes; ///< while it waits
};

/// What a desk is: its queues, and the thread that tells those who wait.
struct RequestDesk::State
{
    using Entry = Ticket::Entry;
    using EntryPointer = std::shared_ptr<Entry>;

    State(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> theTokenizer, DeskSettings theSettings);

    // With the mutex held.
    void enqueue(const EntryPointer &entry);
    void dispatch();
    void start(const EntryPointer &entry);
    [[nodiscard]] bool mayStart() const;
    [[nodiscard]] int positionOf(const Entry &entry) const;
    void withdraw(const Entry &entry);
    void cancelWaiting(const EntryPointer &entry);
    void endWaiting(const EntryPointer &entry, DeskOutcome outcome);
    void notePause(Entry &entry, bool pause);

    // Without it.
    void ended(const EntryPointer &entry, DeskOutcome outcome);
    void cancel(const EntryPointer &entry);
    void tellWaiting();

    struct Delivery
    {
        Completion completion;
        DeskOutcome outcome;
        double queueMs = 0.0;
    };

    const DeskSettings settings;
    const ModelConfig model;
    const std::shared_ptr<const Tokenizer> tokenizer;

    mutable std::mutex mutex;
    std::condition_variable wake;
    std::unique_ptr<Scheduler> scheduler;                ///< null once closed
    std::map<ClientId, std::deque<EntryPointer>> queues; ///< of the clients that have something waiting
    std::deque<ClientId> turns;                          ///< the same clients, in the order in which they come
    int waiting = 0;
    int running = 0;
    int pausedRunning = 0;
    std::uint64_t submitted = 0;
    std::uint64_t completed = 0;
    double meanRunSeconds = 0.0;
    std::vector<Delivery> deliveries; ///< for the desk's thread
    bool positionsMoved = false;      ///< likewise
    bool closed = false;
    bool stopping = false;

    std::mutex closing; ///< held while the desk is being closed
    std::thread teller; ///< the desk's thread
};

} // namespace palimpsest
