// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/answer_head.h"
#include "app/server/http/chunk_decoder.h"
#include "app/server/http/head_parser.h"
#include "app/server/http/upgrade.h"

#include <QTest>
#include <random>

using namespace palimpsest::http;

// The heads that are refused on the wire stand in tst_http_gate; here is what is pure.

class TestHttpParsers : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void targets_data();
    void targets();
    void headsAreUnderstood();
    void heads_data();
    void heads();
    void scannerIgnoresHowBytesAreSplit();
    void chunks_data();
    void chunks();
    void chunksMutated();
    void upgrades_data();
    void upgrades();
    void upgradeTextHidesKeys();
    void answerHeads();
    void dates();
    void errorBodies();
};

void TestHttpParsers::targets_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("encoded"); // empty: refused
    QTest::addColumn<QByteArray>("path");
    QTest::newRow("root") << QByteArray("/") << QByteArray("/") << QByteArray("/");
    QTest::newRow("unreserved codes are undone") << QByteArray("/%61%2D") << QByteArray("/a-") << QByteArray("/a-");
    QTest::newRow("others are made") << QByteArray("/a:b@") << QByteArray("/a%3Ab%40") << QByteArray("/a:b@");
    QTest::newRow("one spelling") << QByteArray("/%e6%bc%a2") << QByteArray("/%E6%BC%A2")
                                  << QByteArray("/\xe6\xbc\xa2");
    QTest::newRow("encoded slash stays") << QByteArray("/a%2fb") << QByteArray("/a%2Fb") << QByteArray("/a/b");
    QTest::newRow("twice encoded") << QByteArray("/%2541") << QByteArray("/%2541") << QByteArray("/%41");
    QTest::newRow("raw UTF-8") << QByteArray("/\xc3\xa9") << QByteArray("/%C3%A9") << QByteArray("/\xc3\xa9");
    QTest::newRow("query is apart") << QByteArray("/a?b=%zz") << QByteArray() << QByteArray();
    QTest::newRow("question marks") << QByteArray("/a?b?c") << QByteArray("/a") << QByteArray("/a");
    QTest::newRow("three dots") << QByteArray("/...") << QByteArray("/...") << QByteArray("/...");
    for (const char *bad :
         {"",     "a",    "*",    "//",    "//a", "http://a/", "/#",      "/a#b",      "/%",   "/%4", "/%4g", "/%00",
          "/%0A", "/%7f", "/%ff", "/\xff", "/..", "/.",        "/a/../b", "/%2e%2e/b", "/a/.", "/?%", "/?%ff"})
        QTest::newRow(qPrintable(QStringLiteral("refused: ") + QString::fromLatin1(bad)))
            << QByteArray(bad) << QByteArray() << QByteArray();
}

void TestHttpParsers::targets()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, encoded);
    QFETCH(QByteArray, path);
    const auto target = parseTarget(text.toStdString());
    QCOMPARE(target.has_value(), !encoded.isEmpty());
    if (!target)
        return;
    QCOMPARE(QByteArray::fromStdString(target->encodedPath), encoded);
    QCOMPARE(QByteArray::fromStdString(target->path), path);
    QCOMPARE(parseTarget(target->encodedPath)->encodedPath, target->encodedPath);
}

void TestHttpParsers::headsAreUnderstood()
{
    const auto parsed = parseHead("POST /a%20b?x=1&y=%26+z&empty=&=v&flag HTTP/1.1\r\nhOsT: h:1\r\nX-One:\t a b \t\r\n"
                                  "Content-Length: 0012\r\nConnection: foo , UPGRADE\r\nUpgrade: h2c, WebSocket\r\n"
                                  "Expect: 100-Continue\r\n\r\n");
    QVERIFY(std::holds_alternative<RequestHead>(parsed));
    const auto &head = std::get<RequestHead>(parsed);
    QCOMPARE(head.method, std::string("POST"));
    QCOMPARE(head.target.path, std::string("/a b"));
    const decltype(head.target.query) query{{"x", "1"}, {"y", "& z"}, {"empty", ""}, {"", "v"}, {"flag", ""}};
    QVERIFY(head.target.query == query);
    QCOMPARE(head.host, std::string("h:1"));
    QCOMPARE(*head.field("x-ONE"), std::string("a b"));
    QCOMPARE(*head.contentLength, std::uint64_t{12});
    QVERIFY(head.keepAlive && head.webSocketUpgrade && head.expectsContinue && !head.chunked);
}

