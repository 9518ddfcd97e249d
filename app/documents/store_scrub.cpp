// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// How the bytes of erased documents leave the disk. Four places keep them: rows (SQLite's secure_delete overwrites
// those), the search index (until its parts are merged, FTS5 keeps words of deleted documents with a mark that they
// count no more), the gaps of pages whose rows were moved to a neighbour (seen; secure_delete leaves these alone, only
// VACUUM does not copy them), and the log. The duty is noted in the transaction that erases, so it survives a crash.

#include "app/documents/store_error.h"
#include "app/documents/store_state.h"

#include <string>

namespace palimpsest::documents {

namespace {

/// Without a wait for readers: whoever saves must not wait for somebody's list.
bool truncateLog(Database &database, std::chrono::milliseconds busyTimeout)
{
    database.run("PRAGMA busy_timeout = 0");
    bool done = false;
    try {
        done = database.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0;
    } catch (const StoreError &) { // as far as it goes: the log still holds what it held
    }
    database.run(("PRAGMA busy_timeout = " + std::to_string(busyTimeout.count())).c_str());
    return done;
}

} // namespace

void DocumentStore::State::beginScrub()
{
    database->run("INSERT INTO document_search (document_search) VALUES ('optimize')");
    database->run("UPDATE duties SET scrub = 1");
}

void DocumentStore::State::finishScrub()
{
    scrubOwed = true;
    try {
        database->run("VACUUM");
        database->run("UPDATE duties SET scrub = 0");
    } catch (const StoreError &) { // no room, or not the only writer: the duty is noted, see resumeScrub
        return;
    }
    resumeTruncation();
}

void DocumentStore::State::resumeTruncation()
{
    scrubOwed = !truncateLog(*database, options.busyTimeout);
}

void DocumentStore::State::resumeScrub()
{
    if (database->integer("SELECT scrub FROM duties") != 0)
        finishScrub();
    else
        resumeTruncation(); // one that did not get that far
}

} // namespace palimpsest::documents
