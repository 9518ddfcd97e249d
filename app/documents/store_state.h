// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/database.h"
#include "app/documents/document_store.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace palimpsest::documents {

/// What the parts of DocumentStore share.
struct DocumentStore::State
{
    StoreOptions options;
    std::span<const SchemaStep> schema;
    std::unique_ptr<Database> database;
    bool scrubOwed = false; ///< something was erased that may still be in the log

    [[nodiscard]] std::int64_t now() const { return options.nowMs(); }
    /// The row of a document; throws Error NotFound.
    [[nodiscard]] std::int64_t documentRow(const OpaqueId &id);
    [[nodiscard]] std::int64_t runRow(const OpaqueId &id);
    /// The row of a run, if one is given; throws Error InvalidArgument if it is not one of the document's.
    [[nodiscard]] std::optional<std::int64_t> ownRunRow(std::int64_t document, const std::optional<OpaqueId> &id);
    [[nodiscard]] std::vector<DocumentSummary> summaries(const char *condition);
    /// Number of the new revision.
    std::int64_t insertRevision(std::int64_t document, const NewRevision &revision, std::string_view text,
                                std::string_view locksJson);
    void setProposalState(std::int64_t document, const ProposalSettlement &settlement);
    /// To be called in the transaction that erases, and the second one behind it (store_scrub.cpp).
    void beginScrub();
    void finishScrub();
    /// Does what an earlier call or process could not finish: its copy of the log was in use, or it was killed.
    void resumeScrub();
    /// Writes the log back and empties it, if nobody reads it.
    void resumeTruncation();
};

/// The transaction of a call that changes something. Refuses a store that a newer program has taken over meanwhile.
class ChangeTransaction
{
public:
    explicit ChangeTransaction(Database &database, std::span<const SchemaStep> schema);
    void commit() { m_transaction.commit(); }

private:
    Transaction m_transaction;
};

/// 128 random bits in hexadecimal digits.
[[nodiscard]] OpaqueId newId();

/// The columns of `documents` that `readSummary` reads, from column 0 on.
inline constexpr const char *kSummaryColumns =
    "documents.id, documents.title, documents.created_ms, documents.modified_ms, documents.binned_ms, "
    "documents.version, documents.last_revision, documents.text_bytes, substr(documents.text, 1, 480)"; // kExcerptBytes
inline constexpr int kSummaryColumnCount = 9;
[[nodiscard]] DocumentSummary readSummary(const Statement &row);

} // namespace palimpsest::documents
