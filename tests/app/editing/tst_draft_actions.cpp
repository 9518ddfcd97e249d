// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "tests/app/editing/editing_bench.h"

#include <QSignalSpy>
#include <QTest>

#include <atomic>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

/// What each action of a writer asks of the model, and what it proposes.
class TestDraftActions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRewriteIsProposed();
    void aFillTriesSeveralLengths();
    void aContinuationComesAtTheCaret();
    void aProofreadingGoesByPassages();
    void aProofreadingLeavesLockedWords();
    void severalRewritesAreKept();
    void directWritesIn();
    void wishesAreRefused_data();
    void wishesAreRefused();
};

void TestDraftActions::aRewriteIsProposed()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("First line.\nWe don't know.\nLast line."));
    QSignalSpy frames(&session, &DraftSession::frameReady);
    const QString run = start(session, rewrite(spanOf(session, QStringLiteral("We don't know."))));
    const RunInfo info = waitForEnd(session, run);
    QCOMPARE(info.state, RunState::Done);
    QVERIFY(info.problem.isEmpty());
    QVERIFY(info.figures.has_value());
    QVERIFY(info.figures->steps > 1);
    QVERIFY(!frames.isEmpty());
    QCOMPARE(session.draft().text(), QStringLiteral("First line.\nWe don't know.\nLast line."));
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(proposal.isOpen());
    QCOMPARE(proposal.alternatives.front().text, QStringLiteral("We do not know."));
    QCOMPARE(proposal.changes.size(), std::size_t{1});
    QCOMPARE(proposal.origin.model, QStringLiteral("scripted"));
    QCOMPARE(proposal.origin.seed, std::uint64_t{7});
    QCOMPARE(proposal.origin.stops.front(), CanvasStop::Converged);

    std::vector<RevisionInfo> revisions;
    connect(&session, &DraftSession::revisionAdded, this,
            [&](const RevisionInfo &revision) { revisions.push_back(revision); });
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("First line.\nWe do not know.\nLast line."));
    QVERIFY(waitFor([&] { return !revisions.empty() && session.saveState().saved; }));
    QCOMPARE(revisions.size(), std::size_t{1});
    QCOMPARE(revisions.front().summary.origin, documents::Origin::Model);
    QCOMPARE(revisions.front().summary.model->seed, std::uint64_t{7});
    QCOMPARE(QString::fromStdString(*revisions.front().summary.run), run);
    QCOMPARE(revisions.front().words, 8);
    session.undo();
    QVERIFY(session.draft().proposal(info.proposal)->isOpen());
}

void TestDraftActions::aFillTriesSeveralLengths()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("The ship left before dawn."));
    RunWish wish;
    wish.action = RunAction::Fill;
    wish.span = {14, 14};
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{4});
    QCOMPARE(info.ahead.characters, info.ahead.total);
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(proposal.alternatives.size() > 1);
    session.acceptProposal(1, info.proposal);
    QVERIFY(session.draft().text().startsWith(QStringLiteral("The ship left ")));
    QVERIFY(session.draft().text().endsWith(QStringLiteral(" before dawn.")));
    QVERIFY(!session.draft().text().contains(QStringLiteral("  ")));
}

void TestDraftActions::aContinuationComesAtTheCaret()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("The ship left\n\nChapter two"));
    RunWish wish;
    wish.action = RunAction::Continue;
    wish.span = {13, 13};
    wish.alternatives = 2;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{2});
    QCOMPARE(info.ahead.characters, 0);
    session.acceptProposal(1, info.proposal);
    QVERIFY(session.draft().text().startsWith(QStringLiteral("The ship left ")));
    QVERIFY(session.draft().text().endsWith(QStringLiteral("\n\nChapter two")));
}

void TestDraftActions::aProofreadingGoesByPassages()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(
        QStringLiteral("I recieved teh letter.\n\n```\ncode teh\n```\n\nAll is well here.\r\n\r\n- teh list\n"));
    RunWish wish;
    wish.action = RunAction::Proofread;
    const QString run = start(session, wish);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{3});
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QCOMPARE(proposal.changes.size(), std::size_t{3});
    session.acceptProposal(1, info.proposal, 1);
    session.rejectProposal(info.proposal, 0);
    QVERIFY(session.draft().proposal(info.proposal)->isOpen());
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(),
             QStringLiteral("I recieved the letter.\n\n```\ncode teh\n```\n\nAll is well here.\r\n\r\n- the list\n"));
    QCOMPARE(session.draft().proposal(info.proposal)->state, ProposalState::Accepted);

    wish.span = spanOf(session, QStringLiteral("All is well here."));
    const RunInfo nothing = waitForEnd(session, start(session, wish));
    QCOMPARE(nothing.state, RunState::Done);
    QVERIFY(nothing.proposal.isEmpty());
    QVERIFY(!nothing.problem.isEmpty());
}

