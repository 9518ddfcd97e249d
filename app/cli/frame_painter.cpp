// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/frame_painter.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace palimpsest::cli {

namespace {

struct Rgb
{
    int red = 0;
    int green = 0;
    int blue = 0;
};

/// The studio's colours of one theme (its design tokens `entropyRamp` and `accent`).
struct Palette
{
    std::array<Rgb, kMaxUnsettledLevel> tint; ///< background of unsettled words, level 1 first
    std::array<Rgb, kMaxUnsettledLevel> ink;  ///< their letters, chosen for a contrast of at least 4.5 to 1
    Rgb accent;
};

constexpr Rgb kBlack{0, 0, 0};
constexpr Rgb kWhite{255, 255, 255};
constexpr Rgb kLightInk{0xEC, 0xE6, 0xDA};
constexpr Rgb kDarkInk{0x26, 0x22, 0x1C};

constexpr Palette kDarkPalette{
    .tint = {{{0x4A, 0x46, 0x32}, {0x6E, 0x5A, 0x2E}, {0x8A, 0x60, 0x36}, {0xA8, 0x60, 0x3F}, {0xC4, 0x63, 0x4E}}},
    .ink = {{kLightInk, kLightInk, kWhite, kWhite, kBlack}},
    .accent = {0x8F, 0xC7, 0xB0}};
constexpr Palette kLightPalette{
    .tint = {{{0xE9, 0xE4, 0xC2}, {0xF3, 0xD9, 0xA0}, {0xEF, 0xB7, 0x84}, {0xDD, 0x8A, 0x6B}, {0xBE, 0x5A, 0x4B}}},
    .ink = {{kDarkInk, kDarkInk, kDarkInk, kDarkInk, kBlack}},
    .accent = {0x2F, 0x5D, 0x50}};

constexpr std::string_view kEscape = "\x1b[";
constexpr std::string_view kBeginSynchronised = "\x1b[?2026h";
constexpr std::string_view kEndSynchronised = "\x1b[?2026l";
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kWrapOff = "\x1b[?7l";
constexpr std::string_view kWrapOn = "\x1b[?7h";
constexpr std::string_view kEraseLine = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";
constexpr std::string_view kPlain = "\x1b[0m";

/// Nearest entry of the 6x6x6 cube of the 256-colour palette.
int cubeIndex(Rgb colour)
{
    static constexpr std::array<int, 6> kSteps{0, 95, 135, 175, 215, 255};
    const auto nearest = [](int value) {
        const auto *best = std::min_element(kSteps.begin(), kSteps.end(), [value](int left, int right) {
            return std::abs(left - value) < std::abs(right - value);
        });
        return static_cast<int>(best - kSteps.begin());
    };
    constexpr int kFirst = 16;
    return kFirst + 36 * nearest(colour.red) + 6 * nearest(colour.green) + nearest(colour.blue);
}

/// `layer` is 38 for letters, 48 for the background.
std::string colour(int layer, Rgb value, ColourDepth depth)
{
    if (depth == ColourDepth::TrueColour) {
        return std::to_string(layer) + ";2;" + std::to_string(value.red) + ";" + std::to_string(value.green) + ";" +
               std::to_string(value.blue);
    }
    return std::to_string(layer) + ";5;" + std::to_string(cubeIndex(value));
}

std::string unsettledParameters(std::uint8_t level, ColourDepth depth, const Palette &palette)
{
    constexpr std::uint8_t kDimFrom = 3;
    const std::size_t index = std::clamp<std::size_t>(level, 1, kMaxUnsettledLevel) - 1;
    switch (depth) {
    case ColourDepth::None:
        return level < kDimFrom ? "3" : "2;3";
    case ColourDepth::Ansi16:
        return level < kDimFrom ? "3;33" : "2;3;33";
    case ColourDepth::Ansi256:
    case ColourDepth::TrueColour:
        break;
    }
    return "3;" + colour(38, palette.ink[index], depth) + ";" + colour(48, palette.tint[index], depth);
}

std::string accentParameters(ColourDepth depth, const Palette &palette)
{
    if (depth == ColourDepth::None)
        return "";
    return depth == ColourDepth::Ansi16 ? ";32" : ";" + colour(38, palette.accent, depth);
}

std::string moveUp(std::size_t rows)
{
    return rows == 0 ? "\r" : "\r" + std::string(kEscape) + std::to_string(rows) + "A";
}

} // namespace

