// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/request_queue.h"

#include "engine/error.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace palimpsest {

RequestQueue::RequestQueue(int maxBatch, int capacity)
    : m_maxBatch(static_cast<std::size_t>(maxBatch)), m_capacity(static_cast<std::size_t>(capacity))
{
}

void RequestQueue::submit(std::unique_ptr<Submission> submission)
{
    {
        const std::lock_guard lock(m_mutex);
        // Counted together: a request that will be admitted at once does not take a waiting place in between.
        if (m_running + m_waiting.size() >= m_maxBatch + m_capacity) {
            throw Error(ErrorKind::QueueFull,
                        "The model is busy: " + std::to_string(m_running) + " requests are running and " +
                            std::to_string(m_waiting.size()) + " are waiting; try again later",
                        "queue");
        }
        m_waiting.push_back(std::move(submission));
        m_posted = true;
    }
    m_wake.notify_one();
}

template <typename Change>
void RequestQueue::post(RequestControl &control, Change &&change)
{
    {
        const std::lock_guard lock(m_mutex);
        if (control.finished) {
            return;
        }
        change();
        m_posted = true;
    }
    m_wake.notify_one();
}

void RequestQueue::cancel(RequestControl &control)
{
    // Outside the lock: the callbacks of a backend's stop token may run here.
    control.cancelled.request_stop();
    post(control, [] {});
}

void RequestQueue::pause(RequestControl &control)
{
    post(control, [&] { control.paused = true; });
}

void RequestQueue::resume(RequestControl &control)
{
    post(control, [&] {
        control.paused = false;
        control.stepsGranted = 0;
    });
}

void RequestQueue::step(RequestControl &control)
{
    post(control, [&] { control.stepsGranted += control.paused ? 1 : 0; });
}

void RequestQueue::freeze(RequestControl &control, FreezeOrder order)
{
    post(control, [&] { control.freezes.push_back(std::move(order)); });
}

int RequestQueue::position(const RequestControl &control) const
{
    const std::lock_guard lock(m_mutex);
    const auto place = std::find_if(m_waiting.begin(), m_waiting.end(),
                                    [&](const auto &submission) { return submission->control.get() == &control; });
    return place == m_waiting.end() ? 0 : static_cast<int>(place - m_waiting.begin());
}

SchedulerStatus RequestQueue::status() const
{
    const std::lock_guard lock(m_mutex);
    return {static_cast<int>(m_running), static_cast<int>(m_waiting.size()), m_stepsDone, m_lastStepMs};
}

void RequestQueue::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_wake.notify_one();
}

bool RequestQueue::hasWork(std::span<const Running> running) const
{
    if (m_stopping || m_posted || (!m_waiting.empty() && running.size() < m_maxBatch)) {
        return true;
    }
    return std::any_of(running.begin(), running.end(), [](const Running &request) {
        return request.encodes || !request.control->paused || request.control->stepsGranted > 0;
    });
}

RequestQueue::Turn RequestQueue::nextTurn(std::span<const Running> running)
{
    std::unique_lock lock(m_mutex);
    m_wake.wait(lock, [&] { return hasWork(running); });
    m_posted = false;
    Turn turn;
    turn.stopping = m_stopping;
    if (turn.stopping) {
        return turn;
    }
    for (const auto &[control, encodes] : running) {
        Orders &orders = turn.orders.emplace_back();
        orders.cancel = control->cancelled.stop_requested();
        orders.freezes = std::exchange(control->freezes, {});
        if (!encodes && !orders.cancel) {
            orders.mayStep = !control->paused || control->stepsGranted > 0;
            control->stepsGranted -= control->paused && orders.mayStep ? 1 : 0;
        }
    }
    const auto gaveUp = std::stable_partition(m_waiting.begin(), m_waiting.end(), [](const auto &submission) {
        return !submission->control->cancelled.stop_requested();
    });
    std::move(gaveUp, m_waiting.end(), std::back_inserter(turn.cancelled));
    m_waiting.erase(gaveUp, m_waiting.end());
    for (const auto &submission : turn.cancelled) {
        submission->control->finished = true;
    }
    while (m_running < m_maxBatch && !m_waiting.empty()) {
        turn.admitted.push_back(std::move(m_waiting.front()));
        m_waiting.pop_front();
        ++m_running;
    }
    return turn;
}

std::vector<std::unique_ptr<Submission>> RequestQueue::takeWaiting()
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::unique_ptr<Submission>> all(std::make_move_iterator(m_waiting.begin()),
                                                 std::make_move_iterator(m_waiting.end()));
    m_waiting.clear();
    for (const auto &submission : all) {
        submission->control->finished = true;
    }
    return all;
}

void RequestQueue::recordStep(double stepMs)
{
    const std::lock_guard lock(m_mutex);
    ++m_stepsDone;
    m_lastStepMs = stepMs;
}

void RequestQueue::finished(RequestControl &control)
{
    const std::lock_guard lock(m_mutex);
    control.finished = true;
    control.freezes.clear();
    --m_running;
}

} // namespace palimpsest
