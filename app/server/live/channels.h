// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/session_registry.h"
#include "app/server/live/counters.h"
#include "app/server/live/document_channel.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <map>
#include <memory>

namespace palimpsest::live {

class Window;

/// Which windows have which documents open. Paces their frames: the first of a burst goes out at once, all others when
/// a display's refresh has passed.
///
/// Lives on the server's thread.
class Channels : public QObject
{
    Q_OBJECT

public:
    Channels(editing::SessionRegistry &sessions, Counters &counters, QObject *parent = nullptr);

    void join(editing::DraftSession &session, Window &window);
    void leave(const QString &document, Window &window);
    void leaveAll(Window &window); ///< runs go on
    void confirm(const Window &window, const LaneKey &lane, FramePlace place);
    /// Some window may get frames that it could not get before.
    void framesDue();

private:
    void sendFrames();
    void drop(const QString &document);

    editing::SessionRegistry &m_sessions;
    Counters &m_counters;
    std::map<QString, DocumentChannel *> m_channels; ///< children
    QTimer m_refresh;
    QTimer m_soon;        ///< sendFrames() comes, when the events that are here are done
    bool m_isDue = false; ///< something came up since the last refresh
};

} // namespace palimpsest::live
