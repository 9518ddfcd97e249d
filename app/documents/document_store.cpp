// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"

#include "app/documents/column_json.h"
#include "app/documents/schema.h"
#include "app/documents/store_error.h"
#include "app/documents/store_file.h"
#include "app/documents/store_state.h"
#include "app/documents/value_checks.h"

#include <QDateTime>
#include <QRandomGenerator>

#include <array>
#include <cstdio>
#include <utility>

namespace palimpsest::documents {

namespace {

/// A document's row, as far as a change needs it.
struct StoredDocument
{
    std::int64_t row = 0;
    Document document;
    std::string locksJson;
};

StoredDocument readDocument(Database &database, const OpaqueId &id)
{
    static const std::string sql = std::string("SELECT ") + kSummaryColumns +
                                   ", documents.number, settings, locks, text FROM documents WHERE id = ?";
    Statement row(database, sql.c_str());
    row.bind(id);
    if (!row.next())
        throw Error(ErrorKind::NotFound, "document " + id + ": there is no such document", id);
    StoredDocument stored;
    stored.document.summary = readSummary(row);
    stored.row = row.integer(kSummaryColumnCount);
    stored.document.settings = row.bytes(kSummaryColumnCount + 1);
    stored.locksJson = row.bytes(kSummaryColumnCount + 2);
    stored.document.text = row.bytes(kSummaryColumnCount + 3);
    stored.document.locks = locksFromJson(stored.locksJson);
    return stored;
}

/// How a text begins, or what a statement cut from it does, without a character that was cut through.
std::string excerptOf(std::string_view text)
{
    text = text.substr(0, kExcerptBytes);
    std::size_t behindLead = text.size();
    while (behindLead > 0 && (static_cast<unsigned char>(text[behindLead - 1]) & 0xC0U) == 0x80U)
        --behindLead;
    if (behindLead == 0)
        return {};
    const auto lead = static_cast<unsigned char>(text[behindLead - 1]);
    const std::size_t length = lead < 0x80U ? 1 : lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : 4;
    const bool isCut = text.size() - (behindLead - 1) < length;
    return std::string(text.substr(0, isCut ? behindLead - 1 : text.size()));
}

void checkValues(const DocumentChange &change)
{
    if (change.title)
        requireStorable(*change.title, "title");
    if (change.text)
        requireStorable(*change.text, "text");
    if (change.settings)
        requireJson(*change.settings, "settings");
}

void updateRow(Database &database, const StoredDocument &stored)
{
    Statement(database, "UPDATE documents SET title = ?, modified_ms = ?, version = ?, text_bytes = ?, settings = ?,"
                        " locks = ?, text = ? WHERE number = ?")
        .bind(stored.document.summary.title)
        .bind(stored.document.summary.modifiedMs)
        .bind(stored.document.summary.version)
        .bind(stored.document.summary.textBytes)
        .bind(stored.document.settings)
        .bind(stored.locksJson)
        .bind(stored.document.text)
        .bind(stored.row)
        .run();
}

/// Puts the change into the values; whether anything became different.
bool apply(const DocumentChange &change, StoredDocument &stored)
{
    Document &document = stored.document;
    const bool newTitle = change.title && *change.title != document.summary.title;
    const bool newText = change.text && *change.text != document.text;
    const bool newLocks = change.locks && *change.locks != document.locks;
    const bool newSettings = change.settings && *change.settings != document.settings;
    if (newTitle)
        document.summary.title = *change.title;
    if (newText) {
        document.text = *change.text;
        document.summary.textBytes = static_cast<std::int64_t>(document.text.size());
        document.summary.excerpt = excerptOf(document.text);
    }
    if (newLocks) {
        document.locks = *change.locks;
        stored.locksJson = locksToJson(document.locks);
    }
    if (newSettings)
        document.settings = *change.settings;
    if (newText || newLocks) {
        requireLocksFit(document.locks, document.text);
        ++document.summary.version;
    }
    return newTitle || newText || newLocks || newSettings;
}

} // namespace

OpaqueId newId()
{
    std::array<std::uint32_t, 4> bits{};
    QRandomGenerator::system()->fillRange(bits.data(), static_cast<qsizetype>(bits.size()));
    std::string id;
    for (const std::uint32_t part : bits) {
        std::array<char, 9> digits{};
        std::snprintf(digits.data(), digits.size(), "%08x", part);
        id += digits.data();
    }
    return id;
}

DocumentSummary readSummary(const Statement &row)
{
    return {.id = row.bytes(0),
            .title = row.bytes(1),
            .createdMs = row.integer(2),
            .modifiedMs = row.integer(3),
            .binnedMs = row.maybeInteger(4),
            .version = row.integer(5),
            .lastRevision = row.integer(6),
            .textBytes = row.integer(7),
            .excerpt = excerptOf(row.bytes(8))};
}

ChangeTransaction::ChangeTransaction(Database &database, std::span<const SchemaStep> schema) : m_transaction(database)
{
    refuseNewerVersion(database, schema);
}

std::int64_t DocumentStore::State::documentRow(const OpaqueId &id)
{
    Statement row(*database, "SELECT number FROM documents WHERE id = ?");
    row.bind(id);
    if (!row.next())
        throw Error(ErrorKind::NotFound, "document " + id + ": there is no such document", id);
    return row.integer(0);
}

std::vector<DocumentSummary> DocumentStore::State::summaries(const char *condition)
{
    const std::string sql =
        std::string("SELECT ") + kSummaryColumns + " FROM documents " + condition + ", documents.number DESC";
    Statement row(*database, sql.c_str());
    std::vector<DocumentSummary> list;
    while (row.next())
        list.push_back(readSummary(row));
    return list;
}

DocumentStore::DocumentStore(StoreOptions options) : m_state(std::make_unique<State>())
{
    options.file = std::filesystem::absolute(options.file);
    if (!options.nowMs)
        options.nowMs = [] {
            return QDateTime::currentMSecsSinceEpoch();
        };
    m_state->options = std::move(options);
    m_state->schema = m_state->options.schema.empty() ? currentSchema() : m_state->options.schema;
    m_state->database = openStoreFile(m_state->options, m_state->schema);
    m_state->resumeScrub();
}

DocumentStore::~DocumentStore() = default;

Document DocumentStore::create(std::string_view title, std::string_view text, Origin origin, std::string_view settings)
{
    checkValues({.title = std::string(title), .text = std::string(text), .settings = std::string(settings)});
    const OpaqueId id = newId();
    const std::int64_t now = m_state->now();
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement insert(*m_state->database,
                     "INSERT INTO documents (id, title, created_ms, modified_ms, version, last_revision, text_bytes,"
                     " settings, locks, text) VALUES (?, ?, ?, ?, 1, 0, ?, ?, ?, ?)");
    insert.bind(id).bind(title).bind(now).bind(now).bind(static_cast<std::int64_t>(text.size())).bind(settings);
    insert.bind(std::string_view("[]")).bind(text).run();
    m_state->insertRevision(insert.insertedRow(), {.origin = origin}, text, "[]");
    Document made = readDocument(*m_state->database, id).document;
    transaction.commit();
    return made;
}

Document DocumentStore::document(const OpaqueId &id) const
{
    return readDocument(*m_state->database, id).document;
}

std::vector<DocumentSummary> DocumentStore::list(Shelf shelf) const
{
    return m_state->summaries(shelf == Shelf::Drafts ? "WHERE binned_ms IS NULL ORDER BY modified_ms DESC"
                                                     : "WHERE binned_ms IS NOT NULL ORDER BY binned_ms DESC");
}

SaveOutcome DocumentStore::save(const OpaqueId &id, const DocumentChange &change)
{
    checkValues(change);
    Database &database = *m_state->database;
    ChangeTransaction transaction(database, m_state->schema);
    StoredDocument stored = readDocument(database, id);
    if (change.expectedVersion && *change.expectedVersion != stored.document.summary.version)
        return {.saved = false, .document = stored.document.summary, .revision = std::nullopt};
    SaveOutcome outcome{.saved = true, .document = {}, .revision = std::nullopt};
    if (apply(change, stored)) {
        stored.document.summary.modifiedMs = m_state->now();
        updateRow(database, stored);
    }
    if (change.revision) {
        outcome.revision =
            m_state->insertRevision(stored.row, *change.revision, stored.document.text, stored.locksJson);
        stored.document.summary.lastRevision = *outcome.revision;
    }
    for (const ProposalSettlement &settlement : change.proposals)
        m_state->setProposalState(stored.row, settlement);
    transaction.commit();
    outcome.document = std::move(stored.document.summary);
    if (m_state->scrubOwed)
        m_state->resumeTruncation();
    return outcome;
}

SaveOutcome DocumentStore::saveText(const OpaqueId &id, std::string_view text, std::vector<LockedRange> locks,
                                    std::optional<std::int64_t> expectedVersion)
{
    return save(id, {.text = std::string(text), .locks = std::move(locks), .expectedVersion = expectedVersion});
}

Document DocumentStore::duplicate(const OpaqueId &id, std::string_view title)
{
    requireStorable(title, "title");
    const OpaqueId copy = newId();
    const std::int64_t now = m_state->now();
    Database &database = *m_state->database;
    ChangeTransaction transaction(database, m_state->schema);
    const StoredDocument original = readDocument(database, id);
    Statement insert(database,
                     "INSERT INTO documents (id, title, created_ms, modified_ms, version, last_revision, text_bytes,"
                     " settings, locks, text) SELECT ?, ?, ?, ?, 1, 0, text_bytes, settings, locks, text"
                     " FROM documents WHERE number = ?");
    insert.bind(copy).bind(title).bind(now).bind(now).bind(original.row).run();
    m_state->insertRevision(insert.insertedRow(), {}, original.document.text, original.locksJson);
    Document made = readDocument(database, copy).document;
    transaction.commit();
    return made;
}

DocumentSummary DocumentStore::moveToBin(const OpaqueId &id)
{
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement(*m_state->database, "UPDATE documents SET binned_ms = coalesce(binned_ms, ?) WHERE id = ?")
        .bind(m_state->now())
        .bind(id)
        .run();
    DocumentSummary binned = readDocument(*m_state->database, id).document.summary;
    transaction.commit();
    return binned;
}

DocumentSummary DocumentStore::takeFromBin(const OpaqueId &id)
{
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement(*m_state->database, "UPDATE documents SET binned_ms = NULL WHERE id = ?").bind(id).run();
    DocumentSummary draft = readDocument(*m_state->database, id).document.summary;
    transaction.commit();
    return draft;
}

void DocumentStore::erase(const OpaqueId &id)
{
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement(*m_state->database, "DELETE FROM documents WHERE number = ?").bind(m_state->documentRow(id)).run();
    m_state->beginScrub();
    transaction.commit();
    m_state->finishScrub();
    removeVersionCopies(m_state->options.file);
}

std::int64_t DocumentStore::emptyBin(std::optional<std::int64_t> binnedBeforeMs)
{
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    const std::int64_t count =
        Statement(*m_state->database, "DELETE FROM documents WHERE binned_ms < coalesce(?, binned_ms + 1)")
            .bindMaybe(binnedBeforeMs)
            .run();
    if (count == 0)
        return 0;
    m_state->beginScrub();
    transaction.commit();
    m_state->finishScrub();
    removeVersionCopies(m_state->options.file);
    return count;
}

} // namespace palimpsest::documents
