// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/studio/shown_text.h"

namespace palimpsest::studio {

/// Where a caret of the draft stands after an edit: at the letter that it leans on; behind the new letters, if it stood
/// behind the old ones.
[[nodiscard]] qsizetype movedCaret(const ShownPlace &caret, const TextEdit &over);

/// Words of a text whose first letter stands in a span, or right behind it: what an edit there can change.
[[nodiscard]] int wordsBegunIn(QStringView text, TextSpan span);

/// As text documents keep it: line ends are paragraph separators.
[[nodiscard]] QString asRawText(QStringView text);

} // namespace palimpsest::studio
