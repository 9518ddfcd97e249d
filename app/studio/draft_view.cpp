// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/draft_view.h"

#include <algorithm>

namespace palimpsest::studio {

using editing::DraftSession;
using editing::RunInfo;

DraftView::DraftView(QObject *parent) : QObject(parent)
{
    connect(&m_page, &PageText::refused, this, &DraftView::problem);
    connect(&m_page, &PageText::marksChanged, this, &DraftView::changeMoved);
    connect(&m_progressTimer, &QTimer::timeout, this, &DraftView::progressChanged);
}

void DraftView::attempt(const std::function<void()> &action)
{
    if (!m_session)
        return;
    try {
        action();
    } catch (const Error &error) {
        Q_EMIT problem(QString::fromUtf8(error.what()));
    }
}

void DraftView::setSession(DraftSession *session, editing::WindowId window)
{
    if (m_session)
        m_session->disconnect(this);
    m_session = session;
    m_window = window;
    m_run.clear();
    m_lastRun.clear();
    m_told = {};
    m_current.reset();
    m_page.setSession(session, window);
    if (m_session) {
        connect(m_session, &DraftSession::titleChanged, this, &DraftView::titleChanged);
        connect(m_session, &DraftSession::saveStateChanged, this, &DraftView::saveTextChanged);
        connect(m_session, &DraftSession::undoableChanged, this, &DraftView::undoableChanged);
        connect(m_session, &DraftSession::runChanged, this, &DraftView::onRunChanged);
        connect(m_session, &DraftSession::frameReady, this, [this] { m_progressTimer.request(); });
        connect(m_session, &DraftSession::proposalChanged, this, &DraftView::onProposalChanged);
        connect(
            m_session, &DraftSession::pieceSettled, this, [this](const QString &, const editing::SettledPiece &piece) {
                announce(
                    piece.stop == CanvasStop::StepCap
                        ? tr("Canvas %1 stopped at the cap of %n step(s)", nullptr, piece.steps).arg(piece.canvas + 1)
                        : tr("Canvas %1 settled after %n step(s)", nullptr, piece.steps).arg(piece.canvas + 1));
            });
        for (const RunInfo &info : m_session->runs()) {
            if (!editing::hasEnded(info.state))
                m_run = info.run;
        }
    }
    const auto places = changePlaces();
    setCurrent(places.empty() ? std::nullopt : std::optional(places.front()));
    Q_EMIT opened();
    Q_EMIT titleChanged();
    Q_EMIT saveTextChanged();
    Q_EMIT undoableChanged();
    Q_EMIT runChanged();
    Q_EMIT progressChanged();
    Q_EMIT proposalsChanged();
}

QString DraftView::document() const
{
    return m_session ? m_session->document() : QString();
}

QString DraftView::title() const
{
    return m_session ? m_session->title() : QString();
}

void DraftView::setTitle(const QString &title)
{
    if (m_session && title != m_session->title())
        attempt([&] { m_session->rename(title); });
}

QString DraftView::saveText() const
{
    if (!m_session)
        return {};
    const editing::SaveState &state = m_session->saveState();
    if (!state.problem.isEmpty())
        return tr("Not saved: %1").arg(state.problem);
    if (!state.saved)
        return tr("Saving…");
    return tr("Saved · revision %1").arg(state.revision);
}

bool DraftView::saveFailed() const
{
    return m_session && !m_session->saveState().problem.isEmpty();
}

QString DraftView::undoLabel() const
{
    return m_session ? m_session->draft().undoLabels().undo.value_or(QString()) : QString();
}

QString DraftView::redoLabel() const
{
    return m_session ? m_session->draft().undoLabels().redo.value_or(QString()) : QString();
}

void DraftView::announce(const QString &text)
{
    m_announcement = text;
    Q_EMIT announced();
}

void DraftView::undo()
{
    attempt([&] { m_session->undo(); });
}

void DraftView::redo()
{
    attempt([&] { m_session->redo(); });
}

bool DraftView::escape()
{
    if (m_page.previewing()) {
        Q_EMIT historyLeft();
        return true;
    }
    if (running()) {
        stop();
        return true;
    }
    if (m_current) {
        rejectCurrent();
        return true;
    }
    const TextSpan selection = m_page.selectionInDraft();
    if (!selection.empty()) {
        m_page.selectInDraft({selection.end, selection.end});
        return true;
    }
    return false;
}

} // namespace palimpsest::studio
