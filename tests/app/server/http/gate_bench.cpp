// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/gate_bench.h"

#include "app/server/http/exchange.h"
#include "engine/error.h"

#include <QJsonDocument>
#include <QTest>

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace palimpsest::test {

using namespace palimpsest::http;

namespace {

Answer text(std::string body)
{
    return Response{.type = "text/plain", .body = std::move(body)};
}

std::string joined(const std::vector<std::string> &parts)
{
    std::string result;
    for (const std::string &part : parts)
        result += "[" + part + "]";
    return result;
}

Routes testRoutes()
{
    Routes routes;
    routes.add("GET", "/plain", [](Call &) { return text("plain"); });
    routes.add("GET", "/a.b", [](Call &) { return text("dot"); });
    routes.add("GET", "/items/<arg>", [](Call &call) { return text(joined(call.request().arguments)); });
    routes.add("GET", "/items/fixed", [](Call &) { return text("fixed"); });
    routes.add("GET", "/items/<arg>/parts/<arg>", [](Call &call) { return text(joined(call.request().arguments)); });
    routes.add("GET", "/models/<rest>", [](Call &call) { return text(joined(call.request().arguments)); });
    routes.add("POST", "/echo", [](Call &call) { return text(call.request().body); });
    routes.add(
        "POST", "/size", [](Call &call) { return text(std::to_string(call.request().body.size())); }, BodyType::Any);
    routes.add("GET", "/large", [](Call &) { return text(std::string(8U << 20U, 'x')); });
    routes.add("GET", "/error", [](Call &) -> Answer {
        throw Error(ErrorKind::InvalidArgument, "steps: must be at least 1, not 0", "steps");
    });
    routes.add("GET", "/failure", [](Call &) -> Answer { throw std::runtime_error("secret detail"); });
    routes.add("GET", "/nothing", [](Call &) -> Answer { return std::nullopt; });
    routes.add("GET", "/injection", [](Call &) -> Answer {
        return Response{.body = "{}", .fields = {{"X-Name", "a\r\nSet-Cookie: b"}}};
    });
    routes.add("GET", "/query", [](Call &call) { return text(call.request().parameter("q").value_or("-")); });
    return routes;
}

} // namespace

Limits GateBench::limits()
{
    Limits result;
    result.bodyBytes = 1U << 20U;
    result.allBodiesBytes = 3U << 20U;
    return result;
}

void GateBench::start(const Limits &limits)
{
    m_server = std::make_unique<ListenerThread>(
        ListenerSettings{.limits = limits, .access = {}, .routes = testRoutes(), .served = {}});
}

void GateBench::restart(const Limits &limits)
{
    m_server.reset();
    start(limits);
}

void GateBench::stop()
{
    QTRY_COMPARE(m_server->figures().connections, 0); // every test's clients have left by now
    QCOMPARE(m_server->figures().bodyBytes, std::size_t{0});
    m_server.reset();
    QCOMPARE(Exchange::liveCount(), 0);
}

std::string GateBench::request(const std::string &line, const std::string &rest) const
{
    return line + " HTTP/1.1\r\nHost: " + host() + "\r\n" + rest;
}

QJsonObject errorOf(const RawAnswer &answer)
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(answer.body)).object()["error"].toObject();
}

void compareError(const RawAnswer &answer, int status)
{
    QCOMPARE(answer.status, status);
    QVERIFY(answer.complete);
    QCOMPARE(answer.field("content-type"), std::string("application/json"));
    const QJsonObject error = errorOf(answer);
    QCOMPARE(error.keys(), QStringList({"code", "message", "param", "type"}));
    QVERIFY(!error["message"].toString().isEmpty());
    QVERIFY(answer.field("x-request-id").starts_with("req_"));
}

} // namespace palimpsest::test
