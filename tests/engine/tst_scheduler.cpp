// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/scheduler_bench.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::test;

class TestScheduler : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runsOneRequest();
    void eventsTellTheWholeStory();
    void batchGivesTheSameAsAlone_data();
    void batchGivesTheSameAsAlone();
    void fullQueueRefusesAndRecovers();
    void requestsStartInOrder();
    void longPromptsAreReadInChunksBetweenSteps();
    void sharedBeginningsAreNotEncodedTwice();
    void aLongerConversationReusesTheShorterOne();
    void reuseFallsBackToWhatCanBeRestored();
    void reuseChangesNothing();
    void cacheOfNoBytesIsOff();
    void twoThreadsSubmitAtOnce();
    void aThousandTinyRequests();
};

void TestScheduler::runsOneRequest()
{
    Bench bench(settlingModel(64));
    const GenerationResult result = bench.scheduler->run(requestFor(3));
    QCOMPARE(result.finish, FinishReason::Budget);
    QCOMPARE(result.tokens.size(), std::size_t{20});
    QCOMPARE(result.canvases.size(), std::size_t{3}); // 8 positions each
    QCOMPARE(result.promptTokens, 5);
    QCOMPARE(result.reusedPromptTokens, 0);
    QCOMPARE(result.seed, std::uint64_t{3});
    QCOMPARE(bench.log->counts().encodedTokens, 5 + 8 + 8); // the last canvas is not needed in the cache
    QVERIFY(result.queueMs >= 0.0 && result.prefillMs >= 0.0 && result.denoiseMs > 0.0);
    QVERIFY(result.firstDraftMs > 0.0 && result.firstDraftMs <= result.queueMs + result.prefillMs + result.denoiseMs);
    const SchedulerStatus status = bench.scheduler->status();
    QCOMPARE(status.running, 0);
    QCOMPARE(status.waiting, 0);
    QCOMPARE(status.stepsDone, bench.log->counts().denoiseCalls);
    QVERIFY(status.lastStepMs >= 0.0);
}

void TestScheduler::eventsTellTheWholeStory()
{
    Bench bench(settlingModel(64));
    const auto recorder = std::make_shared<Recorder>();
    const GenerationResult result = bench.scheduler->run(requestFor(3, 600), recorder);
    const Recorder::Events events = recorder->events();

    std::vector<std::int64_t> done;
    for (const PrefillEvent &event : events.prefills) {
        QCOMPARE(event.total, 600);
        done.push_back(event.done);
    }
    QCOMPARE(done, (std::vector<std::int64_t>{256, 512, 600}));

    QCOMPARE(events.canvases.size(), result.canvases.size());
    std::size_t index = 0;
    for (std::size_t canvas = 0; canvas < result.canvases.size(); ++canvas) {
        for (int step = 1; step <= result.canvases[canvas].steps; ++step, ++index) {
            const StepEvent &event = *events.steps[index];
            QCOMPARE(event.request, result.request);
            QCOMPARE(event.canvas, static_cast<std::int64_t>(canvas));
            QCOMPARE(event.step, step);
            QCOMPARE(event.maxSteps, 48);
            QCOMPARE(event.last, step == result.canvases[canvas].steps);
            if (!event.last) {
                QCOMPARE(events.steps[index + 1]->input, event.next);
                QVERIFY(events.steps[index + 1]->elapsedMs >= event.elapsedMs);
            }
        }
        QCOMPARE(events.canvases[canvas].committed, result.canvases[canvas].committed);
        QCOMPARE(events.canvases[canvas].steps, result.canvases[canvas].steps);
        QCOMPARE(events.steps[index - 1]->argmax, result.canvases[canvas].committed);
    }
    QCOMPARE(index, events.steps.size());
}

void TestScheduler::batchGivesTheSameAsAlone_data()
{
    QTest::addColumn<int>("maxBatch");
    QTest::newRow("one at a time") << 1;
    QTest::newRow("three") << 3;
    QTest::newRow("all") << 16;
}

void TestScheduler::batchGivesTheSameAsAlone()
{
    QFETCH(int, maxBatch);
    constexpr std::uint64_t kRequests = 12;
    const auto request = [](std::uint64_t i) {
        return requestFor(i, 3 + i * 40, 5 + static_cast<std::int64_t>(i) * 4);
    };
    std::vector<GenerationResult> alone;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        alone.push_back(Bench(settlingModel(64)).scheduler->run(request(i)));
    }

    SchedulerSettings settings;
    settings.maxBatch = maxBatch;
    Bench bench(settlingModel(64), settings);
    Outcomes outcomes;
    std::vector<RequestId> ids;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        ids.push_back(bench.scheduler->submit(request(i), nullptr, outcomes.completion()).id());
    }
    for (const Outcome &outcome : outcomes.wait(kRequests)) {
        const auto &result = std::get<GenerationResult>(outcome);
        const auto index = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), result.request) - ids.begin());
        QVERIFY(sameAnswer(result, alone[index]));
    }
    QVERIFY(bench.log->counts().largestBatch <= static_cast<std::size_t>(maxBatch));
}

