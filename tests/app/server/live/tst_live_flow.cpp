// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"

#include "app/server/live/window.h"

#include <QElapsedTimer>
#include <QTcpSocket>
#include <QTest>

// What windows get that do not keep up, and what that costs the others.

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

/// A client that shakes hands and then reads nothing until it is told to.
class DeafClient
{
public:
    explicit DeafClient(const QUrl &url)
    {
        m_socket.setReadBufferSize(4096); // the rest stays in the system, and then with the server
        m_socket.setSocketOption(QAbstractSocket::ReceiveBufferSizeSocketOption, 4096);
        m_socket.connectToHost(url.host(), static_cast<quint16>(url.port()));
        m_socket.write("GET / HTTP/1.1\r\nHost: " + url.authority().toUtf8() +
                       "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    }

    void send(const QByteArray &text) // with a mask of zeros; up to 64 KiB
    {
        QByteArray frame("\x81", 1);
        if (text.size() < 126)
            frame += static_cast<char>(0x80 | text.size());
        else
            frame += static_cast<char>(0x80 | 126), frame += static_cast<char>(text.size() >> 8),
                frame += static_cast<char>(text.size() & 0xFF);
        m_socket.write(frame + QByteArray(4, '\0') + text);
    }

    /// From now on: reads all that comes; the messages that were there.
    QByteArray readOn()
    {
        m_socket.setReadBufferSize(0);
        m_heard += m_socket.readAll();
        return m_heard;
    }

    [[nodiscard]] QTcpSocket &socket() noexcept { return m_socket; }

private:
    QTcpSocket m_socket;
    QByteArray m_heard;
};

QJsonObject renoise(const QString &document)
{
    return {{"document", document}, {"version", 0}, {"action", "renoise"}, {"start", 0}, {"end", 9},
            {"amount", "medium"},   {"seed", 3}};
}

} // namespace

class TestLiveFlow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void unconfirmedFramesStopTheNext();
    void nothingButFramesIsSkipped();
    void framesAreNoMoreThanADisplayShows();
    void framesAreMadeOnceForAllWindows();
    void statusIsToldFourTimesASecond();
    void whoDoesNotReadIsCutOff();
    void theWindowsThatReadDoNotNotice();
};

void TestLiveFlow::unconfirmedFramesStopTheNext()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 200, .stepMs = 1});
    LiveClient client(fixture.url(), LiveClient::Frames::Leave);
    const QString document = client.openNew(QStringLiteral("some text to be changed"));
    const QString run = client.demand("run.start", renoise(document)).value(u"run").toString();
    client.waitForEnd(run);
    const std::vector<QJsonObject> frames = client.heard("frame");
    QCOMPARE(frames.size(), std::size_t{2});
    QCOMPARE(client.heard("settled").size(), std::size_t{1});
    QVERIFY(!client.heard("proposal").empty());
}

void TestLiveFlow::nothingButFramesIsSkipped() // F029
{
    // Two windows, one of which confirms nothing: it hears the same, frames excepted.
    LiveFixture fixture({.model = LiveSettings::Model::Settling, .canvasLength = 16});
    LiveClient quick(fixture.url());
    LiveClient slow(fixture.url(), LiveClient::Frames::Leave);
    const QString document = quick.openNew(QStringLiteral("A beginning."));
    slow.reopen(document);
    const std::size_t fromQuick = quick.mark();
    const std::size_t fromSlow = slow.mark();
    const QString run = quick
                            .demand("run.start", {{"document", document},
                                                  {"version", 0},
                                                  {"action", "continue"},
                                                  {"start", 12},
                                                  {"end", 12},
                                                  {"seed", 3}})
                            .value(u"run")
                            .toString();
    quick.waitForEnd(run);
    slow.waitForEnd(run);
    const auto told = [](const LiveClient &client, std::size_t from) {
        QStringList texts;
        for (std::size_t i = from; i < client.log().size(); ++i) {
            const QString type = client.log()[i].value(u"type").toString();
            if (type == u"settled" || type == u"run" || type == u"proposal")
                texts += type + QLatin1Char(' ') + client.log()[i].value(u"text").toString();
        }
        return texts;
    };
    QVERIFY(!slow.heard("settled").empty());
    QCOMPARE(told(slow, fromSlow), told(quick, fromQuick));
    QVERIFY(slow.heard("frame").size() <= 2);
    // And no frame of a canvas comes behind its settled text.
    for (const LiveClient *client : {&quick, &slow}) {
        int settledCanvas = -1;
        for (const QJsonObject &message : client->log()) {
            if (message.value(u"type").toString() == u"settled")
                settledCanvas = message.value(u"canvas").toInt();
            if (message.value(u"type").toString() == u"frame")
                QVERIFY(message.value(u"canvas").toInt() > settledCanvas);
        }
    }
}

