// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include "app/model_lookup.h"
#include "tests/app/server/http/raw_client.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QQuickItem>
#include <QQuickWindow>
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

/// The window around the page: library, model, endpoint, questions, first start, settings; by keys and mouse.
class TestStudioShell : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void serverAnswersOnLoopbackAndStops();
    void serverKeyIsShownOnceAndAskedFor();
    void serverTakesTheNextPortF075();
    void serverIsOnAgainAtTheNextStart();
    void draftsOfTheBrowserAppear();
    void aDraftThatIsOpenElsewhereIsFollowed();
    void asksAQuestionAndInsertsTheAnswer();
    void severalLinesAreAskedAsTypedF100();
    void stopEndsAnAnswer();
    void thoughtsAreFoldedAwayF009();
    void choosesAModelFolder();
    void aWrongFolderIsRefusedInWordsF027();
    void welcomesOnceAndTours();
    void libraryByKeys();
    void binAndBack();
    void exportsAndImports();
    void settingsAreKept();
    void keysCanBeChanged();
    void logIsShown();
    void everyPanelHasNamesF090();

private:
    static QSettings *settingsIn(const WindowDriver &driver, const QString &name = QStringLiteral("s.ini"));
};

void TestStudioShell::serverAnswersOnLoopbackAndStops()
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

void TestStudioShell::serverKeyIsShownOnceAndAskedFor()
{
    const auto log = std::make_shared<LogSink>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", log));
    test::WindowSetup setup;
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    settings.setValue(QStringLiteral("tour/offered"), true);
    setup.settings = &settings;
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
    settings.sync();
    QFile file(settings.fileName());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray kept = file.readAll();
    QVERIFY(kept.contains("sha256"));
    QVERIFY(!kept.contains(key.toUtf8()));
    for (const LogEntry &entry : log->observe({}))
        QVERIFY(!entry.text.contains(key));
    server.dropKey();
    QTRY_COMPARE_WITH_TIMEOUT(server.running() ? get(portOf(server), "/v1/models").status : 0, 200, kPatienceMs);
}

void TestStudioShell::serverTakesTheNextPortF075()
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

void TestStudioShell::serverIsOnAgainAtTheNextStart()
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

void TestStudioShell::draftsOfTheBrowserAppear()
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

void TestStudioShell::aDraftThatIsOpenElsewhereIsFollowed()
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

void TestStudioShell::asksAQuestionAndInsertsTheAnswer()
{
    std::string asked;
    test::WindowSetup setup;
    setup.script = [&asked](const test::ScriptInput &input) {
        asked = input.prompt;
        return std::string("It is about a fee.");
    };
    WindowDriver driver(std::move(setup));
    QVERIFY(driver.openDraft(QStringLiteral("Letter"), QStringLiteral("I have paid.")));
    driver.key(Qt::Key_End, Qt::ControlModifier);
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("What is it about?"));
    driver.key(Qt::Key_Return);
    ChatView &chat = *driver.studio().chat();
    QTRY_COMPARE(chat.count(), 2);
    QTRY_VERIFY(!chat.busy());
    QTRY_VERIFY(driver.shows(QStringLiteral("It is about a fee.")));
    QVERIFY(QString::fromStdString(asked).contains(QStringLiteral("I have paid.")));
    QCOMPARE(driver.text(), QStringLiteral("I have paid.")); // an answer changes nothing
    driver.picture(QStringLiteral("chat"));
    QVERIFY(driver.click(QStringLiteral("Insert at the caret")));
    QTRY_VERIFY(driver.studio().draft()->openChanges() > 0);
    QCOMPARE(driver.text(), QStringLiteral("I have paid.")); // a proposal like any other
    driver.key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(driver.text(), QStringLiteral("I have paid.It is about a fee."));
    driver.key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(driver.text(), QStringLiteral("I have paid."));

    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("And who wrote it?")); // a second turn knows of the first
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(chat.count(), 4);
    QTRY_VERIFY(!chat.busy());
    QVERIFY(QString::fromStdString(asked).contains(QStringLiteral("What is it about?")));
    QVERIFY(driver.click(QStringLiteral("Clear")));
    QTRY_COMPARE(chat.count(), 0);
}

