// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/access_policy.h"
#include "app/server/http/dispatcher.h"
#include "app/server/http/limits.h"

#include <QTcpServer>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

class QWebSocket;
class QWebSocketServer;

namespace palimpsest::http {

class Connection;

/// What an observer learns of a request when its answer begins.
struct Served
{
    std::string route; ///< the pattern; empty if none matched or the gate refused
    std::string method;
    int status = 0;
    double milliseconds = 0.0; ///< since the request was complete
};

/// How full the server is.
struct GateFigures
{
    int connections = 0;
    int replies = 0; ///< claimed, and not yet finished
    int webSockets = 0;
    std::size_t bodyBytes = 0;
};

struct GateSettings
{
    Limits limits;
    AccessPolicy access;
    Dispatcher dispatcher;
    std::function<void(const Served &)> served; ///< runs on the server's thread; may be empty
};

/// Names one end of a connection.
[[nodiscard]] std::string peerText(const QHostAddress &address, std::uint16_t port);

/// Stands between the network and QHttpServer, whose 6.4 release knows neither limits nor strict framing nor clients
/// that vanish. Every client's socket stays in a Connection; QHttpServer gets an Exchange for each request that is
/// complete and allowed, routes it, and the answer goes back on the connection.
///
/// Lives on the server's thread, all of it.
class Gate : public QTcpServer
{
    Q_OBJECT

public:
    /// `webSockets` does the protocol of clients that upgrade; it need not listen. Must outlive the gate.
    Gate(GateSettings settings, QWebSocketServer &webSockets);
    ~Gate() override; ///< ends every connection; replies are cancelled

    /// Listens. False: see serverError().
    [[nodiscard]] bool open(const QHostAddress &address, std::uint16_t port);
    [[nodiscard]] std::vector<std::string> patterns() const { return m_settings.dispatcher.patterns(); }
    [[nodiscard]] GateFigures figures() const;
    /// Ends every connection, and accepts none any more.
    void stop();

    /// From QHttpServer, by way of installRouting(): belongs to the request that is being offered.
    void matched(const std::string &pattern, std::vector<std::string> arguments);
    /// Whether QHttpServer, of whatever version, routes a request before it returns: offers it one, and looks.
    [[nodiscard]] bool selfTest();

protected:
    void incomingConnection(qintptr descriptor) override;

private:
    friend class Connection;

    // For connections.
    void offer(const std::string &encodedPath, Connection *connection);
    void upgrade(Connection &connection);
    void forget(Connection *connection);
    void arrived(QWebSocket *socket);

    GateSettings m_settings;
    QWebSocketServer &m_webSockets;
    std::set<Connection *> m_connections;
    std::set<Connection *> m_leaving; ///< ended, and deleted as soon as nothing of theirs is on the stack
    std::set<QWebSocket *> m_sockets;
    Connection *m_current = nullptr; ///< whose request QHttpServer is working on
    bool m_selfTestMatched = false;
    std::map<std::string, Request> m_arriving; ///< by peer: handed over, the handshake is not yet done
    std::size_t m_bodyBytes = 0;
    int m_replies = 0;
    std::uint64_t m_connectionsMade = 0;
};

} // namespace palimpsest::http
