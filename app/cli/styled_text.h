// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <string>

namespace palimpsest::cli {

/// What a piece of text in the live view is; the painter decides how each looks with the colours there are.
enum class Ink : std::uint8_t {
    Settled,   ///< the text as it stands
    Unsettled, ///< still being rewritten; `level` says how open it is
    Locked,    ///< held by the person
    Changed,   ///< finished, and different from the original
    Faint,     ///< not yet begun, or context around an edit
    Status,    ///< the line that tells the state of the run
};

inline constexpr std::uint8_t kMaxUnsettledLevel = 5;

struct Style
{
    Ink ink = Ink::Settled;
    std::uint8_t level = 0; ///< of Unsettled: 1 (nearly settled) to kMaxUnsettledLevel (open)

    friend bool operator==(const Style &, const Style &) = default;
};

struct StyledText
{
    std::string text; ///< bytes; need not be whole characters, pieces are read as one stream
    Style style;

    friend bool operator==(const StyledText &, const StyledText &) = default;
};

} // namespace palimpsest::cli
