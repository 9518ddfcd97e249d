// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"
#include "app/documents/step_codec.h"
#include "app/documents/store_state.h"
#include "app/documents/value_checks.h"
#include "engine/error.h"

namespace palimpsest::documents {

namespace {

constexpr const char *kRunColumns =
    "SELECT runs.id, runs.created_ms, runs.pruned, runs.metadata,"
    " coalesce(sum(last_step - first_step + 1), 0), count(DISTINCT canvas), coalesce(sum(bytes), 0)"
    " FROM runs LEFT JOIN run_steps ON run_steps.run = runs.number";

RunSummary readRun(const Statement &row)
{
    return {.id = row.bytes(0),
            .createdMs = row.integer(1),
            .metadata = row.bytes(3),
            .steps = row.integer(4),
            .canvases = row.integer(5),
            .bytes = row.integer(6),
            .pruned = row.integer(2) != 0};
}

std::int64_t historyBytes(Database &database, std::int64_t document)
{
    Statement sum(database, "SELECT coalesce(sum(bytes), 0) FROM run_steps JOIN runs ON runs.number = run_steps.run"
                            " WHERE runs.document = ?");
    sum.bind(document);
    return sum.next() ? sum.integer(0) : 0;
}

struct PrunableRun
{
    std::int64_t row = 0;
    OpaqueId id;
    std::int64_t bytes = 0;
};

/// Oldest first.
std::vector<PrunableRun> prunableRuns(Database &database, std::int64_t document, std::int64_t keptRun)
{
    Statement row(database, "SELECT runs.number, runs.id, sum(bytes) FROM runs JOIN run_steps ON run = runs.number"
                            " WHERE runs.document = ? AND runs.number <> ? AND NOT EXISTS"
                            " (SELECT 1 FROM proposals WHERE proposals.run = runs.number AND state IN (?, ?))"
                            " GROUP BY runs.number ORDER BY runs.number");
    row.bind(document).bind(keptRun);
    row.bind(static_cast<std::int64_t>(ProposalState::Running)).bind(static_cast<std::int64_t>(ProposalState::Open));
    std::vector<PrunableRun> list;
    while (row.next())
        list.push_back({.row = row.integer(0), .id = row.bytes(1), .bytes = row.integer(2)});
    return list;
}

std::vector<OpaqueId> prune(Database &database, std::int64_t document, std::int64_t keptRun, std::int64_t capBytes)
{
    std::vector<OpaqueId> pruned;
    std::int64_t bytes = historyBytes(database, document);
    if (bytes <= capBytes)
        return pruned;
    for (const PrunableRun &run : prunableRuns(database, document, keptRun)) {
        if (bytes <= capBytes)
            break;
        Statement(database, "DELETE FROM run_steps WHERE run = ?").bind(run.row).run();
        Statement(database, "UPDATE runs SET pruned = 1 WHERE number = ?").bind(run.row).run();
        bytes -= run.bytes;
        pruned.push_back(run.id);
    }
    return pruned;
}

void requireBehindLast(Database &database, std::int64_t run, std::int64_t canvas, std::int32_t step)
{
    Statement last(database, "SELECT max(last_step) FROM run_steps WHERE run = ? AND canvas = ?");
    last.bind(run).bind(canvas);
    if (last.next() && last.maybeInteger(0).value_or(0) >= step) {
        throw Error(ErrorKind::InvalidArgument,
                    "denoising history: step " + std::to_string(step) + " of canvas " + std::to_string(canvas) +
                        " is there already",
                    "steps");
    }
}

} // namespace

std::int64_t DocumentStore::State::runRow(const OpaqueId &id)
{
    Statement row(*database, "SELECT number FROM runs WHERE id = ?");
    row.bind(id);
    if (!row.next())
        throw Error(ErrorKind::NotFound, "run " + id + ": there is no such run", id);
    return row.integer(0);
}

std::optional<std::int64_t> DocumentStore::State::ownRunRow(std::int64_t document, const std::optional<OpaqueId> &id)
{
    if (!id)
        return std::nullopt;
    Statement row(*database, "SELECT number FROM runs WHERE id = ? AND document = ?");
    row.bind(*id).bind(document);
    if (!row.next())
        throw Error(ErrorKind::InvalidArgument, "run " + *id + ": not a run of this document", "run");
    return row.integer(0);
}

OpaqueId DocumentStore::beginRun(const OpaqueId &document, std::string_view metadata)
{
    requireJson(metadata, "metadata of a run");
    OpaqueId id = newId();
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement(*m_state->database, "INSERT INTO runs (id, document, created_ms, metadata) VALUES (?, ?, ?, ?)")
        .bind(id)
        .bind(m_state->documentRow(document))
        .bind(m_state->now())
        .bind(metadata)
        .run();
    transaction.commit();
    return id;
}

void DocumentStore::setRunMetadata(const OpaqueId &run, std::string_view metadata)
{
    requireJson(metadata, "metadata of a run");
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement(*m_state->database, "UPDATE runs SET metadata = ? WHERE number = ?")
        .bind(metadata)
        .bind(m_state->runRow(run))
        .run();
    transaction.commit();
}

std::vector<OpaqueId> DocumentStore::appendSteps(const OpaqueId &run, std::int64_t canvas,
                                                 std::span<const StepRecord> steps)
{
    if (steps.empty())
        return {};
    const std::string record = packSteps(steps);
    Database &database = *m_state->database;
    ChangeTransaction transaction(database, m_state->schema);
    const std::int64_t row = m_state->runRow(run);
    requireBehindLast(database, row, canvas, steps.front().step);
    Statement(database, "INSERT INTO run_steps (run, canvas, first_step, last_step, bytes, record)"
                        " VALUES (?, ?, ?, ?, ?, ?)")
        .bind(row)
        .bind(canvas)
        .bind(std::int64_t{steps.front().step})
        .bind(std::int64_t{steps.back().step})
        .bind(static_cast<std::int64_t>(record.size()))
        .bind(record)
        .run();
    Statement owner(database, "SELECT document FROM runs WHERE number = ?");
    owner.bind(row);
    std::vector<OpaqueId> pruned;
    if (owner.next())
        pruned = prune(database, owner.integer(0), row, m_state->options.historyCapBytes);
    while (owner.next()) {
    }
    transaction.commit();
    return pruned;
}

std::vector<RunSummary> DocumentStore::runs(const OpaqueId &document) const
{
    const std::int64_t number = m_state->documentRow(document);
    const std::string sql =
        std::string(kRunColumns) + " WHERE runs.document = ? GROUP BY runs.number ORDER BY runs.number";
    Statement row(*m_state->database, sql.c_str());
    row.bind(number);
    std::vector<RunSummary> list;
    while (row.next())
        list.push_back(readRun(row));
    return list;
}

RunSummary DocumentStore::run(const OpaqueId &run) const
{
    const std::int64_t number = m_state->runRow(run);
    const std::string sql = std::string(kRunColumns) + " WHERE runs.number = ? GROUP BY runs.number";
    Statement row(*m_state->database, sql.c_str());
    row.bind(number);
    if (!row.next())
        throw Error(ErrorKind::NotFound, "run " + run + ": there is no such run", run);
    return readRun(row);
}

std::vector<StepRecord> DocumentStore::steps(const OpaqueId &run, std::int64_t canvas) const
{
    const std::int64_t number = m_state->runRow(run);
    Statement row(*m_state->database, "SELECT record FROM run_steps WHERE run = ? AND canvas = ? ORDER BY first_step");
    row.bind(number).bind(canvas);
    std::vector<StepRecord> steps;
    while (row.next()) {
        std::vector<StepRecord> batch = unpackSteps(row.bytes(0));
        steps.insert(steps.end(), std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end()));
    }
    return steps;
}

std::optional<StepRecord> DocumentStore::step(const OpaqueId &run, std::int64_t canvas, std::int32_t step) const
{
    const std::int64_t number = m_state->runRow(run);
    Statement row(*m_state->database, "SELECT record FROM run_steps WHERE run = ? AND canvas = ?"
                                      " AND first_step <= ? AND last_step >= ?");
    row.bind(number).bind(canvas).bind(std::int64_t{step}).bind(std::int64_t{step});
    while (row.next()) {
        for (StepRecord &record : unpackSteps(row.bytes(0))) {
            if (record.step == step)
                return std::move(record);
        }
    }
    return std::nullopt;
}

void DocumentStore::eraseRun(const OpaqueId &run)
{
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement(*m_state->database, "DELETE FROM runs WHERE number = ?").bind(m_state->runRow(run)).run();
    m_state->beginScrub();
    transaction.commit();
    m_state->finishScrub();
}

} // namespace palimpsest::documents
