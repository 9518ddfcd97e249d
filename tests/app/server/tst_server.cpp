// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_worker.h"
#include "app/engine_host.h"
#include "app/server/service.h"
#include "app/server/status_routes.h"
#include "app/server/web_files.h"
#include "engine/error.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"
#include "tests/support/fake_backend.h"
#include "tests/support/scheduler_bench.h"
#include "tests/support/test_tokenizers.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QScopeGuard>
#include <QTcpServer>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <nlohmann/json.hpp>

using namespace palimpsest;
using namespace palimpsest::server;
using namespace palimpsest::test;

namespace {

constexpr int kHealthLimitMs = 100;

EngineParts fakeParts(std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>())
{
    EngineParts parts;
    parts.id = "fake";
    parts.backend = std::make_unique<FakeBackend>(FakeSettings{.vocabSize = 8192}, settlingModel(8192), std::move(log));
    parts.tokenizer = demoTokenizer();
    parts.chat = ChatFormat(ChatDialect::PlainTurns);
    return parts;
}

/// Everything that serves, over a model of the test's.
struct ServiceBench
{
    template <typename EngineSource>
    explicit ServiceBench(EngineSource source, ServerSettings settings = {}) : engine(std::move(source))
    {
        settings.port = 0;
        service = std::make_unique<Service>(ServiceParts{engine, store, metrics}, ServiceSettings{std::move(settings)});
    }
    [[nodiscard]] std::uint16_t port() const { return service->server().port(); }
    [[nodiscard]] std::string request(const std::string &line, const std::string &rest = "\r\n") const
    {
        return line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) + "\r\n" + rest;
    }
    [[nodiscard]] std::string chat(bool stream) const
    {
        const std::string body = nlohmann::json{{"model", "fake"},
                                                {"stream", stream},
                                                {"messages", {{{"role", "user"}, {"content", "teh cat"}}}}}
                                     .dump();
        return request("POST /v1/chat/completions", "Content-Type: application/json\r\nContent-Length: " +
                                                        std::to_string(body.size()) + "\r\n\r\n" + body);
    }
    [[nodiscard]] RawAnswer get(const std::string &path) const
    {
        RawClient client(port());
        (void)client.send(request("GET " + path));
        return client.answer().value_or(RawAnswer());
    }
    [[nodiscard]] nlohmann::json health(int status) const
    {
        QElapsedTimer timer;
        timer.start();
        const RawAnswer answer = get("/health");
        if (answer.status != status || timer.elapsed() >= kHealthLimitMs)
            return {{"status",
                     "HTTP " + std::to_string(answer.status) + " after " + std::to_string(timer.elapsed()) + " ms"}};
        return nlohmann::json::parse(answer.body);
    }

    QTemporaryDir folder;
    Metrics metrics;
    EngineHost engine;
    documents::DocumentWorker store{{.file = folder.filePath("documents.sqlite").toStdString()}};
    std::unique_ptr<Service> service;
};

std::string messageOf(const std::function<void()> &work)
{
    try {
        work();
    } catch (const Error &error) {
        return error.what();
    }
    return {};
}

GenerationResult shortAnswer()
{
    GenerationResult result;
    result.tokens = {1, 2, 3};
    result.canvases = {{.committed = std::vector<TokenId>(256), .steps = 7, .stop = CanvasStop::Converged}};
    result.promptTokens = 20;
    result.reusedPromptTokens = 5;
    result.prefillMs = 1.0;
    return result;
}

} // namespace

class TestServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void healthWhileLoading();
    void healthWhileGenerating();
    void healthOfAFailedModel();
    void metricsCountTokensNotCanvases();
    void histogramsAreCumulative();
    void metricsOverHttp();
    void errorsAreErrorObjects_data();
    void errorsAreErrorObjects();
    void takenPortOffersAnother();
    void takenPortMayBeLeft();
    void beyondLoopbackNeedsAKey();
    void badAddresses();
    void webFiles();
    void withoutTheStudio();
    void policyNamesItsOwnSockets();
    void stopsUnderLoad();
};

