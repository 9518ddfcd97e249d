// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/exchange.h"
#include "engine/error.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;
using namespace std::chrono_literals;

namespace {

Answer text(std::string body)
{
    return Response{.type = "text/plain", .body = std::move(body)};
}

std::string joined(const std::vector<std::string> &parts)
{
    std::string result;
    for (const std::string &part : parts)
        result += "[" + part + "]";
    return result;
}

Routes testRoutes()
{
    Routes routes;
    routes.add("GET", "/plain", [](Call &) { return text("plain"); });
    routes.add("GET", "/a.b", [](Call &) { return text("dot"); });
    routes.add("GET", "/items/<arg>", [](Call &call) { return text(joined(call.request().arguments)); });
    routes.add("GET", "/items/fixed", [](Call &) { return text("fixed"); });
    routes.add("GET", "/items/<arg>/parts/<arg>", [](Call &call) { return text(joined(call.request().arguments)); });
    routes.add("GET", "/models/<rest>", [](Call &call) { return text(joined(call.request().arguments)); });
    routes.add("POST", "/echo", [](Call &call) { return text(call.request().body); });
    routes.add(
        "POST", "/size", [](Call &call) { return text(std::to_string(call.request().body.size())); }, BodyType::Any);
    routes.add("GET", "/large", [](Call &) { return text(std::string(8U << 20U, 'x')); });
    routes.add("GET", "/error", [](Call &) -> Answer {
        throw Error(ErrorKind::InvalidArgument, "steps: must be at least 1, not 0", "steps");
    });
    routes.add("GET", "/failure", [](Call &) -> Answer { throw std::runtime_error("secret detail"); });
    routes.add("GET", "/nothing", [](Call &) -> Answer { return std::nullopt; });
    routes.add("GET", "/injection", [](Call &) -> Answer {
        return Response{.body = "{}", .fields = {{"X-Name", "a\r\nSet-Cookie: b"}}};
    });
    routes.add("GET", "/query", [](Call &call) { return text(call.request().parameter("q").value_or("-")); });
    return routes;
}

Limits testLimits()
{
    Limits limits;
    limits.bodyBytes = 1U << 20U;
    limits.allBodiesBytes = 3U << 20U;
    return limits;
}

ListenerSettings testSettings()
{
    return {.limits = testLimits(), .access = {}, .routes = testRoutes(), .served = {}};
}

QJsonObject errorOf(const RawAnswer &answer)
{
    return QJsonDocument::fromJson(QByteArray::fromStdString(answer.body)).object()["error"].toObject();
}

void compareError(const RawAnswer &answer, int status)
{
    QCOMPARE(answer.status, status);
    QVERIFY(answer.complete);
    QCOMPARE(answer.field("content-type"), std::string("application/json"));
    const QJsonObject error = errorOf(answer);
    QCOMPARE(error.keys(), QStringList({"code", "message", "param", "type"}));
    QVERIFY(!error["message"].toString().isEmpty());
    QVERIFY(answer.field("x-request-id").starts_with("req_"));
}

} // namespace

class TestHttpGate : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_server = std::make_unique<ListenerThread>(testSettings()); }
    void cleanup();

    void answers_data();
    void answers();
    void refusals_data();
    void refusals();
    void oneByteAtATime();
    void pipelinedInOrder();
    void manyLargeAnswersUnread();
    void keptConnectionServesAgain();
    void closesWhenAsked_data();
    void closesWhenAsked();
    void headHasNoBody();
    void continueIsAnswered_data();
    void continueIsAnswered();
    void bodyLimits();
    void bodiesTogether();
    void lyingLengthEndsOneConnection();
    void handlerErrorsBecomeErrorObjects();
    void emptyLinesBeforeARequest();
    void tooMuchSentAhead();
    void tooManyConnections();
    void timeouts();
    void dribblingIsNoProgress();
    void readerThatStopsIsCutOff();
    void halfClosedClientsAreGone();

private:
    RawClient client() const { return RawClient(m_server->port()); }
    std::string request(const std::string &line, const std::string &rest = "\r\n") const
    {
        return line + " HTTP/1.1\r\nHost: " + m_server->host() + "\r\n" + rest;
    }
    void restart(const Limits &limits)
    {
        m_server.reset();
        ListenerSettings settings = testSettings();
        settings.limits = limits;
        m_server = std::make_unique<ListenerThread>(std::move(settings));
    }

    std::unique_ptr<ListenerThread> m_server;
};

