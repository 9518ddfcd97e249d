// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/server.h"

#include "engine/error.h"

#include <QTcpServer>
#include <algorithm>
#include <optional>
#include <utility>

namespace palimpsest::server {

namespace {

constexpr int kPortsTried = 100;

QHostAddress addressOf(const std::string &host)
{
    if (host == "localhost")
        return QHostAddress(QHostAddress::LocalHost);
    QHostAddress address;
    if (!address.setAddress(QString::fromStdString(host))) {
        throw Error(ErrorKind::InvalidArgument,
                    "\"" + host + "\" is no address to listen on: give one like 127.0.0.1, ::1 or 0.0.0.0", "host");
    }
    return address;
}

std::optional<std::uint16_t> freePortAbove(const QHostAddress &address, std::uint16_t port)
{
    const int last = std::min(port + kPortsTried, 65535);
    for (int next = port + 1; next <= last; ++next) {
        QTcpServer probe;
        if (probe.listen(address, static_cast<quint16>(next)))
            return static_cast<std::uint16_t>(next);
    }
    return std::nullopt;
}

[[noreturn]] void refuseTakenPort(const QHostAddress &address, std::uint16_t port)
{
    const std::string number = std::to_string(port);
    std::string message =
        "Palimpsest wants port " + number + " of " + address.toString().toStdString() + ", but another program has it";
    if (const auto other = freePortAbove(address, port)) {
        message += "; port " + std::to_string(*other) + " is free: --port " + std::to_string(*other) +
                   " takes it, --port auto takes whatever is the next free one";
    }
    throw Error(ErrorKind::InvalidArgument, message, "port");
}

} // namespace

Server::Server(ServerSettings settings, const MakeParts &makeParts) : m_address(addressOf(settings.host))
{
    if (!m_address.isLoopback() && settings.access.keys.empty()) {
        throw Error(ErrorKind::InvalidArgument,
                    settings.host + " can be reached from other machines, and nothing would keep them out: set an API "
                                    "key (--api-key-file), or listen on 127.0.0.1",
                    "host");
    }
    m_thread.setObjectName(QStringLiteral("server"));
    m_calls.moveToThread(&m_thread);
    m_thread.start();
    try {
        m_calls.runAndWait([&] { start(settings, makeParts); });
    } catch (...) { // what it made must go on its own thread, whatever it was
        stop();
        throw;
    }
}

Server::~Server()
{
    stop();
}

void Server::stop()
{
    m_calls.runAndWait([this] {
        if (m_listener)
            m_listener->stop(); // cancels replies; the parts still listen to that
        m_parts.reset();
        m_listener.reset();
    });
    m_thread.quit();
    m_thread.wait();
}

void Server::start(ServerSettings &settings, const MakeParts &makeParts)
{
    http::ListenerSettings listener{.limits = settings.limits,
                                    .access = std::move(settings.access),
                                    .routes = {},
                                    .served = std::move(settings.served)};
    m_parts = makeParts(listener.routes, [this] { return m_listener->figures(); });
    m_listener = std::make_unique<http::Listener>(std::move(listener));
    listen(settings);
    m_port = m_listener->port();
}

void Server::listen(const ServerSettings &settings)
{
    std::uint16_t port = settings.port;
    while (m_listener->listen(m_address, port) == http::Listener::Outcome::PortTaken) {
        const auto next = settings.portTaken == PortTaken::UseNext ? freePortAbove(m_address, port) : std::nullopt;
        if (!next)
            refuseTakenPort(m_address, port);
        port = *next;
    }
}

std::string Server::url() const
{
    QHostAddress reached = m_address;
    if (m_address == QHostAddress(QHostAddress::Any) || m_address == QHostAddress(QHostAddress::AnyIPv4))
        reached = QHostAddress(QHostAddress::LocalHost);
    else if (m_address == QHostAddress(QHostAddress::AnyIPv6))
        reached = QHostAddress(QHostAddress::LocalHostIPv6);
    const std::string text = reached.toString().toStdString();
    const bool isIpv6 = reached.protocol() == QAbstractSocket::IPv6Protocol;
    return "http://" + (isIpv6 ? "[" + text + "]" : text) + ":" + std::to_string(m_port);
}

http::GateFigures Server::figures()
{
    http::GateFigures figures;
    m_calls.runAndWait([&] { figures = m_listener->figures(); });
    return figures;
}

} // namespace palimpsest::server
