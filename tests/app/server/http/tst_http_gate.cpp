// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/gate_bench.h"
#include "tests/app/server/http/raw_client.h"

#include <QJsonObject>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;

/// Requests in every shape, and their answers: what a client may send, one after the other and at a time.
class TestHttpGate : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_gate.start(); }
    void cleanup() { m_gate.stop(); }

    void answers_data();
    void answers();
    void refusals_data();
    void refusals();
    void oneByteAtATime();
    void pipelinedInOrder();
    void keptConnectionServesAgain();
    void closesWhenAsked_data();
    void closesWhenAsked();
    void headHasNoBody();
    void handlerErrorsBecomeErrorObjects();
    void emptyLinesBeforeARequest();

private:
    GateBench m_gate;
};

void TestHttpGate::answers_data()
{
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("body");
    QTest::newRow("plain") << "GET /plain" << 200 << "plain";
    QTest::newRow("a dot is a dot") << "GET /a.b" << 200 << "dot";
    QTest::newRow("a dot is no wildcard") << "GET /axb" << 404 << "";
    QTest::newRow("argument") << "GET /items/x%20y" << 200 << "[x y]";
    QTest::newRow("literal wins") << "GET /items/fixed" << 200 << "fixed";
    QTest::newRow("argument with an encoded slash") << "GET /items/a%2Fb" << 200 << "[a/b]";
    QTest::newRow("argument with a percent sign") << "GET /items/a%252Fb" << 200 << "[a%2Fb]";
    QTest::newRow("argument in UTF-8") << "GET /items/%E6%BC%A2" << 200 << QString::fromUtf8("[漢]");
    QTest::newRow("empty argument") << "GET /items/" << 404 << "";
    QTest::newRow("argument has no slash") << "GET /items/a/b" << 404 << "";
    QTest::newRow("two arguments") << "GET /items/7/parts/q" << 200 << "[7][q]";
    QTest::newRow("rest") << "GET /models/org/name:tag" << 200 << "[org/name:tag]";
    QTest::newRow("rest, encoded") << "GET /models/org%2Fname" << 200 << "[org/name]";
    QTest::newRow("query") << "GET /query?p=1&q=a+b%26" << 200 << "a b&";
    QTest::newRow("key is no parameter") << "GET /query?key=secret" << 200 << "-";
    QTest::newRow("F054: unknown path") << "GET /nope" << 404 << "";
    QTest::newRow("F054: wrong method") << "DELETE /plain" << 405 << "";
    QTest::newRow("options") << "OPTIONS /plain" << 204 << "";
    QTest::newRow("options of nothing") << "OPTIONS /nope" << 404 << "";
    QTest::newRow("unknown method") << "BREW /plain" << 501 << "";
}

