// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/raw_client.h"
#include "tests/app/server/http/stream_bench.h"

#include <QTest>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;
using namespace std::chrono_literals;

/// Answers that come later or bit by bit, for clients that stay.
class TestHttpStreams : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench.start(); }
    void cleanup() { m_bench.stop(); }

    void eventsArriveWhole();
    void oldClientsGetEventsUntilClose();
    void headOfAStreamEndsAtOnce();
    void laterAnswerHasItsLength();
    void laterAnswerFromAnyThread();
    void nextRequestWaitsForTheStream();
    void droppedReplyIsAnError_data();
    void droppedReplyIsAnError();
    void answerAfterAClaimCounts();
    void silenceIsFilledWithPings();

private:
    StreamBench m_bench;
};

void TestHttpStreams::eventsArriveWhole()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
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
    QVERIFY(raw.send(m_bench.request("GET /plain"))); // F072: a request after a stream
    QCOMPARE(raw.answer()->status, 200);
    QCOMPARE(m_bench.cancelled(), 0);
}

void TestHttpStreams::oldClientsGetEventsUntilClose()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send("GET /claim HTTP/1.0\r\n\r\n"));
    Reply reply = m_bench.next();
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
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("HEAD /claim")));
    Reply reply = m_bench.next();
    reply.beginEvents();
    QCOMPARE(raw.answer(true)->status, 200);
    QTRY_VERIFY(reply.cancelled());
    QVERIFY(!reply.push(eventText(1)));
    QVERIFY(raw.send(m_bench.request("GET /plain")));
    QCOMPARE(raw.answer()->body, std::string("{}"));
}

void TestHttpStreams::laterAnswerHasItsLength()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim") + m_bench.request("HEAD /claim")));
    m_bench.next().finish({.status = 201, .body = "{\"a\":1}", .fields = {{"X-Extra", "1"}}});
    const auto answer = raw.answer();
    QCOMPARE(answer->status, 201);
    QCOMPARE(answer->field("content-length"), std::string("7"));
    QCOMPARE(answer->body, std::string("{\"a\":1}"));
    Reply ofHead = m_bench.next();
    RawClient other = m_bench.client(); // once it has its answer, every wake-up for the first one has been heard
    QVERIFY(other.send(m_bench.request("GET /plain")));
    QCOMPARE(other.answer()->body, std::string("{}"));
    ofHead.finish({.body = "{\"a\":1}"});
    QCOMPARE(raw.answer(true)->field("content-length"), std::string("7"));
}

void TestHttpStreams::laterAnswerFromAnyThread()
{
    std::vector<RawClient> clients;
    std::vector<std::thread> threads;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(m_bench.client());
        QVERIFY(clients.back().send(m_bench.request("GET /claim")));
        threads.emplace_back([reply = m_bench.next()]() mutable { reply.finish({.body = "{}"}); });
    }
    for (RawClient &raw : clients)
        QCOMPARE(raw.answer()->body, std::string("{}"));
    for (std::thread &thread : threads)
        thread.join();
}

void TestHttpStreams::nextRequestWaitsForTheStream()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim") + m_bench.request("GET /plain")));
    Reply reply = m_bench.next();
    reply.beginEvents();
    QVERIFY(reply.push(eventText(1)));
    RawClient other = m_bench.client();
    QVERIFY(other.send(m_bench.request("GET /plain")));
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
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    {
        Reply reply = m_bench.next();
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
    QCOMPARE(m_bench.cancelled(), 0);
}

void TestHttpStreams::answerAfterAClaimCounts()
{
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /both")));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, 429);
    QCOMPARE(answer->field("retry-after"), std::string("1"));
}

void TestHttpStreams::silenceIsFilledWithPings()
{
    Limits limits;
    limits.pingTime = 20ms;
    m_bench.start(limits);
    RawClient raw = m_bench.client();
    QVERIFY(raw.send(m_bench.request("GET /claim")));
    Reply reply = m_bench.next();
    reply.beginEvents();
    std::string seen;
    while (seen.find("\r\n8\r\n: ping\n\n\r\n8\r\n: ping\n\n\r\n") == std::string::npos) {
        const std::string piece = raw.piece(10'000);
        QVERIFY(!piece.empty());
        seen += piece;
    }
    reply.finish();
}

QTEST_GUILESS_MAIN(TestHttpStreams)
#include "tst_http_streams.moc"
