// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/editing/proposal.h"

#include <QString>

#include <optional>

namespace palimpsest::editing {

/// A proposal as the store keeps it; `standing` is the text in its span now. The store's own ids are left out.
[[nodiscard]] documents::Proposal toStored(const Proposal &proposal, const QString &standing);

/// The way back, after a restart, for a draft that has this text. A proposal that does not stand where the store says
/// (text and proposals are saved one behind the other, and a crash may come between) is looked for, and is dropped,
/// with a note, if it fits nowhere. Nothing if it cannot be read at all.
[[nodiscard]] std::optional<Proposal> fromStored(const documents::Proposal &stored, const QString &text);

} // namespace palimpsest::editing