void TestStudioShell::severalLinesAreAskedAsTypedF100()
{
    std::string asked;
    test::WindowSetup setup;
    setup.script = [&asked](const test::ScriptInput &input) {
        asked = input.prompt;
        return std::string("Yes.");
    };
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("one"));
    driver.key(Qt::Key_Return, Qt::ShiftModifier);
    driver.type(QStringLiteral("two"));
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(driver.studio().chat()->count(), 2);
    QTRY_VERIFY(!driver.studio().chat()->busy());
    QVERIFY2(asked.find("one\ntwo") != std::string::npos, asked.c_str());
}

void TestStudioShell::stopEndsAnAnswer()
{
    test::WindowSetup setup;
    setup.bench.log->beforeDenoise = [](auto) {
        QThread::msleep(20);
    }; // slow enough to be stopped
    setup.script = [](const test::ScriptInput &input) {
        return std::string(input.seed % 2 == 0 ? 4000 : 4001, 'a'); // many canvases
    };
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("Go on."));
    driver.key(Qt::Key_Return);
    ChatView &chat = *driver.studio().chat();
    QTRY_VERIFY(chat.busy());
    QTRY_VERIFY(driver.item(QStringLiteral("Stop")) != nullptr);
    chat.stop();
    QTRY_VERIFY(!chat.busy());
    QCOMPARE(chat.data(chat.index(1), ChatView::ProblemRole).toString(), QStringLiteral("Stopped."));
}

void TestStudioShell::thoughtsAreFoldedAwayF009()
{
    test::WindowSetup setup;
    setup.bench.dialect = ChatDialect::Gemma4Revision2;
    setup.script = [](const test::ScriptInput &input) {
        const bool thinks = input.prompt.find("<|think|>") != std::string::npos;
        return std::string(thinks ? "<|channel>thought\nA fee, then.<channel|>" : "") + "Three.";
    };
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.item(QStringLiteral("Think first")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Think first")));
    QVERIFY(driver.studio().chat()->thinking());
    QVERIFY(driver.click(QStringLiteral("Your question")));
    driver.type(QStringLiteral("How many?"));
    driver.key(Qt::Key_Return);
    ChatView &chat = *driver.studio().chat();
    QTRY_COMPARE(chat.count(), 2);
    QTRY_VERIFY(!chat.busy());
    QCOMPARE(chat.data(chat.index(1), ChatView::ContentRole).toString(), QStringLiteral("Three."));
    QCOMPARE(chat.data(chat.index(1), ChatView::ThoughtsRole).toString(), QStringLiteral("A fee, then."));
    QVERIFY(!driver.shows(QStringLiteral("A fee, then.")));
    QVERIFY(driver.click(QStringLiteral("Show what it thought")));
    QTRY_VERIFY(driver.shows(QStringLiteral("A fee, then.")));
}

void TestStudioShell::choosesAModelFolder()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    settings.setValue(QStringLiteral("tour/offered"), true);
    test::WindowSetup setup;
    setup.settings = &settings;
    setup.extras.model.device = "cpu";
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.shows(QStringLiteral("Choose a model")));
    const QString demo = QStringLiteral(PALIMPSEST_SOURCE_DIR "/resources/demo_model");
    driver.type(demo);
    driver.key(Qt::Key_Return);
    ModelChooser &chooser = *driver.studio().chooser();
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Usable, kPatienceMs);
    QTRY_VERIFY(driver.shows(QStringLiteral("Memory needed")));
    driver.picture(QStringLiteral("model-choose"));
    QVERIFY(driver.click(QStringLiteral("Use this model")));
    QTRY_VERIFY_WITH_TIMEOUT(driver.studio().model()->name() == QStringLiteral("palimpsest-demo") &&
                                 driver.studio().model()->phase() == ModelView::Phase::Ready,
                             kPatienceMs);
    QCOMPARE(chooser.recent(), QStringList{demo});
    QCOMPARE(settings.value(QStringLiteral("model")).toString(), demo);
}

