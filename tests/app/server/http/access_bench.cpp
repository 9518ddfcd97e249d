// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/access_bench.h"

#include <QString>
#include <QWebSocket>

#include <utility>

namespace palimpsest::test {

using namespace palimpsest::http;

namespace {

Routes testRoutes()
{
    Routes routes;
    routes.add(
        "GET", "/health", [](Call &) { return Answer(Response{.body = "{}"}); }, BodyType::Json, Access::Open);
    routes.add("GET", "/v1/models", [](Call &call) { return Answer(Response{.body = call.request().client}); });
    routes.add("POST", "/v1/echo", [](Call &call) { return Answer(Response{.body = call.request().body}); });
    routes.addWebSocket("/ws", [](const WebSocketArrival &arrival) {
        QWebSocket *socket = arrival.socket;
        socket->sendTextMessage(
            QString::fromStdString(arrival.request.client + arrival.request.parameter("q").value_or("")));
        QObject::connect(socket, &QWebSocket::textMessageReceived, socket, &QWebSocket::sendTextMessage);
    });
    return routes;
}

} // namespace

AccessSettings keyed()
{
    AccessSettings access;
    access.keys.add("first-key");
    access.keys.add("second-key");
    access.origins = {"https://page.test", "http://other.test:8000"};
    access.hosts = {"palimpsest.test", "[fd00::1]:9000"};
    return access;
}

std::unique_ptr<ListenerThread> serve(AccessSettings access)
{
    return std::make_unique<ListenerThread>(
        ListenerSettings{.limits = {}, .access = std::move(access), .routes = testRoutes(), .served = {}});
}

} // namespace palimpsest::test
