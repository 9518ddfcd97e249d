// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/text_cells.h"

#include <cstddef>
#include <vector>

namespace palimpsest::cli {

using Row = std::vector<Cell>;

[[nodiscard]] int rowColumns(const Row &row) noexcept;

/// Gives every word one style: an unsettled word is as open as its most open letter. Tokens end inside words, and a
/// word in three shades would flicker where the whole is what the reader looks at. Blanks between words stay plain.
void styleWholeWords(std::vector<Cell> &cells);

/// Breaks cells into rows of at most `columns` at blanks, inside a word only where it is longer than a row. The blank
/// at a break is dropped. `columns` is at least 2, the widest character.
[[nodiscard]] std::vector<Row> wrapCells(const std::vector<Cell> &cells, int columns);

} // namespace palimpsest::cli
