// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/request_desk.h"

#include "engine/error.h"
#include "engine/request_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

namespace palimpsest {

namespace {

using Clock = std::chrono::steady_clock;
using Outcome = std::variant<GenerationResult, Error>;

double secondsBetween(Clock::time_point begin, Clock::time_point end)
{
    return std::chrono::duration<double>(end - begin).count();
}

SchedulerSettings schedulerSettings(const DeskSettings &settings)
{
    if (settings.maxBatch < 1 || settings.queueCapacity < 0) {
        throw Error(ErrorKind::InvalidArgument,
                    "The desk needs a batch of at least 1 and a queue of at least 0 requests; found " +
                        std::to_string(settings.maxBatch) + " and " + std::to_string(settings.queueCapacity),
                    settings.maxBatch < 1 ? "maxBatch" : "queueCapacity");
    }
    // The desk hands over only what may run: the scheduler's own queue stays empty but for the blink between two turns.
    return {.maxBatch = settings.maxBatch + RequestDesk::kPausedPlaces,
            .queueCapacity = settings.maxBatch + RequestDesk::kPausedPlaces,
            .prefixCacheBytes = settings.prefixCacheBytes};
}

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
            m_time = Clock::now();
        if (m_observer)
            m_observer->onCanvas(event);
    }
    [[nodiscard]] std::optional<Clock::time_point> time() const { return m_time; }

private:
    std::shared_ptr<GenerationObserver> m_observer;
    std::optional<Clock::time_point> m_time;
};

} // namespace

/// Everything but the first part is guarded by the mutex of the desk's state.
struct Ticket::Entry
{
    std::weak_ptr<RequestDesk::State> desk;
    ClientId client;
    Clock::time_point submitted = Clock::now();
    std::vector<std::int64_t> canvasLengths;
    std::int64_t vocabSize = 0;

    enum class Phase { Waiting, Running, Ended };
    Phase phase = Phase::Waiting;
    GenerationRequest request; ///< until it runs
    std::shared_ptr<GenerationObserver> observer;
    RequestDesk::Completion completion;
    RequestDesk::PositionObserver onPosition;
    int toldPosition = -1;
    Clock::time_point started;
    std::optional<RequestHandle> handle;        ///< while it runs
    std::shared_ptr<FirstSettled> firstSettled; ///< where runs are counted
    bool paused = false;
    int stepsGranted = 0;                                                          ///< while it waits
    std::vector<std::pair<std::int64_t, std::vector<Generation::Freeze>>> freezes; ///< while it waits
};

struct RequestDesk::State : std::enable_shared_from_this<RequestDesk::State>
{
    using Entry = Ticket::Entry;
    using EntryPointer = std::shared_ptr<Entry>;

    State(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> theTokenizer, DeskSettings theSettings)
        : settings(std::move(theSettings)),
          model(backend->config()),
          tokenizer(theTokenizer),
          scheduler(
              std::make_unique<Scheduler>(std::move(backend), std::move(theTokenizer), schedulerSettings(settings)))
    {
    }

    // With the mutex held.
    void enqueue(const EntryPointer &entry);
    void dispatch();
    void start(const EntryPointer &entry);
    [[nodiscard]] bool mayStart() const;
    [[nodiscard]] int positionOf(const Entry &entry) const;
    void withdraw(const Entry &entry);
    void endWaiting(const EntryPointer &entry, Outcome outcome);
    void notePause(Entry &entry, bool pause);

    // Without it.
    void ended(const EntryPointer &entry, Outcome outcome);
    void cancel(const EntryPointer &entry);
    void tellWaiting();

