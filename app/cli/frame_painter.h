// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/live_view.h"

#include <cstdint>
#include <string>
#include <vector>

namespace palimpsest::cli {

enum class ColourDepth : std::uint8_t { None, Ansi16, Ansi256, TrueColour };
enum class Background : std::uint8_t { Dark, Light };

/// The SGR parameters ("1;4") that show a style; "" for plain text. Every style differs from plain text in more than
/// colour: unsettled words are slanted (and dimmed where there are no colours), locked ones underlined, changed ones
/// bold.
[[nodiscard]] std::string sgrParameters(Style style, ColourDepth depth, Background background);

/// Text with the escape sequences of its styles, ending in the plain state.
[[nodiscard]] std::string styledLine(const Row &row, ColourDepth depth, Background background);

/// Turns frames into the bytes that change a terminal from the frame before to this one, in place below the cursor.
///
/// Pure but for the memory of what is on the screen. Rows that did not change are not sent; an unchanged frame sends
/// nothing. Between frames the cursor rests, hidden, on the last row.
class FramePainter
{
public:
    FramePainter(ColourDepth depth, Background background) : m_depth(depth), m_background(background) {}

    [[nodiscard]] std::string paint(const Frame &frame, TerminalSize size);
    /// Removes the frame; the cursor is then where the frame began, visible again.
    [[nodiscard]] std::string erase(TerminalSize size);
    /// Leaves the frame on the screen and the cursor on the line below it, visible again.
    [[nodiscard]] std::string keep();

    /// Puts a terminal into its ordinary state, whatever was painted; for an exit in a hurry.
    [[nodiscard]] static std::string restoreSequence();

private:
    [[nodiscard]] std::string toTop(TerminalSize size) const;

    ColourDepth m_depth;
    Background m_background;
    bool m_active = false;            ///< cursor hidden, automatic line breaks off
    std::vector<std::string> m_lines; ///< on the screen now
    std::vector<int> m_lineColumns;
    TerminalSize m_size;
};

} // namespace palimpsest::cli
