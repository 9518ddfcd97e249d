// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/column_json.h"
#include "app/documents/document_store.h"
#include "app/documents/store_state.h"
#include "app/documents/value_checks.h"
#include "engine/error.h"

#include <QByteArray>

#include <utility>

namespace palimpsest::documents {

namespace {

enum class Packing : std::int64_t { None = 0, Compressed = 1 };

struct PackedText
{
    Packing packing = Packing::None;
    std::string bytes;
};

/// Shorter texts gain too little, and stay readable for a person who has to rescue a damaged file.
constexpr std::size_t kShortestCompressed = 512;

PackedText pack(std::string_view text)
{
    if (text.size() >= kShortestCompressed) {
        std::string packed =
            qCompress(reinterpret_cast<const uchar *>(text.data()), static_cast<qsizetype>(text.size())).toStdString();
        if (packed.size() < text.size())
            return {.packing = Packing::Compressed, .bytes = std::move(packed)};
    }
    return {.packing = Packing::None, .bytes = std::string(text)};
}

std::string unpack(PackedText packed, std::int64_t textBytes)
{
    std::string text = std::move(packed.bytes);
    if (packed.packing == Packing::Compressed)
        text = qUncompress(reinterpret_cast<const uchar *>(text.data()), static_cast<qsizetype>(text.size()))
                   .toStdString();
    if (static_cast<std::int64_t>(text.size()) != textBytes)
        throw Error(ErrorKind::InvalidInput, "document store: the text of a revision is damaged", "revisions");
    return text;
}

constexpr const char *kRevisionColumns = "SELECT revisions.number, parent, revisions.created_ms, origin, label, model,"
                                         " runs.id, text_bytes";
constexpr const char *kRevisionSource =
    " FROM revisions LEFT JOIN runs ON runs.number = revisions.run WHERE revisions.document = ?";

RevisionSummary readRevisionSummary(const Statement &row)
{
    RevisionSummary summary{.number = row.integer(0),
                            .parent = row.maybeInteger(1),
                            .createdMs = row.integer(2),
                            .origin = static_cast<Origin>(row.integer(3)),
                            .label = row.bytes(4),
                            .model = std::nullopt,
                            .run = row.maybeBytes(6),
                            .textBytes = row.integer(7)};
    if (const auto model = row.maybeBytes(5))
        summary.model = modelOriginFromJson(*model);
    return summary;
}

std::optional<std::string> modelColumn(const NewRevision &revision)
{
    if (!revision.model)
        return std::nullopt;
    const ModelOrigin &model = *revision.model;
    for (const auto &[name, value] : {std::pair<const char *, const std::string &>{"model", model.model},
                                      {"action", model.action},
                                      {"instruction", model.instruction},
                                      {"stop reason", model.stopReason}})
        requireStorable(value, name);
    requireJson(model.sampler, "sampler settings");
    requireJson(model.figures, "figures");
    return modelOriginToJson(model);
}

} // namespace

std::int64_t DocumentStore::State::insertRevision(std::int64_t document, const NewRevision &revision,
                                                  std::string_view text, std::string_view locksJson)
{
    requireStorable(revision.label, "label");
    const std::optional<std::string> model = modelColumn(revision);
    Statement last(*database, "UPDATE documents SET last_revision = last_revision + 1 WHERE number = ?"
                              " RETURNING last_revision");
    last.bind(document);
    if (!last.next())
        throw Error(ErrorKind::NotFound, "there is no such document");
    const std::int64_t number = last.integer(0);
    while (last.next()) {
    }
    const std::optional<std::int64_t> parent =
        revision.parent || number == 1 ? revision.parent : std::optional(number - 1);
    if (parent && (*parent < 1 || *parent >= number)) {
        throw Error(ErrorKind::InvalidArgument,
                    "revision: the parent " + std::to_string(*parent) + " is none of the document's", "parent");
    }
    const PackedText packed = pack(text);
    Statement(*database, "INSERT INTO revisions (document, number, parent, created_ms, origin, label, model, run,"
                         " text_bytes, packing, locks, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(document)
        .bind(number)
        .bindMaybe(parent)
        .bind(now())
        .bind(static_cast<std::int64_t>(revision.origin))
        .bind(revision.label)
        .bindMaybe(model)
        .bindMaybe(ownRunRow(document, revision.run))
        .bind(static_cast<std::int64_t>(text.size()))
        .bind(static_cast<std::int64_t>(packed.packing))
        .bind(locksJson)
        .bind(packed.bytes)
        .run();
    return number;
}

RevisionSummary DocumentStore::addRevision(const OpaqueId &id, const NewRevision &revision)
{
    const SaveOutcome outcome = save(id, {.revision = revision});
    return this->revision(id, *outcome.revision).summary;
}

std::vector<RevisionSummary> DocumentStore::revisions(const OpaqueId &id) const
{
    const std::int64_t document = m_state->documentRow(id);
    const std::string sql = std::string(kRevisionColumns) + kRevisionSource + " ORDER BY revisions.number";
    Statement row(*m_state->database, sql.c_str());
    row.bind(document);
    std::vector<RevisionSummary> list;
    while (row.next())
        list.push_back(readRevisionSummary(row));
    return list;
}

Revision DocumentStore::revision(const OpaqueId &id, std::int64_t number) const
{
    const std::int64_t document = m_state->documentRow(id);
    const std::string sql =
        std::string(kRevisionColumns) + ", packing, locks, text" + kRevisionSource + " AND revisions.number = ?";
    Statement row(*m_state->database, sql.c_str());
    row.bind(document).bind(number);
    if (!row.next()) {
        throw Error(ErrorKind::NotFound,
                    "document " + id + ": there is no revision " + std::to_string(number) + " of it", id);
    }
    Revision found{.summary = readRevisionSummary(row), .text = {}, .locks = locksFromJson(row.bytes(9))};
    found.text =
        unpack({.packing = static_cast<Packing>(row.integer(8)), .bytes = row.bytes(10)}, found.summary.textBytes);
    return found;
}

SaveOutcome DocumentStore::restore(const OpaqueId &id, std::int64_t number, std::optional<std::int64_t> expectedVersion)
{
    Revision old = revision(id, number);
    return save(id, {.text = std::move(old.text),
                     .locks = std::move(old.locks),
                     .revision = NewRevision{.origin = Origin::Restored,
                                             .parent = number,
                                             .label = std::move(old.summary.label),
                                             .model = std::move(old.summary.model),
                                             .run = std::move(old.summary.run)},
                     .expectedVersion = expectedVersion});
}

} // namespace palimpsest::documents
