// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/schema.h"

#include "app/documents/database.h"

#include <array>
#include <string>

namespace palimpsest::documents {

namespace {

// Texts are blobs (see Statement). Columns that lists read stand in front of the long ones: SQLite reads a row up to
// the column it needs. `number` is the row, `id` the name to the outside.
constexpr std::array kFirstVersion = {
    "CREATE TABLE documents ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id BLOB NOT NULL UNIQUE,"
    " title BLOB NOT NULL,"
    " created_ms INTEGER NOT NULL,"
    " modified_ms INTEGER NOT NULL,"
    " binned_ms INTEGER,"
    " version INTEGER NOT NULL,"
    " last_revision INTEGER NOT NULL,"
    " text_bytes INTEGER NOT NULL,"
    " settings BLOB NOT NULL," // JSON object
    " locks BLOB NOT NULL,"    // JSON: [[begin, end, text], ...]
    " text BLOB NOT NULL"
    ") STRICT",
    "CREATE TABLE runs ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id BLOB NOT NULL UNIQUE,"
    " document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,"
    " created_ms INTEGER NOT NULL,"
    " pruned INTEGER NOT NULL DEFAULT 0,"
    " metadata BLOB NOT NULL" // JSON object
    ") STRICT",
    "CREATE INDEX runs_of_document ON runs (document)",
    // Steps of one canvas that were appended together; the record is that of step_codec.h.
    "CREATE TABLE run_steps ("
    " run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,"
    " canvas INTEGER NOT NULL,"
    " first_step INTEGER NOT NULL,"
    " last_step INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " record BLOB NOT NULL,"
    " UNIQUE (run, canvas, first_step)"
    ") STRICT",
    "CREATE TABLE revisions ("
    " document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,"
    " number INTEGER NOT NULL,"
    " parent INTEGER,"
    " created_ms INTEGER NOT NULL,"
    " origin INTEGER NOT NULL CHECK (origin BETWEEN 0 AND 3),"
    " label BLOB NOT NULL,"
    " model BLOB," // JSON object (column_json.h)
    " run INTEGER REFERENCES runs (number) ON DELETE SET NULL,"
    " text_bytes INTEGER NOT NULL,"
    " packing INTEGER NOT NULL," // of the text: 0 as it is, 1 qCompress
    " locks BLOB NOT NULL,"
    " text BLOB NOT NULL,"
    " UNIQUE (document, number)"
    ") STRICT",
    "CREATE INDEX revisions_of_run ON revisions (run)",
    "CREATE TABLE proposals ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id BLOB NOT NULL UNIQUE,"
    " document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,"
    " created_ms INTEGER NOT NULL,"
    " state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),"
    " range_begin INTEGER NOT NULL,"
    " range_end INTEGER NOT NULL,"
    " run INTEGER REFERENCES runs (number) ON DELETE SET NULL,"
    " original BLOB NOT NULL,"
    " proposed BLOB NOT NULL,"
    " changes BLOB NOT NULL" // JSON
    ") STRICT",
    "CREATE INDEX proposals_of_document ON proposals (document)",
    "CREATE INDEX proposals_of_run ON proposals (run)",
    // 1: something was erased, and its bytes may still be in free space of pages or in the log (store_scrub.cpp).
    "CREATE TABLE duties (scrub INTEGER NOT NULL) STRICT",
    "INSERT INTO duties (scrub) VALUES (0)",
    // The index keeps no text of its own; it reads titles and texts through this view.
    "CREATE VIEW searched_documents AS"
    " SELECT number, CAST(title AS TEXT) AS title, CAST(text AS TEXT) AS text FROM documents",
    "CREATE VIRTUAL TABLE document_search USING fts5 (title, text, content = 'searched_documents',"
    " content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2')",
    "CREATE TRIGGER documents_inserted AFTER INSERT ON documents BEGIN"
    " INSERT INTO document_search (rowid, title, text)"
    " VALUES (new.number, CAST(new.title AS TEXT), CAST(new.text AS TEXT));"
    " END",
    "CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN"
    " INSERT INTO document_search (document_search, rowid, title, text)"
    " VALUES ('delete', old.number, CAST(old.title AS TEXT), CAST(old.text AS TEXT));"
    " END",
    "CREATE TRIGGER documents_updated AFTER UPDATE OF title, text ON documents"
    " WHEN old.title IS NOT new.title OR old.text IS NOT new.text BEGIN"
    " INSERT INTO document_search (document_search, rowid, title, text)"
    " VALUES ('delete', old.number, CAST(old.title AS TEXT), CAST(old.text AS TEXT));"
    " INSERT INTO document_search (rowid, title, text)"
    " VALUES (new.number, CAST(new.title AS TEXT), CAST(new.text AS TEXT));"
    " END",
};

constexpr std::array kSteps = {SchemaStep{.version = 1, .statements = kFirstVersion}};

} // namespace

std::span<const SchemaStep> currentSchema()
{
    return kSteps;
}

void applySchema(Database &database, std::span<const SchemaStep> schema, std::int64_t fromVersion)
{
    for (const SchemaStep &step : schema) {
        if (step.version <= fromVersion)
            continue;
        for (const char *statement : step.statements)
            database.run(statement);
        database.run(("PRAGMA user_version = " + std::to_string(step.version)).c_str());
    }
    database.run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
}

} // namespace palimpsest::documents
