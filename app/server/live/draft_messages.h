// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"

#include <QJsonObject>

#include <vector>

// What the live channel says of a draft (PROTOCOL.md, "A draft"). Each broadcast names its document.

namespace palimpsest::live {

[[nodiscard]] QJsonObject documentMessage(const editing::DraftSession &session);
[[nodiscard]] QJsonObject edited(const editing::DraftSession &session, const editing::AppliedEdit &edit,
                                 editing::WindowId by, editing::EditCause cause);
[[nodiscard]] QJsonObject titleMessage(const editing::DraftSession &session);
[[nodiscard]] QJsonObject locksMessage(const editing::DraftSession &session);
[[nodiscard]] QJsonObject settingsMessage(const editing::DraftSession &session);
[[nodiscard]] QJsonObject undoableMessage(const editing::DraftSession &session);
[[nodiscard]] QJsonObject savedMessage(const editing::DraftSession &session);
[[nodiscard]] QJsonObject revisionAdded(const editing::DraftSession &session, const editing::RevisionInfo &revision);
[[nodiscard]] QJsonObject documentGone(const QString &document);

/// The fields of the reply to `revisions`, newest last as the store has them.
[[nodiscard]] QJsonObject revisionList(const std::vector<editing::RevisionInfo> &revisions);

/// The fields `start` and `end`.
[[nodiscard]] QJsonObject spanFields(editing::TextSpan span);

} // namespace palimpsest::live
