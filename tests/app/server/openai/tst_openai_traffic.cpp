// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/openai/endpoint_bench.h"
#include "tests/support/scheduler_bench.h"

#include <chrono>
#include <set>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const std::string kChat = "/v1/chat/completions";

/// A bench whose denoising steps wait at a gate.
struct GatedBench
{
    explicit GatedBench(
        const BenchSettings &settings, Script script = [](const ScriptInput &) { return std::string(400, 'a'); })
        : gate(std::make_unique<Gate>())
    {
        settings.log->beforeDenoise = [theGate = gate.get()](std::span<const DenoiseJob>) {
            theGate->pass();
        };
        log = settings.log;
        bench = std::make_unique<EndpointBench>(std::move(script), settings);
    }
    ~GatedBench() { gate->open(); }
    GatedBench(const GatedBench &) = delete;
    GatedBench &operator=(const GatedBench &) = delete;

    /// Sends a request and leaves the answer to be read.
    RawClient sent(const Json &body) const
    {
        RawClient client(bench->server.port());
        client.send(bench->requestText("POST", kChat, body.dump()));
        return client;
    }
    [[nodiscard]] DeskStatus status() const { return bench->host.requireModel()->desk->status(); }

    std::unique_ptr<Gate> gate;
    std::shared_ptr<FakeLog> log;
    std::unique_ptr<EndpointBench> bench;
};

std::string readUntil(RawClient &client, const std::string &wanted)
{
    std::string all;
    while (all.find(wanted) == std::string::npos) {
        const std::string piece = client.piece(10'000);
        if (piece.empty())
            return all;
        all += piece;
    }
    return all;
}

} // namespace

/// Many clients, slow ones, and ones that leave.
class TestOpenAiTraffic : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void queueIsVisibleAndBoundedF057();
    void aVanishedClientFreesItsPlaceF064F099_data();
    void aVanishedClientFreesItsPlaceF064F099();
    void aClientThatLeavesWhileWaitingF064();
    void aClientThatLeavesInPrefillF064();
    void othersAreAnsweredMeanwhileF030();
    void togetherAsAloneF026();
    void draftsOnlyIfAskedFor();
    void theServerStopsUnderARequest();
};

void TestOpenAiTraffic::queueIsVisibleAndBoundedF057()
{
    GatedBench gated({.maxBatch = 1, .queueCapacity = 3});
    const Json body = chatBody("x", {{"max_tokens", 16}, {"stream", true}});
    std::vector<RawClient> clients;
    clients.push_back(gated.sent(body));
    gated.gate->waitForArrival(1);
    for (int i = 1; i <= 3; ++i) {
        clients.push_back(gated.sent(body));
        QTRY_COMPARE(gated.status().waiting, i);
    }
    const std::string head = readUntil(clients[3], ": queued");
    QVERIFY2(head.find("x-palimpsest-queue-position: 2") != std::string::npos, head.c_str());
    QVERIFY(head.find(": queued 2") != std::string::npos);

    const RawAnswer refused = gated.bench->post(kChat, body);
    QCOMPARE(refused.status, 429);
    QVERIFY(std::stoi(refused.field("retry-after")) >= 1);
    QCOMPARE(refused.field("retry-after-ms"), refused.field("retry-after") + "000");
    COMPARE_JSON(Json::parse(refused.body).at("error").at("type"), "rate_limit_error");

    clients[1].leave(); // its place is taken by those behind
    QVERIFY(readUntil(clients[3], ": queued 1").find(": queued 1") != std::string::npos);
    QCOMPARE(gated.status().waiting, 2);
    gated.gate->open();
    for (const std::size_t i : {0U, 2U, 3U})
        QVERIFY(readUntil(clients[i], "[DONE]").find("[DONE]") != std::string::npos);
    QTRY_COMPARE(gated.status().running, 0);
}

void TestOpenAiTraffic::aVanishedClientFreesItsPlaceF064F099_data()
{
    QTest::addColumn<bool>("streams");
    QTest::addColumn<bool>("resets");
    QTest::newRow("streamed, leaves") << true << false;
    QTest::newRow("streamed, resets") << true << true;
    QTest::newRow("whole, leaves") << false << false;
    QTest::newRow("whole, resets") << false << true;
}

void TestOpenAiTraffic::aVanishedClientFreesItsPlaceF064F099()
{
    QFETCH(bool, streams);
    QFETCH(bool, resets);
    GatedBench gated({.maxBatch = 2});
    RawClient client = gated.sent(chatBody("x", {{"stream", streams}, {"n", 2}}));
    gated.gate->waitForArrival(1);
    QTRY_COMPARE(gated.status().running, 2);
    const int steps = gated.log->counts().denoiseCalls;
    if (resets)
        client.reset();
    else
        client.leave();
    QTRY_COMPARE(gated.bench->server.figures().connections, 0);
    gated.gate->permit(1); // the step in flight; no other follows
    QTRY_COMPARE(gated.status().running, 0);
    QVERIFY(gated.log->counts().denoiseCalls <= steps + 1);
    QCOMPARE(gated.status().completed, gated.status().submitted);
    QTRY_VERIFY(gated.log->counts().liveSequences <= 1); // the one that is kept for prompts that begin alike
}

