// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/raw_client.h"
#include "tests/app/server/http/stream_bench.h"

#include <QRandomGenerator>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;
using namespace std::chrono_literals;

/// Answers whose client vanishes or does not read, and whose server ends.
class TestHttpDepartures : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench.start(); }
    void cleanup() { m_bench.stop(); }

    void vanishedClientCancels_data();
    void vanishedClientCancels();
    void callbackThatHoldsItsReply();
    void readerThatNeverReads();
    void waitingProducerIsBounded();
    void waitingProducerGivesUp();
    void clientsVanishAtRandom();
    void stopsWithEverythingOpen();
    void replyOutlivesTheServer();

private:
    StreamBench m_bench;
};

void TestHttpDepartures::vanishedClientCancels_data()
{
    QTest::addColumn<bool>("streams");
    QTest::addColumn<bool>("resets");
    QTest::newRow("F064: stream, close") << true << false;
    QTest::newRow("F064: stream, reset") << true << true;
    QTest::newRow("F064: waiting, close") << false << false;
    QTest::newRow("F064: waiting, reset") << false << true;
}

void TestHttpDepartures::vanishedClientCancels()
{
    QFETCH(bool, streams);
    QFETCH(bool, resets);
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
    if (streams) {
        reply.beginEvents();
        QVERIFY(reply.push(eventText(1)));
        QVERIFY(!raw.piece(10'000).empty());
    }
    if (resets)
        raw.reset();
    else
        raw.leave();
    QTRY_COMPARE(m_bench.cancelled(), 1);
    QVERIFY(reply.cancelled());
    QVERIFY(!reply.push("x"));
    reply.finish();
}

void TestHttpDepartures::callbackThatHoldsItsReply()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    const auto shared = std::make_shared<Reply>(m_bench.next());
    const std::weak_ptr<Reply> watch = shared;
    shared->onCancelled([shared] { shared->finish(); });
    raw.leave();
    QTRY_COMPARE(shared.use_count(), 1); // the callback is forgotten, and with it what it held
    RawClient late = m_bench.client();
    QVERIFY(late.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
    late.leave();
    QTRY_VERIFY(reply.cancelled());
    bool called = false;
    reply.onCancelled([&called] { called = true; });
    QVERIFY(called);
}

void TestHttpDepartures::readerThatNeverReads()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
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
    QTRY_COMPARE(m_bench.cancelled(), 1);
    QTRY_COMPARE(m_bench.figures().connections, 0);
}

void TestHttpDepartures::waitingProducerIsBounded()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
    reply.begin({.type = "application/octet-stream"});
    constexpr int kPieces = 2000;
    const std::string piece(10'000, 'x');
    std::atomic<std::size_t> most = 0;
    std::atomic<bool> allTaken = true;
    std::thread producer([&] {
        for (int i = 0; i < kPieces; ++i) {
            allTaken = reply.pushWaiting(piece) && allTaken;
            most = std::max(most.load(), reply.pendingBytes());
        }
        reply.finish();
    });
    const auto answer = raw.answer();
    producer.join();
    QVERIFY(allTaken);
    QCOMPARE(answer->body.size(), piece.size() * kPieces);
    QVERIFY(answer->complete);
    QVERIFY(most <= std::size_t{600} << 10U);
}

void TestHttpDepartures::waitingProducerGivesUp()
{
    Limits limits;
    limits.stallTime = 200ms; // sooner than the producer's own ten seconds
    m_bench.start(limits);
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
    reply.beginEvents();
    const std::string piece(10'000, 'x');
    int pushed = 0;
    while (reply.pushWaiting(piece))
        ++pushed;
    QVERIFY(pushed > 10);
    QTRY_COMPARE(m_bench.cancelled(), 1);
}

void TestHttpDepartures::clientsVanishAtRandom()
{
    QRandomGenerator random(7); // NOLINT: the same run each time
    const std::string post =
        m_bench.request("POST /claim", "Content-Type: application/json\r\nContent-Length: 40\r\n\r\n");
    std::vector<Reply> replies;
    for (int i = 0; i < 100; ++i) {
        RawClient raw = m_bench.client();
        const std::string bytes = i % 2 == 0 ? m_bench.request("GET /claim") : post + std::string(40, ' ');
        const auto cut = static_cast<std::size_t>(random.bounded(static_cast<int>(bytes.size()) * 2));
        QVERIFY(raw.send(bytes.substr(0, cut)));
        if (cut >= bytes.size()) {
            replies.push_back(m_bench.next());
            if (random.bounded(2) == 0)
                replies.back().beginEvents();
            for (int k = random.bounded(3); k > 0; --k)
                (void)replies.back().push(eventText(k));
        }
        if (random.bounded(2) == 0)
            raw.reset();
    }
    QTRY_COMPARE(m_bench.figures().connections, 0);
    QCOMPARE(m_bench.figures().replies, 0);
    for (const Reply &reply : replies)
        QVERIFY(reply.cancelled());
}

void TestHttpDepartures::stopsWithEverythingOpen()
{
    std::vector<RawClient> clients;
    std::vector<std::thread> producers;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(m_bench.client());
        QVERIFY(clients.back().send(m_bench.request("GET /claim")));
        producers.emplace_back([reply = m_bench.next(), i]() mutable {
            if (i % 2 == 0)
                reply.beginEvents();
            while (i % 2 == 0 ? reply.pushWaiting(eventText(i)) : !reply.cancelled())
                std::this_thread::yield();
        });
    }
    clients.push_back(m_bench.client());
    QVERIFY(clients.back().send("GET /half HT"));
    clients.push_back(m_bench.client());
    QVERIFY(clients.back().send(m_bench.request("POST /claim", "Content-Length: 10\r\n\r\nabc")));
    QTRY_COMPARE(m_bench.figures().connections, 10);
    m_bench.server().stop();
    for (std::thread &producer : producers)
        producer.join(); // stopping told all of them
    QCOMPARE(m_bench.cancelled(), 8);
    for (RawClient &raw : clients)
        QVERIFY(raw.closed());
    m_bench.start({});
}

void TestHttpDepartures::replyOutlivesTheServer()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
    m_bench.end();
    QVERIFY(reply.cancelled());
    reply.finish({.body = "{}"});
    m_bench.start({});
}

QTEST_GUILESS_MAIN(TestHttpDepartures)
#include "tst_http_departures.moc"
