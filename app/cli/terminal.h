// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/frame_painter.h"

#include <optional>
#include <string>
#include <string_view>
#include <termios.h>

namespace palimpsest::cli {

/// What a terminal can show, from its kind and the environment.
struct TerminalCapabilities
{
    bool isTerminal = false;
    bool canRedraw = false;  ///< false: not a terminal, TERM unset or "dumb"
    bool wantsColour = true; ///< false: NO_COLOR is set
    ColourDepth depth = ColourDepth::None;
    Background background = Background::Dark;
};

/// The environment variables that speak about terminals; absent = not set.
struct TerminalEnvironment
{
    std::optional<std::string> term;
    std::optional<std::string> colorTerm;
    std::optional<std::string> noColor;   ///< any non-empty value, as no-color.org asks
    std::optional<std::string> colorFgBg; ///< "15;0": the last number is the background's colour

    [[nodiscard]] static TerminalEnvironment fromProcess();
};

[[nodiscard]] TerminalCapabilities terminalCapabilities(bool isTerminal, const TerminalEnvironment &environment);

/// 80 x 24 where the terminal does not say.
[[nodiscard]] TerminalSize terminalSize(int descriptor) noexcept;

/// Writes everything, also through short writes and interruptions. False if the other side is gone.
bool writeAll(int descriptor, std::string_view bytes) noexcept;

/// Switches off the echo of typed keys on a terminal while it is painted on. Does nothing for a program in the
/// background, which the system would stop for it.
class EchoOff
{
public:
    explicit EchoOff(int descriptor) noexcept;
    ~EchoOff();
    EchoOff(const EchoOff &) = delete;
    EchoOff &operator=(const EchoOff &) = delete;

    void restore() noexcept;
    void apply() noexcept;
    /// What the terminal was set to before; absent if nothing was changed.
    [[nodiscard]] const std::optional<termios> &original() const noexcept { return m_original; }

private:
    int m_descriptor;
    std::optional<termios> m_original;
};

} // namespace palimpsest::cli
