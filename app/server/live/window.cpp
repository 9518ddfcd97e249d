// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/window.h"

#include "app/server/live/server_messages.h"

#include <QWebSocket>

#include <chrono>

namespace palimpsest::live {

namespace {

constexpr std::size_t kMostWaitingMessages = 1024; ///< while a document is being opened: far more than anybody types

std::int64_t steadyMs()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

} // namespace

Window::Window(editing::WindowId id, QWebSocket *socket, Counters &counters, QObject *parent)
    : QObject(parent), m_id(id), m_socket(socket), m_counters(counters), m_heardMs(steadyMs())
{
    socket->setMaxAllowedIncomingFrameSize(kLargestMessageBytes); // not every browser cuts its messages up
    socket->setMaxAllowedIncomingMessageSize(kLargestMessageBytes);
    connect(socket, &QWebSocket::textMessageReceived, this, &Window::take);
    connect(socket, &QWebSocket::binaryMessageReceived, this, &Window::refuseBinary);
    connect(socket, &QWebSocket::bytesWritten, this, &Window::roomMade);
    connect(socket, &QWebSocket::pong, this, [this] { m_heardMs = steadyMs(); });
    // Queued: it may happen in the middle of a broadcast.
    connect(socket, &QWebSocket::disconnected, this, &Window::left, Qt::QueuedConnection);
}

void Window::send(const QString &text)
{
    if (!m_socket || !m_socket->isValid())
        return;
    if (m_socket->bytesToWrite() > kMostUnreadBytes) {
        cutOff();
        return;
    }
    ++m_counters.messagesOut;
    m_counters.charactersOut += text.size();
    m_socket->sendTextMessage(text);
}

void Window::send(const QJsonObject &message)
{
    send(textOf(message));
}

bool Window::hasRoomForFrames() const
{
    return m_socket && m_socket->bytesToWrite() <= kFrameHoldBytes;
}

void Window::sendFrame(const QString &text)
{
    if (!m_socket || !m_socket->isValid())
        return;
    ++m_counters.framesOut;
    m_counters.charactersOut += text.size();
    m_socket->sendTextMessage(text);
}

void Window::release()
{
    m_isHeld = false;
    pump();
}

void Window::ping()
{
    if (m_socket)
        m_socket->ping();
}

qint64 Window::silentMs() const
{
    return steadyMs() - m_heardMs;
}

void Window::cutOff()
{
    ++m_counters.windowsCutOff;
    if (m_socket)
        m_socket->abort();
}

void Window::take(const QString &text)
{
    m_heardMs = steadyMs();
    ++m_counters.messagesIn;
    if (m_inbox.size() >= kMostWaitingMessages) {
        cutOff();
        return;
    }
    m_inbox.push_back(parseClientMessage(text.toStdString()));
    pump();
}

void Window::refuseBinary()
{
    m_heardMs = steadyMs();
    ++m_counters.messagesIn;
    const Problem problem{.code = "invalid_request", .message = "messages are text, not binary", .param = ""};
    m_inbox.push_back({.ref = std::nullopt, .content = problem});
    pump();
}

void Window::pump()
{
    if (m_isPumping)
        return; // a handler let the next ones through: they follow when it is done
    m_isPumping = true;
    while (!m_isHeld && !m_inbox.empty()) {
        const ParsedMessage message = std::move(m_inbox.front());
        m_inbox.pop_front();
        Q_EMIT received(message);
    }
    m_isPumping = false;
}

} // namespace palimpsest::live
