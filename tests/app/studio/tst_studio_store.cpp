// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/window_driver.h"

#include "app/documents/database.h"
#include "app/documents/document_store.h"
#include "app/documents/schema.h"

#include <QClipboard>
#include <QDir>
#include <QGuiApplication>
#include <QProcess>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>
#include <QThread>

#include <array>
#include <csignal>
#include <iostream>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::studio;
using palimpsest::test::WindowDriver;

namespace {

constexpr int kPatienceMs = 60'000; // for sanitizers on a busy machine
constexpr auto kText = "Dear board,\nI have payed teh fee.\n";

std::filesystem::path storeIn(const QString &folder)
{
    return (folder + QStringLiteral("/drafts.sqlite")).toStdString();
}

/// The program that is killed: a writer's window that does something for ever, and says on its output what it does.
int runChild(const QString &what, const QString &folder)
{
    test::WindowSetup setup;
    setup.store.file = storeIn(folder);
    setup.bench.log->beforeDenoise = [](auto) {
        QThread::msleep(20);
    };
    setup.script = [](const test::ScriptInput &) {
        return std::string(2000, 'a');
    };
    WindowDriver driver(std::move(setup));
    if (!driver.openDraft(QStringLiteral("Letter"), QString::fromUtf8(kText)))
        return 1;
    DraftView &draft = *driver.studio().draft();
    driver.key(Qt::Key_End, Qt::ControlModifier);
    if (what == QStringLiteral("generate")) {
        driver.type(QStringLiteral("Yours"));
        (void)QTest::qWaitFor([&draft] { return draft.session()->saveState().saved; }, kPatienceMs);
        driver.key(Qt::Key_J, Qt::ControlModifier);
        (void)QTest::qWaitFor([&draft] { return draft.progress() > 0.0; }, kPatienceMs);
        std::cout << "running" << std::endl;
        return QGuiApplication::exec();
    }
    for (int number = 1;; ++number) { // saves while it is typed in
        driver.type(QString::number(number) + u' ');
        draft.session()->addRevision(QString::number(number), [number](const auto &) {
            std::cout << number << std::endl; // it is on the disk
        });
        QCoreApplication::processEvents();
    }
}

/// Starts the child, kills it once it has said so many lines, and returns the last of them.
QByteArray killAfter(const QString &what, const QString &folder, int lines)
{
    QProcess child;
    child.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--child"), what, folder});
    QByteArray last;
    for (int said = 0; said < lines;) {
        if (!child.canReadLine() && !child.waitForReadyRead(kPatienceMs))
            return {};
        while (child.canReadLine()) {
            last = child.readLine().trimmed();
            ++said;
        }
    }
    ::kill(static_cast<pid_t>(child.processId()), SIGKILL);
    child.waitForFinished(kPatienceMs);
    return last;
}

} // namespace

/// What a writer finds again, and is told, when the program was killed or the drafts' file cannot be written (F102).
class TestStudioStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void killedWhileGeneratingF102();
    void killedWhileSavingF102();
    void diskFullIsSaidF102();
    void lockedIsSaidAndTriedAgain();
    void aNewerStoreIsLeftAloneF102();
    void aDamagedStoreCanBePutAside();
};

void TestStudioStore::killedWhileGeneratingF102()
{
    const QTemporaryDir folder;
    QCOMPARE(killAfter(QStringLiteral("generate"), folder.path(), 1), QByteArray("running"));
    test::WindowSetup setup;
    setup.store.file = storeIn(folder.path());
    WindowDriver driver(std::move(setup));
    QTRY_COMPARE_WITH_TIMEOUT(driver.studio().library()->count(), 1, kPatienceMs);
    driver.studio().openDocument(driver.studio().library()->idAt(0));
    QTRY_VERIFY(driver.studio().draft()->isOpen());
    QCOMPARE(driver.text(), QString::fromUtf8(kText) + QStringLiteral("Yours"));
    QVERIFY(!driver.studio().draft()->running());
    QCOMPARE(driver.studio().draft()->openChanges(), 0); // half a canvas is no proposal
}

void TestStudioStore::killedWhileSavingF102()
{
    const QTemporaryDir folder;
    const QByteArray last = killAfter(QStringLiteral("save"), folder.path(), 12);
    QVERIFY(last.toInt() > 0);
    test::WindowSetup setup;
    setup.store.file = storeIn(folder.path());
    WindowDriver driver(std::move(setup));
    QTRY_COMPARE_WITH_TIMEOUT(driver.studio().library()->count(), 1, kPatienceMs);
    driver.studio().openDocument(driver.studio().library()->idAt(0));
    QTRY_VERIFY(driver.studio().draft()->isOpen());
    const QString text = driver.text();
    QVERIFY2(text.startsWith(QString::fromUtf8(kText)), qPrintable(text));
    QVERIFY2(text.contains(QString::fromLatin1(last) + u' '), qPrintable(text)); // what was said to be saved is there
    QVERIFY(driver.studio().storeProblem().isEmpty());
}

