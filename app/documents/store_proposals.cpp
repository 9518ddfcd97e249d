// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"
#include "app/documents/store_state.h"
#include "app/documents/value_checks.h"
#include "engine/error.h"

#include <utility>

namespace palimpsest::documents {

namespace {

constexpr const char *kProposalColumns =
    "SELECT proposals.id, proposals.created_ms, state, range_begin, range_end, original, proposed, changes, runs.id"
    " FROM proposals LEFT JOIN runs ON runs.number = proposals.run";

Proposal readProposal(const Statement &row)
{
    return {.id = row.bytes(0),
            .createdMs = row.integer(1),
            .state = static_cast<ProposalState>(row.integer(2)),
            .begin = row.integer(3),
            .end = row.integer(4),
            .original = row.bytes(5),
            .proposed = row.bytes(6),
            .changes = row.bytes(7),
            .run = row.maybeBytes(8)};
}

void requireSound(const Proposal &proposal)
{
    requireStorable(proposal.original, "original of a proposal");
    requireStorable(proposal.proposed, "proposed text");
    requireJson(proposal.changes, "changes of a proposal");
    if (proposal.begin < 0 || proposal.end < proposal.begin)
        throw Error(ErrorKind::InvalidArgument, "proposal: its range is reversed or negative", "range");
}

[[noreturn]] void throwNoProposal(const OpaqueId &id)
{
    throw Error(ErrorKind::NotFound, "proposal " + id + ": there is no such proposal", id);
}

} // namespace

void DocumentStore::State::setProposalState(std::int64_t document, const ProposalSettlement &settlement)
{
    const std::int64_t changed = Statement(*database, "UPDATE proposals SET state = ? WHERE id = ? AND document = ?")
                                     .bind(static_cast<std::int64_t>(settlement.state))
                                     .bind(settlement.proposal)
                                     .bind(document)
                                     .run();
    if (changed == 0)
        throwNoProposal(settlement.proposal);
}

Proposal DocumentStore::addProposal(const OpaqueId &document, Proposal proposal)
{
    requireSound(proposal);
    proposal.id = newId();
    proposal.createdMs = m_state->now();
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    const std::int64_t row = m_state->documentRow(document);
    Statement(*m_state->database, "INSERT INTO proposals (id, document, created_ms, state, range_begin, range_end, run,"
                                  " original, proposed, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(proposal.id)
        .bind(row)
        .bind(proposal.createdMs)
        .bind(static_cast<std::int64_t>(proposal.state))
        .bind(proposal.begin)
        .bind(proposal.end)
        .bindMaybe(m_state->ownRunRow(row, proposal.run))
        .bind(proposal.original)
        .bind(proposal.proposed)
        .bind(proposal.changes)
        .run();
    transaction.commit();
    return proposal;
}

void DocumentStore::updateProposal(const Proposal &proposal)
{
    requireSound(proposal);
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    Statement owner(*m_state->database, "SELECT document FROM proposals WHERE id = ?");
    owner.bind(proposal.id);
    if (!owner.next())
        throwNoProposal(proposal.id);
    const std::optional<std::int64_t> run = m_state->ownRunRow(owner.integer(0), proposal.run);
    while (owner.next()) {
    }
    Statement(*m_state->database, "UPDATE proposals SET state = ?, range_begin = ?, range_end = ?, run = ?,"
                                  " original = ?, proposed = ?, changes = ? WHERE id = ?")
        .bind(static_cast<std::int64_t>(proposal.state))
        .bind(proposal.begin)
        .bind(proposal.end)
        .bindMaybe(run)
        .bind(proposal.original)
        .bind(proposal.proposed)
        .bind(proposal.changes)
        .bind(proposal.id)
        .run();
    transaction.commit();
}

void DocumentStore::eraseProposal(const OpaqueId &proposal)
{
    ChangeTransaction transaction(*m_state->database, m_state->schema);
    if (Statement(*m_state->database, "DELETE FROM proposals WHERE id = ?").bind(proposal).run() == 0)
        throwNoProposal(proposal);
    transaction.commit();
}

Proposal DocumentStore::proposal(const OpaqueId &id) const
{
    const std::string sql = std::string(kProposalColumns) + " WHERE proposals.id = ?";
    Statement row(*m_state->database, sql.c_str());
    row.bind(id);
    if (!row.next())
        throwNoProposal(id);
    return readProposal(row);
}

std::vector<Proposal> DocumentStore::proposals(const OpaqueId &document) const
{
    const std::int64_t number = m_state->documentRow(document);
    const std::string sql = std::string(kProposalColumns) + " WHERE proposals.document = ? ORDER BY proposals.number";
    Statement row(*m_state->database, sql.c_str());
    row.bind(number);
    std::vector<Proposal> list;
    while (row.next())
        list.push_back(readProposal(row));
    return list;
}

} // namespace palimpsest::documents
