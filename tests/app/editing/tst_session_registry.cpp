// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"
#include "app/editing/session_registry.h"
#include "tests/app/editing/editing_bench.h"

#include <QSignalSpy>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTest>

#include <atomic>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

namespace {

RunWish formal(qsizetype end)
{
    RunWish wish;
    wish.action = RunAction::Rewrite;
    wish.span = {0, end};
    wish.instruction = QStringLiteral("Make this more formal");
    return wish;
}

std::string refusal(const std::string &)
{
    return "We do not know.";
}

/// Keeps everybody else from writing to the store.
class WriteLock
{
public:
    explicit WriteLock(const QTemporaryDir &folder)
    {
        m_database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QString::fromLatin1(kName));
        m_database.setDatabaseName(folder.path() + QStringLiteral("/documents.sqlite"));
        if (!m_database.open() || !QSqlQuery(m_database).exec(QStringLiteral("BEGIN IMMEDIATE")))
            qFatal("cannot lock the store");
    }
    ~WriteLock()
    {
        m_database = QSqlDatabase();
        QSqlDatabase::removeDatabase(QString::fromLatin1(kName));
    }
    WriteLock(const WriteLock &) = delete;
    WriteLock &operator=(const WriteLock &) = delete;

private:
    static constexpr const char *kName = "write lock";
    QSqlDatabase m_database;
};

} // namespace

class TestSessionRegistry : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theLastWindowCloses();
    void aRunHoldsItOpen();
    void aReloadFindsTheUndoList();
    void leavingBeforeItIsThere();
    void whatIsNotThereIsSaid();
    void endingSavesEverything();
    void aCrashKeepsWhatWasSaved();
    void openProposalsComeBack();
    void aRefusedSaveIsSaidAndTriedAgain();
    void anotherProgramsTextIsKept();
    void deletedDocumentsAreForgotten();
    void revisionsComeBack();
};

void TestSessionRegistry::theLastWindowCloses()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one"));
    const QString document = session.document();
    bench.openAgain(document, 2);
    session.edit(1, session.draft().version(), {{3, 3}, QStringLiteral(" two")}, true);
    bench.registry->leave(document, 1);
    QTest::qWait(5);
    QCOMPARE(bench.registry->find(document), &session);
    bench.registry->leaveAll(2);
    QVERIFY(waitFor([&] { return bench.registry->openCount() == 0; }));
    QCOMPARE(bench.stored(document).text, std::string("one two"));
    QCOMPARE(bench.stored(document).summary.lastRevision, 2); // what was written since the last one
    QCOMPARE(bench.openAgain(document)->draft().text(), QStringLiteral("one two"));
    bench.registry->leave(document, 1);
    QVERIFY(waitFor([&] { return bench.registry->openCount() == 0; }));
    QCOMPARE(bench.stored(document).summary.lastRevision, 2); // nothing was
}

void TestSessionRegistry::aRunHoldsItOpen()
{
    EditingBench bench({.answer = refusal});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    const QString document = session.document();
    std::atomic<bool> go = false;
    bench.log->beforeDenoise = [&go](std::span<const DenoiseJob>) {
        while (!go)
            std::this_thread::yield();
    };
    const QString run = session.startRun(1, session.draft().version(), formal(14));
    QCOMPARE(bench.registry->findByRun(run), &session);
    bench.registry->leave(document, 1);
    QTest::qWait(5);
    QCOMPARE(bench.registry->openCount(), std::size_t{1});
    go = true;
    QVERIFY(waitFor([&] { return bench.registry->openCount() == 0; }));
    DraftSession *again = bench.openAgain(document);
    QCOMPARE(again->draft().proposals().size(), std::size_t{1});
    QCOMPARE(bench.registry->findByProposal(again->draft().proposals().front().id), again);
}

void TestSessionRegistry::aReloadFindsTheUndoList()
{
    SessionRegistry::Settings settings = EditingBench::quick();
    settings.linger = std::chrono::seconds(60);
    EditingBench bench({}, settings);
    DraftSession &session = bench.open(QStringLiteral("one"));
    session.edit(1, session.draft().version(), {{3, 3}, QStringLiteral(" two")}, true);
    bench.registry->leave(session.document(), 1);
    QTest::qWait(5);
    QCOMPARE(bench.openAgain(session.document(), 2), &session);
    session.undo();
    QCOMPARE(session.draft().text(), QStringLiteral("one"));
}

