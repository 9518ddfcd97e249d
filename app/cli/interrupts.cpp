// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/interrupts.h"

#include "app/cli/terminal.h"
#include "engine/error.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

constexpr int kSignalExitBase = 128;

sigset_t watchedSignals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action = {};
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, signal);
    }
    return set;
}

} // namespace

WakeUp::WakeUp() : m_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (m_descriptor < 0)
        throw Error(ErrorKind::Io, std::string("eventfd: ") + std::strerror(errno));
}

WakeUp::~WakeUp()
{
    ::close(m_descriptor);
}

void WakeUp::notify() noexcept
{
    const std::uint64_t one = 1;
    // A full counter refuses the write, and is a wake-up already.
    [[maybe_unused]] const ssize_t written = ::write(m_descriptor, &one, sizeof one);
}

void WakeUp::clear() noexcept
{
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(m_descriptor, &count, sizeof count);
}

Interrupts::Interrupts()
{
    const sigset_t set = watchedSignals();
    const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        throw Error(ErrorKind::Io, std::string("signalfd: ") + std::strerror(errno));
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    // The watcher takes no other signal either: those that displays handle are blocked later, in threads made later.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    m_watcher = std::thread([this, signals] { watch(signals); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Interrupts::~Interrupts()
{
    m_quit.notify();
    m_watcher.join();
}

int Interrupts::exitStatus() const noexcept
{
    const int signal = m_signal;
    return signal == 0 ? 0 : kSignalExitBase + signal;
}

void Interrupts::setRepair(TerminalRepair repair)
{
    const std::lock_guard lock(m_repairMutex);
    m_repair = std::move(repair);
}

void Interrupts::clearRepair()
{
    const std::lock_guard lock(m_repairMutex);
    m_repair.reset();
}

void Interrupts::watch(int signals)
{
    for (;;) {
        std::array<pollfd, 2> sources{{{.fd = signals, .events = POLLIN, .revents = 0},
                                       {.fd = m_quit.descriptor(), .events = POLLIN, .revents = 0}}};
        if (::poll(sources.data(), sources.size(), -1) < 0)
            continue; // interrupted by a debugger; the descriptors themselves cannot fail
        if (sources[1].revents != 0)
            break;
        signalfd_siginfo info{};
        if (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
            received(static_cast<int>(info.ssi_signo));
    }
    ::close(signals);
}

void Interrupts::received(int signal)
{
    if (!m_armed || m_signal != 0)
        leave(signal);
    m_signal = signal;
    m_stop.request_stop();
}

void Interrupts::leave(int signal)
{
    {
        const std::lock_guard lock(m_repairMutex);
        if (m_repair) {
            // A terminal that is stopped with Ctrl-S must not hold up the exit.
            constexpr int kPatienceMs = 100;
            pollfd output{.fd = m_repair->descriptor, .events = POLLOUT, .revents = 0};
            if (::poll(&output, 1, kPatienceMs) > 0)
                writeAll(m_repair->descriptor, m_repair->bytes);
            if (m_repair->mode)
                ::tcsetattr(m_repair->descriptor, TCSANOW, &*m_repair->mode);
        }
    }
    ::_exit(kSignalExitBase + signal);
}

} // namespace palimpsest::cli