void TestHttpGate::answers()
{
    QFETCH(QString, line);
    QFETCH(int, status);
    QFETCH(QString, body);
    RawClient raw = m_gate.client();
    QVERIFY(raw.send(m_gate.request(line.toStdString())));
    const auto answer = raw.answer();
    QVERIFY(answer.has_value());
    if (status >= 400)
        compareError(*answer, status);
    else
        QCOMPARE(QString::fromStdString(answer->body), body);
    QCOMPARE(answer->status, status);
    if (status == 405 || status == 204)
        QCOMPARE(answer->field("allow"), std::string("GET, HEAD, OPTIONS"));
    QCOMPARE(answer->field("x-content-type-options"), std::string("nosniff"));
    QVERIFY(raw.send(m_gate.request("GET /plain"))); // the connection lives
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

void TestHttpGate::refusals_data()
{
    QTest::addColumn<QByteArray>("bytes"); // HOST stands for the server's
    QTest::addColumn<int>("status");
    const QByteArray post = "POST /size HTTP/1.1\r\nHost: HOST\r\n";
    QTest::newRow("bare LF") << QByteArray("GET /plain HTTP/1.1\nHost: HOST\n\n") << 400;
    QTest::newRow("bare CR") << QByteArray("GET /plain HTTP/1.1\r\nHost: HOST\rX: y\r\n\r\n") << 400;
    QTest::newRow("NUL") << QByteArray("GET /plain HTTP/1.1\r\nHost: HOST\r\nX: \0\r\n\r\n", 41) << 400;
    QTest::newRow("garbage") << QByteArray("\x16\x03\x01\x02") << 400;
    QTest::newRow("no version") << QByteArray("GET /plain\r\n\r\n") << 400;
    QTest::newRow("HTTP/2.0") << QByteArray("GET /plain HTTP/2.0\r\nHost: HOST\r\n\r\n") << 505;
    QTest::newRow("absolute target") << QByteArray("GET http://a/plain HTTP/1.1\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("two slashes") << QByteArray("GET //plain HTTP/1.1\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("dot segments") << QByteArray("GET /a/../plain HTTP/1.1\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("broken percent code") << QByteArray("GET /%4 HTTP/1.1\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("encoded NUL") << QByteArray("GET /%00 HTTP/1.1\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("no UTF-8") << QByteArray("GET /%FF HTTP/1.1\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("folded field") << QByteArray("GET /plain HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n") << 400;
    QTest::newRow("no Host") << QByteArray("GET /plain HTTP/1.1\r\n\r\n") << 400;
    QTest::newRow("two Hosts") << QByteArray("GET /plain HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n") << 400;
    QTest::newRow("F073: foreign Host") << QByteArray("GET /plain HTTP/1.1\r\nHost: studio.evil.test\r\n\r\n") << 403;
    QTest::newRow("negative length") << post + "Content-Length: -5\r\n\r\nGET /" << 400;
    QTest::newRow("signed length") << post + "Content-Length: +5\r\n\r\nhello" << 400;
    QTest::newRow("two lengths") << post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello" << 400;
    QTest::newRow("list of lengths") << post + "Content-Length: 5, 5\r\n\r\nhello" << 400;
    QTest::newRow("length and coding") << post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                                       << 400;
    QTest::newRow("blank before colon") << post + "Content-Length : 5\r\n\r\nhello" << 400;
    QTest::newRow("xchunked") << post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" << 501;
    QTest::newRow("gzip, chunked") << post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" << 501;
    QTest::newRow("vertical tab") << post + "Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n" << 400;
    QTest::newRow("chunk size 0x1") << post + "Transfer-Encoding: chunked\r\n\r\n0x1\r\nA\r\n0\r\n\r\n" << 400;
    QTest::newRow("chunk without end") << post + "Transfer-Encoding: chunked\r\n\r\n1\r\nAB\r\n0\r\n\r\n" << 400;
    QTest::newRow("chunk beyond all") << post + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n" << 413;
    QTest::newRow("other expectation") << post + "Expect: a-miracle\r\nContent-Length: 1\r\n\r\nA" << 417;
    QTest::newRow("F071: body too large") << post + "Content-Length: 67108864\r\n\r\n" << 413;
    QTest::newRow("length beyond 64 bits") << post + "Content-Length: 99999999999999999999999\r\n\r\n" << 413;
    QTest::newRow("many fields") << "GET /plain HTTP/1.1\r\nHost: HOST\r\n" + QByteArray("X: y\r\n").repeated(100) +
                                        "\r\n"
                                 << 431;
    QTest::newRow("large head") << "GET /plain HTTP/1.1\r\nHost: HOST\r\nX: " + QByteArray(40'000, 'x') << 431;
    QTest::newRow("F074: text/plain") << QByteArray("POST /echo HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/plain\r\n"
                                                    "Content-Length: 2\r\n\r\n{}")
                                      << 415;
    QTest::newRow("no type") << QByteArray("POST /echo HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}") << 415;
}

void TestHttpGate::refusals()
{
    QFETCH(QByteArray, bytes);
    QFETCH(int, status);
    bytes.replace("HOST", QByteArray::fromStdString(m_gate.host()));
    RawClient raw = m_gate.client();
    (void)raw.send(bytes.toStdString());
    const auto answer = raw.answer();
    QVERIFY(answer.has_value());
    compareError(*answer, status);
    if (answer->field("connection") == "close") {
        QCOMPARE(raw.rest(), std::string()); // what followed was not taken for a request
        QVERIFY(raw.closed());
    }
}

void TestHttpGate::oneByteAtATime()
{
    RawClient raw = m_gate.client();
    const std::string bytes =
        m_gate.request("POST /size",
                       "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\nT: u\r\n\r\n") +
        m_gate.request("POST /size", "Content-Length: 4\r\n\r\nabcd") + m_gate.request("GET /plain");
    for (const char byte : bytes)
        QVERIFY(raw.send({&byte, 1}));
    QCOMPARE(raw.answer()->body, std::string("13"));
    QCOMPARE(raw.answer()->body, std::string("4"));
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

void TestHttpGate::pipelinedInOrder()
{
    RawClient raw = m_gate.client();
    std::string bytes;
    for (int i = 0; i < 200; ++i)
        bytes += m_gate.request("GET /items/" + std::to_string(i));
    QVERIFY(raw.send(bytes));
    for (int i = 0; i < 200; ++i)
        QCOMPARE(raw.answer()->body, "[" + std::to_string(i) + "]");
}

void TestHttpGate::keptConnectionServesAgain()
{
    // F072
    RawClient raw = m_gate.client();
    for (int i = 0; i < 3; ++i) {
        QVERIFY(raw.send(m_gate.request("POST /size", "Content-Length: 3\r\n\r\nabc")));
        QCOMPARE(raw.answer()->body, std::string("3"));
    }
}

void TestHttpGate::closesWhenAsked_data()
{
    QTest::addColumn<QByteArray>("head");
    QTest::addColumn<bool>("closes");
    QTest::newRow("1.1") << QByteArray("GET /plain HTTP/1.1\r\nHost: HOST\r\n\r\n") << false;
    QTest::newRow("1.1 close") << QByteArray("GET /plain HTTP/1.1\r\nHost: HOST\r\nConnection: Close\r\n\r\n") << true;
    QTest::newRow("1.0") << QByteArray("GET /plain HTTP/1.0\r\nHost: HOST\r\n\r\n") << true;
    QTest::newRow("1.0 without Host") << QByteArray("GET /plain HTTP/1.0\r\n\r\n") << true;
    QTest::newRow("1.0 keep-alive") << QByteArray("GET /plain HTTP/1.0\r\nHost: HOST\r\nConnection: keep-alive\r\n\r\n")
                                    << false;
}

void TestHttpGate::closesWhenAsked()
{
    QFETCH(QByteArray, head);
    QFETCH(bool, closes);
    head.replace("HOST", QByteArray::fromStdString(m_gate.host()));
    RawClient raw = m_gate.client();
    QVERIFY(raw.send(head.toStdString()));
    const auto answer = raw.answer();
    QCOMPARE(answer->body, std::string("plain"));
    QCOMPARE(answer->field("connection") == "close", closes);
    if (closes)
        QVERIFY(raw.closed());
}

void TestHttpGate::headHasNoBody()
{
    RawClient raw = m_gate.client();
    QVERIFY(raw.send(m_gate.request("HEAD /plain") + m_gate.request("HEAD /nope") + m_gate.request("GET /plain")));
    const auto answer = raw.answer(true);
    QCOMPARE(answer->status, 200);
    QCOMPARE(answer->field("content-length"), std::string("5"));
    QCOMPARE(raw.answer(true)->status, 404);
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

void TestHttpGate::handlerErrorsBecomeErrorObjects()
{
    // F047
    RawClient raw = m_gate.client();
    QVERIFY(raw.send(m_gate.request("GET /error") + m_gate.request("GET /failure") + m_gate.request("GET /nothing") +
                     m_gate.request("GET /injection")));
    const auto error = raw.answer();
    compareError(*error, 400);
    QCOMPARE(errorOf(*error)["param"].toString(), QString("steps"));
    for (int i = 0; i < 3; ++i) {
        const auto failure = raw.answer();
        compareError(*failure, 500);
        QVERIFY(failure->body.find("secret") == std::string::npos);
        QVERIFY(failure->field("set-cookie").empty());
        QVERIFY(
            errorOf(*failure)["message"].toString().contains(QString::fromStdString(failure->field("x-request-id"))));
    }
}

void TestHttpGate::emptyLinesBeforeARequest()
{
    RawClient raw = m_gate.client();
    QVERIFY(raw.send("\r\n" + m_gate.request("POST /size", "Content-Length: 1\r\n\r\na") + "\r\n\r\n" +
                     m_gate.request("GET /plain")));
    QCOMPARE(raw.answer()->body, std::string("1"));
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

QTEST_GUILESS_MAIN(TestHttpGate)
#include "tst_http_gate.moc"