void TestServer::healthWhileLoading()
{
    // F030
    Gate gate;
    ServiceBench bench([&gate](const LoadProgress &progress) {
        progress(0.25);
        gate.pass();
        return fakeParts();
    });
    const auto opened = qScopeGuard([&gate] { gate.open(); });
    gate.waitForArrival(1);
    const nlohmann::json loading = bench.health(503);
    QCOMPARE(loading.value("status", std::string()), std::string("loading"));
    QCOMPARE(loading.value("progress", 0.0), 0.25);
    QVERIFY(loading["error"]["message"].is_string());
    RawClient client(bench.port());
    QVERIFY(client.send(bench.chat(false)));
    QCOMPARE(client.answer()->status, 503);
    QCOMPARE(bench.get("/").status, 200);
    gate.open();
    QTRY_COMPARE(bench.health(200).value("status", std::string()), std::string("ready"));
    QCOMPARE(bench.health(200).value("model", std::string()), std::string("fake"));
}

void TestServer::healthWhileGenerating()
{
    // F030: a step that takes as long as it likes
    Gate gate;
    auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&gate](std::span<const DenoiseJob>) {
        gate.pass();
    };
    ServiceBench bench(fakeParts(log));
    const auto opened = qScopeGuard([&gate] { gate.open(); });
    RawClient client(bench.port());
    QVERIFY(client.send(bench.chat(false)));
    gate.waitForArrival(1);
    for (int i = 0; i < 20; ++i) {
        const nlohmann::json busy = bench.health(200);
        QCOMPARE(busy.value("status", std::string()), std::string("busy"));
        QCOMPARE(busy.value("running", 0), 1);
    }
    QVERIFY(bench.get("/metrics").body.find("palimpsest_running_requests 1\n") != std::string::npos);
    gate.open();
    QCOMPARE(client.answer()->status, 200);
    QTRY_COMPARE(bench.health(200).value("status", std::string()), std::string("ready"));
}

void TestServer::healthOfAFailedModel()
{
    ServiceBench bench([](const LoadProgress &) -> EngineParts {
        throw Error(ErrorKind::InvalidCheckpoint, "config.json: not a model", "config.json");
    });
    QTRY_COMPARE(bench.health(503).value("status", std::string()), std::string("error"));
    QCOMPARE(bench.health(503)["error"]["message"].get<std::string>(), std::string("config.json: not a model"));
    QCOMPARE(bench.get("/").status, 200);
}

void TestServer::metricsCountTokensNotCanvases()
{
    Metrics metrics;
    const std::variant<GenerationResult, Error> settled = shortAnswer();
    const std::variant<GenerationResult, Error> failed = Error(ErrorKind::Backend, "device");
    metrics.runFinished({settled, 10.0, 250.0});
    metrics.runFinished({failed, 0.0, std::nullopt});
    metrics.requestServed({"/v1/\"x\"", "GET", 404, 2.0});
    const std::string text = metrics.text({.running = 2, .waiting = 3, .ready = true});
    for (const char *line :
         {"palimpsest_settled_tokens_total 3\n", "palimpsest_prefill_tokens_total 15\n",
          "palimpsest_reused_tokens_total 5\n", "palimpsest_canvases_total 1\n", "palimpsest_steps_total 7\n",
          "palimpsest_canvas_stops_total{reason=\"converged\"} 1\n",
          "palimpsest_runs_total{finish=\"end_of_turn\"} 1\n", "palimpsest_runs_total{finish=\"error\"} 1\n",
          "palimpsest_queue_length 3\n", "palimpsest_running_requests 2\n",
          "palimpsest_first_settled_seconds_count 1\n",
          "palimpsest_http_requests_total{route=\"/v1/\\\"x\\\"\",method=\"GET\",status=\"404\"} 1\n",
          "# TYPE palimpsest_queue_seconds histogram\n"})
        QVERIFY2(text.find(line) != std::string::npos, line);
}

