// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/access_policy.h"
#include "app/server/http/gate.h"
#include "app/server/http/limits.h"
#include "app/server/http/routes.h"

#include <QHostAddress>
#include <QObject>
#include <cstdint>
#include <functional>
#include <memory>

class QHttpServer;
class QWebSocketServer;

namespace palimpsest::http {

struct ListenerSettings
{
    Limits limits = {};
    AccessSettings access = {};
    Routes routes = {};
    std::function<void(const Served &)> served = {};
};

/// The gate with what is behind it, listening. Made, used and destroyed on the server's thread, whose event loop it
/// needs.
class Listener : public QObject
{
    Q_OBJECT

public:
    explicit Listener(ListenerSettings settings);
    ~Listener() override; ///< ends everything: see stop()

    enum class Outcome : std::uint8_t { Listening, PortTaken };
    /// Port 0: any free one. Throws Error for any other failure: a port that may not be used, an address that is not
    /// ours, a version of Qt that does not work with the gate.
    [[nodiscard]] Outcome listen(const QHostAddress &address, std::uint16_t port);
    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] GateFigures figures() const;
    /// Cancels every reply and closes every connection and WebSocket. Handlers are not called any more.
    void stop();

private:
    std::unique_ptr<QWebSocketServer> m_webSockets; ///< before the server: its sockets go first
    std::unique_ptr<QHttpServer> m_server;
    Gate *m_gate; ///< the server's child
};

} // namespace palimpsest::http
