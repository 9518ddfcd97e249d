// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/listener.h"

#include "app/server/http/qt_routing.h"
#include "engine/error.h"

#include <QHttpServer>
#include <QWebSocketServer>
#include <utility>

namespace palimpsest::http {

namespace {

constexpr auto kLiveProtocol = "palimpsest.v1"; // the live channel's subprotocol

} // namespace

Listener::Listener(ListenerSettings settings)
    : m_webSockets(std::make_unique<QWebSocketServer>(QStringLiteral("Palimpsest"), QWebSocketServer::NonSecureMode)),
      m_server(std::make_unique<QHttpServer>())
{
    m_webSockets->setSupportedSubprotocols({QLatin1String(kLiveProtocol)});
    Dispatcher dispatcher(std::move(settings.routes));
    AccessPolicy access(std::move(settings.access), dispatcher.openPaths());
    m_gate = new Gate({.limits = settings.limits,
                       .access = std::move(access),
                       .dispatcher = std::move(dispatcher),
                       .served = std::move(settings.served)},
                      *m_webSockets);
    m_gate->setParent(m_server.get()); // as QHttpServer::bind() would, too
}

Listener::~Listener()
{
    stop();
}

Listener::Outcome Listener::listen(const QHostAddress &address, std::uint16_t port)
{
    if (!m_gate->open(address, port)) {
        if (m_gate->serverError() == QAbstractSocket::AddressInUseError)
            return Outcome::PortTaken;
        const std::string place = address.toString().toStdString() + ", port " + std::to_string(port);
        const bool denied = m_gate->serverError() == QAbstractSocket::SocketAccessError;
        throw Error(denied ? ErrorKind::PermissionDenied : ErrorKind::InvalidArgument,
                    place + ": cannot listen there: " + m_gate->errorString().toStdString(), "port");
    }
    installRouting(*m_server, *m_gate, m_gate->patterns(), [gate = m_gate](const auto &pattern, auto arguments) {
        gate->matched(pattern, std::move(arguments));
    });
    if (!m_gate->selfTest()) {
        throw Error(ErrorKind::Unsupported,
                    std::string("this version of Qt (") + qVersion() +
                        ") answers HTTP requests in a way that the server was not made for; it was tested with 6.4",
                    "qt");
    }
    return Outcome::Listening;
}

std::uint16_t Listener::port() const
{
    return m_gate->serverPort();
}

GateFigures Listener::figures() const
{
    return m_gate->figures();
}

void Listener::stop()
{
    m_gate->stop();
}

} // namespace palimpsest::http
