// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "app/editing/utf8_text.h"
#include "tests/app/editing/editing_bench.h"

#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

namespace {

TextSpan spanOf(const DraftSession &session, const QString &words)
{
    const qsizetype start = session.draft().text().indexOf(words);
    return {start, start + words.size()};
}

RunWish rewrite(TextSpan span)
{
    RunWish wish;
    wish.action = RunAction::Rewrite;
    wish.span = span;
    wish.instruction = QStringLiteral("Make this more formal");
    wish.seed = 7;
    return wish;
}

QString start(DraftSession &session, const RunWish &wish)
{
    return session.startRun(1, session.draft().version(), wish);
}

/// Proofreads by a table; the prompt ends with the passage.
std::string corrected(const std::string &prompt)
{
    const std::size_t blank = prompt.find("\n\n");
    QString text = QString::fromStdString(blank == std::string::npos ? prompt : prompt.substr(blank + 2));
    const qsizetype turn = text.indexOf(QStringLiteral("\n"));
    text = text.left(turn < 0 ? text.size() : turn);
    text.replace(QStringLiteral("teh"), QStringLiteral("the"));
    text.replace(QStringLiteral("recieved"), QStringLiteral("received"));
    text.replace(QStringLiteral("cobalt"), QStringLiteral("blue"));
    return text.trimmed().toStdString();
}

} // namespace

class TestDraftRun : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stopRestores();
    void stopKeepsWhatHasSettled();
    void aFailureKeepsTheText();
    void typingElsewhereGoesOn();
    void typingInsideIsHeldTo();
    void aPassageThatIsTypedInIsLeftAlone();
    void deletingTheSpanStopsTheRun();
    void theStepCapIsTold();
    void cellsMatchTheText_data();
    void cellsMatchTheText();
    void stepsAreTakenOneByOne();
    void wordsAreHeldWhileItRuns();
    void everyStepCanBeTakenAgain();
    void longAnswersTakeSeveralCanvases();
    void aFullQueueIsWaitedFor();
    void manyPassagesAreToldTogether();
    void aModelThatGoesEndsTheRun();
};

// F099: at any time, and twice.
void TestDraftRun::stopRestores()
{
    EditingBench bench({.steps = 1000});
    const QString text = QStringLiteral("We don't know. And more.");
    DraftSession &session = bench.open(text);
    RunWish wish = rewrite({0, 14});
    wish.sampler.maxSteps = kMostDenoisingSteps;
    for (const int steps : {0, 1, 5}) {
        const QString run = start(session, wish);
        QVERIFY(waitFor([&] {
            const std::optional<Frame> frame = session.newestFrame(run, 0);
            return steps == 0 || (frame && frame->step >= steps);
        }));
        session.stopRun(run, DraftSession::Stop::Restore);
        QCOMPARE(session.run(run).state, RunState::Stopped); // at once
        QVERIFY(session.run(run).proposal.isEmpty());
        try {
            session.stopRun(run, DraftSession::Stop::Restore);
            QFAIL("stopped twice");
        } catch (const Error &error) {
            QCOMPARE(QByteArray(error.subject().c_str()), QByteArray(kStaleSubject));
        }
    }
    QCOMPARE(session.draft().text(), text);
    QVERIFY(waitFor([&] { return bench.host->model()->desk->status().running == 0; }));
}

void TestDraftRun::stopKeepsWhatHasSettled()
{
    // One position more settles with each step: half of them have after six.
    EditingBench bench(
        {.answer = [](const std::string &) { return "He does not know it and will not say."; }, .steps = 12});
    DraftSession &session = bench.open(QStringLiteral("He doesn't know it and won't say."));
    RunWish wish = rewrite({0, session.draft().text().size()});
    wish.paused = true;
    const QString run = start(session, wish);
    for (int step = 1; step <= 6; ++step) {
        session.stepRun(run);
        QVERIFY(waitFor([&] {
            const std::optional<Frame> frame = session.newestFrame(run, 0);
            return frame && frame->step == step;
        }));
    }
    session.stopRun(run, DraftSession::Stop::KeepSettled);
    const RunInfo info = session.run(run);
    QCOMPARE(info.state, RunState::Stopped);
    QVERIFY(!info.proposal.isEmpty());
    const Proposal &proposal = *session.draft().proposal(info.proposal);
    QVERIFY(!proposal.note.isEmpty());
    QCOMPARE(proposal.alternatives.front().stops.front(), CanvasStop::Cancelled);
    QVERIFY(proposal.alternatives.front().text.startsWith(QStringLiteral("He does not know it")));
    QVERIFY(proposal.alternatives.front().text.endsWith(QStringLiteral("say.")));
}

