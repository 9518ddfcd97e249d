// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/terminal.h"
#include "app/cli/text_cells.h"
#include "engine/word_diff.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::cli {

/// A revised text in pieces, those that differ from the original in Ink::Changed.
[[nodiscard]] std::vector<StyledText> markChanges(std::string_view revised, std::span<const TextChange> changes);

/// A revised text for a terminal: changes stand out, nothing in it can disturb the terminal.
[[nodiscard]] std::string markedText(std::string_view revised, std::span<const TextChange> changes,
                                     const TerminalCapabilities &terminal, const CharacterWidths &widths);

/// The changed lines alone, as "12: the [-teh-]{+the+} cat", numbered as in the original; "" if nothing changed.
[[nodiscard]] std::string wordDiff(std::string_view original, std::string_view revised,
                                   std::span<const TextChange> changes, const TerminalCapabilities &terminal,
                                   const CharacterWidths &widths);

} // namespace palimpsest::cli
