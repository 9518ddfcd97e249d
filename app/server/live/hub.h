// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/live/channels.h"
#include "app/server/live/counters.h"
#include "app/server/live/library_watches.h"
#include "app/server/live/requests.h"

#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QTimer>

#include <chrono>
#include <cstddef>
#include <vector>

class QWebSocket;

namespace palimpsest {
class EngineHost;
}

namespace palimpsest::live {

class Window;

/// The live channel (PROTOCOL.md): all windows, what they share, and what they are told about the server.
///
/// Lives on the server's thread. Sockets belong to the gate.
class Hub : public QObject
{
    Q_OBJECT

public:
    static constexpr std::size_t kMostWindows = 64;

    /// What the hub connects windows with. Nothing is owned, all of it lives longer.
    struct Parts
    {
        EngineHost &engine;
        documents::DocumentWorker &store;
        editing::SessionRegistry &sessions;
        QString version;                             ///< of the program
        std::chrono::milliseconds pingEvery{20'000}; ///< below the minute after which proxies give silence up
        std::chrono::milliseconds lostAfter{60'000}; ///< a window that was silent for so long, pongs included
    };
    explicit Hub(const Parts &parts, QObject *parent = nullptr);
    ~Hub() override;

    /// A window has come: greets it, or turns it away if there are too many.
    void adopt(QWebSocket *socket);

    /// Somebody else than a window has changed the library.
    Q_INVOKABLE void libraryChanged();

    [[nodiscard]] const Counters &counters() const noexcept { return m_counters; }

Q_SIGNALS:
    void changedLibrary(); ///< somebody did, a window or another

private:
    void remove(Window *window);
    void tellStatus();
    void ping();
    [[nodiscard]] QJsonObject status() const;

    EngineHost &m_engine;
    editing::SessionRegistry &m_sessions;
    QString m_version;
    std::chrono::milliseconds m_lostAfter;
    Counters m_counters;
    Channels m_channels;
    LibraryWatches m_library;
    Requests m_requests;
    std::vector<Window *> m_windows; ///< children
    editing::WindowId m_lastWindow = editing::kNobody;
    QTimer m_statusTimer; ///< these two run while there are windows
    QTimer m_pingTimer;
    QJsonObject m_toldStatus;
};

} // namespace palimpsest::live