void TestHttpParsers::heads_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("status"); // 0: accepted
    QTest::newRow("least") << QByteArray("GET / HTTP/1.1\r\nHost: a\r\n\r\n") << 0;
    QTest::newRow("empty Host") << QByteArray("GET / HTTP/1.1\r\nHost:\r\n\r\n") << 0; // the policy refuses it
    QTest::newRow("1.0 with coding") << QByteArray("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") << 400;
    QTest::newRow("1.0 with expectation") << QByteArray("POST / HTTP/1.0\r\nExpect: x\r\n\r\n") << 0;
    QTest::newRow("empty") << QByteArray() << 400;
    QTest::newRow("only the end") << QByteArray("\r\n") << 400;
    QTest::newRow("cut") << QByteArray("GET / HTTP/1.1\r\nHost: a\r\n") << 400;
    QTest::newRow("more behind") << QByteArray("GET / HTTP/1.1\r\nHost: a\r\n\r\nx") << 400;
    QTest::newRow("two blanks") << QByteArray("GET  / HTTP/1.1\r\nHost: a\r\n\r\n") << 400;
    QTest::newRow("tab") << QByteArray("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n") << 400;
    QTest::newRow("blank in target") << QByteArray("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n") << 400;
    QTest::newRow("lower case version") << QByteArray("GET / http/1.1\r\nHost: a\r\n\r\n") << 400;
    QTest::newRow("1.2") << QByteArray("GET / HTTP/1.2\r\nHost: a\r\n\r\n") << 505;
    QTest::newRow("1.10") << QByteArray("GET / HTTP/1.10\r\nHost: a\r\n\r\n") << 400;
    QTest::newRow("field without colon") << QByteArray("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n") << 400;
    QTest::newRow("field without name") << QByteArray("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n") << 400;
    QTest::newRow("obs-text") << QByteArray("GET / HTTP/1.1\r\nHost: a\r\nX: \xe9\r\n\r\n") << 0;
    QTest::newRow("length 0x5") << QByteArray("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\n") << 400;
    QTest::newRow("empty length") << QByteArray("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n") << 400;
    QTest::newRow("chunked twice") << QByteArray(
                                          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n")
                                   << 501;
}

void TestHttpParsers::heads()
{
    QFETCH(QByteArray, text);
    QFETCH(int, status);
    const auto parsed = parseHead(text.toStdString());
    const auto *fault = std::get_if<HeadFault>(&parsed);
    QCOMPARE(fault != nullptr ? fault->status : 0, status);
}

void TestHttpParsers::scannerIgnoresHowBytesAreSplit()
{
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: \ty\r\n\r\n";
    for (std::size_t cut = 0; cut < head.size(); ++cut) {
        HeadScanner scanner;
        QVERIFY(scanner.scan(head.substr(0, cut)) == HeadScanner::State::More);
        QVERIFY(scanner.scan(head + "rest") == HeadScanner::State::Complete);
        QCOMPARE(scanner.headBytes(), head.size());
    }
    for (const char *bad : {"\n", "a\n", "a\rb", "a\r\r\n", "a\v\r\n", "a\x7f"}) {
        HeadScanner scanner;
        QVERIFY(scanner.scan(bad) == HeadScanner::State::Malformed);
    }
}

