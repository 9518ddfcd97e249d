// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/events.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace palimpsest::cli {

/// The latest that is known of one request of a run.
struct SlotState
{
    std::shared_ptr<const StepEvent> event; ///< of the running canvas; null before the first step
    std::string settled;                    ///< text of finished canvases
    std::int64_t promptDone = 0;            ///< prompt tokens read
    std::int64_t promptTotal = 0;
    std::int64_t canvasesDone = 0;
    bool done = false;
};

/// Where the engine's events of a run meet the display's questions.
///
/// Observers (the scheduler's thread) put the newest event of their request into its slot and go on; displays take
/// copies whenever they are ready to paint. Events that nobody looked at are simply replaced.
class RunBoard
{
public:
    /// `onChange` is called from any thread after each change, and must return at once.
    RunBoard(std::size_t slots, std::function<void()> onChange);

    [[nodiscard]] std::shared_ptr<GenerationObserver> observer(std::size_t slot);
    void finish(std::size_t slot); ///< any thread; the slot keeps no event then

    [[nodiscard]] std::size_t slots() const noexcept { return m_slots.size(); }
    [[nodiscard]] SlotState slot(std::size_t index) const; ///< any thread
    [[nodiscard]] std::size_t doneCount() const;           ///< any thread
    [[nodiscard]] std::size_t firstUnfinished() const;     ///< any thread; slots() if there is none
    [[nodiscard]] double meanStepMs() const;               ///< any thread; over all steps of all slots; 0 = unknown
    [[nodiscard]] double stepMs() const;                   ///< any thread; smoothed over the last steps; 0 = unknown

private:
    class Observer;
    void update(std::size_t slot, const std::function<void(SlotState &)> &change);

    mutable std::mutex m_mutex;
    std::vector<SlotState> m_slots; ///< guarded by m_mutex, like the following
    std::size_t m_done = 0;
    std::size_t m_firstUnfinished = 0;
    double m_stepMs = 0.0;
    double m_stepMsSum = 0.0;
    std::int64_t m_stepCount = 0;
    std::function<void()> m_onChange;
};

} // namespace palimpsest::cli
