// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/dispatcher.h"

#include "app/server/http/ascii.h"
#include "engine/error.h"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace palimpsest::http {

namespace {

bool isJson(const std::string *contentType)
{
    if (contentType == nullptr)
        return false;
    const std::string_view type = stripBlanks(std::string_view(*contentType).substr(0, contentType->find(';')));
    return equalsIgnoringCase(type, "application/json");
}

bool isLiteral(std::string_view pattern)
{
    return pattern.find('<') == std::string_view::npos;
}

} // namespace

Dispatcher::Dispatcher(Routes routes) : m_routes(std::move(routes)) {}

std::vector<std::string> Dispatcher::patterns() const
{
    std::vector<std::string> patterns;
    for (const bool literal : {true, false}) {
        for (const Routes::Route &route : m_routes.routes()) {
            const bool known = std::find(patterns.begin(), patterns.end(), route.pattern) != patterns.end();
            if (isLiteral(route.pattern) == literal && !known)
                patterns.push_back(route.pattern);
        }
    }
    return patterns;
}

std::set<std::string> Dispatcher::openPaths() const
{
    std::set<std::string> paths;
    for (const Routes::Route &route : m_routes.routes()) {
        if (route.access == Access::Open)
            paths.insert(route.pattern);
    }
    return paths;
}

const WebSocketHandler *Dispatcher::webSocket(std::string_view path) const
{
    const auto &sockets = m_routes.webSockets();
    const auto found =
        std::find_if(sockets.begin(), sockets.end(), [path](const auto &socket) { return socket.path == path; });
    return found == sockets.end() ? nullptr : &found->handler;
}

std::string Dispatcher::allowedMethods(const std::string &pattern) const
{
    std::string methods;
    for (const Routes::Route &route : m_routes.routes()) {
        if (route.pattern == pattern)
            methods += (route.method == "GET" ? "GET, HEAD" : route.method) + ", ";
    }
    return methods + "OPTIONS";
}

Answer Dispatcher::answer(const std::string &pattern, Call &call) const
{
    const Request &request = call.request();
    if (pattern.empty()) {
        if (webSocket(request.path) != nullptr) {
            return errorResponse(426, {.message = request.path + " is for WebSockets."}, {{"Upgrade", "websocket"}});
        }
        return errorResponse(404, {.message = "There is nothing under " + request.path + ".", .code = "not_found"});
    }
    const auto &routes = m_routes.routes();
    const auto found = std::find_if(routes.begin(), routes.end(), [&](const Routes::Route &route) {
        return route.pattern == pattern && route.method == request.method;
    });
    if (found != routes.end())
        return run(*found, call);
    const std::string methods = allowedMethods(pattern);
    if (request.method == "OPTIONS")
        return Response{.status = 204, .type = {}, .body = {}, .fields = {{"Allow", methods}}};
    return errorResponse(405,
                         {.message = request.method + " is not possible here; possible are: " + methods + ".",
                          .code = "method_not_allowed"},
                         {{"Allow", methods}});
}

Answer Dispatcher::run(const Routes::Route &route, Call &call) const
{
    const Request &request = call.request();
    if (route.body == BodyType::Json && !request.body.empty() && !isJson(request.field("content-type"))) {
        return errorResponse(415, {.message = "The body must be JSON, sent with Content-Type: application/json.",
                                   .code = "unsupported_media_type"});
    }
    try {
        Answer answer = route.handler(call);
        if (answer || call.claimed())
            return answer;
        spdlog::error("{} {} gave no answer ({})", request.method, route.pattern, request.id);
    } catch (const Error &error) {
        return errorResponse(error);
    } catch (const std::exception &error) {
        spdlog::error("{} {} failed: {} ({})", request.method, route.pattern, error.what(), request.id);
    }
    return errorResponse(
        500, {.message = "The server failed on this request; please report it with its id, " + request.id + ".",
              .type = "api_error"});
}

} // namespace palimpsest::http