void TestOpenAiTraffic::aClientThatLeavesWhileWaitingF064()
{
    GatedBench gated({.maxBatch = 1});
    RawClient first = gated.sent(chatBody("x"));
    gated.gate->waitForArrival(1);
    RawClient second = gated.sent(chatBody("x"));
    QTRY_COMPARE(gated.status().waiting, 1);
    second.leave();
    QTRY_COMPARE(gated.status().waiting, 0);
    QCOMPARE(gated.status().running, 1);
}

void TestOpenAiTraffic::aClientThatLeavesInPrefillF064()
{
    Gate prefill;
    BenchSettings settings;
    settings.log->beforeEncode = [&prefill](std::span<const TokenId>, const std::stop_token &stop) {
        const std::stop_callback goOn(stop, [&prefill] { prefill.permit(1); });
        prefill.pass();
    };
    EndpointBench bench([](const ScriptInput &) { return std::string("fine"); }, settings);
    RawClient client(bench.server.port());
    client.send(bench.requestText("POST", kChat, chatBody("x").dump()));
    prefill.waitForArrival(1);
    client.leave();
    QTRY_COMPARE(bench.host.requireModel()->desk->status().running, 0); // the stop token ended the prefill
    QCOMPARE(settings.log->counts().denoiseCalls, 0);
    prefill.open();
}

void TestOpenAiTraffic::othersAreAnsweredMeanwhileF030()
{
    GatedBench gated({.maxBatch = 1});
    RawClient busy = gated.sent(chatBody("x"));
    gated.gate->waitForArrival(1);
    const auto start = std::chrono::steady_clock::now();
    QCOMPARE(gated.bench->send("GET", "/v1/models").status, 200);
    QVERIFY(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500)); // 100 on a quiet machine
}

void TestOpenAiTraffic::togetherAsAloneF026()
{
    const BenchSettings settings{.canvasLength = 16, .maxBatch = 4};
    const auto parts = [&settings] {
        EngineParts made = scriptedParts(settlingModel(demoTokenizer()->vocabSize()), settings);
        made.defaults.eosTokenIds = {1};
        return made;
    };
    EndpointBench bench(parts(), settings);
    const auto body = [](int seed) {
        return chatBody("request " + std::to_string(seed),
                        {{"seed", seed}, {"max_tokens", 60}, {"stream", seed % 2 == 0}});
    };
    const auto textOf = [](int seed, const RawAnswer &answer) {
        return seed % 2 == 0 ? assemble(chunksOf(answer.body)).content
                             : Json::parse(answer.body)["choices"][0]["message"]["content"].get<std::string>();
    };
    constexpr int kRequests = 12;
    std::vector<std::string> alone;
    alone.reserve(kRequests);
    for (int seed = 0; seed < kRequests; ++seed)
        alone.push_back(textOf(seed, bench.post(kChat, body(seed))));
    QCOMPARE(std::set<std::string>(alone.begin(), alone.end()).size(), std::size_t{kRequests});
    std::vector<std::string> together(kRequests);
    std::vector<std::thread> threads;
    threads.reserve(kRequests);
    for (int seed = 0; seed < kRequests; ++seed) {
        threads.emplace_back(
            [&, seed] { together[static_cast<std::size_t>(seed)] = textOf(seed, bench.post(kChat, body(seed))); });
    }
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(together, alone);
}

void TestOpenAiTraffic::draftsOnlyIfAskedFor()
{
    EndpointBench bench([](const ScriptInput &) { return std::string("a harbour at dawn"); });
    for (const bool wanted : {false, true}) {
        const RawAnswer answer =
            bench.post(kChat, chatBody("x", {{"stream", true}, {"palimpsest", {{"drafts", wanted}}}}));
        int drafts = 0;
        for (const StreamEvent &event : eventsOf(answer.body)) {
            if (event.type != "draft")
                continue;
            ++drafts;
            const Json draft = Json::parse(event.data);
            COMPARE_JSON(draft.at("text"), "a harbour at dawn");
            COMPARE_JSON(draft.at("choices"), Json::array()); // harmless for a loop that takes it for a chunk
        }
        QCOMPARE(drafts > 0, wanted);
        QCOMPARE(assemble(chunksOf(answer.body)).content, std::string("a harbour at dawn"));
    }
}

void TestOpenAiTraffic::theServerStopsUnderARequest()
{
    GatedBench gated({.maxBatch = 1});
    RawClient streaming = gated.sent(chatBody("x", {{"stream", true}}));
    RawClient waiting = gated.sent(chatBody("x"));
    gated.gate->waitForArrival(1);
    QTRY_COMPARE(gated.status().waiting, 1);
    const auto desk = gated.bench->host.requireModel()->desk;
    std::thread closer([&] { desk->close(); }); // as when the model is unloaded
    const auto isClosed = [&desk] {
        GenerationRequest probe;
        probe.prompt = {2};
        try {
            desk->submit("probe", std::move(probe), nullptr, [](const auto &) {}).cancel();
            return false;
        } catch (const Error &) {
            return true;
        }
    };
    QTRY_VERIFY(isClosed()); // else the answer is through before anybody closes anything
    gated.gate->open();
    closer.join();
    QVERIFY(readUntil(streaming, "\"error\"").find("shutting down") != std::string::npos);
    const auto answer = waiting.answer();
    QVERIFY(answer.has_value());
    QCOMPARE(answer->status, 500);
}

QTEST_GUILESS_MAIN(TestOpenAiTraffic)
#include "tst_openai_traffic.moc"