void TestHttpGate::cleanup()
{
    QTRY_COMPARE(m_server->figures().connections, 0); // every test's clients have left by now
    QCOMPARE(m_server->figures().bodyBytes, std::size_t{0});
    m_server.reset();
    QCOMPARE(Exchange::liveCount(), 0);
}

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
    RawClient raw = client();
    QVERIFY(raw.send(request(line.toStdString())));
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
    QVERIFY(raw.send(request("GET /plain"))); // the connection lives
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
    bytes.replace("HOST", QByteArray::fromStdString(m_server->host()));
    RawClient raw = client();
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
    RawClient raw = client();
    const std::string bytes =
        request("POST /size",
                "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\nT: u\r\n\r\n") +
        request("POST /size", "Content-Length: 4\r\n\r\nabcd") + request("GET /plain");
    for (const char byte : bytes)
        QVERIFY(raw.send({&byte, 1}));
    QCOMPARE(raw.answer()->body, std::string("13"));
    QCOMPARE(raw.answer()->body, std::string("4"));
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

void TestHttpGate::pipelinedInOrder()
{
    RawClient raw = client();
    std::string bytes;
    for (int i = 0; i < 200; ++i)
        bytes += request("GET /items/" + std::to_string(i));
    QVERIFY(raw.send(bytes));
    for (int i = 0; i < 200; ++i)
        QCOMPARE(raw.answer()->body, "[" + std::to_string(i) + "]");
}

