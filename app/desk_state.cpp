// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/desk_state.h"

#include "engine/error.h"

#include <algorithm>

namespace palimpsest {

namespace {

double secondsBetween(DeskClock::time_point begin, DeskClock::time_point end)
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

} // namespace

RequestDesk::State::State(std::unique_ptr<Backend> backend, std::shared_ptr<const Tokenizer> theTokenizer,
                          DeskSettings theSettings)
    : settings(std::move(theSettings)),
      model(backend->config()),
      tokenizer(theTokenizer),
      scheduler(std::make_unique<Scheduler>(std::move(backend), std::move(theTokenizer), schedulerSettings(settings)))
{
}

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
                                          [this, entry](DeskOutcome outcome) { ended(entry, std::move(outcome)); });
    } catch (const Error &error) { // cannot be: it was checked, and there is room
        endWaiting(entry, error);
        return;
    }
    entry->phase = Entry::Phase::Running;
    entry->started = DeskClock::now();
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

void RequestDesk::State::cancelWaiting(const EntryPointer &entry)
{
    withdraw(*entry);
    GenerationResult result;
    result.finish = FinishReason::Cancelled;
    result.seed = entry->request.seed;
    result.promptTokens = static_cast<std::int64_t>(entry->request.prompt.size());
    result.queueMs = 1000.0 * secondsBetween(entry->submitted, DeskClock::now());
    entry->request = {};
    endWaiting(entry, std::move(result));
}

void RequestDesk::State::endWaiting(const EntryPointer &entry, DeskOutcome outcome)
{
    entry->phase = Entry::Phase::Ended;
    entry->observer.reset();
    entry->firstSettled.reset();
    entry->onPosition = nullptr;
    ++completed;
    deliveries.push_back({std::exchange(entry->completion, nullptr), std::move(outcome),
                          1000.0 * secondsBetween(entry->submitted, DeskClock::now())});
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

void RequestDesk::State::ended(const EntryPointer &entry, DeskOutcome outcome)
{
    Completion completion;
    std::shared_ptr<FirstSettled> firstSettled; // taken along: whoever holds a ticket does not hold the observer
    {
        const std::lock_guard lock(mutex);
        firstSettled = std::move(entry->firstSettled);
        entry->phase = Entry::Phase::Ended;
        entry->handle.reset();
        entry->onPosition = nullptr;
        completion = std::exchange(entry->completion, nullptr);
        --running;
        pausedRunning -= entry->paused ? 1 : 0;
        ++completed;
        constexpr double kShareOfTheNewest = 0.2;
        const double seconds = secondsBetween(entry->started, DeskClock::now());
        meanRunSeconds =
            meanRunSeconds == 0.0 ? seconds : meanRunSeconds + kShareOfTheNewest * (seconds - meanRunSeconds);
        dispatch(); // first: the scheduler's next step is to be full
    }
    const auto *error = std::get_if<Error>(&outcome);
    if (error != nullptr && error->kind() == ErrorKind::Backend && settings.onDeviceError)
        settings.onDeviceError();
    if (settings.onFinished) {
        std::optional<double> firstSettledMs;
        if (const auto time = firstSettled->time())
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
            cancelWaiting(entry);
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

} // namespace palimpsest
