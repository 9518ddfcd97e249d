// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/scheduler_bench.h"

#include <QTest>

#include <string>

using namespace palimpsest;
using namespace palimpsest::test;

class TestSchedulerControl : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cancelWhileWaiting();
    void cancelDuringPrefill();
    void cancelBetweenSteps();
    void cancelTwiceAndAfterTheEnd();
    void cancelledCanvasesAreReported();
    void pauseStepAndResume();
    void startsPausedButReadsThePrompt();
    void freezeReachesTheRunningCanvas();
    void freezeOutOfRangeIsRefusedAtOnce();
};

void TestSchedulerControl::cancelWhileWaiting()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&](auto) {
        gate.pass();
    };
    Bench bench(restlessModel(64), {.maxBatch = 1}, {}, log);
    Outcomes first;
    Outcomes second;
    RequestHandle running = bench.scheduler->submit(endlessRequest(), nullptr, first.completion());
    gate.waitForArrival(1);
    RequestHandle waiting = bench.scheduler->submit(requestFor(2), nullptr, second.completion());
    waiting.cancel();
    gate.permit(1); // one step of the running one, no more
    const auto result = std::get<GenerationResult>(second.wait(1).front());
    QCOMPARE(result.finish, FinishReason::Cancelled);
    QVERIFY(result.tokens.empty());
    QCOMPARE(first.count(), std::size_t{0});
    running.cancel();
    gate.open();
    first.wait(1);
}

void TestSchedulerControl::cancelDuringPrefill()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    bool sawStop = false;
    log->beforeEncode = [&](auto, const std::stop_token &stop) {
        gate.pass();
        sawStop = stop.stop_requested();
    };
    Bench bench(settlingModel(64), {}, {}, log);
    Outcomes outcomes;
    const auto recorder = std::make_shared<Recorder>();
    RequestHandle handle = bench.scheduler->submit(requestFor(1, 900), recorder, outcomes.completion());
    gate.waitForArrival(1);
    handle.cancel();
    gate.permit(1);
    const auto result = std::get<GenerationResult>(outcomes.wait(1).front());
    QCOMPARE(result.finish, FinishReason::Cancelled);
    QVERIFY(sawStop); // the backend could stop within the chunk
    QCOMPARE(log->counts().encodedTokens, 0);
    QVERIFY(recorder->events().steps.empty());
    gate.open();
    QCOMPARE(bench.scheduler->run(requestFor(1, 900)).reusedPromptTokens, 0);
}

void TestSchedulerControl::cancelBetweenSteps()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&](auto) {
        gate.pass();
    };
    Bench bench(restlessModel(64), {}, {}, log);
    Outcomes outcomes;
    RequestHandle handle = bench.scheduler->submit(endlessRequest(), nullptr, outcomes.completion());
    gate.permit(3);
    gate.waitForArrival(4);
    handle.cancel();
    gate.permit(1); // the step in flight; if there were another one, the gate would hold it
    QCOMPARE(std::get<GenerationResult>(outcomes.wait(1).front()).finish, FinishReason::Cancelled);
    QCOMPARE(log->counts().denoiseCalls, 4);
    QCOMPARE(bench.scheduler->status().running, 0);
}

void TestSchedulerControl::cancelTwiceAndAfterTheEnd()
{
    Bench bench(restlessModel(64));
    Outcomes outcomes;
    RequestHandle handle = bench.scheduler->submit(endlessRequest(), nullptr, outcomes.completion());
    RequestHandle copy = handle;
    handle.cancel();
    copy.cancel();
    outcomes.wait(1);
    handle.cancel();
    handle.pause();
    handle.step();
    handle.resume();
    handle.freeze(0, {{0, 1}});
    GenerationRequest brief = requestFor(2);
    brief.sampler.maxDenoisingSteps = 2;
    (void)bench.scheduler->run(brief); // a whole other request later nothing has come twice
    QCOMPARE(outcomes.count(), std::size_t{1});
}

void TestSchedulerControl::cancelledCanvasesAreReported()
{
    Bench bench(restlessModel(64));
    Outcomes outcomes;
    const auto recorder = std::make_shared<Recorder>();
    GenerationRequest request = endlessRequest();
    RequestHandle handle = bench.scheduler->submit(request, recorder, outcomes.completion());
    recorder->waitForSteps(2);
    handle.cancel();
    const auto result = std::get<GenerationResult>(outcomes.wait(1).front());
    const Recorder::Events events = recorder->events();
    QCOMPARE(events.canvases.size(), std::size_t{1});
    QCOMPARE(events.canvases[0].stop, CanvasStop::Cancelled);
    QCOMPARE(events.canvases[0].steps, static_cast<int>(events.steps.size()));
    QVERIFY(events.canvases[0].committed.empty());
    QVERIFY(result.canvases.empty());
}

