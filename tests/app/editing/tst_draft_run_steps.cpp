// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "tests/app/editing/editing_bench.h"

#include <QTest>

#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

namespace {

/// A step of a run's first canvas, from memory or from the disk.
std::optional<Frame> frameOf(DraftSession &session, const QString &run, int step)
{
    std::optional<Frame> frame;
    session.historyFrame(run, 0, 0, step, [&](std::variant<Frame, Error> answer) { frame = std::get<Frame>(answer); });
    waitFor([&] { return frame.has_value(); });
    return frame;
}

/// Goes on from a step of a run over the middle line: its words are there at once, a revision follows.
void compareBranch(DraftSession &session, const QString &run, int step, const Frame &frame)
{
    std::optional<BranchInfo> branch;
    session.branch(run, 0, 0, step,
                   [&](std::variant<BranchInfo, Error> answer) { branch = std::get<BranchInfo>(answer); });
    QCOMPARE(session.draft().text(), QStringLiteral("Title\r\n") + frame.shownText() + QStringLiteral("\r\nEnd"));
    QVERIFY(waitFor([&] { return branch.has_value(); }));
    QVERIFY(branch->revision > 1);
}

} // namespace

/// A run's steps: what each shows, what is held between two, and how to come back to one.
class TestDraftRunSteps : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cellsMatchTheText_data();
    void cellsMatchTheText();
    void stepsAreTakenOneByOne();
    void wordsAreHeldWhileItRuns();
    void everyStepCanBeTakenAgain();
    void longAnswersTakeSeveralCanvases();
};

void TestDraftRunSteps::cellsMatchTheText_data()
{
    QTest::addColumn<int>("tokens");
    QTest::newRow("F022 five tokens") << 5;
    QTest::newRow("F022 all but the end") << 31;
    QTest::newRow("F022 exactly a canvas") << 32;
}

void TestDraftRunSteps::cellsMatchTheText()
{
    QFETCH(const int, tokens);
    std::string answer = "we";
    for (int i = 1; i < tokens; ++i)
        answer += " of";
    EditingBench bench({.answer = [answer](const std::string &) {
        return answer;
    }});
    DraftSession &session = bench.open(QStringLiteral("some words to change"));
    const QString run = start(session, rewrite({0, 20}));
    QVERIFY(waitFor([&] {
        const std::optional<Frame> frame = session.newestFrame(run, 0);
        return (frame && frame->canvas == 0 && frame->last) || hasEnded(session.run(run).state);
    }));
    session.historyFrame(run, 0, 0, session.settledPieces(run, 0).front().steps, [&](std::variant<Frame, Error> found) {
        const Frame frame = std::get<Frame>(found);
        QCOMPARE(frame.positions(), 32);
        QCOMPARE(frame.marks.size(), 32);
        QCOMPARE(frame.entropy.size(), std::size_t{32});
        QCOMPARE(frame.showBegin, 0);
        QCOMPARE(frame.showEnd, tokens);
        QCOMPARE(frame.marks.count('-'), 32 - tokens);
        QCOMPARE(frame.shownText(), QString::fromStdString(answer));
        for (int i = tokens; i < 32; ++i)
            QVERIFY(frame.text[static_cast<std::size_t>(i)].isEmpty());
    });
    if (!hasEnded(session.run(run).state))
        session.stopRun(run, DraftSession::Stop::Restore);
}

void TestDraftRunSteps::stepsAreTakenOneByOne()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    const QString run = startPaused(session, rewrite({0, 14}));
    QCOMPARE(session.run(run).state, RunState::Paused);
    for (int step = 1; step <= 3; ++step) {
        session.stepRun(run);
        QVERIFY(waitFor([&] {
            const std::optional<Frame> frame = session.newestFrame(run, 0);
            return frame && frame->step == step;
        }));
        QTest::qWait(0);
        QCOMPARE(session.newestFrame(run, 0)->step, step);
        QCOMPARE(session.run(run).state, RunState::Paused);
    }
    session.resumeRun(run);
    QCOMPARE(waitForEnd(session, run).state, RunState::Done);
}