void TestHttpGate::manyLargeAnswersUnread()
{
    // 100 answers of 8 MiB are asked for and none is read: at most one of them may be in memory.
    RawClient raw = client();
    std::string bytes;
    for (int i = 0; i < 100; ++i)
        bytes += request("GET /large");
    QVERIFY(raw.send(bytes));
    QVERIFY(!raw.piece(10'000).empty());
    RawClient other = client();
    QVERIFY(other.send(request("GET /plain")));
    QCOMPARE(other.answer()->body, std::string("plain"));
    QCOMPARE(m_server->figures().connections, 2);
}

void TestHttpGate::keptConnectionServesAgain()
{
    // F072
    RawClient raw = client();
    for (int i = 0; i < 3; ++i) {
        QVERIFY(raw.send(request("POST /size", "Content-Length: 3\r\n\r\nabc")));
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
    head.replace("HOST", QByteArray::fromStdString(m_server->host()));
    RawClient raw = client();
    QVERIFY(raw.send(head.toStdString()));
    const auto answer = raw.answer();
    QCOMPARE(answer->body, std::string("plain"));
    QCOMPARE(answer->field("connection") == "close", closes);
    if (closes)
        QVERIFY(raw.closed());
}

void TestHttpGate::headHasNoBody()
{
    RawClient raw = client();
    QVERIFY(raw.send(request("HEAD /plain") + request("HEAD /nope") + request("GET /plain")));
    const auto answer = raw.answer(true);
    QCOMPARE(answer->status, 200);
    QCOMPARE(answer->field("content-length"), std::string("5"));
    QCOMPARE(raw.answer(true)->status, 404);
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

void TestHttpGate::continueIsAnswered_data()
{
    QTest::addColumn<int>("bytes");
    QTest::addColumn<int>("first");
    QTest::newRow("F070: 2 KB") << 2000 << 100;
    QTest::newRow("F070: 200 KB") << 200'000 << 100;
    QTest::newRow("F070: too large") << 2'000'000 << 413;
}

void TestHttpGate::continueIsAnswered()
{
    QFETCH(int, bytes);
    QFETCH(int, first);
    RawClient raw = client();
    const std::string length = std::to_string(bytes);
    QVERIFY(raw.send(request("POST /size", "Expect: 100-continue\r\nContent-Length: " + length + "\r\n\r\n")));
    QCOMPARE(raw.answer()->status, first);
    if (first != 100)
        return;
    QVERIFY(raw.send(std::string(static_cast<std::size_t>(bytes), 'b')));
    QCOMPARE(raw.answer()->body, length);
}

void TestHttpGate::bodyLimits()
{
    const std::string most(testLimits().bodyBytes, 'b');
    RawClient raw = client();
    QVERIFY(raw.send(request("POST /size", "Content-Length: " + std::to_string(most.size()) + "\r\n\r\n" + most)));
    QCOMPARE(raw.answer()->body, std::to_string(most.size()));
    QVERIFY(raw.send(request("POST /size", "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + most + "\r\n0\r\n\r\n")));
    QCOMPARE(raw.answer()->body, std::to_string(most.size()));
    (void)raw.send(
        request("POST /size", "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + most + "\r\n1\r\nb\r\n0\r\n\r\n"));
    compareError(*raw.answer(), 413);
    QVERIFY(raw.closed());
}

void TestHttpGate::bodiesTogether()
{
    // Three bodies of a megabyte that stay one byte short are all that is held at a time.
    const std::string head = request("POST /size", "Content-Length: 1048576\r\n\r\n");
    const std::string almost(testLimits().bodyBytes - 1, 'b');
    std::vector<RawClient> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(client());
        QVERIFY(clients.back().send(head + almost));
    }
    QTRY_COMPARE(m_server->figures().bodyBytes, 3 * almost.size());
    RawClient fourth = client();
    (void)fourth.send(head + almost);
    compareError(*fourth.answer(), 503);
    for (RawClient &raw : clients) {
        QVERIFY(raw.send("b"));
        QCOMPARE(raw.answer()->body, std::string("1048576"));
    }
}

void TestHttpGate::lyingLengthEndsOneConnection()
{
    // F071: more bytes than announced are another request, here a broken one
    RawClient liar = client();
    RawClient other = client();
    QVERIFY(liar.send(request("POST /size", "Content-Length: 3\r\n\r\nabcdef\r\n\r\n")));
    QCOMPARE(liar.answer()->body, std::string("3"));
    compareError(*liar.answer(), 400);
    QVERIFY(liar.closed());
    QVERIFY(other.send(request("GET /plain")));
    QCOMPARE(other.answer()->status, 200);
}

void TestHttpGate::handlerErrorsBecomeErrorObjects()
{
    // F047
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /error") + request("GET /failure") + request("GET /nothing") +
                     request("GET /injection")));
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
    RawClient raw = client();
    QVERIFY(
        raw.send("\r\n" + request("POST /size", "Content-Length: 1\r\n\r\na") + "\r\n\r\n" + request("GET /plain")));
    QCOMPARE(raw.answer()->body, std::string("1"));
    QCOMPARE(raw.answer()->body, std::string("plain"));
}

void TestHttpGate::tooMuchSentAhead()
{
    Limits limits = testLimits();
    limits.unsentBytes = 1; // one answer under way keeps everything else waiting
    limits.stallTime = 60s;
    restart(limits);
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /large")));
    QVERIFY(!raw.piece(10'000).empty());
    const std::string flood(16U << 10U, 'x');
    for (int i = 0; i < 1000 && m_server->figures().connections > 0; ++i)
        (void)raw.send(flood);
    QTRY_COMPARE(m_server->figures().connections, 0);
}

void TestHttpGate::tooManyConnections()
{
    Limits limits = testLimits();
    limits.connections = 4;
    limits.connectionsRefused = 2;
    restart(limits);
    std::vector<RawClient> clients;
    for (int i = 0; i < 4; ++i) {
        clients.push_back(client());
        QVERIFY(clients.back().send(request("GET /plain")));
        QCOMPARE(clients.back().answer()->status, 200);
    }
    RawClient fifth = client();
    const auto answer = fifth.answer();
    compareError(*answer, 503);
    QCOMPARE(answer->field("retry-after"), std::string("1"));
    clients.clear();
    QTRY_VERIFY(m_server->figures().connections <= 1);
    RawClient again = client();
    QVERIFY(again.send(request("GET /plain")));
    QCOMPARE(again.answer()->status, 200);
}

void TestHttpGate::timeouts()
{
    Limits limits = testLimits();
    limits.headTime = 100ms;
    limits.bodyTime = 100ms;
    limits.idleTime = 100ms;
    limits.lingerTime = 100ms;
    restart(limits);
    RawClient idle = client();
    RawClient halfHead = client();
    RawClient halfBody = client();
    QVERIFY(halfHead.send("GET /plain HT"));
    QVERIFY(halfBody.send(request("POST /size", "Content-Length: 5\r\n\r\nab")));
    compareError(*halfHead.answer(), 408);
    compareError(*halfBody.answer(), 408);
    QVERIFY(idle.closed());
    QTRY_COMPARE(m_server->figures().connections, 0); // although two clients have not closed
}

void TestHttpGate::dribblingIsNoProgress()
{
    // The time for a head runs from its first byte, however many follow.
    Limits limits = testLimits();
    limits.headTime = 200ms;
    restart(limits);
    RawClient raw = client();
    std::string seen;
    for (int sent = 0; sent < 2000 && seen.empty(); ++sent) {
        (void)raw.send(sent == 0 ? "GET /plain HTTP/1.1\r\nX: " : "x");
        seen = raw.piece(10);
    }
    QVERIFY(seen.starts_with("HTTP/1.1 408 "));
}

void TestHttpGate::readerThatStopsIsCutOff()
{
    Limits limits = testLimits();
    limits.stallTime = 200ms;
    restart(limits);
    RawClient raw = client();
    QVERIFY(raw.send(request("GET /large")));
    QVERIFY(!raw.piece(10'000).empty());
    QTRY_COMPARE(m_server->figures().connections, 0);
}

void TestHttpGate::halfClosedClientsAreGone()
{
    // Qt takes the end of the input for the end of the connection: what counts is that nothing stays behind.
    std::vector<RawClient> clients;
    for (const std::string &bytes : {std::string(), std::string("GET /pl"), request("GET /plain"),
                                     request("GET /large"), request("POST /size", "Content-Length: 5\r\n\r\nab")}) {
        clients.push_back(client());
        QVERIFY(clients.back().send(bytes));
        clients.back().finishSending();
    }
    QTRY_COMPARE(m_server->figures().connections, 0);
    for (RawClient &raw : clients)
        QVERIFY(raw.closed());
}

QTEST_GUILESS_MAIN(TestHttpGate)
#include "tst_http_gate.moc"