void TestStudioStore::diskFullIsSaidF102()
{
    // SQLite's own limit stands for a full disk.
    constexpr std::array kSmallDisk = {"PRAGMA max_page_count = 80"};
    std::vector<documents::SchemaStep> schema(documents::currentSchema().begin(), documents::currentSchema().end());
    schema.push_back({.version = schema.back().version + 1, .statements = kSmallDisk});
    test::WindowSetup setup;
    setup.store.schema = schema;
    WindowDriver driver(std::move(setup));
    QVERIFY(driver.openDraft(QStringLiteral("Letter"), QString::fromUtf8(kText)));
    const QString large(400'000, u'x');
    QGuiApplication::clipboard()->setText(large);
    driver.key(Qt::Key_End, Qt::ControlModifier);
    driver.key(Qt::Key_V, Qt::ControlModifier);
    DraftView &draft = *driver.studio().draft();
    QTRY_VERIFY_WITH_TIMEOUT(draft.saveFailed(), kPatienceMs);
    QVERIFY2(draft.saveText().contains(QStringLiteral("no space is left")), qPrintable(draft.saveText()));
    QTRY_VERIFY(driver.shows(QStringLiteral("no space is left")));
    QCOMPARE(driver.text().size(), qsizetype(QString::fromUtf8(kText).size() + large.size())); // nothing is lost
    driver.key(Qt::Key_Z, Qt::ControlModifier);                                                // room again
    QTRY_VERIFY_WITH_TIMEOUT(!draft.saveFailed() && draft.session()->saveState().saved, kPatienceMs);
}

void TestStudioStore::lockedIsSaidAndTriedAgain()
{
    test::WindowSetup setup;
    const QTemporaryDir folder;
    setup.store.file = storeIn(folder.path());
    setup.store.busyTimeout = std::chrono::milliseconds(30);
    WindowDriver driver(std::move(setup));
    QVERIFY(driver.openDraft(QStringLiteral("Letter"), QString::fromUtf8(kText)));
    DraftView &draft = *driver.studio().draft();
    {
        documents::Database other(storeIn(folder.path()), documents::Database::Access::ReadWrite,
                                  std::chrono::milliseconds(1000));
        const documents::Transaction transaction(other);
        driver.type(QStringLiteral("!"));
        QTRY_VERIFY_WITH_TIMEOUT(draft.saveFailed(), kPatienceMs);
        QVERIFY2(draft.saveText().contains(QStringLiteral("another program")), qPrintable(draft.saveText()));
    }
    QTRY_VERIFY_WITH_TIMEOUT(!draft.saveFailed() && draft.session()->saveState().saved, kPatienceMs);
}

void TestStudioStore::aNewerStoreIsLeftAloneF102()
{
    const QTemporaryDir folder;
    {
        documents::DocumentStore store({.file = storeIn(folder.path())});
        store.create("Letter", kText);
    }
    {
        documents::Database database(storeIn(folder.path()), documents::Database::Access::ReadWrite,
                                     std::chrono::milliseconds(1000));
        database.run("PRAGMA user_version = 999");
    }
    test::WindowSetup setup;
    setup.store.file = storeIn(folder.path());
    WindowDriver driver(std::move(setup));
    QTRY_VERIFY_WITH_TIMEOUT(!driver.studio().storeProblem().isEmpty(), kPatienceMs);
    QTRY_VERIFY(driver.shows(QStringLiteral("newer version of Palimpsest")));
    driver.picture(QStringLiteral("store-newer"));
    QVERIFY(!driver.studio().storeDamaged());
    documents::Database database(storeIn(folder.path()), documents::Database::Access::ReadOnly,
                                 std::chrono::milliseconds(1000));
    QCOMPARE(database.integer("PRAGMA user_version"), std::int64_t{999});
}

void TestStudioStore::aDamagedStoreCanBePutAside()
{
    const QTemporaryDir folder;
    {
        documents::DocumentStore store({.file = storeIn(folder.path())});
        store.create("Letter", std::string(200'000, 'x'));
    }
    QFile file(QString::fromStdString(storeIn(folder.path()).string()));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(4096 * 3));
    const QByteArray garbage(4096 * 8, '\x5a');
    QCOMPARE(file.write(garbage), qint64(garbage.size()));
    file.close();
    test::WindowSetup setup;
    setup.store.file = storeIn(folder.path());
    WindowDriver driver(std::move(setup));
    QTRY_VERIFY_WITH_TIMEOUT(driver.studio().storeDamaged(), kPatienceMs);
    QTRY_VERIFY(driver.item(QStringLiteral("Put it aside…")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Put it aside…")));
    QTRY_VERIFY(driver.item(QStringLiteral("Put it aside")) != nullptr);
    QVERIFY(driver.click(QStringLiteral("Put it aside")));
    QTRY_VERIFY_WITH_TIMEOUT(driver.studio().storeProblem().isEmpty(), kPatienceMs);
    QVERIFY(driver.openDraft(QStringLiteral("New"), QStringLiteral("one")));
    QVERIFY(QDir(folder.path()).entryList(QDir::Files).join(u' ').contains(QStringLiteral("damaged")));
}

int main(int argc, char **argv)
{
    QGuiApplication application(argc, argv);
    const QStringList arguments = QGuiApplication::arguments();
    if (arguments.size() == 4 && arguments[1] == QStringLiteral("--child"))
        return runChild(arguments[2], arguments[3]);
    TestStudioStore test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_studio_store.moc"
