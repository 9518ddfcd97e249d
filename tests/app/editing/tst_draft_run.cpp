// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft_session.h"
#include "tests/app/editing/editing_bench.h"

#include <QSignalSpy>
#include <QTest>

#include <atomic>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

/// How runs end: by themselves, stopped, failed, at the cap; and how many wait for each other.
class TestDraftRun : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stopRestores();
    void stopKeepsWhatHasSettled();
    void aFailureKeepsTheText();
    void theStepCapIsTold();
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
    const QString run = startPaused(session, rewrite({0, session.draft().text().size()}));
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
