// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/gate.h"

#include "app/server/http/connection.h"
#include "app/server/http/exchange.h"
#include "app/server/http/qt_routing.h"

#include <QHostAddress>
#include <QTcpSocket>
#include <QTimer>
#include <QWebSocket>
#include <QWebSocketServer>
#include <chrono>
#include <memory>
#include <unistd.h>
#include <utility>

namespace palimpsest::http {

namespace {

/// With Qt's 50, a burst of clients waits a second for its next SYN.
constexpr int kBacklog = 256;
constexpr std::chrono::milliseconds kAcceptAgainTime{200}; // after the system had no descriptor for a client
constexpr quint64 kMostFrameBytes = quint64{64} << 10U;
constexpr quint64 kMostMessageBytes = quint64{256} << 10U;
/// The kernel would take megabytes for a client that does not read, and bytesToWrite() would show none of it.
constexpr int kWebSocketSendBytes = 64 << 10;

} // namespace

std::string peerText(const QHostAddress &address, std::uint16_t port)
{
    return address.toString().toStdString() + " " + std::to_string(port);
}

Gate::Gate(GateSettings settings, QWebSocketServer &webSockets)
    : m_settings(std::move(settings)), m_webSockets(webSockets)
{
    setListenBacklogSize(kBacklog);
    auto *acceptAgain = new QTimer(this);
    acceptAgain->setSingleShot(true);
    acceptAgain->setInterval(kAcceptAgainTime);
    connect(this, &QTcpServer::acceptError, acceptAgain, qOverload<>(&QTimer::start));
    connect(acceptAgain, &QTimer::timeout, this, &QTcpServer::resumeAccepting);
    connect(&m_webSockets, &QWebSocketServer::newConnection, this, [this] {
        while (QWebSocket *socket = m_webSockets.nextPendingConnection())
            arrived(socket);
    });
}

Gate::~Gate()
{
    stop();
}

void Gate::stop()
{
    close();
    for (auto *connections : {&m_connections, &m_leaving}) {
        for (Connection *connection : std::exchange(*connections, {}))
            delete connection;
    }
    for (QWebSocket *socket : std::exchange(m_sockets, {})) {
        socket->disconnect(this);
        socket->close(QWebSocketProtocol::CloseCodeGoingAway);
        socket->abort(); // so that whoever listens hears disconnected() of a whole object
        delete socket;
    }
}

bool Gate::open(const QHostAddress &address, std::uint16_t port)
{
    if (!listen(address, port))
        return false;
    m_settings.access.setPort(serverPort());
    return true;
}

GateFigures Gate::figures() const
{
    return {.connections = static_cast<int>(m_connections.size()),
            .replies = m_replies,
            .webSockets = static_cast<int>(m_sockets.size()),
            .bodyBytes = m_bodyBytes};
}

void Gate::incomingConnection(qintptr descriptor)
{
    const int count = static_cast<int>(m_connections.size() + m_sockets.size());
    const Limits &limits = m_settings.limits;
    if (count >= limits.connections + limits.connectionsRefused) {
        ::close(static_cast<int>(descriptor));
        return;
    }
    auto socket = std::make_unique<QTcpSocket>();
    if (!socket->setSocketDescriptor(descriptor))
        return;
    const auto welcome = count < limits.connections ? Connection::Welcome::Served : Connection::Welcome::TooMany;
    auto *connection = new Connection(*this, socket.release(), ++m_connectionsMade, welcome);
    m_connections.insert(connection);
}

void Gate::offer(const std::string &encodedPath, Connection *connection)
{
    Connection *outer = std::exchange(m_current, connection);
    // GET for every method: the pattern is what Qt finds out, and a request without a body is complete at once.
    auto *exchange =
        new Exchange(QByteArray("GET ") + qtPath(encodedPath).c_str() + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    addPendingConnection(exchange); // QHttpServer takes it now
    exchange->begin();
    exchange->end();
    m_current = outer;
}

void Gate::matched(const std::string &pattern, std::vector<std::string> arguments)
{
    if (m_current != nullptr)
        m_current->answer(pattern, std::move(arguments));
    else
        m_selfTestMatched = true;
}

bool Gate::selfTest()
{
    m_selfTestMatched = false;
    offer("/", nullptr);
    return m_selfTestMatched;
}

void Gate::upgrade(Connection &connection)
{
    const std::string peer = connection.request().peer;
    m_arriving[peer] = connection.request();
    QTcpSocket *socket = connection.release();
    forget(&connection);
    socket->setParent(&m_webSockets); // which does not own such sockets by itself
    socket->setSocketOption(QAbstractSocket::SendBufferSizeSocketOption, kWebSocketSendBytes);
    connect(socket, &QTcpSocket::disconnected, this, [this, socket, peer] {
        if (m_arriving.erase(peer) != 0) // no QWebSocket was made of it
            socket->deleteLater();
    });
    m_webSockets.handleConnection(socket); // reads what connection.release() put back, when the event loop comes to it
}

void Gate::arrived(QWebSocket *socket)
{
    socket->setMaxAllowedIncomingFrameSize(kMostFrameBytes);
    socket->setMaxAllowedIncomingMessageSize(kMostMessageBytes);
    m_sockets.insert(socket);
    connect(socket, &QWebSocket::disconnected, this, [this, socket] {
        m_sockets.erase(socket);
        socket->deleteLater();
    });
    auto arrival = m_arriving.extract(peerText(socket->peerAddress(), socket->peerPort()));
    const WebSocketHandler *handler = arrival ? m_settings.dispatcher.webSocket(arrival.mapped().path) : nullptr;
    if (handler != nullptr)
        (*handler)({socket, std::move(arrival.mapped())});
    else
        socket->abort();
}

void Gate::forget(Connection *connection)
{
    if (m_connections.erase(connection) == 0)
        return;
    m_leaving.insert(connection); // it gives back what it counts here when it is deleted, so not after the gate
    connection->deleteLater();
}

} // namespace palimpsest::http
