// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_wish.h"
#include "app/server/live/client_messages.h"
#include "app/server/live/counters.h"

#include <QJsonObject>
#include <QObject>
#include <QPointer>
#include <QSet>
#include <QString>

#include <cstddef>
#include <deque>

class QWebSocket;

namespace palimpsest::live {

/// One browser window (or another client) at its WebSocket: reads its messages one by one, and sends it what it is to
/// know.
///
/// Lives on the server's thread. The socket belongs to the gate, and may be gone before the window is.
class Window : public QObject
{
    Q_OBJECT

public:
    static constexpr qint64 kMostUnreadBytes = 8LL << 20;
    static constexpr qint64 kFrameHoldBytes = 64LL * 1024; ///< no frame while more than this is still to be sent

    Window(editing::WindowId id, QWebSocket *socket, Counters &counters, QObject *parent = nullptr);

    [[nodiscard]] editing::WindowId id() const noexcept { return m_id; }
    [[nodiscard]] QSet<QString> &documents() noexcept { return m_documents; } ///< those that it has open

    /// Nothing that is sent here is ever left out. A window that has left kMostUnreadBytes unread is cut off instead.
    void send(const QString &text);
    void send(const QJsonObject &message);
    [[nodiscard]] bool hasRoomForFrames() const;
    void sendFrame(const QString &text);

    /// Keeps what comes in until release(), so that it is handled behind what is still being done.
    void hold() { m_isHeld = true; }
    void release();

    void ping();
    [[nodiscard]] qint64 silentMs() const; ///< since anything was heard, pongs included
    void cutOff();

Q_SIGNALS:
    /// The next message, good or bad.
    void received(const palimpsest::live::ParsedMessage &message);
    void roomMade(); ///< some bytes have left
    void left();

private:
    void take(const QString &text);
    void refuseBinary();
    void pump();

    editing::WindowId m_id;
    QPointer<QWebSocket> m_socket;
    Counters &m_counters;
    QSet<QString> m_documents;
    std::deque<ParsedMessage> m_inbox;
    std::int64_t m_heardMs = 0; ///< steady clock
    bool m_isHeld = false;
    bool m_isPumping = false;
};

} // namespace palimpsest::live
