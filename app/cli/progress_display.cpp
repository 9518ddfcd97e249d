// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/progress_display.h"

#include <csignal>
#include <unistd.h>
#include <utility>

namespace palimpsest::cli {

namespace {

constexpr std::chrono::milliseconds kFrameInterval{33};
constexpr std::chrono::milliseconds kLineInterval{1000};

} // namespace

void blockDisplaySignals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigaddset(&set, SIGTSTP);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

LiveDisplay::LiveDisplay(Output output, std::shared_ptr<const LiveView> view, ProgressSource source,
                         Interrupts &interrupts)
    : m_output(output),
      m_view(std::move(view)),
      m_source(std::move(source)),
      m_interrupts(interrupts),
      m_painter(output.capabilities.depth, output.capabilities.background),
      m_echo(output.descriptor)
{
    m_interrupts.setRepair({m_output.descriptor, FramePainter::restoreSequence(), m_echo.original()});
    m_loop.emplace(kFrameInterval, std::initializer_list<int>{SIGWINCH, SIGTSTP},
                   PaintLoop::Callbacks{[this] { paint(); },
                                        [this](int signal) {
                                            handle(signal);
                                        }});
}

LiveDisplay::~LiveDisplay()
{
    finish(Ending::Erase);
}

void LiveDisplay::paint()
{
    const TerminalSize size = terminalSize(m_output.descriptor);
    writeAll(m_output.descriptor, m_painter.paint(m_view->render(m_source.page(), size), size));
}

void LiveDisplay::handle(int signal)
{
    if (signal == SIGTSTP)
        suspend();
    // SIGWINCH needs no more than the paint that follows: it asks the terminal for its size.
}

void LiveDisplay::suspend()
{
    writeAll(m_output.descriptor, m_painter.erase(terminalSize(m_output.descriptor)));
    m_echo.restore();
    ::kill(::getpid(), SIGSTOP); // the whole process rests here until SIGCONT
    m_echo.apply();
}

void LiveDisplay::finish(Ending ending)
{
    if (m_finished)
        return;
    m_finished = true;
    m_loop->stop();
    if (ending == Ending::Keep) {
        paint();
        writeAll(m_output.descriptor, m_painter.keep());
    } else {
        writeAll(m_output.descriptor, m_painter.erase(terminalSize(m_output.descriptor)));
    }
    m_echo.restore();
    m_interrupts.clearRepair();
}

LineDisplay::LineDisplay(int descriptor, ProgressSource source)
    : m_descriptor(descriptor),
      m_source(std::move(source)),
      m_loop(kLineInterval, {},
             {[this] { print(); },
              [](int) {
              }})
{
}

void LineDisplay::print()
{
    const std::string line = m_source.line();
    if (!line.empty())
        writeAll(m_descriptor, line + "\n");
}

void LineDisplay::finish(Ending)
{
    m_loop.stop();
}

} // namespace palimpsest::cli