void TestStudioShell::aWrongFolderIsRefusedInWordsF027()
{
    WindowDriver driver;
    QTemporaryDir folder;
    driver.key(Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.shows(QStringLiteral("Choose a model")));
    driver.type(folder.path());
    driver.key(Qt::Key_Return);
    ModelChooser &chooser = *driver.studio().chooser();
    QTRY_COMPARE_WITH_TIMEOUT(chooser.state(), ModelChooser::State::Refused, kPatienceMs);
    QVERIFY2(chooser.problemText().contains(QStringLiteral("config.json")), qPrintable(chooser.problemText()));
    QTRY_VERIFY(driver.shows(chooser.problemText()));
    QVERIFY(!driver.item(QStringLiteral("Use this model"))->isEnabled());
    driver.picture(QStringLiteral("model-refused"));
    QCOMPARE(driver.studio().model()->phase(), ModelView::Phase::Ready); // what runs goes on
}

void TestStudioShell::welcomesOnceAndTours()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    {
        test::WindowSetup setup;
        setup.settings = &settings;
        WindowDriver driver(std::move(setup));
        QTRY_VERIFY(driver.shows(QStringLiteral("Welcome to Palimpsest")));
        driver.picture(QStringLiteral("welcome"));
        QTRY_VERIFY(driver.item(QStringLiteral("Two-minute tour")) != nullptr);
        QVERIFY(driver.click(QStringLiteral("Two-minute tour")));
        Tour &tour = *driver.studio().tour();
        QTRY_VERIFY(tour.running());
        QTRY_COMPARE(driver.text(), Tour::sampleText());
        driver.picture(QStringLiteral("tour"));
        for (int step = 1; step < Tour::steps(); ++step) {
            QTRY_VERIFY(driver.shows(tour.text()));
            QTRY_VERIFY(driver.item(QStringLiteral("Next")) != nullptr);
            QVERIFY(driver.click(QStringLiteral("Next")));
            QTRY_COMPARE(tour.step(), step + 1);
        }
        QTRY_VERIFY(driver.item(QStringLiteral("Done")) != nullptr);
        QVERIFY(driver.click(QStringLiteral("Done")));
        QTRY_VERIFY(!tour.running());
    }
    test::WindowSetup setup;
    setup.settings = &settings;
    WindowDriver driver(std::move(setup)); // not again
    QVERIFY(!driver.studio().tour()->welcoming());
    QVERIFY(!driver.shows(QStringLiteral("Welcome to Palimpsest")));
    QVERIFY(driver.click(QStringLiteral("Menu"))); // but by the menu
    for (const QString &entry : {QStringLiteral("Help"), QStringLiteral("Two-minute tour")}) {
        QTRY_VERIFY(driver.item(entry) != nullptr);
        QVERIFY(driver.click(entry));
    }
    QTRY_VERIFY(driver.studio().tour()->running());
    QTRY_VERIFY(driver.item(QStringLiteral("End the tour")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("End the tour")));
    QTRY_VERIFY(!driver.studio().tour()->running());
}

void TestStudioShell::libraryByKeys()
{
    WindowDriver driver;
    LibraryModel &library = *driver.studio().library();
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("first words")));
    driver.key(Qt::Key_F2);
    QTRY_VERIFY(driver.shows(QStringLiteral("Rename the draft")));
    driver.key(Qt::Key_A, Qt::ControlModifier);
    driver.type(QStringLiteral("Beta"));
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(driver.studio().draft()->title(), QStringLiteral("Beta"));
    driver.key(Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 2);
    driver.key(Qt::Key_N, Qt::ControlModifier);
    QTRY_COMPARE(library.count(), 3);
    driver.key(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
    driver.type(QStringLiteral("first"));
    QTRY_COMPARE(library.count(), 2);
    driver.key(Qt::Key_Down);
    driver.key(Qt::Key_Return);
    QTRY_COMPARE(driver.text(), QStringLiteral("first words"));
}

