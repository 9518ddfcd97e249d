// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "tests/app/editing/editing_bench.h"

#include <QTest>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

/// Typing while a run is under way: elsewhere, inside its span, over it.
class TestDraftRunTyping : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void typingElsewhereGoesOn();
    void typingInsideIsHeldTo();
    void aPassageThatIsTypedInIsLeftAlone();
    void deletingTheSpanStopsTheRun();
};

// F094
void TestDraftRunTyping::typingElsewhereGoesOn()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("Title\nWe don't know.\nEnd"));
    const QString run = startPaused(session, rewrite(spanOf(session, QStringLiteral("We don't know."))));
    session.edit(1, session.draft().version(), {{0, 5}, QStringLiteral("A longer title")}, true);
    session.edit(1, session.draft().version(),
                 {{session.draft().text().size(), session.draft().text().size()}, QStringLiteral(" typed")}, true);
    QVERIFY((session.run(run).span == spanOf(session, QStringLiteral("We don't know."))));
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY(session.draft().proposal(info.proposal)->isOpen());
    session.rejectProposal(info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("A longer title\nWe don't know.\nEnd typed"));
    session.undo();
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("A longer title\nWe do not know.\nEnd typed"));
}

void TestDraftRunTyping::typingInsideIsHeldTo()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know where it is."));
    const QString run = startPaused(session, rewrite({0, 26}));
    QVERIFY(stepOnce(session, run));
    for (const QChar letter : QStringLiteral(" really")) {
        const qsizetype at = session.draft().text().indexOf(QStringLiteral(" where"));
        session.edit(1, session.draft().version(), {{at, at}, QString(letter)}, true);
    }
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know really where it is."));
    QVERIFY(stepOnce(session, run));
    QVERIFY(session.newestFrame(run, 0)->shownText().contains(QStringLiteral("really")));
    QVERIFY(session.newestFrame(run, 0)->held > 0);
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QVERIFY2(session.draft().text().contains(QStringLiteral("really")), qPrintable(session.draft().text()));
    QVERIFY(session.draft().text().startsWith(QStringLiteral("We do not know")));
}

void TestDraftRunTyping::aPassageThatIsTypedInIsLeftAlone()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("I recieved teh letter.\n\nAnd teh other one.\n"));
    RunWish wish;
    wish.action = RunAction::Proofread;
    const QString run = startPaused(session, wish);
    const qsizetype at = session.draft().text().indexOf(QStringLiteral("letter"));
    session.edit(1, session.draft().version(), {{at, at}, QStringLiteral("long ")}, true);
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("I recieved teh long letter.\n\nAnd the other one.\n"));
}

void TestDraftRunTyping::deletingTheSpanStopsTheRun()
{
    EditingBench bench({.steps = 1000});
    DraftSession &session = bench.open(QStringLiteral("One. Two. Three."));
    RunWish wish = rewrite({5, 9});
    wish.sampler.maxSteps = kMostDenoisingSteps;
    const QString run = start(session, wish);
    session.edit(1, session.draft().version(), {{3, 11}, {}}, false);
    QCOMPARE(session.run(run).state, RunState::Stopped);
    QCOMPARE(session.draft().text(), QStringLiteral("Onehree."));
}

QTEST_GUILESS_MAIN(TestDraftRunTyping)
#include "tst_draft_run_typing.moc"
