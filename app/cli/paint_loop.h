// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/interrupts.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace palimpsest::cli {

/// A thread that paints the latest state, at most once an interval. Whoever changes the state only sets a flag, so a
/// slow terminal skips states instead of holding up the engine.
class PaintLoop
{
public:
    struct Callbacks
    {
        std::function<void()> paint;
        std::function<void(int)> signal; ///< a signal of the set came; a paint follows
    };

    /// `signals` are received by the loop; they must be blocked in all threads (see blockDisplaySignals). The callbacks
    /// run on the loop's thread.
    PaintLoop(std::chrono::milliseconds interval, std::initializer_list<int> signals, Callbacks callbacks);
    ~PaintLoop(); ///< as stop()
    PaintLoop(const PaintLoop &) = delete;
    PaintLoop &operator=(const PaintLoop &) = delete;

    void changed() noexcept; ///< any thread; returns at once
    /// Ends the thread after the paint in progress; the callbacks are not called any more then.
    void stop();

private:
    void run();
    [[nodiscard]] bool wait(std::chrono::steady_clock::time_point until, bool untilChanged);
    void drainSignals();

    std::chrono::milliseconds m_interval;
    Callbacks m_callbacks;
    int m_signals;
    WakeUp m_wake;
    std::atomic<bool> m_changed = false;
    std::atomic<bool> m_stopping = false;
    std::thread m_thread;
};

} // namespace palimpsest::cli
