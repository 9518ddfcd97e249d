// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/request_desk.h"

#include "app/desk_state.h"
#include "engine/error.h"
#include "engine/request_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace palimpsest {

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
            state.cancelWaiting(entry);
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
