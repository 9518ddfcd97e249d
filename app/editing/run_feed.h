// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/request_desk.h"
#include "engine/error.h"
#include "engine/events.h"
#include "engine/generation.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

namespace palimpsest::editing {

/// Where the engine's events of a run cross to the thread of its session: the scheduler's thread puts them down and
/// goes on, the session takes them all when it comes to it.
class RunFeed : public std::enable_shared_from_this<RunFeed>
{
public:
    struct Position
    {
        int inFront = 0;
    };
    using Payload =
        std::variant<Position, PrefillEvent, std::shared_ptr<const StepEvent>, CanvasEvent, GenerationResult,
                     Error>; ///< the last two end a lane
    struct Event
    {
        std::size_t lane = 0;
        Payload payload;
    };

    /// `wake` is called from any thread when the feed is no longer empty; it must only post.
    explicit RunFeed(std::function<void()> wake) : m_wake(std::move(wake)) {}

    // Any thread.

    [[nodiscard]] std::shared_ptr<GenerationObserver> observer(std::size_t lane);
    [[nodiscard]] RequestDesk::Completion completion(std::size_t lane);
    [[nodiscard]] RequestDesk::PositionObserver positionObserver(std::size_t lane);

    // The session's thread.

    [[nodiscard]] std::vector<Event> take();
    /// Nothing is put down or woken any more when this returns.
    void close();

private:
    class Observer;
    void put(std::size_t lane, Payload payload);

    std::mutex m_mutex;
    std::vector<Event> m_events;  ///< guarded by m_mutex, like the following
    std::function<void()> m_wake; ///< null once closed
};

} // namespace palimpsest::editing