void TestDraftActions::aProofreadingLeavesLockedWords()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("I recieved teh cobalt vase from teh shop."));
    session.setLocked(session.draft().version(), spanOf(session, QStringLiteral("cobalt")), true);
    RunWish wish;
    wish.action = RunAction::Proofread;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QVERIFY(!session.draft().proposal(info.proposal)->note.isEmpty());
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("I received the cobalt vase from the shop."));
    QCOMPARE(session.draft().textOf(session.draft().locks().front()), QStringLiteral("cobalt"));
}

// F098
void TestDraftActions::severalRewritesAreKept()
{
    std::atomic<int> asked = 0;
    EditingBench bench({.answer = [&asked](const std::string &) {
        return asked++ == 0 ? std::string("The dog sat there.") : std::string("The cat lay there.");
    }});
    DraftSession &session = bench.open(QStringLiteral("The cat sat there."));
    const RunInfo first = waitForEnd(session, start(session, rewrite({0, 18})));
    RunWish other = rewrite({0, 18});
    other.instruction = QStringLiteral("Say it in another way");
    const RunInfo second = waitForEnd(session, start(session, other));
    QCOMPARE(second.proposal, first.proposal);
    const Proposal *proposal = session.draft().proposal(first.proposal);
    QCOMPARE(proposal->alternatives.size(), std::size_t{2});
    QCOMPARE(proposal->chosen, std::size_t{1});
    const RunInfo third = waitForEnd(session, session.startAgain(1, first.proposal, std::nullopt));
    QVERIFY(third.seed != second.seed);
    QCOMPARE(session.draft().proposal(first.proposal)->chosen, std::size_t{1});
    waitForEnd(session, start(session, rewrite({0, 18}))); // finds again what the first one found
    QCOMPARE(session.draft().proposal(first.proposal)->alternatives.size(), std::size_t{2});
    QCOMPARE(session.draft().proposal(first.proposal)->chosen, std::size_t{0});
    session.takeWords(first.proposal, 1, {8, 11});
    QCOMPARE(session.draft().proposal(first.proposal)->alternatives.back().text, QStringLiteral("The dog lay there."));
    session.acceptProposal(1, first.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("The dog lay there."));
}

void TestDraftActions::directWritesIn()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.direct = true;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QCOMPARE(session.draft().text(), QStringLiteral("We do not know."));
    QCOMPARE(session.draft().proposal(info.proposal)->state, ProposalState::Accepted);
    session.undo();
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know."));
}

void TestDraftActions::wishesAreRefused_data()
{
    QTest::addColumn<RunAction>("action");
    QTest::addColumn<TextSpan>("span");
    QTest::addColumn<QString>("instruction");
    QTest::addColumn<int>("alternatives");
    QTest::addColumn<QByteArray>("subject");
    QTest::newRow("nothing to rewrite") << RunAction::Rewrite << TextSpan{3, 3} << "Do" << 1 << QByteArray("start");
    QTest::newRow("white space") << RunAction::Renoise << TextSpan{3, 4} << "" << 1 << QByteArray("start");
    QTest::newRow("no instruction") << RunAction::Rewrite << TextSpan{0, 3} << "  " << 1 << QByteArray("instruction");
    QTest::newRow("a filled span") << RunAction::Fill << TextSpan{0, 3} << "" << 1 << QByteArray("end");
    QTest::newRow("outside") << RunAction::Rewrite << TextSpan{0, 99} << "Do" << 1 << QByteArray("end");
    QTest::newRow("too many") << RunAction::Rewrite << TextSpan{0, 3} << "Do" << 9 << QByteArray("alternatives");
    QTest::newRow("all is locked") << RunAction::Rewrite << TextSpan{8, 13} << "Do" << 1 << QByteArray("locks");
}

void TestDraftActions::wishesAreRefused()
{
    QFETCH(const RunAction, action);
    QFETCH(const TextSpan, span);
    QFETCH(const QString, instruction);
    QFETCH(const int, alternatives);
    QFETCH(const QByteArray, subject);
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("one two three"));
    session.setLocked(session.draft().version(), {8, 13}, true);
    RunWish wish;
    wish.action = action;
    wish.span = span;
    wish.instruction = instruction;
    wish.alternatives = alternatives;
    try {
        start(session, wish);
        QFAIL("it was taken");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QCOMPARE(QByteArray(error.subject().c_str()), subject);
    }
    QVERIFY(session.runs().empty());
}

QTEST_GUILESS_MAIN(TestDraftActions)
#include "tst_draft_actions.moc"
