// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// F102: a process that is killed in the middle loses nothing that was acknowledged; several processes get along.

#include "tests/app/documents/store_fixture.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <random>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::StoreFixture;

namespace fs = std::filesystem;

namespace {

constexpr int kPatienceMs = 60'000;

class Child
{
public:
    explicit Child(const QStringList &arguments)
    {
        m_process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_process.start(QCoreApplication::applicationDirPath() + QStringLiteral("/store_child"), arguments);
    }

    /// Waits for that many more lines, kills, and returns the last line that came.
    std::string killAfter(int lines)
    {
        while (lines > 0 && (m_process.canReadLine() || m_process.waitForReadyRead(kPatienceMs))) {
            while (lines > 0 && m_process.canReadLine()) {
                m_last = m_process.readLine().trimmed();
                --lines;
            }
        }
        m_process.kill();
        m_process.waitForFinished(kPatienceMs);
        while (m_process.canReadLine()) // acknowledged before it died
            m_last = m_process.readLine().trimmed();
        return lines == 0 ? m_last.toStdString() : "ended by itself";
    }

    /// Everything it says until it ends by itself.
    std::string result()
    {
        m_process.waitForFinished(kPatienceMs);
        return m_process.readAllStandardOutput().trimmed().toStdString();
    }

private:
    QProcess m_process;
    QByteArray m_last;
};

QString asString(const fs::path &path)
{
    return QString::fromStdString(path.string());
}

} // namespace

class TestStoreProcesses : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void killedSavesLoseNothing();
    void killedBeginningsCanBeOpened();
    void killedErasingIsFinishedLater();
    void twoProcessesCountTogether();
    void aFolderWithoutRightsSaysSo();
};

void TestStoreProcesses::killedSavesLoseNothing()
{
    StoreFixture fixture;
    const OpaqueId id = fixture.open()->create("t", "text 0").summary.id;
    std::mt19937 random(1);
    std::int64_t revisions = 1;
    for (int round = 0; round < 12; ++round) {
        Child child({QStringLiteral("save"), asString(fixture.file()), QString::fromStdString(id)});
        const int acknowledged = std::stoi(child.killAfter(1 + static_cast<int>(random() % 20)));
        const auto store = fixture.open();
        const Document document = store->document(id);
        const int found = std::stoi(document.text.substr(5));
        QVERIFY2(found == acknowledged || found == acknowledged + 1, document.text.substr(0, 20).c_str());
        QCOMPARE(document.summary.lastRevision, revisions + found); // text and revision came together
        revisions = document.summary.lastRevision;
        QCOMPARE(store->revision(id, revisions).text, document.text);
        const RunSummary run = store->runs(id).back();
        QVERIFY(run.steps >= acknowledged && run.steps <= found);
        QCOMPARE(store->steps(run.id, 0).size(), static_cast<std::size_t>(run.steps));
        QCOMPARE(store->search("text").size(), std::size_t{1});
    }
}

void TestStoreProcesses::killedBeginningsCanBeOpened()
{
    for (int round = 0; round < 6; ++round) {
        StoreFixture fixture;
        Child child({QStringLiteral("make"), asString(fixture.folder())});
        const int acknowledged = std::stoi(child.killAfter(1 + round));
        for (int number = 1; number <= acknowledged + 1; ++number) {
            StoreOptions options = fixture.options();
            options.file = fixture.folder() / (std::to_string(number) + ".sqlite");
            DocumentStore store(options); // the last one was killed while it was made
            if (number <= acknowledged)
                QCOMPARE(store.list().size(), std::size_t{1});
            store.create("t", "two");
        }
    }
}

void TestStoreProcesses::killedErasingIsFinishedLater()
{
    StoreFixture fixture;
    fixture.open()->create("t", "kept");
    for (int round = 0; round < 8; ++round) {
        Child child({QStringLiteral("erase"), asString(fixture.file())});
        child.killAfter(2 + round % 3);
        const auto store = fixture.open();
        for (const DocumentSummary &summary : store->list()) {
            if (store->document(summary.id).text != "kept")
                store->erase(summary.id); // made, but not erased any more
        }
        QCOMPARE(store->list().size(), std::size_t{1});
        for (const auto &entry : fs::directory_iterator(fixture.folder())) {
            QFile file(asString(entry.path()));
            QVERIFY(file.open(QFile::ReadOnly));
            QVERIFY2(!file.readAll().contains("secret"), entry.path().c_str());
        }
    }
}

void TestStoreProcesses::twoProcessesCountTogether()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "0").summary.id;
    const QStringList arguments{QStringLiteral("count"), asString(fixture.file()), QString::fromStdString(id),
                                QStringLiteral("100")};
    Child first(arguments);
    Child second(arguments);
    QCOMPARE(first.result(), std::string("done"));
    QCOMPARE(second.result(), std::string("done"));
    QCOMPARE(store->document(id).text, std::string("200"));
    QCOMPARE(store->document(id).summary.version, std::int64_t{201});
}

void TestStoreProcesses::aFolderWithoutRightsSaysSo()
{
    StoreFixture fixture;
    fixture.open()->create("t", "");
    const fs::path folder = fixture.folder();
    fs::permissions(folder,
                    fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
    const std::string existing = Child({QStringLiteral("open"), asString(fixture.file())}).result();
    const std::string made = Child({QStringLiteral("open"), asString(folder / "new.sqlite")}).result();
    const std::string deeper = Child({QStringLiteral("open"), asString(folder / "a/b/new.sqlite")}).result();
    fs::permissions(folder, fs::perms::owner_all);
    QCOMPARE(existing, std::string("not writable"));
    QCOMPARE(made, std::string("not writable"));
    QCOMPARE(deeper, std::string("not writable"));
    QVERIFY(!fs::exists(folder / "new.sqlite"));
}

QTEST_GUILESS_MAIN(TestStoreProcesses)
#include "tst_store_processes.moc"
