// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/styled_text.h"

#include <clocale>
#include <locale.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::cli {

/// How many terminal columns a character takes, by the C library's wcwidth(3) in a UTF-8 locale, whatever locale the
/// program itself runs in.
class CharacterWidths
{
public:
    CharacterWidths(); ///< throws Error Unsupported on a system without the C.UTF-8 locale
    ~CharacterWidths();
    CharacterWidths(const CharacterWidths &) = delete;
    CharacterWidths &operator=(const CharacterWidths &) = delete;

    /// 0 for combining marks, 2 for wide characters, -1 for what must not be printed.
    [[nodiscard]] int columns(char32_t codePoint) const noexcept;

private:
    locale_t m_locale;
};

/// One place of the terminal: a character with its combining marks.
struct Cell
{
    std::string text; ///< UTF-8, safe to print; "\n" ends a line and takes no columns
    int columns = 1;
    Style style;

    friend bool operator==(const Cell &, const Cell &) = default;
};

/// Turns text of any origin into cells that are safe to print: control characters, invalid bytes and unassigned
/// characters become a middle dot, a tab becomes spaces, invisible direction and joining controls are dropped.
[[nodiscard]] std::vector<Cell> toCells(std::span<const StyledText> texts, const CharacterWidths &widths);

/// The same rule for a text on its way to a terminal: only what cannot move the cursor or change the terminal's state
/// is left, line ends and tabs are kept.
[[nodiscard]] std::string printable(std::string_view text, const CharacterWidths &widths);

} // namespace palimpsest::cli