void TestScheduler::fullQueueRefusesAndRecovers()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&](auto) {
        gate.pass();
    };
    Bench bench(settlingModel(64), {.maxBatch = 1, .queueCapacity = 2}, {}, log);
    Outcomes outcomes;
    const auto submit = [&](std::uint64_t seed) {
        return bench.scheduler->submit(requestFor(seed), nullptr, outcomes.completion());
    };
    submit(1);
    gate.waitForArrival(1);
    RequestHandle second = submit(2);
    submit(3);
    QCOMPARE(bench.scheduler->status().running, 1);
    QCOMPARE(bench.scheduler->status().waiting, 2);
    try {
        submit(4);
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::QueueFull);
    }
    gate.open();
    outcomes.wait(3);
    submit(4);
    QCOMPARE(outcomes.wait(4).size(), std::size_t{4});
}

void TestScheduler::requestsStartInOrder()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&](auto) {
        gate.pass();
    };
    Bench bench(settlingModel(64), {.maxBatch = 1}, {}, log);
    Outcomes outcomes;
    std::vector<RequestHandle> handles;
    for (std::uint64_t i = 0; i < 4; ++i) {
        handles.push_back(bench.scheduler->submit(requestFor(i), nullptr, outcomes.completion()));
    }
    gate.waitForArrival(1);
    QCOMPARE(handles[0].queuePosition(), 0); // running
    QCOMPARE(handles[1].queuePosition(), 0); // next
    QCOMPARE(handles[2].queuePosition(), 1);
    QCOMPARE(handles[3].queuePosition(), 2);
    handles[1].cancel();
    gate.open();
    const std::deque<Outcome> all = outcomes.wait(4);
    std::vector<RequestId> finished;
    for (const Outcome &outcome : all) {
        const auto &result = std::get<GenerationResult>(outcome);
        if (result.finish != FinishReason::Cancelled) {
            finished.push_back(result.request);
        }
    }
    QCOMPARE(finished, (std::vector<RequestId>{handles[0].id(), handles[2].id(), handles[3].id()}));
    QCOMPARE(handles[3].queuePosition(), 0);
}

void TestScheduler::longPromptsAreReadInChunksBetweenSteps()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    std::atomic<int> steps = 0;
    std::atomic<int> stepsAtFirstChunk = -1;
    std::atomic<int> stepsAtLastChunk = -1;
    log->beforeDenoise = [&](auto) {
        if (++steps == 1) {
            gate.pass();
        }
    };
    log->beforeEncode = [&](std::span<const TokenId> ids, const std::stop_token &) {
        if (ids.size() == 256) {
            int none = -1;
            stepsAtFirstChunk.compare_exchange_strong(none, steps);
            stepsAtLastChunk = steps.load();
        }
    };
    Bench bench(restlessModel(64), {}, {.maxPositions = 8192}, log);
    Outcomes outcomes;
    RequestHandle running = bench.scheduler->submit(endlessRequest(), nullptr, outcomes.completion());
    gate.waitForArrival(1);
    RequestHandle reading = bench.scheduler->submit(requestFor(2, 10 * 256), nullptr, outcomes.completion());
    gate.open();
    std::get<GenerationResult>(outcomes.wait(1).front());
    running.cancel();
    outcomes.wait(2);
    QCOMPARE(log->counts().largestEncode, std::size_t{256});
    QCOMPARE(stepsAtLastChunk - stepsAtFirstChunk, 9); // one step of the running canvas between two chunks
}

void TestScheduler::sharedBeginningsAreNotEncodedTwice()
{
    Bench bench(settlingModel(64));
    const GenerationResult first = bench.scheduler->run(requestFor(1, 100, 8));
    QCOMPARE(bench.log->counts().encodedTokens, 100);
    const auto recorder = std::make_shared<Recorder>();
    const GenerationResult again = bench.scheduler->run(requestFor(1, 100, 8), recorder);
    QCOMPARE(bench.log->counts().encodedTokens, 100);
    QCOMPARE(again.reusedPromptTokens, 100);
    QVERIFY(sameAnswer(first, again));
    QCOMPARE(recorder->events().prefills.size(), std::size_t{1});
    QCOMPARE(recorder->events().prefills[0].reused, 100);
    QCOMPARE(recorder->events().prefills[0].done, 100);

    GenerationRequest other = requestFor(1, 120, 8);
    other.prompt[60] = other.prompt[60] == 0 ? 1 : 0;
    QCOMPARE(bench.scheduler->run(other).reusedPromptTokens, 60);
    QCOMPARE(bench.log->counts().encodedTokens, 160);
}

