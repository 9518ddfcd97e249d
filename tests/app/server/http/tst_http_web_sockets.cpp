// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/access_bench.h"
#include "tests/app/server/http/raw_client.h"

#include <QTest>
#include <QWebSocket>

#include <string>
#include <string_view>

using namespace palimpsest;
using namespace palimpsest::http;
using namespace palimpsest::test;

namespace {

constexpr std::string_view kHandshake = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

} // namespace

/// WebSockets at the gate: the same rules, and an end when the server ends.
class TestHttpWebSockets : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void webSocketEchoes();
    void webSocketRefusals_data();
    void webSocketRefusals();
    void webSocketLimits();
    void webSocketsEndWithTheServer();
};

void TestHttpWebSockets::webSocketEchoes()
{
    const auto server = serve(keyed());
    for (const bool byQuery : {true, false}) {
        QWebSocket socket;
        QStringList received;
        connect(&socket, &QWebSocket::textMessageReceived, this, [&](const QString &text) { received.append(text); });
        connect(&socket, &QWebSocket::connected, this, [&] { socket.sendTextMessage("hello"); });
        QNetworkRequest request(
            QUrl(QString("ws://127.0.0.1:%1/ws?q=!%2").arg(server->port()).arg(byQuery ? "&key=first-key" : "")));
        if (!byQuery)
            request.setRawHeader("Authorization", "Bearer first-key");
        socket.open(request);
        QTRY_COMPARE(received, QStringList({"key-1!", "hello"}));
        QCOMPARE(server->figures().webSockets, 1);
        QCOMPARE(server->figures().connections, 0);
        socket.close();
        QTRY_COMPARE(server->figures().webSockets, 0);
    }
}

void TestHttpWebSockets::webSocketRefusals_data()
{
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("fields");
    QTest::addColumn<int>("status");
    const QString handshake = QString::fromUtf8(kHandshake.data(), kHandshake.size());
    const QString key = "Authorization: Bearer first-key\r\n";
    QTest::newRow("good") << "/ws" << handshake + key << 101;
    QTest::newRow("key as a subprotocol")
        << "/ws" << handshake + "Sec-WebSocket-Protocol: palimpsest.v1, palimpsest.key.Zmlyc3Qta2V5\r\n"
        << 101;
    QTest::newRow("wrong key as a subprotocol")
        << "/ws" << handshake + "Sec-WebSocket-Protocol: palimpsest.key.Zmlyc3Q\r\n"
        << 401;
    QTest::newRow("key in the query") << "/ws?key=second-key" << handshake << 101;
    QTest::newRow("no key") << "/ws" << handshake << 401;
    QTest::newRow("wrong key") << "/ws?key=x" << handshake << 401;
    QTest::newRow("F074: foreign Origin") << "/ws" << handshake + key + "Origin: https://evil.test\r\n" << 403;
    QTest::newRow("allowed Origin") << "/ws" << handshake + key + "Origin: https://page.test\r\n" << 101;
    QTest::newRow("other version") << "/ws" << QString(handshake).replace("13", "8") + key << 400;
    QTest::newRow("with a body") << "/ws" << handshake + key + "Content-Length: 3\r\n" << 400;
    QTest::newRow("not an upgrade") << "/ws" << key << 426;
    QTest::newRow("elsewhere") << "/v1/models" << handshake + key << 200;
}

void TestHttpWebSockets::webSocketRefusals()
{
    QFETCH(QString, target);
    QFETCH(QString, fields);
    QFETCH(int, status);
    const auto server = serve(keyed());
    RawClient raw(server->port());
    QVERIFY(raw.send("GET " + target.toStdString() + " HTTP/1.1\r\nHost: " + server->host() + "\r\n" +
                     fields.toStdString() + "\r\n"));
    const auto answer = raw.answer();
    QCOMPARE(answer->status, status);
    if (status != 101)
        return;
    QCOMPARE(answer->field("sec-websocket-accept"), std::string("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    QCOMPARE(answer->field("sec-websocket-protocol"),
             std::string(fields.contains("palimpsest.v1") ? "palimpsest.v1" : ""));
    QTRY_COMPARE(server->figures().webSockets, 1);
    raw.reset();
    QTRY_COMPARE(server->figures().webSockets, 0);
}

void TestHttpWebSockets::webSocketLimits()
{
    const auto server = serve({});
    QWebSocket socket;
    socket.setOutgoingFrameSize(1 << 20);
    QWebSocketProtocol::CloseCode code = QWebSocketProtocol::CloseCodeNormal;
    bool closed = false;
    connect(&socket, &QWebSocket::disconnected, this, [&] {
        closed = true;
        code = socket.closeCode();
    });
    connect(&socket, &QWebSocket::connected, this, [&] { socket.sendTextMessage(QString(100'000, 'x')); });
    socket.open(QUrl(QString("ws://127.0.0.1:%1/ws").arg(server->port())));
    QTRY_VERIFY(closed);
    QCOMPARE(code, QWebSocketProtocol::CloseCodeTooMuchData);
    QTRY_COMPARE(server->figures().webSockets, 0);
}

void TestHttpWebSockets::webSocketsEndWithTheServer()
{
    auto server = serve({});
    QWebSocket socket;
    socket.open(QUrl(QString("ws://127.0.0.1:%1/ws").arg(server->port())));
    QTRY_COMPARE(socket.state(), QAbstractSocket::ConnectedState);
    RawClient raw(server->port());
    QVERIFY(raw.send("GET /ws HTTP/1.1\r\nHost: " + server->host() + "\r\n" + std::string(kHandshake) + "\r\n"));
    QCOMPARE(raw.answer()->status, 101);
    server.reset();
    QTRY_COMPARE(socket.state(), QAbstractSocket::UnconnectedState);
    QVERIFY(raw.closed());
}

QTEST_GUILESS_MAIN(TestHttpWebSockets)
#include "tst_http_web_sockets.moc"