void TestStudioShell::binAndBack()
{
    WindowDriver driver;
    LibraryModel &library = *driver.studio().library();
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("one")));
    driver.key(Qt::Key_Delete, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 0);
    QTRY_VERIFY(!driver.studio().draft()->isOpen());
    driver.picture(QStringLiteral("binned"));
    QTRY_VERIFY(driver.item(QStringLiteral("Take it back")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Take it back")));
    QTRY_COMPARE(library.count(), 1);
    driver.studio().openDocument(library.idAt(0));
    QTRY_VERIFY(driver.studio().draft()->isOpen());
    driver.key(Qt::Key_Delete, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 0);
    driver.key(Qt::Key_B, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(library.count(), 1);
    QTRY_VERIFY(driver.item(QStringLiteral("Empty the bin…")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Empty the bin…")));
    QTRY_VERIFY(driver.shows(QStringLiteral("Empty the bin?")));
    driver.key(Qt::Key_Return); // the way out has the focus
    QTRY_VERIFY(!driver.shows(QStringLiteral("Empty the bin?")));
    QCOMPARE(library.count(), 1);
    QVERIFY(driver.click(QStringLiteral("Empty the bin…")));
    QTRY_VERIFY(driver.item(QStringLiteral("Empty the bin")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Empty the bin")));
    QTRY_COMPARE(library.count(), 0);
}

void TestStudioShell::exportsAndImports()
{
    WindowDriver driver;
    QTemporaryDir folder;
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("caf\u00e9\r\ntwo\n")));
    LibraryModel &library = *driver.studio().library();
    const QString id = driver.studio().draft()->document();
    QStringList seen;
    connect(&driver.studio(), &Studio::notice, &driver.studio(), [&](const QString &text) { seen << text; });
    for (const QString &format : {QStringLiteral("markdown"), QStringLiteral("text"), QStringLiteral("diff")}) {
        library.exportTo(id, format, QUrl::fromLocalFile(folder.filePath(format)), false);
        QTRY_VERIFY(QFile::exists(folder.filePath(format)));
    }
    QFile plain(folder.filePath(QStringLiteral("text")));
    QVERIFY(plain.open(QIODevice::ReadOnly));
    QCOMPARE(plain.readAll(), QByteArray("caf\xc3\xa9\r\ntwo\n")); // F101: byte for byte
    QTRY_COMPARE(seen.size(), 3);
    driver.window().open({folder.filePath(QStringLiteral("text")), folder.filePath(QStringLiteral("nowhere"))});
    QTRY_COMPARE(library.count(), 2);
    QTRY_COMPARE(driver.text(), QStringLiteral("caf\u00e9\r\ntwo\n"));
    QTRY_VERIFY(driver.shows(QStringLiteral("No such file"))); // in words, and the other one was opened
    driver.drop({QUrl::fromLocalFile(folder.filePath(QStringLiteral("markdown"))),
                 QUrl::fromLocalFile(folder.filePath(QStringLiteral("diff")))});
    QTRY_COMPARE(library.count(), 4);
}

void TestStudioShell::settingsAreKept()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    settings.setValue(QStringLiteral("tour/offered"), true);
    QRect geometry;
    {
        test::WindowSetup setup;
        setup.settings = &settings;
        WindowDriver driver(std::move(setup));
        driver.key(Qt::Key_Comma, Qt::ControlModifier);
        QTRY_VERIFY(driver.shows(QStringLiteral("Size of the page's letters")));
        QVERIFY(driver.click(QStringLiteral("Dark")));
        QVERIFY(driver.click(QStringLiteral("Reduced motion")));
        QVERIFY(driver.click(QStringLiteral("+")));
        driver.picture(QStringLiteral("settings-dark"));
        QVERIFY(driver.window().theme().dark());
        driver.key(Qt::Key_Escape);
        driver.key(Qt::Key_B, Qt::ControlModifier);
        driver.window().window()->setGeometry(30, 40, 780, 560);
        QTRY_COMPARE(driver.window().window()->width(), 780);
        geometry = driver.window().window()->geometry();
    }
    test::WindowSetup setup;
    setup.settings = &settings;
    const StudioWindow again(std::make_unique<EngineHost>(test::scriptedParts(
                                 test::scriptedModel(setup.script, setup.bench.canvasLength), setup.bench)),
                             {.file = folder.filePath(QStringLiteral("d.sqlite")).toStdString()}, &settings);
    QCOMPARE(again.window()->geometry(), geometry);
    QCOMPARE(settings.value(QStringLiteral("look/scheme")).toInt(), static_cast<int>(Theme::Scheme::Dark));
    QVERIFY(settings.value(QStringLiteral("look/reducedMotion")).toBool());
    QVERIFY(settings.value(QStringLiteral("look/pageZoom")).toDouble() > 1.05);
    QCOMPARE(again.window()->property("libraryShown").toBool(), false);
}

void TestStudioShell::keysCanBeChanged()
{
    QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("s.ini")), QSettings::IniFormat);
    settings.setValue(QStringLiteral("tour/offered"), true);
    test::WindowSetup setup;
    setup.settings = &settings;
    WindowDriver driver(std::move(setup));
    driver.key(Qt::Key_F1);
    QTRY_VERIFY(driver.item(QStringLiteral("New draft: Ctrl+N")) != nullptr);
    driver.picture(QStringLiteral("keys"));
    QVERIFY(driver.click(QStringLiteral("New draft: Ctrl+N")));
    QTRY_VERIFY(driver.shows(QStringLiteral("Press the new keys")));
    driver.key(Qt::Key_O, Qt::ControlModifier); // Import has this one
    QTRY_COMPARE(driver.studio().keys()->keysOf(QStringLiteral("new")), QStringList{QStringLiteral("Ctrl+O")});
    QVERIFY(driver.studio().keys()->keysOf(QStringLiteral("import")).isEmpty());
    QTRY_VERIFY(driver.shows(QStringLiteral("has lost its key")));
    QCOMPARE(settings.value(QStringLiteral("keys/new")).toString(), QStringLiteral("Ctrl+O"));
    driver.key(Qt::Key_Escape);
    driver.key(Qt::Key_N, Qt::ControlModifier); // means nothing any more
    driver.key(Qt::Key_O, Qt::ControlModifier);
    QTRY_COMPARE(driver.studio().library()->count(), 1);
    QTRY_VERIFY(driver.studio().draft()->isOpen());
}

void TestStudioShell::logIsShown()
{
    test::WindowSetup setup;
    setup.extras.log = std::make_shared<LogSink>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", setup.extras.log));
    spdlog::info("said before the window stood");
    WindowDriver driver(std::move(setup));
    spdlog::warn("said later");
    spdlog::debug("said in a whisper");
    driver.key(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(driver.shows(QStringLiteral("said before the window stood")));
    QTRY_VERIFY(driver.shows(QStringLiteral("warning: said later")));
    QVERIFY(!driver.shows(QStringLiteral("whisper")));
    driver.picture(QStringLiteral("log"));
    QVERIFY(driver.click(QStringLiteral("Copy all")));
    QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("said later")));
}