void TestLiveFlow::framesAreNoMoreThanADisplayShows()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 600, .stepMs = 1});
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("some text to be changed"));
    const QString run = client.demand("run.start", renoise(document)).value(u"run").toString();
    client.waitFor("frame");
    QElapsedTimer clock;
    clock.start();
    const std::size_t before = client.heard("frame").size();
    client.waitForEnd(run);
    const auto frames = static_cast<double>(client.heard("frame").size() - before);
    QVERIFY2(frames <= 1.0 + static_cast<double>(clock.elapsed()) / 16.0 + 1.0, qPrintable(QString::number(frames)));
    QVERIFY(frames > 4.0);
    QVERIFY(client.heard("frame").size() < 500); // the fake is quicker than that: some were skipped
}

void TestLiveFlow::framesAreMadeOnceForAllWindows()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless});
    std::vector<std::unique_ptr<LiveClient>> clients;
    clients.reserve(8);
    for (int i = 0; i < 8; ++i)
        clients.push_back(std::make_unique<LiveClient>(fixture.url()));
    LiveClient &first = *clients.front();
    const QString document = first.openNew(QStringLiteral("some text to be changed"));
    for (const auto &client : clients)
        client->reopen(document);
    QJsonObject wish = renoise(document);
    wish.insert(QStringLiteral("paused"), true);
    const QString run = first.demand("run.start", wish).value(u"run").toString();
    for (int step = 1; step <= 4; ++step) {
        first.demand("run.step", {{"run", run}});
        for (const auto &client : clients)
            client->waitFor("frame", [&](const QJsonObject &frame) { return frame.value(u"step").toInt() == step; });
    }
    QCOMPARE(fixture.hub().counters().framesMade.load(), 4);
    QCOMPARE(fixture.hub().counters().framesOut.load(), 4 * 8);
}

void TestLiveFlow::statusIsToldFourTimesASecond()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 250, .stepMs = 4});
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("some text to be changed"));
    QElapsedTimer clock;
    clock.start();
    const std::size_t before = client.heard("status").size();
    const QString run = client.demand("run.start", renoise(document)).value(u"run").toString();
    client.waitFor("status", [](const QJsonObject &status) { return status.value(u"state").toString() == u"busy"; });
    client.waitForEnd(run);
    client.waitFor("status", [](const QJsonObject &status) { return status.value(u"stepMs").toDouble() > 0.0; });
    const auto told = static_cast<double>(client.heard("status").size() - before);
    QVERIFY2(told <= 1.0 + static_cast<double>(clock.elapsed()) / 250.0, qPrintable(QString::number(told)));
}

void TestLiveFlow::whoDoesNotReadIsCutOff()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("x"));
    for (int i = 0; i < 10; ++i) // two megabytes in all
        client.demand(
            "edit",
            {{"document", document}, {"version", i}, {"start", 0}, {"end", 0}, {"text", QString(200 * 1024, u'y')}});
    DeafClient deaf(fixture.url());
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 2);
    const QByteArray open = R"({"type":"open","document":")" + document.toUtf8() + "\"}";
    for (int i = 0; i < 40 && fixture.hub().counters().windowsCutOff.load() == 0; ++i) {
        deaf.send(open);
        client.demand("undo", {{"document", document}}); // still served at once
        client.demand("redo", {{"document", document}});
    }
    QTRY_COMPARE(fixture.hub().counters().windowsCutOff.load(), 1);
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 1);
}

void TestLiveFlow::theWindowsThatReadDoNotNotice()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 100, .stepMs = 5});
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("some text to be changed"));
    DeafClient deaf(fixture.url());
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 2);
    deaf.send(R"({"type":"open","document":")" + document.toUtf8() + "\"}");
    QTRY_COMPARE(fixture.hub().counters().messagesIn.load(), 3); // create, open, open
    const QString run = client.demand("run.start", renoise(document)).value(u"run").toString();
    client.waitForEnd(run);
    QVERIFY(client.heard("frame").size() > 4);
    // When the deaf one reads at last, all is there but frames.
    QTRY_VERIFY(deaf.readOn().contains("\"proposal\""));
    QVERIFY(deaf.readOn().contains("\"settled\""));
    QVERIFY(deaf.readOn().count("\"type\":\"frame\"") <= 2);
}

QTEST_GUILESS_MAIN(TestLiveFlow)
#include "tst_live_flow.moc"
