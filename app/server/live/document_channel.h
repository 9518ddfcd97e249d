// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/server/live/counters.h"
#include "app/server/live/frame_lanes.h"

#include <QJsonObject>
#include <QObject>
#include <QPointer>
#include <QString>

#include <map>
#include <optional>
#include <vector>

namespace palimpsest::live {

class Window;

/// Tells the windows that have one document open what happens in it, all of them in the same order.
///
/// Lives on the server's thread, no longer than the session.
class DocumentChannel : public QObject
{
    Q_OBJECT

public:
    DocumentChannel(editing::DraftSession &session, Counters &counters, QObject *parent = nullptr);

    [[nodiscard]] editing::DraftSession &session() noexcept { return m_session; }
    [[nodiscard]] bool isEmpty() const noexcept { return m_watchers.empty(); }

    /// Sends the window the whole document and what is under way in it; from then on it hears of every change.
    void join(Window &window);
    void leave(const Window &window);
    /// The session ends: hears nothing of it any more, and its windows do not have the document open any more.
    void release();

    /// Sends each window those frames that it may get now.
    void sendFrames();
    /// The window has drawn a frame.
    void confirm(const Window &window, const LaneKey &lane, FramePlace place);

Q_SIGNALS:
    void framesDue(); ///< there is a newer one of some lane
    void gone();      ///< the document is no more

private:
    struct Watcher
    {
        Window *window = nullptr;
        FrameLanes lanes;
    };
    /// The newest frame of a lane as all windows get it.
    struct Encoded
    {
        FramePlace place;
        QString text;
        bool isCurrent = false; ///< nothing newer was announced since
    };

    void connectDraft();
    void connectRuns();
    void sendAll(const QJsonObject &message);
    void offerFrame(const QString &run, int lane);
    void sendDueFrames(Watcher &watcher);
    void sendSettled(const QString &run, const editing::SettledPiece &piece);
    void sendRun(const QString &run);
    [[nodiscard]] const Encoded *newestFrame(const LaneKey &lane);

    editing::DraftSession &m_session;
    Counters &m_counters;
    std::vector<Watcher> m_watchers;
    std::map<LaneKey, Encoded> m_encoded;
};

} // namespace palimpsest::live
