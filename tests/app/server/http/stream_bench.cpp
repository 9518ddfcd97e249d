// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/stream_bench.h"

#include "engine/error.h"

#include <QTest>

#include <optional>

namespace palimpsest::test {

using namespace palimpsest::http;

Routes StreamBench::routes()
{
    Routes routes;
    routes.add("GET", "/plain", [](Call &) { return Answer(Response{.body = "{}"}); });
    routes.add("GET", "/claim", [this](Call &call) -> Answer {
        Reply reply = call.claim();
        reply.onCancelled([this] { ++m_cancelled; });
        m_claims->add(std::move(reply));
        return std::nullopt;
    });
    routes.add("POST", "/claim", [this](Call &call) -> Answer {
        m_claims->add(call.claim());
        return std::nullopt;
    });
    routes.add("GET", "/both", [](Call &call) -> Answer {
        const Reply reply = call.claim();
        throw Error(ErrorKind::QueueFull, "the queue is full");
    });
    return routes;
}

void StreamBench::start(const Limits &limits)
{
    m_server.reset();
    m_claims = std::make_unique<Claims>();
    m_cancelled = 0;
    m_server = std::make_unique<ListenerThread>(
        ListenerSettings{.limits = limits, .access = {}, .routes = routes(), .served = {}});
}

void StreamBench::stop()
{
    QTRY_COMPARE(m_server->figures().replies, 0);
    QTRY_COMPARE(m_server->figures().connections, 0);
    m_server.reset();
    QCOMPARE(Exchange::liveCount(), 0);
}

std::string StreamBench::request(const std::string &line, const std::string &rest) const
{
    return line + " HTTP/1.1\r\nHost: " + m_server->host() + "\r\n" + rest;
}

std::string eventText(int number)
{
    return "data: " + std::to_string(number) + "\n\n";
}

} // namespace palimpsest::test
