// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/request_desk.h"
#include "tests/support/scheduler_bench.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace palimpsest::test {

/// A desk over a fake whose steps wait at a gate, so that the test says how far things go.
struct DeskBench
{
    explicit DeskBench(const DeskSettings &settings, FakeModel model = settlingModel(64))
    {
        log->beforeDenoise = [this](std::span<const DenoiseJob>) {
            gate.pass();
        };
        desk = std::make_unique<RequestDesk>(std::make_unique<FakeBackend>(FakeSettings{}, std::move(model), log),
                                             nullptr, settings);
    }
    ~DeskBench()
    {
        gate.open();
        desk.reset();
    }
    DeskBench(const DeskBench &) = delete;
    DeskBench &operator=(const DeskBench &) = delete;

    Gate gate;
    std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
    std::unique_ptr<RequestDesk> desk;
};

/// Names of requests in the order in which they ended, with their outcomes.
class Ends
{
public:
    RequestDesk::Completion of(const std::string &name)
    {
        return [this, name](Outcome outcome) {
            const std::lock_guard lock(m_mutex);
            m_order.push_back(name);
            m_outcomes.emplace(name, std::move(outcome));
            m_changed.notify_all();
        };
    }
    std::vector<std::string> wait(std::size_t count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_order.size() >= count; });
        return m_order;
    }
    GenerationResult result(const std::string &name)
    {
        const std::lock_guard lock(m_mutex);
        return std::get<GenerationResult>(m_outcomes.at(name));
    }
    std::size_t count() const
    {
        const std::lock_guard lock(m_mutex);
        return m_order.size();
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<std::string> m_order;
    std::map<std::string, Outcome> m_outcomes;
};

/// The kind of the Error that a call ends with; Io if there is none.
[[nodiscard]] inline ErrorKind refusalOf(const std::function<void()> &work)
{
    try {
        work();
    } catch (const Error &error) {
        return error.kind();
    }
    return ErrorKind::Io;
}

} // namespace palimpsest::test
