// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What DraftView does with runs that end and with what they propose.

#include "app/studio/draft_view.h"

#include <QQuickItem>

#include <algorithm>
#include <utility>

namespace palimpsest::studio {

using editing::ChangeState;
using editing::Proposal;
using editing::RunInfo;
using editing::RunState;

namespace {

QString settledWords(const editing::ProposalAlternative &alternative)
{
    const bool capped =
        std::find(alternative.stops.begin(), alternative.stops.end(), CanvasStop::StepCap) != alternative.stops.end();
    if (capped)
        return DraftView::tr("stopped at the cap");
    return alternative.stops.empty() ? DraftView::tr("yours") : DraftView::tr("settled");
}

} // namespace

void DraftView::onRunChanged(const QString &run)
{
    const RunInfo info = m_session->run(run);
    const bool isOver = editing::hasEnded(info.state);
    if (!isOver && (m_run.isEmpty() || !running()))
        m_run = run;
    if (isOver && run == m_run) {
        announceEnd(info);
        if (info.state == RunState::Failed || (info.state == RunState::Done && !info.problem.isEmpty()))
            Q_EMIT problem(info.problem);
    }
    const Told now{m_run, running(), paused()};
    if (std::exchange(m_told, now) == now) { // how far it is, which texts of the window say: not within a step's news
        m_progressTimer.request();
        return;
    }
    Q_EMIT runChanged();
    Q_EMIT progressChanged();
}

void DraftView::announceEnd(const RunInfo &info)
{
    if (info.state == RunState::Stopped)
        announce(tr("Stopped"));
    else if (info.state == RunState::Failed)
        announce(tr("Failed: %1").arg(info.problem));
    else
        announce(info.problem.isEmpty() ? tr("Done") : tr("Done: %1").arg(info.problem));
}

void DraftView::onProposalChanged(const QString &)
{
    const auto places = changePlaces();
    const bool stillThere = m_current && std::any_of(places.begin(), places.end(), [this](const auto &place) {
                                return place.proposal == m_current->proposal && place.change == m_current->change;
                            });
    if (!stillThere)
        setCurrent(places.empty() ? std::nullopt : std::optional(places.front()));
    Q_EMIT proposalsChanged();
}

std::vector<PageText::ChangePlace> DraftView::changePlaces() const
{
    std::vector<PageText::ChangePlace> places;
    if (!m_session)
        return places;
    for (const Proposal &proposal : m_session->draft().proposals()) {
        if (!proposal.isOpen())
            continue;
        for (std::size_t i = 0; i < proposal.changes.size(); ++i) {
            if (proposal.changes[i].state == ChangeState::Open)
                places.push_back({.proposal = proposal.id, .change = i});
        }
    }
    const auto startOf = [this](const PageText::ChangePlace &place) {
        return m_session->draft().proposal(place.proposal)->changes[place.change].span.start;
    };
    std::stable_sort(places.begin(), places.end(),
                     [&](const auto &a, const auto &b) { return startOf(a) < startOf(b); });
    return places;
}

int DraftView::openChanges() const
{
    return static_cast<int>(changePlaces().size());
}

int DraftView::changeEnd() const
{
    const auto shown = m_current ? m_page.shownOf(*m_current) : std::nullopt;
    return shown ? static_cast<int>(shown->end) : -1;
}

const Proposal *DraftView::currentProposal() const
{
    return m_session && m_current ? m_session->draft().proposal(m_current->proposal) : nullptr;
}

void DraftView::setCurrent(std::optional<PageText::ChangePlace> place)
{
    m_current = std::move(place);
    m_page.setCurrentChange(m_current);
    Q_EMIT proposalsChanged();
}

QVariantList DraftView::alternatives() const
{
    QVariantList list;
    const Proposal *proposal = currentProposal();
    if (proposal == nullptr || proposal->alternatives.size() < 2)
        return list;
    for (std::size_t i = 0; i < proposal->alternatives.size(); ++i) {
        const editing::ProposalAlternative &alternative = proposal->alternatives[i];
        list << QVariantMap{{QStringLiteral("text"), alternative.text},
                            {QStringLiteral("label"), alternative.stops.empty()
                                                          ? tr("%1").arg(i + 1)
                                                          : tr("%1 · seed %2").arg(i + 1).arg(alternative.seed)},
                            {QStringLiteral("settled"), settledWords(alternative)},
                            {QStringLiteral("chosen"), i == proposal->chosen}};
    }
    return list;
}

QString DraftView::proposalNote() const
{
    const Proposal *proposal = currentProposal();
    return proposal == nullptr ? QString() : proposal->note;
}

QString DraftView::originText() const
{
    const Proposal *proposal = currentProposal();
    if (proposal == nullptr)
        return {};
    const editing::ProposalOrigin &origin = proposal->origin;
    const auto steps = static_cast<int>(origin.steps);
    const bool capped = std::find(origin.stops.begin(), origin.stops.end(), CanvasStop::StepCap) != origin.stops.end();
    const bool stopped =
        std::find(origin.stops.begin(), origin.stops.end(), CanvasStop::Cancelled) != origin.stops.end();
    const QString end = stopped  ? tr("stopped after %n step(s)", nullptr, steps)
                        : capped ? tr("stopped at the cap, %n step(s)", nullptr, steps)
                                 : tr("settled after %n step(s)", nullptr, steps);
    return tr("seed %1 · %2").arg(origin.seed).arg(end);
}

void DraftView::acceptCurrent()
{
    const Proposal *proposal = currentProposal();
    if (proposal == nullptr)
        return;
    const bool whole = proposal->alternatives.size() > 1; // the texts belong together: one word of three makes no sense
    attempt([&] {
        m_session->acceptProposal(m_window, m_current->proposal,
                                  whole ? std::nullopt : std::optional(m_current->change));
    });
}

void DraftView::rejectCurrent()
{
    const Proposal *proposal = currentProposal();
    if (proposal == nullptr)
        return;
    const bool whole = proposal->alternatives.size() > 1;
    attempt([&] {
        m_session->rejectProposal(m_current->proposal, whole ? std::nullopt : std::optional(m_current->change));
    });
}

void DraftView::acceptAll()
{
    if (currentProposal() != nullptr)
        attempt([&] { m_session->acceptProposal(m_window, m_current->proposal); });
}

void DraftView::rejectAll()
{
    if (currentProposal() != nullptr)
        attempt([&] { m_session->rejectProposal(m_current->proposal); });
}

void DraftView::acceptWord()
{
    if (currentProposal() != nullptr)
        attempt([&] { m_session->acceptProposal(m_window, m_current->proposal, m_current->change, 1); });
}

void DraftView::nextChange(int direction)
{
    const auto places = changePlaces();
    if (places.empty()) {
        announce(tr("No changes to decide"));
        return;
    }
    const auto found = std::find_if(places.begin(), places.end(), [this](const auto &place) {
        return m_current && place.proposal == m_current->proposal && place.change == m_current->change;
    });
    const auto count = static_cast<std::ptrdiff_t>(places.size());
    const std::ptrdiff_t at = found == places.end() ? -1 : found - places.begin();
    const std::ptrdiff_t next = ((at + direction) % count + count) % count;
    setCurrent(places[static_cast<std::size_t>(next)]);
    const editing::ProposalChange &change = currentProposal()->changes[m_current->change];
    m_page.selectInDraft({change.span.start, change.span.start});
    announce(change.text.isEmpty()       ? tr("Remove “%1”").arg(change.original)
             : change.original.isEmpty() ? tr("Insert “%1”").arg(change.text)
                                         : tr("“%1” becomes “%2”").arg(change.original, change.text));
}

void DraftView::chooseAlternative(int index)
{
    const Proposal *proposal = currentProposal();
    if (proposal == nullptr || index < 0 || index >= static_cast<int>(proposal->alternatives.size()))
        return;
    attempt([&] { m_session->chooseAlternative(m_current->proposal, static_cast<std::size_t>(index)); });
}

void DraftView::takeWords(int alternative, int start, int end)
{
    if (currentProposal() == nullptr || alternative < 0)
        return;
    attempt([&] { m_session->takeWords(m_current->proposal, static_cast<std::size_t>(alternative), {start, end}); });
}

} // namespace palimpsest::studio
