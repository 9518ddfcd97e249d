// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/scheduler.h"
#include "tests/support/fake_backend.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

namespace palimpsest::test {

using Outcome = std::variant<GenerationResult, Error>;

/// Holds a thread at a place of the test's choosing: `pass` waits for a permit, `waitForArrival` until it does so.
class Gate
{
public:
    void pass()
    {
        std::unique_lock lock(m_mutex);
        ++m_arrived;
        m_changed.notify_all();
        m_changed.wait(lock, [this] { return m_open || m_permits > 0; });
        m_permits -= m_open ? 0 : 1;
    }
    void waitForArrival(int count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_arrived >= count; });
    }
    void permit(int count)
    {
        const std::lock_guard lock(m_mutex);
        m_permits += count;
        m_changed.notify_all();
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_arrived = 0;
    int m_permits = 0;
    bool m_open = false;
};

/// Collects outcomes of several requests, in order of completion.
class Outcomes
{
public:
    Scheduler::Completion completion()
    {
        return [this](Outcome outcome) {
            const std::lock_guard lock(m_mutex);
            m_all.push_back(std::move(outcome));
            m_changed.notify_all();
        };
    }
    /// The outcomes once there are `count`.
    std::deque<Outcome> wait(std::size_t count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_all.size() >= count; });
        return m_all;
    }
    std::size_t count() const
    {
        const std::lock_guard lock(m_mutex);
        return m_all.size();
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Outcome> m_all;
};

class Recorder : public GenerationObserver
{
public:
    struct Events
    {
        std::vector<PrefillEvent> prefills;
        std::vector<std::shared_ptr<const StepEvent>> steps;
        std::vector<CanvasEvent> canvases;
    };
    void onPrefill(const PrefillEvent &event) override
    {
        change([&] { m_events.prefills.push_back(event); });
    }
    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        change([&] { m_events.steps.push_back(event); });
    }
    void onCanvas(const CanvasEvent &event) override
    {
        change([&] { m_events.canvases.push_back(event); });
    }
    Events events() const
    {
        const std::lock_guard lock(m_mutex);
        return m_events;
    }
    void waitForSteps(std::size_t count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_events.steps.size() >= count; });
    }

private:
    template <typename Change>
    void change(Change &&apply)
    {
        const std::lock_guard lock(m_mutex);
        apply();
        m_changed.notify_all();
    }

    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    Events m_events;
};

/// A scheduler over a fake, with its log.
struct Bench
{
    explicit Bench(FakeModel model, SchedulerSettings settings = {}, FakeSettings fake = {},
                   std::shared_ptr<FakeLog> theLog = std::make_shared<FakeLog>())
        : log(std::move(theLog)),
          scheduler(std::make_unique<Scheduler>(std::make_unique<FakeBackend>(fake, std::move(model), log), nullptr,
                                                settings))
    {
    }

    std::shared_ptr<FakeLog> log;
    std::unique_ptr<Scheduler> scheduler;
};

inline GenerationRequest requestFor(std::uint64_t seed, std::size_t promptTokens = 5, std::int64_t budget = 20)
{
    GenerationRequest request;
    for (std::size_t i = 0; i < promptTokens; ++i) {
        request.prompt.push_back(static_cast<TokenId>((seed * 7 + i * 13) % 64));
    }
    request.seed = seed;
    request.maxNewTokens = budget;
    return request;
}

inline GenerationRequest endlessRequest(std::uint64_t seed = 1)
{
    GenerationRequest request = requestFor(seed, 5, 512);
    request.sampler.maxDenoisingSteps = kMostDenoisingSteps;
    return request;
}

inline bool sameAnswer(const GenerationResult &a, const GenerationResult &b)
{
    if (a.tokens != b.tokens || a.finish != b.finish || a.canvases.size() != b.canvases.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.canvases.size(); ++i) {
        if (a.canvases[i].committed != b.canvases[i].committed || a.canvases[i].steps != b.canvases[i].steps ||
            a.canvases[i].meanEntropyNats != b.canvases[i].meanEntropyNats) {
            return false;
        }
    }
    return true;
}

} // namespace palimpsest::test
