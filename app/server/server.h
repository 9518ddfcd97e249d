// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/call_queue.h"
#include "app/server/http/listener.h"

#include <QThread>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace palimpsest::server {

enum class PortTaken : std::uint8_t {
    Refuse,  ///< an error, which names a free port
    UseNext, ///< the next free port above
};

struct ServerSettings
{
    std::string host = "127.0.0.1";    ///< an address of this machine, or "localhost"
    std::uint16_t port = kDefaultPort; ///< 0: any that is free
    PortTaken portTaken = PortTaken::Refuse;
    http::AccessSettings access = {};
    http::Limits limits = {};
    std::function<void(const http::Served &)> served = {}; ///< see GateSettings

    static constexpr std::uint16_t kDefaultPort = 8080;
};

/// Owns the server's thread, and everything that listens there. Made, started and destroyed by one thread, not its own.
/// Needs a QCoreApplication, whose event loop need not run.
class Server
{
public:
    /// Adds what the server answers; runs on the server's thread, before it listens. What it returns is kept there, and
    /// destroyed there after the last connection has ended. `figures` works on that thread, while the server runs.
    using MakeParts =
        std::function<std::shared_ptr<void>(http::Routes &routes, const std::function<http::GateFigures()> &figures)>;

    /// Listens when it returns. Throws Error: a taken port, an address beyond loopback without an API key, what
    /// Listener::listen throws.
    Server(ServerSettings settings, const MakeParts &makeParts);
    ~Server(); ///< ends everything cleanly: replies are cancelled, connections and WebSockets closed, the thread joined
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return m_port; }
    /// "http://127.0.0.1:8080": under which a browser on this machine reaches it.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] http::GateFigures figures();

private:
    void start(ServerSettings &settings, const MakeParts &makeParts);
    void listen(const ServerSettings &settings);
    void stop();

    QHostAddress m_address;
    std::uint16_t m_port = 0;
    QThread m_thread;
    http::CallQueue m_calls; ///< lives on the thread, as the next two do
    std::shared_ptr<void> m_parts;
    std::unique_ptr<http::Listener> m_listener;
};

} // namespace palimpsest::server
