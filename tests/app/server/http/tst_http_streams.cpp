// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/exchange.h"
#include "engine/error.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"

#include <QRandomGenerator>
#include <QTest>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;
using namespace std::chrono_literals;

namespace {

/// Takes claimed replies from the server's thread to where the test wants them.
class Claims
{
public:
    void add(Reply reply)
    {
        const std::lock_guard lock(m_mutex);
        m_replies.push_back(std::move(reply));
        m_changed.notify_all();
    }
    Reply next()
    {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait_for(lock, 10s, [this] { return !m_replies.empty(); }))
            qFatal("no request arrived");
        Reply reply = std::move(m_replies.front());
        m_replies.pop_front();
        return reply;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Reply> m_replies;
};

std::string eventText(int number)
{
    return "data: " + std::to_string(number) + "\n\n";
}

} // namespace

class TestHttpStreams : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { start({}); }
    void cleanup();

    void eventsArriveWhole();
    void oldClientsGetEventsUntilClose();
    void headOfAStreamEndsAtOnce();
    void laterAnswerHasItsLength();
    void laterAnswerFromAnyThread();
    void nextRequestWaitsForTheStream();
    void droppedReplyIsAnError_data();
    void droppedReplyIsAnError();
    void answerAfterAClaimCounts();
    void vanishedClientCancels_data();
    void vanishedClientCancels();
    void callbackThatHoldsItsReply();
    void readerThatNeverReads();
    void waitingProducerIsBounded();
    void waitingProducerGivesUp();
    void silenceIsFilledWithPings();
    void clientsVanishAtRandom();
    void stopsWithEverythingOpen();
    void replyOutlivesTheServer();

private:
    void start(const Limits &limits);
    RawClient client() const { return RawClient(m_server->port()); }
    std::string request(const std::string &line, const std::string &rest = "\r\n") const
    {
        return line + " HTTP/1.1\r\nHost: " + m_server->host() + "\r\n" + rest;
    }

    std::unique_ptr<Claims> m_claims;
    std::unique_ptr<ListenerThread> m_server;
    std::atomic<int> m_cancelled = 0;
};

void TestHttpStreams::start(const Limits &limits)
{
    m_server.reset();
    m_claims = std::make_unique<Claims>();
    m_cancelled = 0;
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
    m_server = std::make_unique<ListenerThread>(
        ListenerSettings{.limits = limits, .access = {}, .routes = std::move(routes), .served = {}});
}

void TestHttpStreams::cleanup()
{
    QTRY_COMPARE(m_server->figures().replies, 0);
    QTRY_COMPARE(m_server->figures().connections, 0);
    m_server.reset();
    QCOMPARE(Exchange::liveCount(), 0);
}

void TestHttpStreams::eventsArriveWhole()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    reply.beginEvents({{"X-Extra", "1"}});
    std::thread producer([&reply] {
        for (int i = 0; i < 100; ++i)
            (void)reply.push(eventText(i));
        reply.finish();
    });
    const auto answer = raw.answer();
    producer.join();
    QCOMPARE(answer->status, 200);
    QCOMPARE(answer->field("content-type"), std::string("text/event-stream; charset=utf-8"));
    QCOMPARE(answer->field("cache-control"), std::string("no-cache"));
    QCOMPARE(answer->field("x-accel-buffering"), std::string("no"));
    QCOMPARE(answer->field("x-extra"), std::string("1"));
    QVERIFY(!answer->field("x-request-id").empty());
    QVERIFY(answer->complete);
    std::string all;
    for (int i = 0; i < 100; ++i)
        all += eventText(i);
    QCOMPARE(answer->body, all);
    for (const std::string &chunk : answer->chunks)
        QVERIFY(chunk.ends_with("\n\n")); // whole events
    QVERIFY(!reply.push("late"));
    QVERIFY(raw.send(request("GET /plain"))); // F072: a request after a stream
    QCOMPARE(raw.answer()->status, 200);
    QCOMPARE(m_cancelled.load(), 0);
}

void TestHttpStreams::oldClientsGetEventsUntilClose()
{
    RawClient raw = client();
    QVERIFY(raw.send("GET /claim HTTP/1.0\r\n\r\n"));
    Reply reply = m_claims->next();
    reply.beginEvents();
    QVERIFY(reply.push(eventText(1)));
    reply.finish();
    const auto answer = raw.answer();
    QCOMPARE(answer->body, eventText(1));
    QCOMPARE(answer->field("connection"), std::string("close"));
    QVERIFY(answer->field("transfer-encoding").empty());
    QVERIFY(answer->complete);
}