void TestServer::histogramsAreCumulative()
{
    Histogram histogram({1.0, 2.5});
    for (const double value : {0.5, 1.0, 2.0, 99.0})
        histogram.observe(value);
    std::string text;
    histogram.write(text, "x", "a=\"b\"");
    QCOMPARE(text, std::string("palimpsest_x_bucket{a=\"b\",le=\"1\"} 2\npalimpsest_x_bucket{a=\"b\",le=\"2.5\"} 3\n"
                               "palimpsest_x_bucket{a=\"b\",le=\"+Inf\"} 4\npalimpsest_x_sum{a=\"b\"} 102.5\n"
                               "palimpsest_x_count{a=\"b\"} 4\n"));
}

void TestServer::metricsOverHttp()
{
    ServiceBench bench(fakeParts());
    QCOMPARE(bench.get("/nope").status, 404);
    const RawAnswer answer = bench.get("/metrics");
    QVERIFY(answer.field("content-type").starts_with("text/plain; version=0.0.4"));
    QVERIFY(answer.body.find("http_requests_total{route=\"none\",method=\"GET\",status=\"404\"} 1\n") !=
            std::string::npos);
    QVERIFY(answer.body.find("palimpsest_model_ready 1\n") != std::string::npos);
}

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

void TestServer::webFiles()
{
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir("fonts"));
    const std::array<std::pair<const char *, const char *>, 4> files{
        {{"index.html", "<!doctype html>"}, {"studio.js", "export {};"}, {"a.css", "p {}"}, {"fonts/f.woff2", "font"}}};
    for (const auto &[name, content] : files) {
        QFile file(folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    http::Routes routes;
    QVERIFY(addWebFiles(routes, folder.path()));
    http::AccessSettings access;
    access.keys.add("a-key"); // the files need none
    ListenerThread server({.limits = {}, .access = std::move(access), .routes = std::move(routes), .served = {}});
    RawClient client(server.port());
    const auto get = [&](const std::string &path, const std::string &fields = {}) {
        (void)client.send("GET " + path + " HTTP/1.1\r\nHost: " + server.host() + "\r\n" + fields + "\r\n");
        return client.answer().value_or(RawAnswer());
    };
    const RawAnswer page = get("/");
    QCOMPARE(page.body, std::string("<!doctype html>"));
    QCOMPARE(get("/index.html").body, page.body);
    QCOMPARE(page.field("content-type"), std::string("text/html; charset=utf-8"));
    QCOMPARE(page.field("x-content-type-options"), std::string("nosniff"));
    QCOMPARE(page.field("cache-control"), std::string("no-cache"));
    QVERIFY(page.field("content-security-policy").starts_with("default-src 'self'; "));
    QVERIFY(page.field("content-security-policy").find("unsafe") == std::string::npos);
    QCOMPARE(get("/studio.js").field("content-type"), std::string("text/javascript; charset=utf-8"));
    QCOMPARE(get("/a.css").field("content-type"), std::string("text/css; charset=utf-8"));
    QCOMPARE(get("/fonts/f.woff2").field("content-type"), std::string("font/woff2"));
    const RawAnswer same = get("/", "If-None-Match: " + page.field("etag") + "\r\n");
    QCOMPARE(same.status, 304);
    QVERIFY(same.body.empty());
    QCOMPARE(same.field("etag"), page.field("etag"));
    QCOMPARE(get("/", "If-None-Match: \"other\"\r\n").status, 200);
    QCOMPARE(get("/fonts/").status, 401); // unknown, so not open either
}

void TestServer::withoutTheStudio()
{
    http::Routes routes;
    QVERIFY(!addWebFiles(routes, {}));
    ListenerThread server({.limits = {}, .access = {}, .routes = std::move(routes), .served = {}});
    RawClient client(server.port());
    QVERIFY(client.send("GET / HTTP/1.1\r\nHost: " + server.host() + "\r\n\r\n"));
    QVERIFY(client.answer()->body.find("no browser studio") != std::string::npos);
}

void TestServer::policyNamesItsOwnSockets()
{
    const std::string policy = contentSecurityPolicy("127.0.0.1:8080");
    QVERIFY(policy.find("connect-src 'self' ws://127.0.0.1:8080 wss://127.0.0.1:8080;") != std::string::npos);
    QVERIFY(contentSecurityPolicy("").find("connect-src 'self';") != std::string::npos);
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