    struct Delivery
    {
        Completion completion;
        Outcome outcome;
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

void RequestDesk::State::enqueue(const EntryPointer &entry)
{
    std::deque<EntryPointer> &queue = queues[entry->client];
    if (queue.empty())
        turns.push_back(entry->client);
    queue.push_back(entry);
    ++waiting;
    ++submitted;
}

bool RequestDesk::State::mayStart() const
{
    const int active = running - std::min(pausedRunning, kPausedPlaces);
    return active < settings.maxBatch && running < settings.maxBatch + kPausedPlaces;
}

void RequestDesk::State::dispatch()
{
    while (!closed && !turns.empty() && mayStart()) {
        const ClientId client = std::move(turns.front());
        turns.pop_front();
        const auto queue = queues.find(client);
        const EntryPointer entry = std::move(queue->second.front());
        queue->second.pop_front();
        --waiting;
        if (queue->second.empty())
            queues.erase(queue);
        else
            turns.push_back(client);
        start(entry);
    }
    positionsMoved = true;
    wake.notify_one();
}

void RequestDesk::State::start(const EntryPointer &entry)
{
    entry->request.startPaused = entry->paused;
    try {
        // Under the lock, so that `ended` finds the handle in its place. It calls nothing back.
        entry->handle = scheduler->submit(std::move(entry->request), std::move(entry->observer),
                                          [this, entry](Outcome outcome) { ended(entry, std::move(outcome)); });
    } catch (const Error &error) { // cannot be: it was checked, and there is room
        endWaiting(entry, error);
        return;
    }
    entry->phase = Entry::Phase::Running;
    entry->started = Clock::now();
    ++running;
    pausedRunning += entry->paused ? 1 : 0;
    for (auto &[canvas, changes] : std::exchange(entry->freezes, {}))
        entry->handle->freeze(canvas, std::move(changes));
    for (; entry->stepsGranted > 0; --entry->stepsGranted)
        entry->handle->step();
}

int RequestDesk::State::positionOf(const Entry &entry) const
{
    if (entry.phase != Entry::Phase::Waiting)
        return 0;
    const auto own = queues.find(entry.client);
    const auto place = std::find_if(own->second.begin(), own->second.end(),
                                    [&](const EntryPointer &other) { return other.get() == &entry; });
    const auto rounds = place - own->second.begin(); // every client before gets one more turn than these
    std::ptrdiff_t before = rounds;
    bool comesEarlier = true;
    for (const ClientId &client : turns) {
        if (client == entry.client) {
            comesEarlier = false;
            continue;
        }
        const auto queued = static_cast<std::ptrdiff_t>(queues.at(client).size());
        before += std::min(queued, rounds + (comesEarlier ? 1 : 0));
    }
    return static_cast<int>(before);
}

void RequestDesk::State::withdraw(const Entry &entry)
{
    const auto queue = queues.find(entry.client);
    std::erase_if(queue->second, [&](const EntryPointer &other) { return other.get() == &entry; });
    --waiting;
    if (queue->second.empty()) {
        queues.erase(queue);
        std::erase(turns, entry.client);
    }
}

void RequestDesk::State::endWaiting(const EntryPointer &entry, Outcome outcome)
{
    entry->phase = Entry::Phase::Ended;
    entry->observer.reset();
    entry->onPosition = nullptr;
    ++completed;
    deliveries.push_back({std::exchange(entry->completion, nullptr), std::move(outcome),
                          1000.0 * secondsBetween(entry->submitted, Clock::now())});
    positionsMoved = true;
    wake.notify_one();
}

void RequestDesk::State::notePause(Entry &entry, bool pause)
{
    if (entry.paused == pause)
        return;
    entry.paused = pause;
    if (entry.phase != Entry::Phase::Running)
        return;
    pausedRunning += pause ? 1 : -1;
    if (pause)
        dispatch();
}

void RequestDesk::State::ended(const EntryPointer &entry, Outcome outcome)
{
    Completion completion;
    {
        const std::lock_guard lock(mutex);
        entry->phase = Entry::Phase::Ended;
        entry->handle.reset();
        entry->onPosition = nullptr;
        completion = std::exchange(entry->completion, nullptr);
        --running;
        pausedRunning -= entry->paused ? 1 : 0;
        ++completed;
        constexpr double kShareOfTheNewest = 0.2;
        const double seconds = secondsBetween(entry->started, Clock::now());
        meanRunSeconds =
            meanRunSeconds == 0.0 ? seconds : meanRunSeconds + kShareOfTheNewest * (seconds - meanRunSeconds);
        dispatch(); // first: the scheduler's next step is to be full
    }
    const auto *error = std::get_if<Error>(&outcome);
    if (error != nullptr && error->kind() == ErrorKind::Backend && settings.onDeviceError)
        settings.onDeviceError();
    if (settings.onFinished) {
        std::optional<double> firstSettledMs;
        if (const auto time = entry->firstSettled->time())
            firstSettledMs = 1000.0 * secondsBetween(entry->submitted, *time);
        settings.onFinished({outcome, 1000.0 * secondsBetween(entry->submitted, entry->started), firstSettledMs});
    }
    if (completion)
        completion(std::move(outcome));
}

void RequestDesk::State::cancel(const EntryPointer &entry)
{
    std::optional<RequestHandle> handle;
    {
        const std::lock_guard lock(mutex);
        if (entry->phase == Entry::Phase::Waiting) {
            withdraw(*entry);
            GenerationResult result;
            result.finish = FinishReason::Cancelled;
            result.seed = entry->request.seed;
            result.promptTokens = static_cast<std::int64_t>(entry->request.prompt.size());
            result.queueMs = 1000.0 * secondsBetween(entry->submitted, Clock::now());
            entry->request = {};
            endWaiting(entry, std::move(result));
            return;
        }
        handle = entry->handle;
    }
    if (handle) // outside the lock: a backend's stop callbacks may run here
        handle->cancel();
}

void RequestDesk::State::tellWaiting()
{
    std::unique_lock lock(mutex);
    while (true) {
        wake.wait(lock, [this] { return stopping || positionsMoved || !deliveries.empty(); });
        positionsMoved = false;
        std::vector<Delivery> due = std::exchange(deliveries, {});
        std::vector<std::pair<PositionObserver, int>> news;
        for (const auto &[client, queue] : queues) {
            for (const EntryPointer &entry : queue) {
                const int position = positionOf(*entry);
                if (entry->onPosition && std::exchange(entry->toldPosition, position) != position)
                    news.emplace_back(entry->onPosition, position);
            }
        }
        const bool last = stopping;
        lock.unlock();
        for (const auto &[observer, position] : news)
            observer(position);
        for (Delivery &delivery : due) {
            if (settings.onFinished)
                settings.onFinished({delivery.outcome, delivery.queueMs, std::nullopt});
            if (delivery.completion)
                delivery.completion(std::move(delivery.outcome));
        }
        lock.lock();
        if (last && deliveries.empty())
            return;
    }
}

RequestDesk::RequestDesk(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> tokenizer,
                         const DeskSettings &settings)
    : m_state(std::make_shared<State>(std::move(backend), std::move(tokenizer), settings))
{
    m_state->teller = std::thread([state = m_state.get()] { state->tellWaiting(); });
}

RequestDesk::~RequestDesk()
{
    close();
}

Ticket RequestDesk::submit(const ClientId &client, GenerationRequest request,
                           std::shared_ptr<GenerationObserver> observer, Completion completion,
                           PositionObserver onPosition)
{
    State &state = *m_state;
    const auto entry = std::make_shared<Ticket::Entry>();
    entry->desk = m_state;
    entry->client = client;
    entry->vocabSize = state.model.vocabSize;
    entry->canvasLengths = checkRequest(request, state.model, state.tokenizer.get()).canvasLengths;
    entry->paused = request.startPaused;
    entry->request = std::move(request);
    if (state.settings.onFinished)
        observer = entry->firstSettled = std::make_shared<FirstSettled>(std::move(observer));
    entry->observer = std::move(observer);
    entry->completion = std::move(completion);
    entry->onPosition = std::move(onPosition);

    const std::lock_guard lock(state.mutex);
    if (state.closed)
        throw Error(ErrorKind::Backend, "The model is no longer there: it was closed, or its device failed", "model");
    if (state.waiting >= state.settings.queueCapacity && !(state.waiting == 0 && state.mayStart())) {
        throw Error(ErrorKind::QueueFull,
                    "The model is busy: " + std::to_string(state.running) + " requests are running and " +
                        std::to_string(state.waiting) + " are waiting; try again later",
                    "queue");
    }
    state.enqueue(entry);
    state.dispatch();
    return Ticket(entry);
}

void RequestDesk::close()
{
    State &state = *m_state;
    const std::lock_guard closing(state.closing);
    std::unique_ptr<Scheduler> scheduler;
    {
        const std::lock_guard lock(state.mutex);
        state.closed = true;
        scheduler = std::move(state.scheduler);
    }
    scheduler.reset(); // cancels what runs, calls its completions, joins
    {
        const std::lock_guard lock(state.mutex);
        while (!state.turns.empty()) {
            const auto entry = state.queues.at(state.turns.front()).front();
            state.withdraw(*entry);
            GenerationResult result;
            result.finish = FinishReason::Cancelled;
            result.seed = entry->request.seed;
            result.promptTokens = static_cast<std::int64_t>(entry->request.prompt.size());
            state.endWaiting(entry, std::move(result));
        }
        state.stopping = true;
        state.wake.notify_one();
    }
    if (state.teller.joinable())
        state.teller.join();
}

DeskStatus RequestDesk::status() const
{
    const State &state = *m_state;
    const std::lock_guard lock(state.mutex);
    DeskStatus status{.running = state.running,
                      .waiting = state.waiting,
                      .maxBatch = state.settings.maxBatch,
                      .queueCapacity = state.settings.queueCapacity,
                      .submitted = state.submitted,
                      .completed = state.completed};
    if (state.scheduler) {
        const SchedulerStatus engine = state.scheduler->status();
        status.stepsDone = engine.stepsDone;
        status.lastStepMs = engine.lastStepMs;
    }
    return status;
}

int RequestDesk::secondsUntilFree() const
{
    const State &state = *m_state;
    const std::lock_guard lock(state.mutex);
    constexpr double kMostSeconds = 60.0; // clients give up on more
    const double seconds = state.meanRunSeconds / state.settings.maxBatch;
    return static_cast<int>(std::ceil(std::clamp(seconds, 1.0, kMostSeconds)));
}

void Ticket::cancel()
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (desk)
        desk->cancel(m_entry);
}

void Ticket::pause()
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (!desk)
        return;
    const std::lock_guard lock(desk->mutex);
    if (m_entry->handle)
        m_entry->handle->pause();
    desk->notePause(*m_entry, true);
}