void TestDraftRunSteps::wordsAreHeldWhileItRuns()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know where it is."));
    const QString run = startPaused(session, rewrite({0, 26}));
    QVERIFY(stepOnce(session, run));
    const PositionAlternatives alternatives = session.alternatives(run, 0, 0, 3);
    QVERIFY(alternatives.choices.size() > 1);
    QVERIFY(alternatives.choices.front().probability >= alternatives.choices[1].probability);
    const std::vector<std::int64_t> held = session.holdWord(run, 0, 0, 3, true);
    QVERIFY(!held.empty());
    const QString word = session.newestFrame(run, 0)->text[3];
    session.hold(run, 0, 0, {{.position = 5, .id = alternatives.choices.front().id}});
    session.resumeRun(run);
    waitForEnd(session, run);
    const Frame last = *session.newestFrame(run, 0);
    QCOMPARE(last.text[3], word);
    QCOMPARE(last.marks.at(3), '#');
    QCOMPARE(last.marks.at(5), '#');
    QCOMPARE(last.text[5], alternatives.choices.front().text);
    QVERIFY_EXCEPTION_THROWN(session.holdWord(run, 0, 0, 3, false), Error);     // it has ended
    QVERIFY_EXCEPTION_THROWN((void)session.alternatives(run, 0, 0, 99), Error); // no such position
    QVERIFY_EXCEPTION_THROWN((void)session.alternatives(run, 0, 0, 3, 99), Error);
    QVERIFY_EXCEPTION_THROWN((void)session.alternatives(QStringLiteral("x"), 0, 0, 3), Error);
}

void TestDraftRunSteps::everyStepCanBeTakenAgain()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    const QString text = QStringLiteral("Title\r\nWe don't know where it is.\r\nEnd");
    DraftSession *session = &bench.open(text);
    const QString run = start(*session, rewrite(spanOf(*session, QStringLiteral("We don't know where it is."))));
    const RunInfo info = waitForEnd(*session, run);
    RunCurves curves;
    session->history(run, [&](std::variant<RunCurves, Error> answer) { curves = std::get<RunCurves>(answer); });
    const int steps = curves.front().front().steps;
    QVERIFY(steps > 2);
    std::vector<Frame> frames;
    for (int step = 1; step <= steps; ++step) {
        const std::optional<Frame> frame = frameOf(*session, run, step);
        QVERIFY(frame.has_value());
        frames.push_back(*frame);
        compareBranch(*session, run, step, *frame);
        session->undo();
        QCOMPARE(session->draft().text(), text);
    }
    QVERIFY(frames[0].shownText() != frames.back().shownText());
    session->historyFrame(run, 0, 0, steps + 1, [](std::variant<Frame, Error> answer) {
        QCOMPARE(std::get<Error>(answer).kind(), ErrorKind::NotFound);
    });

    // And after a restart, from the disk: by the name that revisions and proposals know.
    QVERIFY(session->draft().proposal(info.proposal)->isOpen());
    QVERIFY(waitFor([&] { return session->saveState().saved; }));
    const QString document = session->document();
    bench.restart();
    session = bench.openAgain(document);
    QVERIFY(session != nullptr);
    const Proposal *proposal = session->draft().proposal(info.proposal);
    QVERIFY(proposal != nullptr);
    QVERIFY(proposal->isOpen());
    for (int step = 1; step <= steps; ++step) {
        const std::optional<Frame> again = frameOf(*session, proposal->run, step);
        QVERIFY(again.has_value());
        const Frame &before = frames[static_cast<std::size_t>(step) - 1];
        QCOMPARE(again->shownText(), before.shownText());
        QCOMPARE(again->marks, before.marks);
        QCOMPARE(again->last, before.last);
    }
    compareBranch(*session, proposal->run, 1, frames.front());
}

void TestDraftRunSteps::longAnswersTakeSeveralCanvases()
{
    std::string words;
    for (int i = 0; i < 40; ++i)
        words += " of";
    EditingBench bench({.answer = [words](const std::string &prompt) {
        return prompt.ends_with(" of") ? " it." : words;
    }});
    DraftSession &session =
        bench.open(QStringLiteral("First. ") + QStringLiteral("word ").repeated(24) + QStringLiteral("end. Last."));
    const QString run = start(session, rewrite({7, session.draft().text().size() - 6}));
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.front().canvases, 2);
    const std::vector<SettledPiece> pieces = session.settledPieces(run, 0);
    QCOMPARE(pieces.size(), std::size_t{2});
    QCOMPARE(session.draft().proposal(info.proposal)->alternatives.front().text, pieces[0].text + pieces[1].text);
    const Frame last = *session.newestFrame(run, 0);
    QCOMPARE(last.canvas, 1);
    QCOMPARE(last.shownText(), pieces[1].text);
    session.branch(run, 0, 1, 1, [](const std::variant<BranchInfo, Error> &) {});
    session.historyFrame(run, 0, 1, 1, [&](std::variant<Frame, Error> answer) {
        QCOMPARE(session.draft().text(), QStringLiteral("First. ") + pieces[0].text +
                                             std::get<Frame>(answer).shownText() + QStringLiteral(" Last."));
    });
}

QTEST_GUILESS_MAIN(TestDraftRunSteps)
#include "tst_draft_run_steps.moc"
