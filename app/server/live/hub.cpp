// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/live/hub.h"

#include "app/engine_host.h"
#include "app/server/live/server_messages.h"
#include "app/server/live/window.h"

#include <QWebSocket>

#include <algorithm>
#include <chrono>

namespace palimpsest::live {

namespace {

constexpr std::chrono::milliseconds kStatusEvery{250};

} // namespace

Hub::Hub(const Parts &parts, QObject *parent)
    : QObject(parent),
      m_engine(parts.engine),
      m_sessions(parts.sessions),
      m_version(parts.version),
      m_lostAfter(parts.lostAfter),
      m_channels(parts.sessions, m_counters),
      m_library(parts.store),
      m_requests(parts.store, parts.sessions, m_channels, m_library, m_counters)
{
    m_statusTimer.setInterval(kStatusEvery);
    m_pingTimer.setInterval(parts.pingEvery);
    connect(&m_statusTimer, &QTimer::timeout, this, &Hub::tellStatus);
    connect(&m_pingTimer, &QTimer::timeout, this, &Hub::ping);
    connect(&m_sessions, &editing::SessionRegistry::libraryChanged, &m_library, &LibraryWatches::change);
    connect(&m_library, &LibraryWatches::changed, this, &Hub::changedLibrary);
}

Hub::~Hub()
{
    for (Window *window : std::exchange(m_windows, {})) {
        m_channels.leaveAll(*window);
        delete window;
    }
}

void Hub::libraryChanged()
{
    m_library.change();
    m_sessions.followStore();
}

void Hub::adopt(QWebSocket *socket)
{
    if (m_windows.size() >= kMostWindows) {
        const Problem problem{.code = "too_many_windows",
                              .message = "As many windows as this server takes are open: close one.",
                              .param = {}};
        socket->sendTextMessage(textOf(errorMessage(std::nullopt, problem)));
        socket->close(QWebSocketProtocol::CloseCodePolicyViolated, QStringLiteral("too many windows"));
        return;
    }
    auto *window = new Window(++m_lastWindow, socket, m_counters, this);
    m_windows.push_back(window);
    ++m_counters.windowsTotal;
    m_counters.windows = static_cast<std::int64_t>(m_windows.size());
    connect(window, &Window::received, &m_requests,
            [this, window](const ParsedMessage &message) { m_requests.handle(*window, message); });
    connect(window, &Window::roomMade, &m_channels, &Channels::framesDue);
    connect(window, &Window::left, this, [this, window] { remove(window); });
    window->send(hello(window->id(), m_version, status()));
    m_statusTimer.start();
    m_pingTimer.start();
}

void Hub::remove(Window *window)
{
    m_channels.leaveAll(*window);
    m_sessions.leaveAll(window->id()); // also what it was about to open
    m_library.leave(*window);
    std::erase(m_windows, window);
    m_counters.windows = static_cast<std::int64_t>(m_windows.size());
    window->deleteLater();
    if (m_windows.empty()) {
        m_statusTimer.stop();
        m_pingTimer.stop();
    }
}

void Hub::tellStatus()
{
    QJsonObject now = status();
    if (now == m_toldStatus)
        return;
    const QString text = textOf(message("status", now));
    for (Window *window : m_windows)
        window->send(text);
    m_toldStatus = std::move(now);
}

void Hub::ping()
{
    for (Window *window : m_windows) {
        if (window->silentMs() > m_lostAfter.count())
            window->cutOff();
        else
            window->ping();
    }
}

QJsonObject Hub::status() const
{
    const EngineState engine = m_engine.state();
    std::optional<DeskStatus> desk;
    if (engine.model && engine.model->desk)
        desk = engine.model->desk->status();
    return statusFields(engine, desk, static_cast<int>(m_windows.size()));
}

} // namespace palimpsest::live
