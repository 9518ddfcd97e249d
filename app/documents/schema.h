// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <span>

namespace palimpsest::documents {

class Database;

/// The statements that lead from the version before to `version`.
struct SchemaStep
{
    std::int64_t version = 0;
    std::span<const char *const> statements;
};

/// SQLite's application id of a document store: "PaDo".
inline constexpr std::int64_t kApplicationId = 0x5061'446F;

/// Every step there is, rising by one from version 1. A step that was released is never changed.
[[nodiscard]] std::span<const SchemaStep> currentSchema();

/// Runs the steps above `fromVersion`, and writes the new version and the application id. To be called in a
/// transaction.
void applySchema(Database &database, std::span<const SchemaStep> schema, std::int64_t fromVersion);

} // namespace palimpsest::documents