void TestHttpParsers::chunks_data()
{
    using State = ChunkDecoder::State;
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("state");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<int>("left"); // bytes of `text` that are not part of the body
    const auto row = [](const char *name, const QByteArray &text, State state, const QByteArray &body = {},
                        int left = 0) {
        QTest::newRow(name) << text << static_cast<int>(state) << body << left;
    };
    row("empty body", "0\r\n\r\n", State::Done);
    row("two chunks", "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\nGET /", State::Done, "abcd", 5);
    row("upper and lower case", "A\r\n0123456789\r\n0a\r\n0123456789\r\n0000\r\n\r\n", State::Done,
        "01234567890123456789");
    row("extension", "1;a=\"b\"\r\nx\r\n0;c\r\n\r\n", State::Done, "x");
    row("trailer", "0\r\nA: b\r\nC: d\r\n\r\n", State::Done);
    row("not yet", "3\r\nab", State::More, "ab");
    row("largest", "14\r\n0123456789abcdefghij\r\n0\r\n\r\n", State::Done, "0123456789abcdefghij");
    row("too large", "15\r\n", State::TooLarge);
    row("too large together", "14\r\n0123456789abcdefghij\r\n1\r\n", State::TooLarge, "0123456789abcdefghij");
    row("nine digits", "000000001\r\n", State::Malformed);
    row("no size", "\r\n", State::Malformed);
    row("0x1", "0x1\r\nA\r\n", State::Malformed);
    row("sign", "+1\r\nA\r\n", State::Malformed);
    row("blank before the size", " 1\r\nA\r\n", State::Malformed);
    row("blank behind the size", "1 \r\nA\r\n", State::Malformed);
    row("LF alone", "1\nA\n", State::Malformed);
    row("no CRLF behind the data", "1\r\nAB\r\n", State::Malformed, "A");
    row("CR alone in an extension", "1;a\rb\r\n", State::Malformed);
    row("control character in the trailer", QByteArray("0\r\nA: \0b\r\n\r\n", 12), State::Malformed);
    row("endless extension", "1;" + QByteArray(10'000, 'x'), State::Malformed);
    row("endless trailer", "0\r\n" + QByteArray("A: b\r\n").repeated(3000), State::Malformed);
}

void TestHttpParsers::chunks()
{
    QFETCH(QByteArray, text);
    QFETCH(int, state);
    QFETCH(QByteArray, body);
    QFETCH(int, left);
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, static_cast<std::size_t>(text.size())}) {
        ChunkDecoder decoder(20);
        const std::string bytes = text.toStdString();
        std::string out;
        std::size_t consumed = 0;
        ChunkDecoder::State last = ChunkDecoder::State::More;
        while (last == ChunkDecoder::State::More && consumed < bytes.size()) {
            const auto progress = decoder.feed(std::string_view(bytes).substr(consumed, step), out);
            consumed += progress.consumed;
            last = progress.state;
        }
        QCOMPARE(static_cast<int>(last), state);
        QCOMPARE(QByteArray::fromStdString(out), body);
        if (last == ChunkDecoder::State::Done)
            QCOMPARE(static_cast<int>(bytes.size() - consumed), left);
    }
}

void TestHttpParsers::chunksMutated()
{
    std::mt19937 random(3); // NOLINT: the same bodies each time
    const std::string alphabet = "0123456789abcdefx;= \r\n\r\n\t";
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = "5;q=1\r\nhello\r\na\r\n0123456789\r\n0\r\nT: u\r\n\r\n";
        for (auto edits = 1 + random() % 3; edits > 0; --edits)
            bytes[random() % bytes.size()] = alphabet[random() % alphabet.size()];
        ChunkDecoder whole(1000);
        std::string expected;
        const auto progress = whole.feed(bytes, expected);
        ChunkDecoder split(1000);
        std::string out;
        ChunkDecoder::State last = ChunkDecoder::State::More;
        std::size_t consumed = 0;
        while (last == ChunkDecoder::State::More && consumed < bytes.size()) {
            last = split.feed(std::string_view(bytes).substr(consumed, 1), out).state;
            ++consumed;
        }
        QVERIFY(last == progress.state);
        QCOMPARE(consumed, progress.consumed);
        QCOMPARE(out, expected);
    }
}

