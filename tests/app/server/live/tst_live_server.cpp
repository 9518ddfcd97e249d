// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/program_runner.h"
#include "tests/app/server/http/raw_client.h"
#include "tests/app/server/live/live_client.h"

#include "app/documents/document_worker.h"
#include "app/engine_host.h"
#include "app/server/service.h"

#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <memory>

// The live channel as it is served: behind the gate, on the server's thread, with the demo model; and by the program.

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

constexpr int kPatienceMs = 120'000; // for sanitizers on a busy machine

const QString kLetter =
    QStringLiteral("Dear Anna,\n\nthank you for you're letter. I has read it twice, and I "
                   "definately want to come in the summer. The trian leaves at nine.\n\nYours, Tom\n");

/// All of `palimpsest serve` but the program.
class DemoServer
{
public:
    DemoServer()
    {
        m_service = std::make_unique<server::Service>(server::ServiceParts{m_engine, m_store, m_metrics},
                                                      server::ServiceSettings{.server = {.port = 0}});
        if (!QTest::qWaitFor([this] { return m_engine.model() != nullptr; }, kPatienceMs))
            throw std::runtime_error("the demo model did not load");
    }
    [[nodiscard]] std::uint16_t port() const { return m_service->server().port(); }
    [[nodiscard]] QUrl url() const { return QStringLiteral("ws://127.0.0.1:%1/ws").arg(port()); }
    [[nodiscard]] http::GateFigures figures() { return m_service->server().figures(); }

private:
    QTemporaryDir m_folder;
    server::Metrics m_metrics;
    EngineHost m_engine{
        engineLoader({.model = {.model = PALIMPSEST_SOURCE_DIR "/resources/demo_model", .threads = 2, .device = "cpu"},
                      .id = std::nullopt})};
    documents::DocumentWorker m_store{{.file = m_folder.filePath("documents.sqlite").toStdString()}};
    std::unique_ptr<server::Service> m_service;
};

std::string handshake(std::uint16_t port, const std::string &more = {})
{
    return "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
           "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
           more + "\r\n";
}

/// `palimpsest serve` on a free port.
class Program
{
public:
    explicit Program(const QString &dataFolder)
    {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.remove("PALIMPSEST_MODEL");
        variables.insert("XDG_CONFIG_HOME", "/nonexistent");
        m_process.setProcessEnvironment(variables);
        m_process.start(programPath(), {"serve", "--port", "0", "--data-dir", dataFolder});
        QString output;
        while (!output.contains("Ctrl-C") && m_process.waitForReadyRead(kPatienceMs))
            output += m_process.readAllStandardOutput();
        m_port = QRegularExpression("http://127\\.0\\.0\\.1:(\\d+)/v1").match(output).captured(1);
    }
    ~Program() { kill(); }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    [[nodiscard]] QUrl url() const { return QStringLiteral("ws://127.0.0.1:%1/ws").arg(m_port); }
    void kill()
    {
        m_process.kill(); // SIGKILL
        m_process.waitForFinished(kPatienceMs);
    }

private:
    QProcess m_process;
    QString m_port;
};

} // namespace

class TestLiveServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void foreignPagesAreRefusedF074_data();
    void foreignPagesAreRefusedF074();
    void theSubprotocolIsAnswered_data();
    void theSubprotocolIsAnswered();
    void brokenFramesEndOneConnection_data();
    void brokenFramesEndOneConnection();
    void theDemoModelProofreadsForTwoWindows();
    void importedFilesComeIntoTheLibrary();
    void windowsThatVanishLeaveNothingBehind();
    void aKilledServerHasLostNothingF102();
};

void TestLiveServer::foreignPagesAreRefusedF074_data()
{
    QTest::addColumn<std::string>("fields");
    QTest::addColumn<int>("status");
    QTest::newRow("no origin: no browser") << std::string() << 101;
    QTest::newRow("its own") << std::string("own") << 101;
    QTest::newRow("foreign") << std::string("Origin: http://evil.test\r\n") << 403;
    QTest::newRow("another port") << std::string("Origin: http://127.0.0.1:1\r\n") << 403;
    QTest::newRow("null, as of a file") << std::string("Origin: null\r\n") << 403;
}