void TestSessionRegistry::leavingBeforeItIsThere()
{
    EditingBench bench;
    const QString document = bench.open(QStringLiteral("one")).document();
    bench.registry->leave(document, 1);
    QVERIFY(waitFor([&] { return bench.registry->openCount() == 0; }));
    int answers = 0;
    const auto count = [&answers](const std::variant<DraftSession *, Error> &) {
        ++answers;
    };
    bench.registry->open(document, 1, count);
    bench.registry->leave(document, 1);
    bench.registry->open(document, 1, count);
    bench.registry->open(document, 2, count);
    QVERIFY(waitFor([&] { return answers == 2; }));
    QTest::qWait(5);
    QCOMPARE(bench.registry->openCount(), std::size_t{1});
    QCOMPARE(answers, 2);
}

void TestSessionRegistry::whatIsNotThereIsSaid()
{
    EditingBench bench;
    std::optional<Error> error;
    bench.registry->open(QStringLiteral("nothing"), 1,
                         [&](std::variant<DraftSession *, Error> outcome) { error = std::get<Error>(outcome); });
    QVERIFY(waitFor([&] { return error.has_value(); }));
    QCOMPARE(error->kind(), ErrorKind::NotFound);
    QCOMPARE(bench.registry->openCount(), std::size_t{0});
}

void TestSessionRegistry::endingSavesEverything()
{
    SessionRegistry::Settings settings = EditingBench::quick();
    settings.saveDelay = std::chrono::hours(1);
    EditingBench bench({.steps = 1000}, settings);
    DraftSession &session = bench.open(QStringLiteral("one"));
    const QString document = session.document();
    session.edit(1, session.draft().version(), {{3, 3}, QStringLiteral(" two")}, true);
    session.startRun(1, session.draft().version(), formal(7));
    bench.restart();
    QCOMPARE(bench.stored(document).text, std::string("one two"));
}

// F102: what was acknowledged is there, what was under way left the text as it was.
void TestSessionRegistry::aCrashKeepsWhatWasSaved()
{
    SessionRegistry::Settings settings = EditingBench::quick();
    EditingBench bench({.steps = 1000}, settings);
    DraftSession *session = &bench.open(QStringLiteral("We don't know."));
    const QString document = session->document();
    session->edit(1, session->draft().version(), {{14, 14}, QStringLiteral(" More.")}, true);
    QVERIFY(waitFor([&] { return session->saveState().saved; }));
    RunWish wish = formal(14);
    wish.sampler.maxSteps = kMostDenoisingSteps;
    const QString run = session->startRun(1, session->draft().version(), wish);
    QVERIFY(waitFor([&] { return session->newestFrame(run, 0).has_value(); }));
    bench.crash();
    session = bench.openAgain(document);
    QCOMPARE(session->draft().text(), QStringLiteral("We don't know. More."));
    QVERIFY(session->draft().proposals().empty());
    QVERIFY(session->runs().empty());
}

void TestSessionRegistry::openProposalsComeBack()
{
    EditingBench bench({.answer = refusal});
    DraftSession *session = &bench.open(QStringLiteral("We don't know."));
    const QString document = session->document();
    const RunInfo info = waitForEnd(*session, session->startRun(1, session->draft().version(), formal(14)));
    session->edit(1, session->draft().version(), {{0, 0}, QStringLiteral("Title\n")}, true);
    session->writeOwn(info.proposal, QStringLiteral("We cannot know."));
    QVERIFY(waitFor([&] { return session->saveState().saved; }));
    bench.crash();
    session = bench.openAgain(document);
    const Proposal *proposal = session->draft().proposal(info.proposal);
    QVERIFY(proposal != nullptr);
    QVERIFY(proposal->isOpen());
    QCOMPARE(proposal->alternatives.size(), std::size_t{2});
    QCOMPARE(proposal->chosen, std::size_t{1});
    QCOMPARE(proposal->origin.seed, info.seed);
    QCOMPARE(proposal->origin.sampler.maxDenoisingSteps, info.sampler.maxDenoisingSteps);
    session->acceptProposal(1, info.proposal);
    QCOMPARE(session->draft().text(), QStringLiteral("Title\nWe cannot know."));
    session->undo();
    // The wish can be made again, although the run is of the time before.
    const RunInfo again = waitForEnd(*session, session->startAgain(1, info.proposal, info.seed));
    QCOMPARE(again.instruction, QStringLiteral("Make this more formal"));
    QCOMPARE(again.seed, info.seed);
    QCOMPARE(again.proposal, info.proposal);
    session->rejectProposal(info.proposal);
    QVERIFY(waitFor([&] { return session->saveState().saved; }));
    bench.restart();
    QVERIFY(bench.openAgain(document)->draft().proposals().empty());
}

