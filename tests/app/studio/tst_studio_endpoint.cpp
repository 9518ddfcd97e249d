// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/http/raw_client.h"
#include "tests/app/studio/window_driver.h"

#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QSettings>
#include <QTcpServer>
#include <QTest>

#include <spdlog/spdlog.h>

using namespace palimpsest;
using namespace palimpsest::studio;
using palimpsest::test::RawAnswer;
using palimpsest::test::RawClient;
using palimpsest::test::WindowDriver;

namespace {

constexpr int kPatienceMs = 30'000; // for sanitizers on a busy machine

RawAnswer get(int port, const std::string &path, const std::string &fields = {})
{
    RawClient client(static_cast<std::uint16_t>(port));
    (void)client.send("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" + fields +
                      "\r\n");
    return client.answer().value_or(RawAnswer());
}

int portOf(const ServerView &server)
{
    return QUrl(server.address()).port();
}

int freePort()
{
    QTcpServer probe;
    (void)probe.listen(QHostAddress::LocalHost);
    return probe.serverPort();
}

} // namespace

/// The switch that lets programs and browsers in, and what they do to the drafts that a window shows.
class TestStudioEndpoint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void serverAnswersOnLoopbackAndStops();
    void serverKeyIsShownOnceAndAskedFor();
    void serverTakesTheNextPortF075();
    void serverIsOnAgainAtTheNextStart();
    void draftsOfTheBrowserAppear();
    void aDraftThatIsOpenElsewhereIsFollowed();
};