void TestLiveServer::foreignPagesAreRefusedF074()
{
    QFETCH(const std::string, fields);
    DemoServer server;
    const std::string own = "Origin: http://127.0.0.1:" + std::to_string(server.port()) + "\r\n";
    RawClient client(server.port());
    QVERIFY(client.send(handshake(server.port(), fields == "own" ? own : fields)));
    const std::string answer = client.piece(kPatienceMs);
    QFETCH(const int, status);
    QVERIFY2(answer.starts_with("HTTP/1.1 " + std::to_string(status)), answer.c_str());
}

void TestLiveServer::theSubprotocolIsAnswered_data()
{
    QTest::addColumn<std::string>("offered");
    QTest::addColumn<bool>("taken");
    QTest::newRow("this version") << std::string("palimpsest.v1") << true;
    QTest::newRow("among others") << std::string("palimpsest.v2, palimpsest.v1") << true;
    QTest::newRow("beside a key, which is not said back")
        << std::string("palimpsest.v1, palimpsest.key.c2VjcmV0") << true;
    QTest::newRow("another version alone") << std::string("palimpsest.v2") << false;
}

void TestLiveServer::theSubprotocolIsAnswered()
{
    QFETCH(const std::string, offered);
    DemoServer server;
    RawClient client(server.port());
    QVERIFY(client.send(handshake(server.port(), "Sec-WebSocket-Protocol: " + offered + "\r\n")));
    const std::string answer = client.piece(kPatienceMs);
    QVERIFY2(answer.starts_with("HTTP/1.1 101"), answer.c_str());
    QFETCH(const bool, taken);
    QCOMPARE(answer.find("Sec-WebSocket-Protocol: palimpsest.v1\r\n") != std::string::npos, taken);
    QVERIFY2(answer.find("palimpsest.key") == std::string::npos, answer.c_str());
}