void TestStudioShell::everyPanelHasNamesF090()
{
    WindowDriver driver;
    QVERIFY(driver.openDraft(QStringLiteral("Alpha"), QStringLiteral("one")));
    const auto nameless = [&driver] {
        QStringList list;
        const std::function<void(QAccessibleInterface *)> walk = [&](QAccessibleInterface *item) {
            if (item == nullptr || !item->isValid() || item->state().invisible)
                return;
            if (item->state().focusable && item->text(QAccessible::Name).isEmpty())
                list << QString::fromLatin1(item->object()->metaObject()->className());
            for (int i = 0; i < item->childCount(); ++i)
                walk(item->child(i));
        };
        walk(QAccessible::queryAccessibleInterface(driver.window().window()));
        return list;
    };
    const std::array<std::pair<int, Qt::KeyboardModifiers>, 6> panels{
        {{Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier},
         {Qt::Key_M, Qt::ControlModifier},
         {Qt::Key_M, Qt::ControlModifier | Qt::ShiftModifier},
         {Qt::Key_Comma, Qt::ControlModifier},
         {Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier},
         {Qt::Key_F1, Qt::NoModifier}}};
    for (const auto &[key, modifiers] : panels) {
        driver.key(key, modifiers);
        QTest::qWait(0);
        QCOMPARE(nameless(), QStringList());
        driver.key(Qt::Key_Escape);
    }
}

QTEST_MAIN(TestStudioShell)
#include "tst_studio_shell.moc"
