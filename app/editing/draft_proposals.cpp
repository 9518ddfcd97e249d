// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What a draft does with its proposals.

#include "app/editing/draft.h"

#include "app/editing/locked_words.h"
#include "engine/error.h"

#include <algorithm>
#include <utility>

namespace palimpsest::editing {

namespace {

[[noreturn]] void refuse(const std::string &message, const char *field)
{
    throw Error(ErrorKind::InvalidArgument, message, field);
}

} // namespace

void Draft::addProposal(Proposal proposal)
{
    m_changedProposals.push_back(proposal.id);
    m_proposals.push_back(std::move(proposal));
}

const Proposal &Draft::requireProposal(QStringView id) const
{
    const Proposal *found = proposal(id);
    if (found == nullptr)
        throw Error(ErrorKind::NotFound, "there is no proposal " + id.toString().toStdString() + " for this draft",
                    "proposal");
    return *found;
}

StandingText Draft::standingOf(const Proposal &proposal) const
{
    return {textOf(proposal.span), locksInside(m_locks, proposal.span)};
}

/// Words may have been locked since the changes were made up: those changes are turned down.
Proposal Draft::withoutLockedChanges(const Proposal &proposal, std::optional<std::size_t> change) const
{
    Proposal result = proposal;
    for (std::size_t i = 0; i < proposal.changes.size(); ++i) {
        const ProposalChange &candidate = proposal.changes[i];
        if (candidate.state != ChangeState::Open || !touchesAny({candidate.span, candidate.text}, m_locks))
            continue;
        if (change == i)
            refuse("the change would alter locked words; unlock them first", "change");
        if (!change) {
            result.changes[i].state = ChangeState::Rejected;
            result.note = QStringLiteral("Changes of locked words were left out.");
        }
    }
    return result;
}

std::vector<AppliedEdit> Draft::accept(const QString &id, std::optional<std::size_t> change, std::optional<int> words,
                                       const EditAuthor &author)
{
    const Proposal offered = withoutLockedChanges(requireProposal(id), change);
    if (words && !change)
        refuse("words are taken of one change: say which", "change");
    const Acceptance acceptance = words ? acceptedWords(offered, *change, *words) : accepted(offered, change);
    Step step = newStep(author.cause == EditCause::Direct ? QStringLiteral("Write in") : QStringLiteral("Accept"));
    step.proposals.push_back({requireProposal(id), acceptance.proposal});
    std::vector<AppliedEdit> applied;
    for (const TextEdit &edit : acceptance.edits)
        applied.push_back(apply(edit, step));
    replaceProposal(acceptance.proposal, &step); // its own edits would have dropped it
    push(std::move(step));
    return applied;
}

void Draft::reject(const QString &id, std::optional<std::size_t> change)
{
    const Proposal turnedDown = rejected(requireProposal(id), change);
    Step step = newStep(QStringLiteral("Reject"));
    replaceProposal(turnedDown, &step);
    push(std::move(step));
}

void Draft::replaceOpen(const Proposal &proposal)
{
    replaceProposal(proposal, nullptr);
}

std::vector<QString> Draft::takeChangedProposals()
{
    std::vector<QString> changed = std::exchange(m_changedProposals, {});
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    return changed;
}

void Draft::choose(const QString &id, std::size_t alternative)
{
    const Proposal &now = requireProposal(id);
    replaceProposal(choosing(now, alternative, standingOf(now)), nullptr);
}

void Draft::take(const QString &id, std::size_t alternative, TextSpan words)
{
    const Proposal &now = requireProposal(id);
    replaceProposal(taking(now, alternative, words, standingOf(now)), nullptr);
}

void Draft::writeOwn(const QString &id, const QString &text)
{
    const Proposal &now = requireProposal(id);
    replaceProposal(withOwnText(now, text, standingOf(now)), nullptr);
}

} // namespace palimpsest::editing
