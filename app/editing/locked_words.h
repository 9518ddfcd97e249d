// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/text_edit.h"

#include <QString>
#include <QStringView>

#include <vector>

namespace palimpsest::editing {

// Locks are spans of a text, ascending and apart from each other.

/// With `span` locked as well; locks that touch become one.
[[nodiscard]] std::vector<TextSpan> withLock(const std::vector<TextSpan> &locks, TextSpan span);
/// Without what lies in `span`; `text` is looked at for the white space that is left over at the new ends.
[[nodiscard]] std::vector<TextSpan> withoutLock(const std::vector<TextSpan> &locks, TextSpan span, QStringView text);
/// After an edit; those that it took away are gone.
[[nodiscard]] std::vector<TextSpan> movedLocks(const std::vector<TextSpan> &locks, const TextEdit &edit);
/// Those that reach into `span`, cut to it, as positions from its start on.
[[nodiscard]] std::vector<TextSpan> locksInside(const std::vector<TextSpan> &locks, TextSpan span);

[[nodiscard]] bool touchesAny(const TextEdit &edit, const std::vector<TextSpan> &locks);

/// The word changes that make as much of `revised` out of `original` as the locks of `original` allow: all of it, if
/// `revised` holds the locked words, in order; else without the changes that touch one.
[[nodiscard]] std::vector<TextEdit> changesAround(const std::vector<TextSpan> &locks, QStringView original,
                                                  QStringView revised);

/// `text` after edits that are ascending and apart, in positions of `text` itself.
[[nodiscard]] QString withEdits(QString text, const std::vector<TextEdit> &edits);

} // namespace palimpsest::editing