void TestScheduler::aLongerConversationReusesTheShorterOne()
{
    Bench bench(settlingModel(64));
    const GenerationRequest first = requestFor(1, 50, 24);
    const GenerationResult answer = bench.scheduler->run(first);
    GenerationRequest next = first;
    next.prompt.insert(next.prompt.end(), answer.tokens.begin(), answer.tokens.end());
    next.prompt.insert(next.prompt.end(), {1, 2, 3, 4});
    const std::int64_t before = bench.log->counts().encodedTokens;
    // Prompt and all canvases but the last were in the cache.
    QCOMPARE(bench.scheduler->run(next).reusedPromptTokens, 50 + 16);
    QVERIFY(bench.log->counts().encodedTokens - before >= 8 + 4);
}

void TestScheduler::reuseFallsBackToWhatCanBeRestored()
{
    // Sliding layers: 6 tokens back at most. The longest common beginning (60 of 100) cannot be restored from the long
    // snapshot, but the snapshot of another prompt that ends at 40 can.
    Bench bench(settlingModel(64), {}, {.forkReach = 6});
    GenerationRequest base = requestFor(1, 40, 8);
    GenerationRequest longer = requestFor(1, 100, 8);
    (void)bench.scheduler->run(base);
    QCOMPARE(bench.scheduler->run(longer).reusedPromptTokens, 40);
    GenerationRequest other = longer;
    other.prompt[60] = other.prompt[60] == 0 ? 1 : 0;
    const GenerationResult result = bench.scheduler->run(other);
    QCOMPARE(result.reusedPromptTokens, 40);
    QVERIFY(bench.log->counts().refusedForks > 0);
    QVERIFY(sameAnswer(result, Bench(settlingModel(64)).scheduler->run(other)));
}

void TestScheduler::reuseChangesNothing()
{
    Bench bench(settlingModel(64), {.prefixCacheBytes = 300});
    for (std::uint64_t i = 0; i < 40; ++i) {
        GenerationRequest request = requestFor(i % 3, 20 + i % 7, 20);
        request.seed = i;
        QVERIFY(sameAnswer(bench.scheduler->run(request), Bench(settlingModel(64)).scheduler->run(request)));
    }
    QVERIFY(bench.log->counts().forks > 0);
}

void TestScheduler::cacheOfNoBytesIsOff()
{
    Bench bench(settlingModel(64), {.prefixCacheBytes = 0});
    (void)bench.scheduler->run(requestFor(1));
    QCOMPARE(bench.scheduler->run(requestFor(1)).reusedPromptTokens, 0);
    QCOMPARE(bench.log->counts().forks, 0);
}

void TestScheduler::twoThreadsSubmitAtOnce()
{
    std::vector<GenerationResult> alone;
    for (std::uint64_t i = 0; i < 2; ++i) {
        alone.push_back(Bench(settlingModel(64)).scheduler->run(requestFor(i)));
    }
    Bench bench(settlingModel(64), {.queueCapacity = 1000});
    std::atomic<int> same = 0;
    const auto work = [&](std::uint64_t i) {
        for (int round = 0; round < 50; ++round) {
            same += sameAnswer(bench.scheduler->run(requestFor(i)), alone[i]) ? 1 : 0;
        }
    };
    std::thread first(work, 0);
    std::thread second(work, 1);
    first.join();
    second.join();
    QCOMPARE(same.load(), 100);
}

void TestScheduler::aThousandTinyRequests()
{
    Bench bench(settlingModel(64), {.queueCapacity = 1000, .prefixCacheBytes = 2000});
    Outcomes outcomes;
    constexpr std::size_t kRequests = 1000;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        RequestHandle handle = bench.scheduler->submit(requestFor(i, 1 + i % 9, 1), nullptr, outcomes.completion());
        if (i % 10 == 9) {
            handle.cancel();
        }
    }
    std::size_t complete = 0;
    for (const Outcome &outcome : outcomes.wait(kRequests)) {
        complete += std::get<GenerationResult>(outcome).finish == FinishReason::Budget ? 1 : 0;
    }
    QVERIFY(complete >= 900);
    QCOMPARE(outcomes.count(), kRequests);
    QCOMPARE(bench.log->counts().largestBatch, std::size_t{8});
    QCOMPARE(bench.scheduler->status().running, 0);
}

QTEST_GUILESS_MAIN(TestScheduler)
#include "tst_scheduler.moc"
