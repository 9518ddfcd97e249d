// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/status_routes.h"
#include "engine/error.h"
#include "tests/app/server/service_bench.h"
#include "tests/support/scheduler_bench.h"

#include <QScopeGuard>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace palimpsest;
using namespace palimpsest::server;
using namespace palimpsest::test;

namespace {

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

/// What the server says of itself: its health and its figures.
class TestServerStatus : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void healthWhileLoading();
    void healthWhileGenerating();
    void healthOfAFailedModel();
    void metricsCountTokensNotCanvases();
    void histogramsAreCumulative();
    void metricsOverHttp();
};

void TestServerStatus::healthWhileLoading()
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

void TestServerStatus::healthWhileGenerating()
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

void TestServerStatus::healthOfAFailedModel()
{
    ServiceBench bench([](const LoadProgress &) -> EngineParts {
        throw Error(ErrorKind::InvalidCheckpoint, "config.json: not a model", "config.json");
    });
    QTRY_COMPARE(bench.health(503).value("status", std::string()), std::string("error"));
    QCOMPARE(bench.health(503)["error"]["message"].get<std::string>(), std::string("config.json: not a model"));
    QCOMPARE(bench.get("/").status, 200);
}

void TestServerStatus::metricsCountTokensNotCanvases()
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

void TestServerStatus::histogramsAreCumulative()
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

void TestServerStatus::metricsOverHttp()
{
    ServiceBench bench(fakeParts());
    QCOMPARE(bench.get("/nope").status, 404);
    const RawAnswer answer = bench.get("/metrics");
    QVERIFY(answer.field("content-type").starts_with("text/plain; version=0.0.4"));
    QVERIFY(answer.body.find("http_requests_total{route=\"none\",method=\"GET\",status=\"404\"} 1\n") !=
            std::string::npos);
    QVERIFY(answer.body.find("palimpsest_model_ready 1\n") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestServerStatus)
#include "tst_server_status.moc"
