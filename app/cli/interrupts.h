// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <atomic>
#include <csignal>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <termios.h>
#include <thread>

namespace palimpsest::cli {

/// An eventfd: lets one thread wake another one's poll().
class WakeUp
{
public:
    WakeUp(); ///< throws Error Io if the system has no more descriptors
    ~WakeUp();
    WakeUp(const WakeUp &) = delete;
    WakeUp &operator=(const WakeUp &) = delete;

    void notify() noexcept; ///< any thread
    void clear() noexcept;
    [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }

private:
    int m_descriptor;
};

/// What an exit in a hurry has to put right on a terminal.
struct TerminalRepair
{
    int descriptor = -1;
    std::string bytes;
    std::optional<termios> mode;
};

/// Turns Ctrl-C, SIGTERM and SIGHUP into an orderly end.
///
/// While armed, the first signal requests a stop, and the program ends by itself within a denoising step; the second
/// one leaves at once. While not armed there is nothing to lose and the first one leaves at once. Leaving repairs the
/// terminal first. Made before any other thread, so that all threads inherit the blocked signals; a thread of its own
/// receives them. Signals that the parent process had set to be ignored stay ignored.
class Interrupts
{
public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts &) = delete;
    Interrupts &operator=(const Interrupts &) = delete;

    [[nodiscard]] std::stop_token token() const noexcept { return m_stop.get_token(); }
    /// From now on the first signal is a request.
    void arm() noexcept { m_armed = true; }
    /// Exit status of an interrupted run: 128 + the signal; 0 if none came.
    [[nodiscard]] int exitStatus() const noexcept;

    void setRepair(TerminalRepair repair); ///< any thread
    void clearRepair();                    ///< any thread

private:
    void watch(int signals);
    void received(int signal);
    [[noreturn]] void leave(int signal);

    std::stop_source m_stop;
    std::atomic<bool> m_armed = false; ///< written by the main thread, read by the watcher
    std::atomic<int> m_signal = 0;     ///< first signal that came; written by the watcher
    std::mutex m_repairMutex;
    std::optional<TerminalRepair> m_repair; ///< guarded by m_repairMutex
    WakeUp m_quit;
    std::thread m_watcher;
};

} // namespace palimpsest::cli
