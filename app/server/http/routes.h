// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/message.h"
#include "app/server/http/reply.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

class QWebSocket;

namespace palimpsest::http {

class ReplyState;

/// One request on its way through its handler, on the server's thread. Tests may make one without any network.
class Call
{
public:
    Call(const Request &request, std::shared_ptr<ReplyState> state);

    [[nodiscard]] const Request &request() const noexcept { return m_request; }
    /// Takes the answer over: the handler then returns std::nullopt, and answers through the reply when it can. Once.
    [[nodiscard]] Reply claim();
    [[nodiscard]] bool claimed() const noexcept { return m_claimed; }

private:
    const Request &m_request; ///< valid during the handler's call only: copy what is needed later
    std::shared_ptr<ReplyState> m_state;
    bool m_claimed = false;
};

/// A whole answer, or std::nullopt after Call::claim().
using Answer = std::optional<Response>;

/// Answers one request. Runs on the server's thread, where everything else of the server waits meanwhile (health too):
/// within a millisecond or so, without waiting for anything; what takes longer claims the reply. May throw: Error
/// becomes errorResponse(error), any other exception 500, both as error objects.
using Handler = std::function<Answer(Call &)>;

/// A client that has come by WebSocket, with Host, Origin and API key already checked.
struct WebSocketArrival
{
    /// Belongs to the gate, which deletes it after its disconnected(), and when the server stops. Lives on the server's
    /// thread; other threads reach it by queued calls. Keep a QPointer. Frames are limited to 64 KiB and messages to
    /// 256 KiB; its send buffer in the system is small, so that bytesToWrite() soon tells a slow client.
    QWebSocket *socket = nullptr;
    Request request; ///< the upgrade request: query, client, peer
};
using WebSocketHandler = std::function<void(const WebSocketArrival &)>; ///< runs on the server's thread

/// Which requests have a body that is not JSON.
enum class BodyType : std::uint8_t {
    Json, ///< anything but application/json is answered with 415 (a body may still be absent)
    Any,
};

/// Who may ask.
enum class Access : std::uint8_t {
    Key,  ///< where API keys are in use, only those who have one
    Open, ///< everybody; only for patterns without placeholders
};

/// The table of what the server answers. Made on any thread before the server starts, which then copies it.
///
///     routes.add("GET", "/v1/models/<rest>", [models](Call &call) -> Answer { ... });
///
/// A pattern is a path; a segment `<arg>` stands for one segment that is not empty, a last segment `<rest>` for all
/// that follows, slashes too, not empty. Patterns without either win over others, then those that were added first. A
/// pattern answers by itself: through GET, to OPTIONS (204), and to other methods (405 with Allow). No pattern: 404.
class Routes
{
public:
    struct Route
    {
        std::string method;
        std::string pattern;
        Handler handler;
        BodyType body = BodyType::Json;
        Access access = Access::Key;
    };
    struct WebSocketRoute
    {
        std::string path; ///< exact
        WebSocketHandler handler;
    };

    void add(std::string_view method, std::string_view pattern, Handler handler, BodyType body = BodyType::Json,
             Access access = Access::Key);
    void addWebSocket(std::string_view path, WebSocketHandler handler);

    [[nodiscard]] const std::vector<Route> &routes() const noexcept { return m_routes; }
    [[nodiscard]] const std::vector<WebSocketRoute> &webSockets() const noexcept { return m_webSockets; }

private:
    std::vector<Route> m_routes;
    std::vector<WebSocketRoute> m_webSockets;
};

} // namespace palimpsest::http
