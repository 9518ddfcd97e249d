// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What DraftView starts and steers, and how far it is.

#include "app/studio/draft_view.h"

#include "app/editing/presets.h"

#include <QLocale>

#include <algorithm>

namespace palimpsest::studio {

using editing::DraftSession;
using editing::RunAction;
using editing::RunInfo;
using editing::RunState;
using editing::RunWish;

std::optional<RunInfo> DraftView::runInfo() const
{
    if (!m_session || m_run.isEmpty())
        return std::nullopt;
    const std::vector<RunInfo> runs = m_session->runs();
    const auto found = std::find_if(runs.begin(), runs.end(), [this](const RunInfo &r) { return r.run == m_run; });
    return found == runs.end() ? std::nullopt : std::optional(*found);
}

bool DraftView::running() const
{
    const auto info = runInfo();
    return info && !editing::hasEnded(info->state);
}

bool DraftView::paused() const
{
    const auto info = runInfo();
    return info && info->state == RunState::Paused;
}

namespace {

/// The lane that progress is told of: the first that has not ended.
int activeLane(const RunInfo &info)
{
    for (std::size_t i = 0; i < info.lanes.size(); ++i) {
        if (!editing::hasEnded(info.lanes[i].state))
            return static_cast<int>(i);
    }
    return static_cast<int>(info.lanes.size()) - 1;
}

int endedLanes(const RunInfo &info)
{
    return static_cast<int>(std::count_if(info.lanes.begin(), info.lanes.end(),
                                          [](const auto &lane) { return editing::hasEnded(lane.state); }));
}

} // namespace

double DraftView::progress() const
{
    const auto info = runInfo();
    if (!info || info->lanes.empty() || editing::hasEnded(info->state))
        return 0.0;
    // Lanes that ended, and of those under way the share of steps that their canvas may take.
    double done = endedLanes(*info);
    for (int lane = 0; lane < static_cast<int>(info->lanes.size()); ++lane) {
        if (editing::hasEnded(info->lanes[static_cast<std::size_t>(lane)].state))
            continue;
        if (const auto frame = m_session->newestFrame(m_run, lane); frame && frame->maxSteps > 0)
            done += static_cast<double>(frame->step) / frame->maxSteps;
    }
    return std::min(1.0, done / static_cast<double>(info->lanes.size()));
}

QString DraftView::progressText() const
{
    const auto info = runInfo();
    if (!info || editing::hasEnded(info->state))
        return {};
    if (info->state == RunState::Queued)
        return info->position > 0 ? tr("Waiting: %n request(s) in front", nullptr, info->position) : tr("Waiting");
    const int lane = activeLane(*info);
    const auto frame = lane < 0 ? std::nullopt : m_session->newestFrame(m_run, lane);
    if (!frame)
        return tr("Reading the text");
    QStringList parts;
    if (info->lanes.size() > 1 && info->action == RunAction::Proofread)
        parts << tr("Passage %1 of %2")
                     .arg(std::min<qsizetype>(endedLanes(*info) + 1, qsizetype(info->lanes.size())))
                     .arg(info->lanes.size());
    else
        parts << tr("Canvas %1").arg(frame->canvas + 1);
    parts << tr("step %1 of %2").arg(frame->step).arg(frame->maxSteps);
    parts << tr("%1 ms a step").arg(QLocale().toString(frame->stepMs, 'f', frame->stepMs < 10.0 ? 1 : 0));
    if (info->state == RunState::Paused)
        parts << tr("paused");
    if (const QString ahead = aheadText(); !ahead.isEmpty())
        parts << ahead;
    return parts.join(QStringLiteral(" · "));
}

QString DraftView::aheadText() const
{
    const auto info = runInfo();
    if (!info || editing::hasEnded(info->state) || info->ahead.total == 0)
        return {};
    if (info->ahead.characters >= info->ahead.total)
        return tr("The model sees everything behind");
    if (info->ahead.characters == 0)
        return tr("The model does not see what comes behind");
    return tr("The model sees %n character(s) ahead", nullptr, static_cast<int>(info->ahead.characters));
}

TextSpan DraftView::wantedSpan() const
{
    const TextSpan selection = m_page.selectionInDraft();
    if (!selection.empty())
        return selection;
    const QString &text = m_session->draft().text();
    const qsizetype begin = selection.start == 0 ? 0 : text.lastIndexOf(u'\n', selection.start - 1) + 1;
    const qsizetype found = text.indexOf(u'\n', selection.start);
    return {begin, found < 0 ? text.size() : found};
}

void DraftView::startWish(RunWish wish)
{
    attempt([&] {
        follow(m_session->startRun(m_window, m_session->draft().version(), wish));
        const TextSpan selection = m_page.selectionInDraft();
        if (!selection.empty()) // it has done its work: the bar beside the text shows where
            m_page.selectInDraft({selection.end, selection.end});
    });
}

void DraftView::follow(const QString &run)
{
    m_run = run;
    m_lastRun = run;
    announce(tr("Generating"));
    Q_EMIT runChanged();
    Q_EMIT progressChanged();
}

void DraftView::startPreset(const QString &id, const QString &instruction)
{
    const editing::Preset *preset = editing::presetOf(id);
    if (preset == nullptr || !m_session)
        return;
    const TextSpan selection = m_page.selectionInDraft();
    RunWish wish;
    wish.action = preset->action;
    wish.instruction = instruction.isEmpty() ? QString::fromUtf8(preset->instruction) : instruction;
    switch (preset->action) {
    case RunAction::Proofread:
        wish.instruction.clear();
        wish.span = selection.empty() ? TextSpan{} : selection;
        break;
    case RunAction::Continue:
    case RunAction::Fill:
        wish.span = {selection.end, selection.end};
        break;
    case RunAction::Rewrite:
    case RunAction::Renoise:
        wish.span = wantedSpan();
        break;
    }
    startWish(wish);
}

void DraftView::rewrite(const QString &instruction)
{
    if (!m_session)
        return;
    RunWish wish;
    wish.action = RunAction::Rewrite;
    wish.span = wantedSpan();
    wish.instruction = instruction;
    startWish(wish);
}

void DraftView::renoise(const QString &amount)
{
    if (!m_session)
        return;
    RunWish wish;
    wish.action = RunAction::Renoise;
    wish.span = wantedSpan();
    wish.amount = editing::noiseAmountFromName(amount).value_or(NoiseAmount::Medium);
    startWish(wish);
}

void DraftView::fillHere(const QString &instruction)
{
    if (!m_session)
        return;
    RunWish wish;
    wish.action = RunAction::Fill;
    const qsizetype caret = m_page.selectionInDraft().end;
    wish.span = {caret, caret};
    wish.instruction = instruction;
    startWish(wish);
}

void DraftView::continueHere()
{
    startPreset(QStringLiteral("continue"), {});
}

void DraftView::askAlternatives(int count, const QString &instruction)
{
    if (!m_session)
        return;
    RunWish wish;
    wish.action = instruction.isEmpty() ? RunAction::Renoise : RunAction::Rewrite;
    wish.amount = NoiseAmount::Full;
    wish.span = wantedSpan();
    wish.instruction = instruction;
    wish.alternatives = std::clamp(count, 1, editing::kMostAlternatives);
    startWish(wish);
}

void DraftView::again(bool sameSeed)
{
    const QString what = m_current ? m_current->proposal : m_lastRun;
    if (what.isEmpty()) {
        Q_EMIT problem(tr("There is no run to repeat in this draft yet."));
        return;
    }
    attempt([&] {
        std::optional<std::uint64_t> seed;
        if (sameSeed) {
            const editing::Proposal *proposal = m_session->draft().proposal(what);
            seed = proposal != nullptr ? proposal->origin.seed : m_session->run(what).seed;
        }
        follow(m_session->startAgain(m_window, what, seed));
    });
}

void DraftView::renoiseOrAgain()
{
    if (m_session && m_page.selectionInDraft().empty() && (m_current || !m_lastRun.isEmpty()))
        again(false);
    else
        renoise(editing::nameOf(NoiseAmount::Medium));
}

void DraftView::pause()
{
    attempt([&] { m_session->pauseRun(m_run); });
}

void DraftView::resume()
{
    attempt([&] { m_session->resumeRun(m_run); });
}

void DraftView::step()
{
    if (!paused())
        pause();
    attempt([&] { m_session->stepRun(m_run); });
}

void DraftView::stop()
{
    if (running())
        attempt([&] { m_session->stopRun(m_run, DraftSession::Stop::Restore); });
}

void DraftView::keepSettled()
{
    if (running())
        attempt([&] { m_session->stopRun(m_run, DraftSession::Stop::KeepSettled); });
}

} // namespace palimpsest::studio