std::string sgrParameters(Style style, ColourDepth depth, Background background)
{
    const Palette &palette = background == Background::Dark ? kDarkPalette : kLightPalette;
    switch (style.ink) {
    case Ink::Settled:
        return "";
    case Ink::Unsettled:
        return unsettledParameters(style.level, depth, palette);
    case Ink::Locked:
        return "4" + accentParameters(depth, palette);
    case Ink::Changed:
        return "1" + accentParameters(depth, palette);
    case Ink::Faint:
    case Ink::Status:
        return "2";
    }
    return "";
}

std::string styledLine(const Row &row, ColourDepth depth, Background background)
{
    std::string line;
    std::string current;
    for (const Cell &cell : row) {
        const std::string wanted = sgrParameters(cell.style, depth, background);
        if (wanted != current) {
            line += wanted.empty() ? std::string(kPlain) : std::string(kEscape) + "0;" + wanted + "m";
            current = wanted;
        }
        line += cell.text;
    }
    if (!current.empty())
        line += kPlain;
    return line;
}

std::string FramePainter::toTop(TerminalSize size) const
{
    if (m_lines.empty())
        return "";
    // A terminal that became narrower has broken the old rows into several.
    std::size_t rows = 0;
    for (const int columns : m_lineColumns)
        rows += static_cast<std::size_t>(std::max(1, (columns + size.columns - 1) / std::max(1, size.columns)));
    const auto reachable = static_cast<std::size_t>(std::max(0, size.rows - 1));
    return moveUp(std::min(rows - 1, reachable));
}

std::string FramePainter::paint(const Frame &frame, TerminalSize size)
{
    std::vector<std::string> lines;
    std::vector<int> columns;
    for (const Row &row : frame.rows) {
        lines.push_back(styledLine(row, m_depth, m_background));
        columns.push_back(rowColumns(row));
    }
    if (m_active && lines == m_lines && size == m_size)
        return "";
    std::string out(kBeginSynchronised);
    if (!m_active)
        out.append(kHideCursor).append(kWrapOff);
    out += toTop(size);
    if (m_active && size != m_size) {
        out += kEraseBelow;
        m_lines.clear();
    }
    for (std::size_t row = 0; row < lines.size(); ++row) {
        if (row > 0)
            out += "\r\n";
        if (row >= m_lines.size() || m_lines[row] != lines[row])
            out.append("\r")
                .append(kEraseLine)
                .append(lines[row]); // erased first: behind a full row it would eat its end
    }
    if (m_lines.size() > lines.size())
        out.append("\r\n").append(kEraseBelow).append(moveUp(1));
    out += kEndSynchronised;
    m_active = true;
    m_lines = std::move(lines);
    m_lineColumns = std::move(columns);
    m_size = size;
    return out;
}

std::string FramePainter::erase(TerminalSize size)
{
    if (!m_active)
        return "";
    std::string out = toTop(size);
    out.append(kEraseBelow).append(kWrapOn).append(kShowCursor);
    m_active = false;
    m_lines.clear();
    m_lineColumns.clear();
    return out;
}

std::string FramePainter::keep()
{
    if (!m_active)
        return "";
    m_active = false;
    m_lines.clear();
    m_lineColumns.clear();
    return "\r\n" + std::string(kWrapOn) + std::string(kShowCursor);
}

std::string FramePainter::restoreSequence()
{
    return std::string(kEndSynchronised) + "\r\n" + std::string(kPlain) + std::string(kWrapOn) +
           std::string(kShowCursor);
}

} // namespace palimpsest::cli