void TestLiveServer::brokenFramesEndOneConnection_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const QByteArray mask(4, '\0');
    QTest::newRow("without a mask") << QByteArray("\x81\x02{}", 4);
    QTest::newRow("a reserved bit") << QByteArray("\xF1\x82", 2) + mask + "{}";
    QTest::newRow("an opcode that is none") << QByteArray("\x83\x82", 2) + mask + "{}";
    QTest::newRow("a continuation of nothing") << QByteArray("\x80\x82", 2) + mask + "{}";
    QTest::newRow("a long ping") << QByteArray("\x89\xFE\x01\x00", 4) + mask + QByteArray(256, 'x');
    QTest::newRow("not UTF-8") << QByteArray("\x81\x82", 2) + mask + "\xC3\x28";
    QTest::newRow("a length beyond all") << QByteArray("\x81\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 10) + mask;
    QTest::newRow("HTTP again") << QByteArray("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
}

void TestLiveServer::brokenFramesEndOneConnection()
{
    QFETCH(const QByteArray, bytes);
    DemoServer server;
    LiveClient other(server.url());
    RawClient client(server.port());
    QVERIFY(client.send(handshake(server.port())));
    std::string heard;
    while (heard.find("\"hello\"") == std::string::npos) {
        const std::string piece = client.piece(kPatienceMs);
        QVERIFY(!piece.empty());
        heard += piece;
    }
    client.send(bytes.toStdString()); // it may be closed before all is sent
    client.send(QByteArray(64, '\xFF').toStdString());
    static_cast<void>(client.rest());
    QVERIFY(client.closed());
    QTRY_COMPARE_WITH_TIMEOUT(server.figures().webSockets, 1, kPatienceMs);
    other.demand("library.watch");
}

void TestLiveServer::theDemoModelProofreadsForTwoWindows()
{
    DemoServer server;
    LiveClient one(server.url());
    LiveClient two(server.url());
    const QString document = one.openNew(kLetter);
    two.reopen(document);
    const QString run =
        one.demand(
               "run.start",
               {{"document", document}, {"version", 0}, {"action", "proofread"}, {"start", 0}, {"end", 0}, {"seed", 1}})
            .value(u"run")
            .toString();
    two.waitFor("frame");
    two.demand("edit", {{"document", document}, {"version", 0}, {"start", 0}, {"end", 0}, {"text", "PS first.\n\n"}});
    const QJsonObject ended = one.waitForEnd(run);
    QCOMPARE(ended.value(u"state").toString(), QStringLiteral("done"));
    QVERIFY(ended.value(u"figures").toObject().value(u"firstDraftMs").toDouble() > 0.0);
    const QJsonObject proposal = two.waitFor("proposal");
    QVERIFY(!proposal.value(u"changes").toArray().isEmpty());
    two.demand("proposal.accept", {{"proposal", ended.value(u"proposal")}});
    const QString accepted = one.reopen(document).value(u"text").toString();
    QVERIFY2(accepted.startsWith(QStringLiteral("PS first.\n\nDear Anna,")), qPrintable(accepted));
    QVERIFY2(accepted.contains(QStringLiteral("train")), qPrintable(accepted));
    QCOMPARE(two.reopen(document).value(u"text").toString(), accepted);
    for (const LiveClient *client : {&one, &two}) // F029: what settled is what is proposed
        QVERIFY(!client->heard("settled").empty());
}

void TestLiveServer::importedFilesComeIntoTheLibrary()
{
    DemoServer server;
    LiveClient window(server.url());
    window.demand("library.watch");
    RawClient client(server.port());
    QVERIFY(client.send(
        "POST /api/documents/import?name=notes.md HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
        "\r\nContent-Type: text/markdown\r\nContent-Length: 5\r\n\r\nHello"));
    window.waitFor("library", [](const QJsonObject &list) { return list.value(u"documents").toArray().size() == 1; });
}

void TestLiveServer::windowsThatVanishLeaveNothingBehind()
{
    DemoServer server;
    {
        constexpr int kWindows = 6;
        std::vector<std::unique_ptr<LiveClient>> clients;
        clients.reserve(kWindows);
        for (int i = 0; i < kWindows; ++i)
            clients.push_back(std::make_unique<LiveClient>(server.url()));
        const QString document = clients.front()->openNew(kLetter);
        for (const auto &client : clients)
            client->reopen(document);
        clients.front()->demand(
            "run.start", {{"document", document}, {"version", 0}, {"action", "proofread"}, {"start", 0}, {"end", 0}});
        for (const auto &client : clients) {
            client->waitFor("frame");
            client->socket().abort(); // one after the other, in the middle of the run
        }
    }
    QTRY_COMPARE_WITH_TIMEOUT(server.figures().webSockets, 0, kPatienceMs);
}

void TestLiveServer::aKilledServerHasLostNothingF102()
{
    QTemporaryDir folder;
    QString document;
    {
        Program program(folder.path());
        LiveClient client(program.url());
        client.waitFor("status",
                       [](const QJsonObject &status) { return status.value(u"state").toString() == u"ready"; });
        document = client.openNew(kLetter, QStringLiteral("Letter"));
        client.demand("edit", {{"document", document}, {"version", 0}, {"start", 0}, {"end", 4}, {"text", "Dearest"}});
        client.demand("lock", {{"document", document}, {"version", 1}, {"start", 8}, {"end", 12}, {"locked", true}});
        const std::size_t from = client.mark();
        client.waitFor(
            "saved", [](const QJsonObject &saved) { return saved.value(u"saved").toBool(); }, from);
        client.demand("run.start",
                      {{"document", document}, {"version", 1}, {"action", "proofread"}, {"start", 0}, {"end", 0}});
        client.waitFor("frame");
        program.kill();
        QTRY_VERIFY_WITH_TIMEOUT(client.isClosed(), kPatienceMs);
    }
    Program program(folder.path());
    LiveClient client(program.url());
    const QJsonObject opened = client.reopen(document);
    QCOMPARE(opened.value(u"text").toString(), QStringLiteral("Dearest") + kLetter.mid(4));
    QCOMPARE(opened.value(u"title").toString(), QStringLiteral("Letter"));
    QCOMPARE(opened.value(u"locks").toArray(), (QJsonArray{QJsonObject{{"start", 8}, {"end", 12}}}));
    QVERIFY(opened.value(u"saved").toBool());
    for (const auto &run : opened.value(u"runs").toArray())
        QVERIFY(run.toObject().value(u"state").toString() != u"running");
    QVERIFY(!client.demand("revisions", {{"document", document}}).value(u"revisions").toArray().isEmpty());
    client.demand("edit", {{"document", document},
                           {"version", opened.value(u"version")},
                           {"start", 0},
                           {"end", 0},
                           {"text", "It goes on. "}});
}

QTEST_GUILESS_MAIN(TestLiveServer)
#include "tst_live_server.moc"
