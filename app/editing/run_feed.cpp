// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_feed.h"

#include <utility>

namespace palimpsest::editing {

class RunFeed::Observer : public GenerationObserver
{
public:
    Observer(std::shared_ptr<RunFeed> feed, std::size_t lane) : m_feed(std::move(feed)), m_lane(lane) {}

    void onPrefill(const PrefillEvent &event) override { m_feed->put(m_lane, event); }
    void onStep(const std::shared_ptr<const StepEvent> &event) override { m_feed->put(m_lane, event); }
    void onCanvas(const CanvasEvent &event) override { m_feed->put(m_lane, event); }

private:
    std::shared_ptr<RunFeed> m_feed;
    std::size_t m_lane;
};

std::shared_ptr<GenerationObserver> RunFeed::observer(std::size_t lane)
{
    return std::make_shared<Observer>(shared_from_this(), lane);
}

RequestDesk::Completion RunFeed::completion(std::size_t lane)
{
    return [feed = shared_from_this(), lane](std::variant<GenerationResult, Error> outcome) {
        std::visit([&](auto &&value) { feed->put(lane, std::forward<decltype(value)>(value)); }, std::move(outcome));
    };
}

RequestDesk::PositionObserver RunFeed::positionObserver(std::size_t lane)
{
    return [feed = shared_from_this(), lane](int position) {
        feed->put(lane, Position{position});
    };
}

void RunFeed::put(std::size_t lane, Payload payload)
{
    const std::lock_guard lock(m_mutex);
    if (!m_wake)
        return;
    m_events.push_back({lane, std::move(payload)});
    if (m_events.size() == 1)
        m_wake(); // with the lock: close() must be able to rely on it
}

std::vector<RunFeed::Event> RunFeed::take()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_events, {});
}

void RunFeed::close()
{
    const std::lock_guard lock(m_mutex);
    m_wake = nullptr;
    m_events.clear();
}

} // namespace palimpsest::editing
