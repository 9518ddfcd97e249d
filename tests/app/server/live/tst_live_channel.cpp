// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"

#include <QTcpSocket>
#include <QTest>

// What PROTOCOL.md says of greeting and status, and of windows that do not keep to it.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveChannel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void greets();
    void statusFollowsTheServer();
    void aLoadingModelIsToldOf();
    void garbageIsAnsweredAndTheConnectionLives_data();
    void garbageIsAnsweredAndTheConnectionLives();
    void largeMessagesCloseTheConnection();
    void tooManyWindowsAreTurnedAway();
    void silentWindowsAreCutOff();
};

void TestLiveChannel::greets()
{
    LiveFixture fixture;
    LiveClient first(fixture.url());
    LiveClient second(fixture.url());
    const QJsonObject hello = first.log().front();
    QCOMPARE(hello.value(u"protocol").toInt(), 1);
    QCOMPARE(hello.value(u"version").toString(), QStringLiteral("0.0-test"));
    QVERIFY(!hello.value(u"client").toString().isEmpty());
    QVERIFY(hello.value(u"client") != second.log().front().value(u"client"));
    const QJsonObject status = hello.value(u"status").toObject();
    QCOMPARE(status.value(u"state").toString(), QStringLiteral("ready"));
    QCOMPARE(status.value(u"progress").toDouble(), 1.0);
    const QJsonObject model = status.value(u"model").toObject();
    QCOMPARE(model.value(u"id").toString(), QStringLiteral("palimpsest-test"));
    QCOMPARE(model.value(u"canvasLength").toInt(), 48);
    QCOMPARE(model.value(u"thinking").toBool(true), false);
    QCOMPARE(model.value(u"defaults").toObject().value(u"maxSteps").toInt(), 12);
    for (const char *name : {"device", "deviceKind", "contextLength", "vocabSize", "weightBytes"})
        QVERIFY2(model.contains(QLatin1String(name)), name);
    QVERIFY(!hello.value(u"presets").toArray().isEmpty());
    QVERIFY(hello.value(u"presets").toArray().first().toObject().contains(u"action"));
}

void TestLiveChannel::statusFollowsTheServer()
{
    LiveFixture fixture;
    LiveClient first(fixture.url());
    {
        LiveClient second(fixture.url());
        first.waitFor("status", [](const QJsonObject &status) { return status.value(u"windows").toInt() == 2; });
    }
    const std::size_t from = first.mark();
    first.waitFor(
        "status", [](const QJsonObject &status) { return status.value(u"windows").toInt() == 1; }, from);
}

void TestLiveChannel::aLoadingModelIsToldOf()
{
    LiveFixture fixture({.model = LiveSettings::Model::Demo});
    LiveClient client(fixture.url());
    client.waitFor("status", [](const QJsonObject &status) {
        return status.value(u"state").toString() == u"ready" && status.value(u"progress").toDouble() == 1.0;
    });
}

void TestLiveChannel::garbageIsAnsweredAndTheConnectionLives_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    QTest::newRow("empty") << QString() << QStringLiteral("invalid_request");
    QTest::newRow("no JSON") << QStringLiteral("hello?") << QStringLiteral("invalid_request");
    QTest::newRow("half a message") << QStringLiteral(R"({"type":"open",)") << QStringLiteral("invalid_request");
    QTest::newRow("deep") << QString(100'000, u'[') << QStringLiteral("invalid_request");
    QTest::newRow("lone surrogate") << QStringLiteral(R"({"type":"\ud800"})") << QStringLiteral("invalid_request");
    QTest::newRow("unknown") << QStringLiteral(R"({"type":"fly"})") << QStringLiteral("unknown_type");
}

void TestLiveChannel::garbageIsAnsweredAndTheConnectionLives()
{
    QFETCH(const QString, text);
    LiveFixture fixture;
    LiveClient client(fixture.url());
    client.sendText(text);
    const QJsonObject error = client.waitFor("error");
    QTEST(error.value(u"code").toString(), "code");
    QVERIFY(!error.contains(u"ref"));
    const std::size_t from = client.mark();
    client.socket().sendBinaryMessage("\x01\x02");
    QCOMPARE(client.waitFor("error", {}, from).value(u"code").toString(), QStringLiteral("invalid_request"));
    client.demand("library.watch");
}

void TestLiveChannel::largeMessagesCloseTheConnection()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    client.demand("document.create", {{"text", QString(200 * 1024, u'x')}}); // in one frame, as some browsers send it
    client.sendText(QString(300 * 1024, u'x'));
    QTRY_VERIFY(client.isClosed());
    QCOMPARE(client.socket().closeCode(), QWebSocketProtocol::CloseCodeTooMuchData);
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 0);
}

void TestLiveChannel::tooManyWindowsAreTurnedAway()
{
    LiveFixture fixture;
    std::vector<std::unique_ptr<LiveClient>> clients;
    for (std::size_t i = 0; i < live::Hub::kMostWindows; ++i)
        clients.push_back(std::make_unique<LiveClient>(fixture.url()));
    QWebSocket late;
    QString heard;
    connect(&late, &QWebSocket::textMessageReceived, this, [&](const QString &text) { heard = text; });
    late.open(fixture.url());
    QTRY_COMPARE(late.closeCode(), QWebSocketProtocol::CloseCodePolicyViolated);
    QVERIFY(heard.contains(QStringLiteral("too_many_windows")));
    clients.pop_back();
    QTRY_COMPARE(fixture.hub().counters().windows.load(), static_cast<std::int64_t>(live::Hub::kMostWindows) - 1);
    const LiveClient next(fixture.url()); // a place is free again
    QVERIFY(!next.isClosed());
}

void TestLiveChannel::silentWindowsAreCutOff()
{
    using namespace std::chrono_literals;
    LiveFixture fixture({.pingEvery = 50ms, .lostAfter = 2s});
    const LiveClient answering(fixture.url()); // as every library for WebSockets answers a ping
    QTcpSocket silent;
    silent.connectToHost(QHostAddress::LocalHost, static_cast<quint16>(fixture.url().port()));
    silent.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 2);
    QTRY_COMPARE_WITH_TIMEOUT(fixture.hub().counters().windows.load(), 1, 30'000);
    QCOMPARE(fixture.hub().counters().windowsCutOff.load(), 1);
    QVERIFY(!answering.isClosed());
    QTRY_COMPARE(silent.state(), QAbstractSocket::UnconnectedState);
}

QTEST_GUILESS_MAIN(TestLiveChannel)
#include "tst_live_channel.moc"
