// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/document_channel.h"

#include "app/server/live/draft_messages.h"
#include "app/server/live/run_messages.h"
#include "app/server/live/server_messages.h"
#include "app/server/live/window.h"

#include <algorithm>

namespace palimpsest::live {

using editing::DraftSession;

DocumentChannel::DocumentChannel(DraftSession &session, Counters &counters, QObject *parent)
    : QObject(parent), m_session(session), m_counters(counters)
{
    connectDraft();
    connectRuns();
}

void DocumentChannel::connectDraft()
{
    connect(&m_session, &DraftSession::edited, this,
            [this](const editing::AppliedEdit &edit, editing::WindowId by, editing::EditCause cause) {
                const QString text = textOf(edited(m_session, edit, by, cause));
                for (const Watcher &watcher : m_watchers) {
                    if (by == editing::kNobody || watcher.window->id() != by) // whose own it is gets the reply
                        watcher.window->send(text);
                }
            });
    connect(&m_session, &DraftSession::titleChanged, this, [this] { sendAll(titleMessage(m_session)); });
    connect(&m_session, &DraftSession::locksChanged, this, [this] { sendAll(locksMessage(m_session)); });
    connect(&m_session, &DraftSession::settingsChanged, this, [this] { sendAll(settingsMessage(m_session)); });
    connect(&m_session, &DraftSession::undoableChanged, this, [this] { sendAll(undoableMessage(m_session)); });
    connect(&m_session, &DraftSession::saveStateChanged, this, [this] { sendAll(savedMessage(m_session)); });
    connect(&m_session, &DraftSession::revisionAdded, this,
            [this](const editing::RevisionInfo &revision) { sendAll(revisionAdded(m_session, revision)); });
    connect(&m_session, &DraftSession::gone, this, [this] {
        sendAll(documentGone(m_session.document()));
        Q_EMIT gone();
    });
}

void DocumentChannel::connectRuns()
{
    connect(&m_session, &DraftSession::runChanged, this, &DocumentChannel::sendRun);
    connect(&m_session, &DraftSession::frameReady, this, &DocumentChannel::offerFrame);
    connect(&m_session, &DraftSession::pieceSettled, this, &DocumentChannel::sendSettled);
    connect(&m_session, &DraftSession::proposalChanged, this, [this](const QString &id) {
        const editing::Draft &draft = m_session.draft();
        if (const editing::Proposal *proposal = draft.proposal(id))
            sendAll(message("proposal", proposalFields(m_session.document(), draft.version(), *proposal)));
    });
}

void DocumentChannel::join(Window &window)
{
    leave(window);
    window.send(documentMessage(m_session));
    Watcher watcher{.window = &window, .lanes = {}};
    for (const editing::RunInfo &run : m_session.runs()) {
        if (editing::hasEnded(run.state))
            continue;
        for (int number = 0; number < static_cast<int>(run.lanes.size()); ++number) {
            const LaneKey lane{.run = run.run, .lane = number};
            watcher.lanes.offer(lane);
            for (const editing::SettledPiece &piece : m_session.settledPieces(run.run, number)) {
                window.send(settled(run.run, piece));
                watcher.lanes.settle(lane, piece.canvas);
            }
        }
    }
    m_watchers.push_back(std::move(watcher));
    Q_EMIT framesDue();
}

void DocumentChannel::leave(const Window &window)
{
    std::erase_if(m_watchers, [&](const Watcher &watcher) { return watcher.window == &window; });
}

void DocumentChannel::release()
{
    disconnect(&m_session, nullptr, this, nullptr);
    for (const Watcher &watcher : m_watchers)
        watcher.window->documents().remove(m_session.document());
    m_watchers.clear();
}

void DocumentChannel::sendFrames()
{
    for (Watcher &watcher : m_watchers)
        sendDueFrames(watcher);
}

void DocumentChannel::confirm(const Window &window, const LaneKey &lane, FramePlace place)
{
    for (Watcher &watcher : m_watchers) {
        if (watcher.window == &window)
            watcher.lanes.confirm(lane, place);
    }
    Q_EMIT framesDue();
}

void DocumentChannel::sendAll(const QJsonObject &message)
{
    if (m_watchers.empty())
        return;
    const QString text = textOf(message);
    for (const Watcher &watcher : m_watchers)
        watcher.window->send(text);
}

void DocumentChannel::offerFrame(const QString &run, int lane)
{
    const LaneKey key{.run = run, .lane = lane};
    m_encoded[key].isCurrent = false;
    for (Watcher &watcher : m_watchers)
        watcher.lanes.offer(key);
    Q_EMIT framesDue();
}

void DocumentChannel::sendDueFrames(Watcher &watcher)
{
    if (!watcher.window->hasRoomForFrames())
        return;
    for (const LaneKey &lane : watcher.lanes.due()) {
        const Encoded *frame = newestFrame(lane);
        if (frame != nullptr && watcher.lanes.take(lane, frame->place))
            watcher.window->sendFrame(frame->text);
    }
}

void DocumentChannel::sendSettled(const QString &run, const editing::SettledPiece &piece)
{
    const LaneKey lane{.run = run, .lane = piece.lane};
    const QString text = textOf(settled(run, piece));
    for (Watcher &watcher : m_watchers) {
        sendDueFrames(watcher); // the canvas's last frame has its only chance now
        watcher.lanes.settle(lane, piece.canvas);
        watcher.window->send(text);
    }
}

void DocumentChannel::sendRun(const QString &run)
{
    const editing::RunInfo info = m_session.run(run);
    sendAll(message("run", runFields(info)));
    if (!editing::hasEnded(info.state))
        return;
    for (Watcher &watcher : m_watchers)
        watcher.lanes.forget(run);
    std::erase_if(m_encoded, [&](const auto &entry) { return entry.first.run == run; });
}

const DocumentChannel::Encoded *DocumentChannel::newestFrame(const LaneKey &lane)
{
    Encoded &encoded = m_encoded[lane];
    if (encoded.isCurrent)
        return &encoded;
    const std::optional<editing::Frame> frame = m_session.newestFrame(lane.run, lane.lane);
    if (!frame)
        return nullptr; // before the first step
    ++m_counters.framesMade;
    encoded = {.place = {.canvas = frame->canvas, .step = frame->step},
               .text = frameMessage(lane.run, *frame),
               .isCurrent = true};
    return &encoded;
}

} // namespace palimpsest::live
