// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/paint_loop.h"

#include "engine/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace palimpsest::cli {

using Clock = std::chrono::steady_clock;

PaintLoop::PaintLoop(std::chrono::milliseconds interval, std::initializer_list<int> signals, Callbacks callbacks)
    : m_interval(interval), m_callbacks(std::move(callbacks))
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals)
        sigaddset(&set, signal);
    m_signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (m_signals < 0)
        throw Error(ErrorKind::Io, std::string("signalfd: ") + std::strerror(errno));
    m_thread = std::thread([this] { run(); });
}

PaintLoop::~PaintLoop()
{
    stop();
    ::close(m_signals);
}

void PaintLoop::changed() noexcept
{
    if (!m_changed.exchange(true))
        m_wake.notify();
}

void PaintLoop::stop()
{
    if (!m_thread.joinable())
        return;
    m_stopping = true;
    m_wake.notify();
    m_thread.join();
}

void PaintLoop::run()
{
    Clock::time_point next = Clock::now();
    while (wait(next, true)) {
        if (!wait(next, false))
            return;
        m_changed = false;
        m_callbacks.paint();
        next = Clock::now() + m_interval;
    }
}

/// Waits for a change (`untilChanged`) or for a moment; false if the loop ends. Signals are handled meanwhile and count
/// as a change.
bool PaintLoop::wait(Clock::time_point until, bool untilChanged)
{
    while (!m_stopping) {
        if (untilChanged ? m_changed.load() : Clock::now() >= until)
            return true;
        int timeoutMs = -1;
        if (!untilChanged) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
            timeoutMs = std::max(0, static_cast<int>(left.count()));
        }
        std::array<pollfd, 2> sources{{{.fd = m_wake.descriptor(), .events = POLLIN, .revents = 0},
                                       {.fd = m_signals, .events = POLLIN, .revents = 0}}};
        if (::poll(sources.data(), sources.size(), timeoutMs) <= 0)
            continue;
        if (sources[0].revents != 0)
            m_wake.clear();
        if (sources[1].revents != 0)
            drainSignals();
    }
    return false;
}

void PaintLoop::drainSignals()
{
    signalfd_siginfo info{};
    while (::read(m_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        m_callbacks.signal(static_cast<int>(info.ssi_signo));
        m_changed = true;
    }
}

} // namespace palimpsest::cli
