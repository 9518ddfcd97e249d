// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/frame.h"
#include "app/editing/run_info.h"
#include "app/editing/text_edit.h"

#include <QString>
#include <QStringView>

#include <vector>

namespace palimpsest {
class Tokenizer;
}

namespace palimpsest::editing {

/// A model's text for a span in which somebody has typed meanwhile: from `base`, the writer made `ours` and the model
/// `theirs`. What the writer did stays, to the letter; where both changed the same words, the writer's stand, unless
/// the model's text there holds them already.
[[nodiscard]] QString mergedTyping(QStringView base, const QString &ours, const QString &theirs);

/// Canvas positions to hold, and their ids, so that a canvas under way takes over the words that the writer has typed
/// into its span (from `base` to `ours`), each near the place where the frame shows it; as far as there is room for
/// them. What the model writes around them then fits; `mergedTyping` sees to it that they stay in any case.
[[nodiscard]] std::vector<HoldChange> holdsForTyping(QStringView base, const QString &ours, const Frame &frame,
                                                     const Tokenizer &tokenizer);

} // namespace palimpsest::editing
