// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/text_edit.h"

#include <vector>

namespace palimpsest::studio {

/// Something that is drawn under or over a stretch of the page. Never told by colour alone: each kind has a shape.
struct PageMark
{
    enum class Kind {
        Entropy,  ///< an unsettled word: shade and a line of dots, by level
        Accepted, ///< taken in this step: a line below
        Locked,   ///< held words: a strong line below
        Inserted, ///< what a change would put in: shade
        Removed,  ///< what a change would take away: struck through
        Current,  ///< the change or proposal that keys act on: a frame of shade
        Found,    ///< a match of the search
        Running,  ///< the span of a run or an open proposal: a bar beside its lines
    };
    Kind kind = Kind::Entropy;
    editing::TextSpan shown; ///< on the page
    int level = 0;           ///< Entropy: 1 to Theme::kEntropyLevels - 1

    friend bool operator==(const PageMark &, const PageMark &) = default;
};
using PageMarks = std::vector<PageMark>;

} // namespace palimpsest::studio