void TestStudioEndpoint::serverAnswersOnLoopbackAndStops()
{
    WindowDriver driver;
    QVERIFY(driver.ready());
    ServerView &server = *driver.studio().server();
    server.setPort(freePort());
    QVERIFY(!server.running());
    driver.key(Qt::Key_M, Qt::ControlModifier);
    QTRY_VERIFY(driver.item(QStringLiteral("Endpoint and browser studio")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Endpoint and browser studio")));
    QTRY_VERIFY_WITH_TIMEOUT(server.running(), kPatienceMs);
    QTRY_VERIFY(driver.shows(server.address()));
    const int port = portOf(server);
    QCOMPARE(get(port, "/health").status, 200); // the window's own model
    QVERIFY(get(port, "/v1/models").body.find("scripted/model") != std::string::npos);
    QVERIFY(driver.click(QStringLiteral("Copy the address: Base URL")));
    QCOMPARE(QGuiApplication::clipboard()->text(), server.address());
    RawClient kept(static_cast<std::uint16_t>(port));
    QTRY_VERIFY_WITH_TIMEOUT(server.clientsText().contains(QStringLiteral("1 other connection")), kPatienceMs);
    driver.picture(QStringLiteral("server-on"));
    driver.key(Qt::Key_S, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE_WITH_TIMEOUT(server.state(), ServerView::State::Off, kPatienceMs);
    QVERIFY(kept.closed());
    QTcpServer free;
    QVERIFY(free.listen(QHostAddress::LocalHost, static_cast<quint16>(port)));
    QCOMPARE(server.chipText(), QStringLiteral("API off"));
}

void TestStudioEndpoint::serverKeyIsShownOnceAndAskedFor()
{
    const auto log = std::make_shared<LogSink>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", log));
    test::WindowSetup setup;
    test::WelcomedSettings kept;
    setup.settings = &kept.settings;
    WindowDriver driver(std::move(setup));
    ServerView &server = *driver.studio().server();
    server.setPort(freePort());
    driver.key(Qt::Key_M, Qt::ControlModifier);
    server.setWanted(true);
    QTRY_VERIFY_WITH_TIMEOUT(server.running(), kPatienceMs);
    QTRY_VERIFY(driver.item(QStringLiteral("Ask for a key")) != nullptr);
    server.makeKey();
    const QString key = server.newKey();
    QVERIFY(key.size() > 30);
    QTRY_VERIFY(driver.shows(key));
    driver.picture(QStringLiteral("server-key"));
    QTRY_VERIFY_WITH_TIMEOUT(server.running(), kPatienceMs);
    const int port = portOf(server);
    QTRY_COMPARE_WITH_TIMEOUT(get(port, "/v1/models").status, 401, kPatienceMs);
    QCOMPARE(get(port, "/v1/models", "Authorization: Bearer " + key.toStdString() + "\r\n").status, 200);
    server.hideKey();
    QTRY_VERIFY(!driver.shows(key));
    kept.settings.sync();
    QFile file(kept.settings.fileName());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray written = file.readAll();
    QVERIFY(written.contains("sha256"));
    QVERIFY(!written.contains(key.toUtf8()));
    for (const LogEntry &entry : log->observe({}))
        QVERIFY(!entry.text.contains(key));
    server.dropKey();
    QTRY_COMPARE_WITH_TIMEOUT(server.running() ? get(portOf(server), "/v1/models").status : 0, 200, kPatienceMs);
}

void TestStudioEndpoint::serverTakesTheNextPortF075()
{
    QTcpServer other;
    QVERIFY(other.listen(QHostAddress::LocalHost));
    WindowDriver driver;
    ServerView &server = *driver.studio().server();
    server.setPort(other.serverPort());
    server.setWanted(true);
    QTRY_VERIFY_WITH_TIMEOUT(server.running() || !server.problemText().isEmpty(), kPatienceMs);
    QVERIFY2(server.running(), qPrintable(server.problemText()));
    QVERIFY(portOf(server) != other.serverPort());
    QVERIFY(server.noteText().contains(QString::number(other.serverPort())));
}

void TestStudioEndpoint::serverIsOnAgainAtTheNextStart()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    const int port = freePort();
    {
        test::WindowSetup setup;
        setup.settings = &settings;
        WindowDriver driver(std::move(setup));
        driver.studio().server()->setPort(port);
        driver.studio().server()->setWanted(true);
        QTRY_VERIFY_WITH_TIMEOUT(driver.studio().server()->running(), kPatienceMs);
    }
    test::WindowSetup setup;
    setup.settings = &settings;
    WindowDriver driver(std::move(setup));
    QTRY_VERIFY_WITH_TIMEOUT(driver.studio().server()->running(), kPatienceMs);
    QCOMPARE(get(portOf(*driver.studio().server()), "/health").status, 200);
}

void TestStudioEndpoint::draftsOfTheBrowserAppear()
{
    WindowDriver driver;
    ServerView &server = *driver.studio().server();
    server.setPort(freePort());
    server.setWanted(true);
    QTRY_VERIFY_WITH_TIMEOUT(server.running(), kPatienceMs);
    const int port = portOf(server);
    RawClient client(static_cast<std::uint16_t>(port));
    const std::string body = "Dear board,\n";
    QVERIFY(client.send("POST /api/documents/import?name=board.md HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                        "\r\nContent-Type: text/markdown\r\nContent-Length: " + std::to_string(body.size()) +
                        "\r\n\r\n" + body));
    QCOMPARE(client.answer().value_or(RawAnswer()).status, 201);
    QTRY_COMPARE_WITH_TIMEOUT(driver.studio().library()->count(), 1, kPatienceMs);
}

void TestStudioEndpoint::aDraftThatIsOpenElsewhereIsFollowed()
{
    WindowDriver driver;
    QVERIFY(driver.openDraft(QStringLiteral("Letter"), QStringLiteral("one")));
    const QString id = driver.studio().draft()->document();
    editing::SessionRegistry other(driver.studio().engine(), driver.studio().store()); // as the server has one
    editing::DraftSession *theirs = nullptr;
    other.open(id, 7, [&theirs](const auto &answer) { theirs = std::get<editing::DraftSession *>(answer); });
    QTRY_VERIFY(theirs != nullptr);
    connect(&other, &editing::SessionRegistry::libraryChanged, &driver.studio().sessions(),
            &editing::SessionRegistry::followStore);
    connect(&driver.studio().sessions(), &editing::SessionRegistry::libraryChanged, &other,
            &editing::SessionRegistry::followStore);
    theirs->edit(7, theirs->draft().version(), {{3, 3}, QStringLiteral(" two")}, true);
    QTRY_COMPARE_WITH_TIMEOUT(driver.text(), QStringLiteral("one two"), kPatienceMs);
    QTRY_COMPARE(driver.studio().draft()->page()->shown().text(), QStringLiteral("one two"));
    driver.key(Qt::Key_End, Qt::ControlModifier);
    driver.type(QStringLiteral(" three"));
    QTRY_COMPARE_WITH_TIMEOUT(theirs->draft().text(), QStringLiteral("one two three"), kPatienceMs);
    QTRY_VERIFY(theirs->saveState().saved && driver.studio().draft()->session()->saveState().saved);
    std::future<std::size_t> revisions = driver.studio().store().run(
        [id = id.toStdString()](documents::DocumentStore &store) { return store.revisions(id).size(); });
    QCOMPARE(revisions.get(), std::size_t{1}); // nobody wrote over anybody
}

QTEST_MAIN(TestStudioEndpoint)
#include "tst_studio_endpoint.moc"