void TestDraftRun::aFailureKeepsTheText()
{
    EditingBench bench;
    std::atomic<int> calls = 0;
    bench.log->beforeDenoise = [&calls](std::span<const DenoiseJob>) {
        if (++calls == 3)
            throw Error(ErrorKind::Backend, "The device was unplugged", "device");
    };
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    const RunInfo info = waitForEnd(session, start(session, rewrite({0, 14})));
    QCOMPARE(info.state, RunState::Failed);
    QCOMPARE(info.problem, QStringLiteral("The device was unplugged"));
    QVERIFY(info.proposal.isEmpty());
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know."));
    // And the next one goes on as if nothing had been.
    const RunInfo next = waitForEnd(session, start(session, rewrite({0, 14})));
    QCOMPARE(next.state, RunState::Done);
}

// F094
void TestDraftRun::typingElsewhereGoesOn()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know.";
    }});
    DraftSession &session = bench.open(QStringLiteral("Title\nWe don't know.\nEnd"));
    RunWish wish = rewrite(spanOf(session, QStringLiteral("We don't know.")));
    wish.paused = true;
    const QString run = start(session, wish);
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

void TestDraftRun::typingInsideIsHeldTo()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know where it is."));
    RunWish wish = rewrite({0, 26});
    wish.paused = true;
    const QString run = start(session, wish);
    session.stepRun(run);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0).has_value(); }));
    for (const QChar letter : QStringLiteral(" really")) {
        const qsizetype at = session.draft().text().indexOf(QStringLiteral(" where"));
        session.edit(1, session.draft().version(), {{at, at}, QString(letter)}, true);
    }
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know really where it is."));
    session.stepRun(run);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0)->step >= 2; }));
    QVERIFY(session.newestFrame(run, 0)->shownText().contains(QStringLiteral("really")));
    QVERIFY(session.newestFrame(run, 0)->held > 0);
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QVERIFY2(session.draft().text().contains(QStringLiteral("really")), qPrintable(session.draft().text()));
    QVERIFY(session.draft().text().startsWith(QStringLiteral("We do not know")));
}

void TestDraftRun::aPassageThatIsTypedInIsLeftAlone()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("I recieved teh letter.\n\nAnd teh other one.\n"));
    RunWish wish;
    wish.action = RunAction::Proofread;
    wish.paused = true;
    const QString run = start(session, wish);
    const qsizetype at = session.draft().text().indexOf(QStringLiteral("letter"));
    session.edit(1, session.draft().version(), {{at, at}, QStringLiteral("long ")}, true);
    session.resumeRun(run);
    const RunInfo info = waitForEnd(session, run);
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("I recieved teh long letter.\n\nAnd the other one.\n"));
}

void TestDraftRun::deletingTheSpanStopsTheRun()
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

// F021
void TestDraftRun::theStepCapIsTold()
{
    EditingBench bench({.steps = 1000});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.action = RunAction::Renoise;
    wish.amount = NoiseAmount::Light;
    wish.sampler.maxSteps = 4;
    std::vector<SettledPiece> pieces;
    connect(&session, &DraftSession::pieceSettled, this,
            [&](const QString &, const SettledPiece &piece) { pieces.push_back(piece); });
    const QString run = start(session, wish);
    waitForEnd(session, run);
    QCOMPARE(pieces.front().stop, CanvasStop::StepCap);
    QCOMPARE(pieces.front().steps, 4);
    session.history(run, [](std::variant<RunCurves, Error> answer) {
        const CanvasCurve &curve = std::get<RunCurves>(answer).front().front();
        QCOMPARE(curve.steps, 4);
        QCOMPARE(curve.maxSteps, 4);
        QCOMPARE(*curve.stop, CanvasStop::StepCap);
        QCOMPARE(curve.meanEntropy.size(), std::size_t{4});
    });
}

void TestDraftRun::cellsMatchTheText_data()
{
    QTest::addColumn<int>("tokens");
    QTest::newRow("F022 five tokens") << 5;
    QTest::newRow("F022 all but the end") << 31;
    QTest::newRow("F022 exactly a canvas") << 32;
}

void TestDraftRun::cellsMatchTheText()
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

void TestDraftRun::stepsAreTakenOneByOne()
{
    EditingBench bench;
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.paused = true;
    const QString run = start(session, wish);
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

void TestDraftRun::wordsAreHeldWhileItRuns()
{
    EditingBench bench({.answer = [](const std::string &) {
        return "We do not know where it is.";
    }});
    DraftSession &session = bench.open(QStringLiteral("We don't know where it is."));
    RunWish wish = rewrite({0, 26});
    wish.paused = true;
    const QString run = start(session, wish);
    session.stepRun(run);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0).has_value(); }));
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