void TestHttpStreams::headOfAStreamEndsAtOnce()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("HEAD /claim")));
    Reply reply = m_claims->next();
    reply.beginEvents();
    QCOMPARE(raw.answer(true)->status, 200);
    QTRY_VERIFY(reply.cancelled());
    QVERIFY(!reply.push(eventText(1)));
    QVERIFY(raw.send(request("GET /plain")));
    QCOMPARE(raw.answer()->body, std::string("{}"));
}

void TestHttpStreams::laterAnswerHasItsLength()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim") + request("HEAD /claim")));
    m_claims->next().finish({.status = 201, .body = "{\"a\":1}", .fields = {{"X-Extra", "1"}}});
    const auto answer = raw.answer();
    QCOMPARE(answer->status, 201);
    QCOMPARE(answer->field("content-length"), std::string("7"));
    QCOMPARE(answer->body, std::string("{\"a\":1}"));
    Reply ofHead = m_claims->next();
    RawClient other = client(); // once it has its answer, every wake-up for the first one has been heard
    QVERIFY(other.send(request("GET /plain")));
    QCOMPARE(other.answer()->body, std::string("{}"));
    ofHead.finish({.body = "{\"a\":1}"});
    QCOMPARE(raw.answer(true)->field("content-length"), std::string("7"));
}

void TestHttpStreams::laterAnswerFromAnyThread()
{
    std::vector<RawClient> clients;
    std::vector<std::thread> threads;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(client());
        QVERIFY(clients.back().send(request("GET /claim")));
        threads.emplace_back([reply = m_claims->next()]() mutable { reply.finish({.body = "{}"}); });
    }
    for (RawClient &raw : clients)
        QCOMPARE(raw.answer()->body, std::string("{}"));
    for (std::thread &thread : threads)
        thread.join();
}

void TestHttpStreams::nextRequestWaitsForTheStream()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim") + request("GET /plain")));
    Reply reply = m_claims->next();
    reply.beginEvents();
    QVERIFY(reply.push(eventText(1)));
    RawClient other = client();
    QVERIFY(other.send(request("GET /plain")));
    QCOMPARE(other.answer()->status, 200); // F030: the others do not wait
    reply.finish();
    QCOMPARE(raw.answer()->body, eventText(1));
    QCOMPARE(raw.answer()->body, std::string("{}"));
}

void TestHttpStreams::droppedReplyIsAnError_data()
{
    QTest::addColumn<bool>("begun");
    QTest::addColumn<bool>("aborted");
    QTest::newRow("before it began") << false << false;
    QTest::newRow("in the middle") << true << false;
    QTest::newRow("on purpose") << true << true;
}

void TestHttpStreams::droppedReplyIsAnError()
{
    QFETCH(bool, begun);
    QFETCH(bool, aborted);
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    {
        Reply reply = m_claims->next();
        if (begun) {
            reply.beginEvents();
            QVERIFY(reply.push(eventText(1)));
        }
        if (aborted)
            reply.abort();
    }
    const auto answer = raw.answer();
    QCOMPARE(answer->status, begun ? 200 : 500);
    QCOMPARE(answer->complete, !begun); // a stream that was cut shows it
    if (begun)
        QVERIFY(raw.closed());
    QCOMPARE(m_cancelled.load(), 0);
}

void TestHttpStreams::answerAfterAClaimCounts()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /both")));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, 429);
    QCOMPARE(answer->field("retry-after"), std::string("1"));
}

void TestHttpStreams::vanishedClientCancels_data()
{
    QTest::addColumn<bool>("streams");
    QTest::addColumn<bool>("resets");
    QTest::newRow("F064: stream, close") << true << false;
    QTest::newRow("F064: stream, reset") << true << true;
    QTest::newRow("F064: waiting, close") << false << false;
    QTest::newRow("F064: waiting, reset") << false << true;
}

