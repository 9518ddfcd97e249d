// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_wish.h"
#include "app/server/live/client_messages.h"

#include <QJsonObject>
#include <QString>
#include <QStringView>

#include <cstdint>
#include <optional>

namespace palimpsest {
class Error;
struct DeskStatus;
struct EngineState;
} // namespace palimpsest

// What the live channel says (PROTOCOL.md): answers, and what is about the server as a whole. See draft_messages.h and
// run_messages.h for the rest.

namespace palimpsest::live {

/// The text of a message: one line, no blanks between.
[[nodiscard]] QString textOf(const QJsonObject &message);

/// A message of `type` with these fields.
[[nodiscard]] QJsonObject message(const char *type, QJsonObject fields);
[[nodiscard]] QJsonObject reply(std::int64_t ref, QJsonObject fields);
[[nodiscard]] QJsonObject errorMessage(std::optional<std::int64_t> ref, const Problem &problem);

/// What a window is told of an error: its code (PROTOCOL.md, "Errors"), words and field.
[[nodiscard]] Problem problemOf(const Error &error);

/// The fields of `status`. `desk` is absent while no model runs.
[[nodiscard]] QJsonObject statusFields(const EngineState &engine, const std::optional<DeskStatus> &desk, int windows);

[[nodiscard]] QJsonObject hello(editing::WindowId window, const QString &version, const QJsonObject &status);

/// Windows are called by their number, written out; nobody by null.
[[nodiscard]] QJsonValue windowName(editing::WindowId window);

} // namespace palimpsest::live
