// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_store.h"

#include <filesystem>
#include <memory>
#include <span>

namespace palimpsest::documents {

class Database;

/// Opens the file of a store as `DocumentStore` promises: looks before it touches, makes a new store, or copies an
/// older one and brings it up to date. Throws StoreError.
[[nodiscard]] std::unique_ptr<Database> openStoreFile(const StoreOptions &options, std::span<const SchemaStep> schema);

/// Throws StoreError NewerVersion if the version is above the schema's: another process may have brought the store up
/// to date while this one had it open.
void refuseNewerVersion(Database &database, std::span<const SchemaStep> schema);

/// Deletes the copies that were made of older versions of the store.
void removeVersionCopies(const std::filesystem::path &file);

} // namespace palimpsest::documents
