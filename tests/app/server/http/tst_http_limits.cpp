// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/gate_bench.h"
#include "tests/app/server/http/raw_client.h"

#include <QTest>

#include <chrono>
#include <string>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;
using namespace std::chrono_literals;

/// How much one client and all of them together may take: bytes, connections and time.
class TestHttpLimits : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_gate.start(); }
    void cleanup() { m_gate.stop(); }

    void manyLargeAnswersUnread();
    void continueIsAnswered_data();
    void continueIsAnswered();
    void bodyLimits();
    void bodiesTogether();
    void lyingLengthEndsOneConnection();
    void tooMuchSentAhead();
    void tooManyConnections();
    void timeouts();
    void dribblingIsNoProgress();
    void readerThatStopsIsCutOff();
    void halfClosedClientsAreGone();

private:
    GateBench m_gate;
};

void TestHttpLimits::manyLargeAnswersUnread()
{
    // 100 answers of 8 MiB are asked for and none is read: at most one of them may be in memory.
    RawClient raw = m_gate.client();
    std::string bytes;
    for (int i = 0; i < 100; ++i)
        bytes += m_gate.request("GET /large");
    QVERIFY(raw.send(bytes));
    QVERIFY(!raw.piece(10'000).empty());
    RawClient other = m_gate.client();
    QVERIFY(other.send(m_gate.request("GET /plain")));
    QCOMPARE(other.answer()->body, std::string("plain"));
    QCOMPARE(m_gate.figures().connections, 2);
}

void TestHttpLimits::continueIsAnswered_data()
{
    QTest::addColumn<int>("bytes");
    QTest::addColumn<int>("first");
    QTest::newRow("F070: 2 KB") << 2000 << 100;
    QTest::newRow("F070: 200 KB") << 200'000 << 100;
    QTest::newRow("F070: too large") << 2'000'000 << 413;
}

void TestHttpLimits::continueIsAnswered()
{
    QFETCH(int, bytes);
    QFETCH(int, first);
    RawClient raw = m_gate.client();
    const std::string length = std::to_string(bytes);
    QVERIFY(raw.send(m_gate.request("POST /size", "Expect: 100-continue\r\nContent-Length: " + length + "\r\n\r\n")));
    QCOMPARE(raw.answer()->status, first);
    if (first != 100)
        return;
    QVERIFY(raw.send(std::string(static_cast<std::size_t>(bytes), 'b')));
    QCOMPARE(raw.answer()->body, length);
}

void TestHttpLimits::bodyLimits()
{
    const std::string most(GateBench::limits().bodyBytes, 'b');
    RawClient raw = m_gate.client();
    QVERIFY(
        raw.send(m_gate.request("POST /size", "Content-Length: " + std::to_string(most.size()) + "\r\n\r\n" + most)));
    QCOMPARE(raw.answer()->body, std::to_string(most.size()));
    QVERIFY(raw.send(
        m_gate.request("POST /size", "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + most + "\r\n0\r\n\r\n")));
    QCOMPARE(raw.answer()->body, std::to_string(most.size()));
    (void)raw.send(m_gate.request("POST /size",
                                  "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + most + "\r\n1\r\nb\r\n0\r\n\r\n"));
    compareError(*raw.answer(), 413);
    QVERIFY(raw.closed());
}

void TestHttpLimits::bodiesTogether()
{
    // Three bodies of a megabyte that stay one byte short are all that is held at a time.
    const std::string head = m_gate.request("POST /size", "Content-Length: 1048576\r\n\r\n");
    const std::string almost(GateBench::limits().bodyBytes - 1, 'b');
    std::vector<RawClient> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(m_gate.client());
        QVERIFY(clients.back().send(head + almost));
    }
    QTRY_COMPARE(m_gate.figures().bodyBytes, 3 * almost.size());
    RawClient fourth = m_gate.client();
    (void)fourth.send(head + almost);
    compareError(*fourth.answer(), 503);
    for (RawClient &raw : clients) {
        QVERIFY(raw.send("b"));
        QCOMPARE(raw.answer()->body, std::string("1048576"));
    }
}

void TestHttpLimits::lyingLengthEndsOneConnection()
{
    // F071: more bytes than announced are another request, here a broken one
    RawClient liar = m_gate.client();
    RawClient other = m_gate.client();
    QVERIFY(liar.send(m_gate.request("POST /size", "Content-Length: 3\r\n\r\nabcdef\r\n\r\n")));
    QCOMPARE(liar.answer()->body, std::string("3"));
    compareError(*liar.answer(), 400);
    QVERIFY(liar.closed());
    QVERIFY(other.send(m_gate.request("GET /plain")));
    QCOMPARE(other.answer()->status, 200);
}

void TestHttpLimits::tooMuchSentAhead()
{
    Limits limits = GateBench::limits();
    limits.unsentBytes = 1; // one answer under way keeps everything else waiting
    limits.stallTime = 60s;
    m_gate.restart(limits);
    RawClient raw = m_gate.client();
    QVERIFY(raw.send(m_gate.request("GET /large")));
    QVERIFY(!raw.piece(10'000).empty());
    const std::string flood(16U << 10U, 'x');
    for (int i = 0; i < 1000 && m_gate.figures().connections > 0; ++i)
        (void)raw.send(flood);
    QTRY_COMPARE(m_gate.figures().connections, 0);
}

void TestHttpLimits::tooManyConnections()
{
    Limits limits = GateBench::limits();
    limits.connections = 4;
    limits.connectionsRefused = 2;
    m_gate.restart(limits);
    std::vector<RawClient> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(m_gate.client());
        QVERIFY(clients.back().send(m_gate.request("GET /plain")));
        QCOMPARE(clients.back().answer()->status, 200);
    }
    RawClient fifth = m_gate.client();
    const auto answer = fifth.answer();
    compareError(*answer, 503);
    QCOMPARE(answer->field("retry-after"), std::string("1"));
    clients.clear();
    QTRY_VERIFY(m_gate.figures().connections <= 1);
    RawClient again = m_gate.client();
    QVERIFY(again.send(m_gate.request("GET /plain")));
    QCOMPARE(again.answer()->status, 200);
}

void TestHttpLimits::timeouts()
{
    Limits limits = GateBench::limits();
    limits.headTime = 100ms;
    limits.bodyTime = 100ms;
    limits.idleTime = 100ms;
    limits.lingerTime = 100ms;
    m_gate.restart(limits);
    RawClient idle = m_gate.client();
    RawClient halfHead = m_gate.client();
    RawClient halfBody = m_gate.client();
    QVERIFY(halfHead.send("GET /plain HT"));
    QVERIFY(halfBody.send(m_gate.request("POST /size", "Content-Length: 5\r\n\r\nab")));
    compareError(*halfHead.answer(), 408);
    compareError(*halfBody.answer(), 408);
    QVERIFY(idle.closed());
    QTRY_COMPARE(m_gate.figures().connections, 0); // although two clients have not closed
}

void TestHttpLimits::dribblingIsNoProgress()
{
    // The time for a head runs from its first byte, however many follow.
    Limits limits = GateBench::limits();
    limits.headTime = 200ms;
    m_gate.restart(limits);
    RawClient raw = m_gate.client();
    std::string seen;
    for (int sent = 0; sent < 2000 && seen.empty(); ++sent) {
        (void)raw.send(sent == 0 ? "GET /plain HTTP/1.1\r\nX: " : "x");
        seen = raw.piece(10);
    }
    QVERIFY(seen.starts_with("HTTP/1.1 408 "));
}

void TestHttpLimits::readerThatStopsIsCutOff()
{
    Limits limits = GateBench::limits();
    limits.stallTime = 200ms;
    m_gate.restart(limits);
    RawClient raw = m_gate.client();
    QVERIFY(raw.send(m_gate.request("GET /large")));
    QVERIFY(!raw.piece(10'000).empty());
    QTRY_COMPARE(m_gate.figures().connections, 0);
}

void TestHttpLimits::halfClosedClientsAreGone()
{
    // Qt takes the end of the input for the end of the connection: what counts is that nothing stays behind.
    std::vector<RawClient> clients;
    for (const std::string &bytes :
         {std::string(), std::string("GET /pl"), m_gate.request("GET /plain"), m_gate.request("GET /large"),
          m_gate.request("POST /size", "Content-Length: 5\r\n\r\nab")}) {
        clients.push_back(m_gate.client());
        QVERIFY(clients.back().send(bytes));
        clients.back().finishSending();
    }
    QTRY_COMPARE(m_gate.figures().connections, 0);
    for (RawClient &raw : clients)
        QVERIFY(raw.closed());
}

QTEST_GUILESS_MAIN(TestHttpLimits)
#include "tst_http_limits.moc"