void TestSchedulerControl::pauseStepAndResume()
{
    Bench bench(restlessModel(64));
    Outcomes outcomes;
    const auto recorder = std::make_shared<Recorder>();
    GenerationRequest request = endlessRequest();
    request.startPaused = true;
    RequestHandle handle = bench.scheduler->submit(request, recorder, outcomes.completion());
    for (std::size_t steps = 1; steps <= 3; ++steps) {
        handle.step();
        recorder->waitForSteps(steps);
        // Another request runs from beginning to end meanwhile: the paused one has not moved.
        GenerationRequest other = requestFor(steps, 5, 8);
        other.sampler.maxDenoisingSteps = 5;
        (void)bench.scheduler->run(other);
        QCOMPARE(recorder->events().steps.size(), steps);
    }
    handle.step();
    handle.step();
    recorder->waitForSteps(5);
    handle.resume();
    recorder->waitForSteps(50);
    handle.pause();
    handle.step(); // each order counts, whatever was in flight
    handle.cancel();
    QCOMPARE(std::get<GenerationResult>(outcomes.wait(1).front()).finish, FinishReason::Cancelled);
}

void TestSchedulerControl::startsPausedButReadsThePrompt()
{
    Bench bench(settlingModel(64));
    Outcomes outcomes;
    GenerationRequest request = requestFor(1);
    request.startPaused = true;
    RequestHandle handle = bench.scheduler->submit(request, nullptr, outcomes.completion());
    (void)bench.scheduler->run(requestFor(2));
    QCOMPARE(outcomes.count(), std::size_t{0});
    handle.resume();
    const auto result = std::get<GenerationResult>(outcomes.wait(1).front());
    request.startPaused = false;
    QVERIFY(sameAnswer(result, Bench(settlingModel(64)).scheduler->run(request)));
}

void TestSchedulerControl::freezeReachesTheRunningCanvas()
{
    Bench bench(settlingModel(64));
    Outcomes outcomes;
    const auto recorder = std::make_shared<Recorder>();
    GenerationRequest request = requestFor(1);
    request.startPaused = true;
    RequestHandle handle = bench.scheduler->submit(request, recorder, outcomes.completion());
    handle.step();
    recorder->waitForSteps(1);
    handle.freeze(0, {{2, 33}, {7, 34}});
    handle.freeze(1, {{0, 35}}); // not the running canvas: ignored
    handle.resume();
    const auto result = std::get<GenerationResult>(outcomes.wait(1).front());
    QCOMPARE(result.canvases[0].committed[2], 33);
    QCOMPARE(result.canvases[0].committed[7], 34);
    const Recorder::Events events = recorder->events();
    QVERIFY(events.steps[0]->frozen.empty());
    QCOMPARE(events.steps[1]->frozen, (std::vector<std::uint8_t>{0, 0, 1, 0, 0, 0, 0, 1}));
    QCOMPARE(events.steps[1]->input[2], 33);
    for (const auto &step : events.steps) {
        QCOMPARE(step->frozen.empty(), step->canvas != 0 || step->step == 1);
    }
}

void TestSchedulerControl::freezeOutOfRangeIsRefusedAtOnce()
{
    Bench bench(restlessModel(64));
    Outcomes outcomes;
    RequestHandle handle = bench.scheduler->submit(endlessRequest(), nullptr, outcomes.completion());
    QVERIFY_EXCEPTION_THROWN(handle.freeze(0, {{8, 1}}), Error);
    QVERIFY_EXCEPTION_THROWN(handle.freeze(0, {{-1, 1}}), Error);
    QVERIFY_EXCEPTION_THROWN(handle.freeze(0, {{0, 64}}), Error);
    QVERIFY_EXCEPTION_THROWN(handle.freeze(0, {{0, -1}}), Error);
    handle.freeze(-1, {{99, 1}});
    handle.freeze(1000, {{99, 1}});
    handle.cancel();
    QCOMPARE(std::get<GenerationResult>(outcomes.wait(1).front()).finish, FinishReason::Cancelled);
}

QTEST_GUILESS_MAIN(TestSchedulerControl)
#include "tst_scheduler_control.moc"