void TestSessionRegistry::aRefusedSaveIsSaidAndTriedAgain()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one"));
    {
        const WriteLock lock(bench.folder);
        session.edit(1, session.draft().version(), {{3, 3}, QStringLiteral(" two")}, true);
        QVERIFY(waitFor([&] { return !session.saveState().problem.isEmpty(); }));
        QVERIFY(!session.saveState().saved);
        session.edit(1, session.draft().version(), {{7, 7}, QStringLiteral(" three")}, true);
        QCOMPARE(bench.stored(session.document()).text, std::string("one"));
    }
    QVERIFY(waitFor([&] { return session.saveState().saved; }));
    QVERIFY(session.saveState().problem.isEmpty());
    QCOMPARE(bench.stored(session.document()).text, std::string("one two three"));
}

void TestSessionRegistry::anotherProgramsTextIsKept()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one"));
    const std::string document = session.document().toStdString();
    bench.worker
        ->run([document](documents::DocumentStore &store) { store.saveText(document, "theirs", {}, std::nullopt); })
        .get();
    session.edit(1, session.draft().version(), {{3, 3}, QStringLiteral(" ours")}, true);
    QVERIFY(waitFor([&] { return session.saveState().saved; }));
    QCOMPARE(bench.stored(session.document()).text, std::string("one ours"));
    std::vector<RevisionInfo> revisions;
    session.revisions([&](std::variant<std::vector<RevisionInfo>, Error> answer) {
        revisions = std::get<std::vector<RevisionInfo>>(answer);
    });
    QVERIFY(waitFor([&] { return !revisions.empty(); }));
    QCOMPARE(revisions.size(), std::size_t{2});
    std::optional<QString> text;
    session.revisionText(revisions.back().summary.number,
                         [&](std::variant<QString, Error> answer) { text = std::get<QString>(answer); });
    QVERIFY(waitFor([&] { return text.has_value(); }));
    QCOMPARE(*text, QStringLiteral("theirs"));
}

void TestSessionRegistry::deletedDocumentsAreForgotten()
{
    EditingBench bench({.steps = 1000});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    const QString document = session.document();
    session.edit(1, session.draft().version(), {{0, 0}, QStringLiteral("x")}, true);
    session.startRun(1, session.draft().version(), formal(14));
    QSignalSpy gone(&session, &DraftSession::gone);
    bench.registry->forget(document);
    QCOMPARE(gone.count(), 1);
    QCOMPARE(bench.registry->find(document), nullptr);
    bench.worker->run([id = document.toStdString()](documents::DocumentStore &store) { store.erase(id); }).get();
    QTest::qWait(5);
    QVERIFY_EXCEPTION_THROWN((void)bench.stored(document), Error);
    QVERIFY(waitFor([&] { return bench.host->model()->desk->status().running == 0; }));
}

void TestSessionRegistry::revisionsComeBack()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one two"));
    session.setLocked(session.draft().version(), {0, 3}, true);
    std::optional<std::int64_t> named;
    session.addRevision(QStringLiteral("before the meeting"),
                        [&](std::variant<std::int64_t, Error> answer) { named = std::get<std::int64_t>(answer); });
    QVERIFY(waitFor([&] { return named.has_value(); }));
    session.edit(1, session.draft().version(), {{0, 7}, QStringLiteral("three")}, false);
    QVERIFY(session.draft().locks().empty());
    bool restored = false;
    session.restoreRevision(*named, [&](const std::variant<std::int64_t, Error> &) { restored = true; });
    QVERIFY(waitFor([&] { return restored; }));
    QCOMPARE(session.draft().text(), QStringLiteral("one two"));
    QCOMPARE(session.draft().locks().size(), std::size_t{1});
    QVERIFY(waitFor([&] { return session.saveState().saved; }));
    std::vector<RevisionInfo> revisions;
    session.revisions([&](std::variant<std::vector<RevisionInfo>, Error> answer) {
        revisions = std::get<std::vector<RevisionInfo>>(answer);
    });
    QVERIFY(waitFor([&] { return !revisions.empty(); }));
    QCOMPARE(revisions.size(), std::size_t{4}); // made, named, written since, restored
    QCOMPARE(revisions[1].summary.label, std::string("before the meeting"));
    QCOMPARE(revisions[3].summary.origin, documents::Origin::Restored);
    QCOMPARE(revisions[3].summary.parent, named);
    session.undo();
    QCOMPARE(session.draft().text(), QStringLiteral("three"));
    std::optional<Error> error;
    session.restoreRevision(99, [&](std::variant<std::int64_t, Error> answer) { error = std::get<Error>(answer); });
    QVERIFY(waitFor([&] { return error.has_value(); }));
    QCOMPARE(error->kind(), ErrorKind::NotFound);
}

QTEST_GUILESS_MAIN(TestSessionRegistry)
#include "tst_session_registry.moc"
