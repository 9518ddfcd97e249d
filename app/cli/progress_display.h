// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/frame_painter.h"
#include "app/cli/interrupts.h"
#include "app/cli/live_view.h"
#include "app/cli/paint_loop.h"
#include "app/cli/terminal.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace palimpsest::cli {

/// What stays on the terminal when a run is over.
enum class Ending : std::uint8_t {
    Erase, ///< nothing: the result is printed elsewhere
    Keep,  ///< the last state
};

/// Shows a run while it goes on. Made and finished by the main thread.
class ProgressDisplay
{
public:
    virtual ~ProgressDisplay() = default;
    virtual void changed() noexcept = 0; ///< any thread; the run has a new state to show
    virtual void finish(Ending ending) = 0;
};

/// The state of a run as displays ask for it, on their own thread.
struct ProgressSource
{
    std::function<LivePage()> page;
    /// One line for displays that cannot redraw; "" while there is nothing new to tell.
    std::function<std::string()> line;
};

/// Blocks the signals that the live display handles, in this thread and those it makes from now on.
void blockDisplaySignals();

/// The canvas denoising in place on a terminal, at most 30 frames a second.
///
/// Follows changes of the window's size, gives the terminal back while the program is suspended (Ctrl-Z), and leaves a
/// repair with `interrupts` for the exit in a hurry.
class LiveDisplay : public ProgressDisplay
{
public:
    struct Output
    {
        int descriptor = 2;
        TerminalCapabilities capabilities;
    };

    LiveDisplay(Output output, std::shared_ptr<const LiveView> view, ProgressSource source, Interrupts &interrupts);
    ~LiveDisplay() override; ///< finishes with Erase
    void changed() noexcept override { m_loop->changed(); }
    void finish(Ending ending) override;

private:
    void paint();
    void handle(int signal);
    void suspend();

    Output m_output;
    std::shared_ptr<const LiveView> m_view;
    ProgressSource m_source;
    Interrupts &m_interrupts;
    FramePainter m_painter;
    EchoOff m_echo;
    bool m_finished = false;
    std::optional<PaintLoop> m_loop; ///< never empty once made; its thread uses the others
};

/// Plain lines where nothing can be redrawn, at most one a second.
class LineDisplay : public ProgressDisplay
{
public:
    LineDisplay(int descriptor, ProgressSource source);
    void changed() noexcept override { m_loop.changed(); }
    void finish(Ending ending) override;

private:
    void print();

    int m_descriptor;
    ProgressSource m_source;
    PaintLoop m_loop; // last: its thread uses the others
};

} // namespace palimpsest::cli