void TestHttpStreams::vanishedClientCancels()
{
    QFETCH(bool, streams);
    QFETCH(bool, resets);
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    if (streams) {
        reply.beginEvents();
        QVERIFY(reply.push(eventText(1)));
        QVERIFY(!raw.piece(10'000).empty());
    }
    if (resets)
        raw.reset();
    else
        raw.leave();
    QTRY_COMPARE(m_cancelled.load(), 1);
    QVERIFY(reply.cancelled());
    QVERIFY(!reply.push("x"));
    reply.finish();
}

void TestHttpStreams::callbackThatHoldsItsReply()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    const auto shared = std::make_shared<Reply>(m_claims->next());
    const std::weak_ptr<Reply> watch = shared;
    shared->onCancelled([shared] { shared->finish(); });
    raw.leave();
    QTRY_COMPARE(shared.use_count(), 1); // the callback is forgotten, and with it what it held
    RawClient late = client();
    QVERIFY(late.send(request("GET /claim")));
    Reply reply = m_claims->next();
    late.leave();
    QTRY_VERIFY(reply.cancelled());
    bool called = false;
    reply.onCancelled([&called] { called = true; });
    QVERIFY(called);
}

void TestHttpStreams::readerThatNeverReads()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    reply.beginEvents();
    const std::string piece(10'000, 'x');
    std::size_t most = 0;
    int pushed = 0;
    while (reply.push(piece)) {
        most = std::max(most, reply.pendingBytes());
        ++pushed;
        QVERIFY2(pushed < 10'000, "100 MB were taken for a client that reads nothing");
    }
    QVERIFY(most <= (std::size_t{1} << 20U) + (std::size_t{1} << 19U));
    QTRY_COMPARE(m_cancelled.load(), 1);
    QTRY_COMPARE(m_server->figures().connections, 0);
}

void TestHttpStreams::waitingProducerIsBounded()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    reply.begin({.type = "application/octet-stream"});
    constexpr int kPieces = 2000;
    const std::string piece(10'000, 'x');
    std::atomic<std::size_t> most = 0;
    std::thread producer([&] {
        for (int i = 0; i < kPieces; ++i) {
            QVERIFY(reply.pushWaiting(piece));
            most = std::max(most.load(), reply.pendingBytes());
        }
        reply.finish();
    });
    const auto answer = raw.answer();
    producer.join();
    QCOMPARE(answer->body.size(), piece.size() * kPieces);
    QVERIFY(answer->complete);
    QVERIFY(most <= std::size_t{600} << 10U);
}

void TestHttpStreams::waitingProducerGivesUp()
{
    Limits limits;
    limits.stallTime = 200ms; // sooner than the producer's own ten seconds
    start(limits);
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    reply.beginEvents();
    const std::string piece(10'000, 'x');
    int pushed = 0;
    while (reply.pushWaiting(piece))
        ++pushed;
    QVERIFY(pushed > 10);
    QTRY_COMPARE(m_cancelled.load(), 1);
}

void TestHttpStreams::silenceIsFilledWithPings()
{
    Limits limits;
    limits.pingTime = 20ms;
    start(limits);
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    reply.beginEvents();
    std::string seen;
    while (seen.find("\r\n8\r\n: ping\n\n\r\n8\r\n: ping\n\n\r\n") == std::string::npos) {
        const std::string piece = raw.piece(10'000);
        QVERIFY(!piece.empty());
        seen += piece;
    }
    reply.finish();
}

void TestHttpStreams::clientsVanishAtRandom()
{
    QRandomGenerator random(7); // NOLINT: the same run each time
    const std::string post = request("POST /claim", "Content-Type: application/json\r\nContent-Length: 40\r\n\r\n");
    std::vector<Reply> replies;
    for (int i = 0; i < 100; ++i) {
        RawClient raw = client();
        const std::string bytes = i % 2 == 0 ? request("GET /claim") : post + std::string(40, ' ');
        const auto cut = static_cast<std::size_t>(random.bounded(static_cast<int>(bytes.size()) * 2));
        QVERIFY(raw.send(bytes.substr(0, cut)));
        if (cut >= bytes.size()) {
            replies.push_back(m_claims->next());
            if (random.bounded(2) == 0)
                replies.back().beginEvents();
            for (int k = random.bounded(3); k > 0; --k)
                (void)replies.back().push(eventText(k));
        }
        if (random.bounded(2) == 0)
            raw.reset();
    }
    QTRY_COMPARE(m_server->figures().connections, 0);
    QCOMPARE(m_server->figures().replies, 0);
    for (const Reply &reply : replies)
        QVERIFY(reply.cancelled());
}

void TestHttpStreams::stopsWithEverythingOpen()
{
    std::vector<RawClient> clients;
    std::vector<std::thread> producers;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(client());
        QVERIFY(clients.back().send(request("GET /claim")));
        producers.emplace_back([reply = m_claims->next(), i]() mutable {
            if (i % 2 == 0)
                reply.beginEvents();
            while (i % 2 == 0 ? reply.pushWaiting(eventText(i)) : !reply.cancelled())
                std::this_thread::yield();
        });
    }
    clients.push_back(client());
    QVERIFY(clients.back().send("GET /half HT"));
    clients.push_back(client());
    QVERIFY(clients.back().send(request("POST /claim", "Content-Length: 10\r\n\r\nabc")));
    QTRY_COMPARE(m_server->figures().connections, 10);
    m_server->stop();
    for (std::thread &producer : producers)
        producer.join(); // stopping told all of them
    QCOMPARE(m_cancelled.load(), 8);
    for (RawClient &raw : clients)
        QVERIFY(raw.closed());
    start({});
}

void TestHttpStreams::replyOutlivesTheServer()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /claim")));
    Reply reply = m_claims->next();
    m_server.reset();
    QVERIFY(reply.cancelled());
    reply.finish({.body = "{}"});
    start({});
}

QTEST_GUILESS_MAIN(TestHttpStreams)
#include "tst_http_streams.moc"
