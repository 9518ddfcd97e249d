// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft.h"

#include <QString>
#include <QStringList>

#include <cstdint>

namespace palimpsest::test {

inline constexpr editing::WindowId kWindow = 1;

/// Somebody who types at a time.
[[nodiscard]] editing::EditAuthor typing(std::int64_t nowMs, editing::WindowId window = kWindow);
/// The window, at the time 0.
[[nodiscard]] editing::EditAuthor by(editing::EditCause cause = editing::EditCause::Edit);
/// Types letter by letter at the end.
void type(editing::Draft &draft, const QString &text, std::int64_t nowMs);

/// A proposal of these texts for a span; its id is "p" and its number in the draft.
[[nodiscard]] editing::Proposal proposalAt(const editing::Draft &draft, editing::TextSpan span,
                                           const QStringList &texts, editing::RunAction action);
/// The same for the first place of these words.
[[nodiscard]] editing::Proposal proposalFor(const editing::Draft &draft, const QString &words, const QStringList &texts,
                                            editing::RunAction action = editing::RunAction::Rewrite);

} // namespace palimpsest::test