void TestDraftRun::everyStepCanBeTakenAgain()
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
        session->historyFrame(run, 0, 0, step,
                              [&](std::variant<Frame, Error> answer) { frames.push_back(std::get<Frame>(answer)); });
        const Frame &frame = frames.back();
        std::optional<BranchInfo> branch;
        session->branch(run, 0, 0, step,
                        [&](std::variant<BranchInfo, Error> answer) { branch = std::get<BranchInfo>(answer); });
        QCOMPARE(session->draft().text(), QStringLiteral("Title\r\n") + frame.shownText() + QStringLiteral("\r\nEnd"));
        QVERIFY(waitFor([&] { return branch.has_value(); }));
        QVERIFY(branch->revision > 1);
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
        std::optional<Frame> again;
        session->historyFrame(proposal->run, 0, 0, step,
                              [&](std::variant<Frame, Error> answer) { again = std::get<Frame>(answer); });
        QVERIFY(waitFor([&] { return again.has_value(); }));
        const Frame &before = frames[static_cast<std::size_t>(step) - 1];
        QCOMPARE(again->shownText(), before.shownText());
        QCOMPARE(again->marks, before.marks);
        QCOMPARE(again->last, before.last);
    }
    std::optional<BranchInfo> branch;
    session->branch(proposal->run, 0, 0, 1,
                    [&](std::variant<BranchInfo, Error> answer) { branch = std::get<BranchInfo>(answer); });
    QVERIFY(waitFor([&] { return branch.has_value(); }));
    QCOMPARE(session->draft().text(),
             QStringLiteral("Title\r\n") + frames.front().shownText() + QStringLiteral("\r\nEnd"));
}

void TestDraftRun::longAnswersTakeSeveralCanvases()
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

void TestDraftRun::aFullQueueIsWaitedFor()
{
    EditingBench bench({}, EditingBench::quick(), {.maxBatch = 1, .queueCapacity = 1});
    DraftSession &session = bench.open(QStringLiteral("The ship left before dawn."));
    RunWish fill;
    fill.action = RunAction::Fill;
    fill.span = {14, 14};
    const RunInfo info = waitForEnd(session, start(session, fill)); // four lanes, of which two find room
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    for (const LaneInfo &lane : info.lanes)
        QCOMPARE(lane.state, RunState::Done);

    std::atomic<bool> go = false;
    bench.log->beforeDenoise = [&go](std::span<const DenoiseJob>) {
        while (!go)
            std::this_thread::yield();
    };
    const QString first = start(session, rewrite({0, 26}));
    QVERIFY(waitFor([&] { return session.run(first).state != RunState::Queued; }));
    const QString second = start(session, rewrite({0, 26}));
    try {
        start(session, rewrite({0, 26}));
        QFAIL("the queue took more than it holds");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::QueueFull);
    }
    QCOMPARE(session.run(second).state, RunState::Queued);
    go = true;
    QCOMPARE(waitForEnd(session, second).state, RunState::Done);
    QCOMPARE(session.run(first).state, RunState::Done);
}

void TestDraftRun::manyPassagesAreToldTogether()
{
    EditingBench bench({.answer = corrected, .canvasLength = 64});
    DraftSession &session = bench.open(QStringLiteral("I recieved teh letter today.\n\n").repeated(40));
    QSignalSpy changes(&session, &DraftSession::runChanged);
    RunWish wish;
    wish.action = RunAction::Proofread;
    const RunInfo info = waitForEnd(session, start(session, wish));
    QVERIFY2(!info.proposal.isEmpty(), qPrintable(info.problem));
    QCOMPARE(info.lanes.size(), std::size_t{40});
    QCOMPARE(session.draft().proposal(info.proposal)->changes.size(), std::size_t{80});
    QVERIFY2(changes.count() < 60, qPrintable(QString::number(changes.count())));
    session.acceptProposal(1, info.proposal);
    QCOMPARE(session.draft().text(), QStringLiteral("I received the letter today.\n\n").repeated(40));
    session.undo();
    QCOMPARE(session.draft().text(), QStringLiteral("I recieved teh letter today.\n\n").repeated(40));
}

void TestDraftRun::aModelThatGoesEndsTheRun()
{
    EditingBench bench({.steps = 1000});
    DraftSession &session = bench.open(QStringLiteral("We don't know."));
    RunWish wish = rewrite({0, 14});
    wish.sampler.maxSteps = kMostDenoisingSteps;
    const QString run = start(session, wish);
    QVERIFY(waitFor([&] { return session.newestFrame(run, 0).has_value(); }));
    bench.host->model()->desk->close();
    const RunInfo info = waitForEnd(session, run);
    QCOMPARE(info.state, RunState::Failed);
    QVERIFY(!info.problem.isEmpty());
    QCOMPARE(session.draft().text(), QStringLiteral("We don't know."));
    QVERIFY_EXCEPTION_THROWN(start(session, wish), Error);
}

QTEST_GUILESS_MAIN(TestDraftRun)
#include "tst_draft_run.moc"
