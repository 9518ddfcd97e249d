// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/service.h"
#include "engine/error.h"
#include "tests/app/server/service_bench.h"
#include "tests/support/scheduler_bench.h"

#include <QScopeGuard>
#include <QTcpServer>
#include <QTest>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::server;
using namespace palimpsest::test;

namespace {

std::string messageOf(const std::function<void()> &work)
{
    try {
        work();
    } catch (const Error &error) {
        return error.what();
    }
    return {};
}

} // namespace

/// Where the server listens, what it says to what it does not know, and how it ends.
class TestServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void errorsAreErrorObjects_data();
    void errorsAreErrorObjects();
    void takenPortOffersAnother();
    void takenPortMayBeLeft();
    void beyondLoopbackNeedsAKey();
    void badAddresses();
    void stopsUnderLoad();
};

void TestServer::errorsAreErrorObjects_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("status");
    QTest::newRow("F054: unknown path") << "GET /nope" << 404;
    QTest::newRow("F054: wrong method") << "DELETE /v1/models" << 405;
    QTest::newRow("F054: no embeddings") << "POST /v1/embeddings" << 404;
    QTest::newRow("F047: no body") << "POST /v1/chat/completions" << 400;
    QTest::newRow("F047: not HTTP") << "hello" << 400;
    QTest::newRow("outside the studio's files") << "GET /../../etc/passwd" << 400;
    QTest::newRow("the same, encoded") << "GET /..%2f..%2fetc/passwd" << 404;
}

void TestServer::errorsAreErrorObjects()
{
    QFETCH(QString, line);
    QFETCH(int, status);
    const ServiceBench bench(fakeParts());
    RawClient client(bench.port());
    QVERIFY(client.send(bench.request(line.toStdString())));
    const auto answer = client.answer();
    QCOMPARE(answer->status, status);
    QCOMPARE(answer->field("content-type"), std::string("application/json"));
    const auto error = nlohmann::json::parse(answer->body).at("error");
    QVERIFY(error.at("message").is_string() && error.at("type").is_string());
    QVERIFY(error.contains("param") && error.contains("code"));
}

void TestServer::takenPortOffersAnother()
{
    // F075
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress(QHostAddress::LocalHost), 0));
    const auto nothing = [](http::Routes &, const auto &) {
        return std::shared_ptr<void>();
    };
    const std::string message = messageOf([&] { const Server server({.port = other.serverPort()}, nothing); });
    QVERIFY(message.find("wants port " + std::to_string(other.serverPort())) != std::string::npos);
    const std::size_t offer = message.find("--port ");
    QVERIFY(offer != std::string::npos);
    const int free = std::stoi(message.substr(offer + 7));
    QVERIFY(free > other.serverPort());
    const Server server({.port = static_cast<std::uint16_t>(free)}, nothing);
    QCOMPARE(server.port(), static_cast<std::uint16_t>(free));
}

void TestServer::takenPortMayBeLeft()
{
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress(QHostAddress::LocalHost), 0));
    const Server server({.port = other.serverPort(), .portTaken = PortTaken::UseNext},
                        [](http::Routes &, const auto &) { return std::shared_ptr<void>(); });
    QVERIFY(server.port() > other.serverPort());
    QCOMPARE(server.url(), "http://127.0.0.1:" + std::to_string(server.port()));
}

void TestServer::beyondLoopbackNeedsAKey()
{
    const auto nothing = [](http::Routes &routes, const auto &) {
        routes.add("GET", "/x", [](http::Call &) { return http::Answer(http::Response{}); });
        return std::shared_ptr<void>();
    };
    const std::string message = messageOf([&] { const Server server({.host = "0.0.0.0", .port = 0}, nothing); });
    QVERIFY(message.find("API key") != std::string::npos);
    ServerSettings settings{.host = "0.0.0.0", .port = 0};
    settings.access.keys.add("a-key");
    const Server server(std::move(settings), nothing);
    QCOMPARE(server.url(), "http://127.0.0.1:" + std::to_string(server.port()));
    RawClient client(server.port());
    const std::string head = "GET /x HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n";
    QVERIFY(client.send(head + "\r\n" + head + "Authorization: Bearer a-key\r\n\r\n"));
    QCOMPARE(client.answer()->status, 401);
    QCOMPARE(client.answer()->status, 200);
}

void TestServer::badAddresses()
{
    const auto nothing = [](http::Routes &, const auto &) {
        return std::shared_ptr<void>();
    };
    for (const char *host : {"", "example.org", "127.0.0.1:80"}) {
        const std::string message = messageOf([&] { const Server server({.host = host, .port = 0}, nothing); });
        QVERIFY2(message.find("no address to listen on") != std::string::npos, message.c_str());
    }
    ServerSettings elsewhere{.host = "192.0.2.1", .port = 0}; // kept for documentation: nobody has it
    elsewhere.access.keys.add("a-key");
    const std::string message = messageOf([&] { const Server server(std::move(elsewhere), nothing); });
    QVERIFY2(message.find("cannot listen there") != std::string::npos, message.c_str());
}

void TestServer::stopsUnderLoad()
{
    Gate gate;
    auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&gate](std::span<const DenoiseJob>) {
        gate.pass();
    };
    auto bench = std::make_unique<ServiceBench>(fakeParts(log));
    const auto opened = qScopeGuard([&gate] { gate.open(); });
    std::vector<RawClient> clients;
    for (int i = 0; i < 12; ++i) {
        clients.emplace_back(bench->port());
        QVERIFY(clients.back().send(bench->chat(i % 2 == 0)));
    }
    QTRY_COMPARE(bench->service->server().figures().replies, 12);
    gate.waitForArrival(1);
    bench->service.reset(); // while a step is under way: nothing of it may be waited for
    for (RawClient &client : clients)
        QVERIFY(client.closed());
    gate.open();
    bench.reset();
}

QTEST_GUILESS_MAIN(TestServer)
#include "tst_server.moc"
