// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/terminal.h"

#include <cerrno>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

std::optional<std::string> variable(const char *name)
{
    const char *value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

ColourDepth colourDepth(const std::string &term, const std::string &colorTerm)
{
    if (colorTerm == "truecolor" || colorTerm == "24bit" || term.ends_with("-direct"))
        return ColourDepth::TrueColour;
    if (term.find("256color") != std::string::npos)
        return ColourDepth::Ansi256;
    if (term.starts_with("vt") || term.ends_with("-mono") || term.ends_with("-m"))
        return ColourDepth::None;
    return ColourDepth::Ansi16;
}

Background backgroundOf(const std::string &colorFgBg)
{
    // 7 (white) and 9 to 15 are the bright ones of the sixteen colours.
    const std::string last = colorFgBg.substr(colorFgBg.rfind(';') + 1);
    const int index = last.empty() ? 0 : std::atoi(last.c_str());
    return index == 7 || index > 8 ? Background::Light : Background::Dark;
}

} // namespace

TerminalEnvironment TerminalEnvironment::fromProcess()
{
    return {.term = variable("TERM"),
            .colorTerm = variable("COLORTERM"),
            .noColor = variable("NO_COLOR"),
            .colorFgBg = variable("COLORFGBG")};
}

TerminalCapabilities terminalCapabilities(bool isTerminal, const TerminalEnvironment &environment)
{
    TerminalCapabilities capabilities;
    const std::string term = environment.term.value_or("");
    capabilities.isTerminal = isTerminal;
    capabilities.canRedraw = isTerminal && !term.empty() && term != "dumb";
    capabilities.wantsColour = environment.noColor.value_or("").empty();
    if (capabilities.wantsColour && capabilities.canRedraw)
        capabilities.depth = colourDepth(term, environment.colorTerm.value_or(""));
    capabilities.background = backgroundOf(environment.colorFgBg.value_or(""));
    return capabilities;
}

TerminalSize terminalSize(int descriptor) noexcept
{
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return {};
    return {size.ws_col, size.ws_row};
}

bool writeAll(int descriptor, std::string_view bytes) noexcept
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

EchoOff::EchoOff(int descriptor) noexcept : m_descriptor(descriptor)
{
    apply();
}

EchoOff::~EchoOff()
{
    restore();
}

void EchoOff::apply() noexcept
{
    termios current{};
    if (m_original || ::tcgetpgrp(m_descriptor) != ::getpgrp() || ::tcgetattr(m_descriptor, &current) != 0)
        return;
    termios silent = current;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (::tcsetattr(m_descriptor, TCSADRAIN, &silent) == 0)
        m_original = current;
}

void EchoOff::restore() noexcept
{
    if (m_original && ::tcgetpgrp(m_descriptor) == ::getpgrp())
        ::tcsetattr(m_descriptor, TCSADRAIN, &*m_original);
    m_original.reset();
}

} // namespace palimpsest::cli