void Ticket::resume()
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (!desk)
        return;
    const std::lock_guard lock(desk->mutex);
    m_entry->stepsGranted = 0;
    if (m_entry->handle)
        m_entry->handle->resume();
    desk->notePause(*m_entry, false);
}

void Ticket::step()
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (!desk)
        return;
    const std::lock_guard lock(desk->mutex);
    if (m_entry->handle)
        m_entry->handle->step();
    else if (m_entry->phase == Entry::Phase::Waiting && m_entry->paused)
        ++m_entry->stepsGranted;
}

void Ticket::freeze(std::int64_t canvas, std::vector<Generation::Freeze> changes)
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (!desk || canvas < 0 || canvas >= static_cast<std::int64_t>(m_entry->canvasLengths.size()))
        return;
    checkFreezes(changes, m_entry->canvasLengths[static_cast<std::size_t>(canvas)], m_entry->vocabSize);
    const std::lock_guard lock(desk->mutex);
    if (m_entry->handle)
        m_entry->handle->freeze(canvas, std::move(changes));
    else if (m_entry->phase == Entry::Phase::Waiting)
        m_entry->freezes.emplace_back(canvas, std::move(changes));
}

int Ticket::queuePosition() const
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (!desk)
        return 0;
    const std::lock_guard lock(desk->mutex);
    return desk->positionOf(*m_entry);
}

bool Ticket::waiting() const
{
    const auto desk = m_entry ? m_entry->desk.lock() : nullptr;
    if (!desk)
        return false;
    const std::lock_guard lock(desk->mutex);
    return m_entry->phase == Entry::Phase::Waiting;
}

} // namespace palimpsest