void TestHttpParsers::upgrades_data()
{
    QTest::addColumn<QByteArray>("head");
    QTest::addColumn<bool>("good");
    const QByteArray key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const QByteArray rest = " /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    QTest::newRow("good") << "GET" + rest + key + "Sec-WebSocket-Version: 13\r\n\r\n" << true;
    QTest::newRow("no version") << "GET" + rest + key + "\r\n" << false;
    QTest::newRow("old version") << "GET" + rest + key + "Sec-WebSocket-Version: 8\r\n\r\n" << false;
    QTest::newRow("no key") << "GET" + rest + "Sec-WebSocket-Version: 13\r\n\r\n" << false;
    QTest::newRow("short key") << "GET" + rest + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n\r\n" << false;
    QTest::newRow("POST") << "POST" + rest + key + "Sec-WebSocket-Version: 13\r\n\r\n" << false;
}

void TestHttpParsers::upgrades()
{
    QFETCH(QByteArray, head);
    QFETCH(bool, good);
    const auto parsed = std::get<RequestHead>(parseHead(head.toStdString()));
    QVERIFY(parsed.webSocketUpgrade);
    QCOMPARE(!upgradeFault(parsed).has_value(), good);
}

void TestHttpParsers::upgradeTextHidesKeys()
{
    const auto head = std::get<RequestHead>(parseHead(
        "GET /ws?key=secret HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\nX-Api-Key: secret\r\n"
        "Sec-WebSocket-Protocol: palimpsest.v1 , palimpsest.key.c2VjcmV0\r\nCookie: secret\r\nX-Other: 1\r\n\r\n"));
    QCOMPARE(upgradeText(head), std::string("GET /ws HTTP/1.1\r\nHost: a\r\n"
                                            "Sec-WebSocket-Protocol: palimpsest.v1\r\nX-Other: 1\r\n\r\n"));
}

void TestHttpParsers::answerHeads()
{
    const Response response{.status = 404, .type = "text/plain", .fields = {{"A", "b"}}};
    QCOMPARE(answerHeadText({.response = response,
                             .framing = Framing::Length,
                             .bodyBytes = 7,
                             .keepAlive = false,
                             .fields = {{"C", "d"}},
                             .now = 784111777}),
             std::string("HTTP/1.1 404 Not Found\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\n"
                         "Content-Length: 7\r\nA: b\r\nC: d\r\nConnection: close\r\n\r\n"));
    const Response empty{.status = 204, .type = {}};
    QCOMPARE(answerHeadText({.response = empty, .framing = Framing::Length, .sayKeepAlive = true, .fields = {}}),
             std::string(
                 "HTTP/1.1 204 No Content\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: keep-alive\r\n\r\n"));
    QCOMPARE(chunkText("0123456789abcdef"), std::string("10\r\n0123456789abcdef\r\n"));
    QCOMPARE(chunkText(""), std::string());
    QVERIFY(!isSound({.fields = {{"A", "b\r\nC: d"}}}));
    QVERIFY(!isSound({.fields = {{"A b", "c"}}}));
    QVERIFY(!isSound({.type = "a\nb"}));
    QVERIFY(!isSound({.status = 42}));
}

void TestHttpParsers::dates()
{
    QCOMPARE(httpDate(784111777), std::string("Sun, 06 Nov 1994 08:49:37 GMT"));
    QCOMPARE(httpDate(1709208000), std::string("Thu, 29 Feb 2024 12:00:00 GMT"));
}

void TestHttpParsers::errorBodies()
{
    QCOMPARE(errorBody({.message = "a \"b\""}),
             std::string(R"({"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":null}})"));
    QCOMPARE(errorBody({.message = "\xff", .type = "api_error", .param = "p", .code = "c"}),
             std::string(
                 "{\"error\":{\"message\":\"\xef\xbf\xbd\",\"type\":\"api_error\",\"param\":\"p\",\"code\":\"c\"}}"));
}

QTEST_GUILESS_MAIN(TestHttpParsers)
#include "tst_http_parsers.moc"
