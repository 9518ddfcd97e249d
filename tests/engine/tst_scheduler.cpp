// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scheduler.h"
#include "tests/support/fake_backend.h"

#include <QTest>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

using Ids = std::vector<TokenId>;
using Outcome = std::variant<GenerationResult, Error>;

/// Holds a thread at a place of the test's choosing: `pass` waits for a permit, `waitForArrival` until it does so.
class Gate
{
public:
    void pass()
    {
        std::unique_lock lock(m_mutex);
        ++m_arrived;
        m_changed.notify_all();
        m_changed.wait(lock, [this] { return m_open || m_permits > 0; });
        m_permits -= m_open ? 0 : 1;
    }
    void waitForArrival(int count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_arrived >= count; });
    }
    void permit(int count)
    {
        const std::lock_guard lock(m_mutex);
        m_permits += count;
        m_changed.notify_all();
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_arrived = 0;
    int m_permits = 0;
    bool m_open = false;
};

/// Collects outcomes of several requests, in order of completion.
class Outcomes
{
public:
    Scheduler::Completion completion()
    {
        return [this](Outcome outcome) {
            const std::lock_guard lock(m_mutex);
            m_all.push_back(std::move(outcome));
            m_changed.notify_all();
        };
    }
    /// The outcomes once there are `count`.
    std::deque<Outcome> wait(std::size_t count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_all.size() >= count; });
        return m_all;
    }
    std::size_t count() const
    {
        const std::lock_guard lock(m_mutex);
        return m_all.size();
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Outcome> m_all;
};

class Recorder : public GenerationObserver
{
public:
    struct Events
    {
        std::vector<PrefillEvent> prefills;
        std::vector<std::shared_ptr<const StepEvent>> steps;
        std::vector<CanvasEvent> canvases;
    };
    void onPrefill(const PrefillEvent &event) override
    {
        change([&] { m_events.prefills.push_back(event); });
    }
    void onStep(const std::shared_ptr<const StepEvent> &event) override
    {
        change([&] { m_events.steps.push_back(event); });
    }
    void onCanvas(const CanvasEvent &event) override
    {
        change([&] { m_events.canvases.push_back(event); });
    }
    Events events() const
    {
        const std::lock_guard lock(m_mutex);
        return m_events;
    }
    void waitForSteps(std::size_t count)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_events.steps.size() >= count; });
    }

private:
    template <typename Change>
    void change(Change &&apply)
    {
        const std::lock_guard lock(m_mutex);
        apply();
        m_changed.notify_all();
    }

    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    Events m_events;
};

/// A scheduler over a fake, with its log.
struct Bench
{
    explicit Bench(FakeModel model, SchedulerSettings settings = {}, FakeSettings fake = {},
                   std::shared_ptr<FakeLog> theLog = std::make_shared<FakeLog>())
        : log(std::move(theLog)),
          scheduler(std::make_unique<Scheduler>(std::make_unique<FakeBackend>(fake, std::move(model), log), nullptr,
                                                settings))
    {
    }

    std::shared_ptr<FakeLog> log;
    std::unique_ptr<Scheduler> scheduler;
};

GenerationRequest requestFor(std::uint64_t seed, std::size_t promptTokens = 5, std::int64_t budget = 20)
{
    GenerationRequest request;
    for (std::size_t i = 0; i < promptTokens; ++i) {
        request.prompt.push_back(static_cast<TokenId>((seed * 7 + i * 13) % 64));
    }
    request.seed = seed;
    request.maxNewTokens = budget;
    return request;
}

GenerationRequest endlessRequest(std::uint64_t seed = 1)
{
    GenerationRequest request = requestFor(seed, 5, 512);
    request.sampler.maxDenoisingSteps = kMostDenoisingSteps;
    return request;
}

bool sameAnswer(const GenerationResult &a, const GenerationResult &b)
{
    if (a.tokens != b.tokens || a.finish != b.finish || a.canvases.size() != b.canvases.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.canvases.size(); ++i) {
        if (a.canvases[i].committed != b.canvases[i].committed || a.canvases[i].steps != b.canvases[i].steps ||
            a.canvases[i].meanEntropyNats != b.canvases[i].meanEntropyNats) {
            return false;
        }
    }
    return true;
}

} // namespace

class TestScheduler : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void runsOneRequest();
    void eventsTellTheWholeStory();
    void batchGivesTheSameAsAlone_data();
    void batchGivesTheSameAsAlone();
    void requestsThatCannotRunAreRefusedAtOnce();
    void settingsOutOfRangeAreRefused();
    void fullQueueRefusesAndRecovers();
    void requestsStartInOrder();
    void longPromptsAreReadInChunksBetweenSteps();
    void sharedBeginningsAreNotEncodedTwice();
    void aLongerConversationReusesTheShorterOne();
    void reuseFallsBackToWhatCanBeRestored();
    void reuseChangesNothing();
    void cacheOfNoBytesIsOff();
    void cancelWhileWaiting();
    void cancelDuringPrefill();
    void cancelBetweenSteps();
    void cancelTwiceAndAfterTheEnd();
    void cancelledCanvasesAreReported();
    void pauseStepAndResume();
    void startsPausedButReadsThePrompt();
    void freezeReachesTheRunningCanvas();
    void freezeOutOfRangeIsRefusedAtOnce();
    void failingStepEndsOnlyItsRequests();
    void failingPrefillEndsOnlyItsRequest();
    void errorsKeepTheirKind_data();
    void errorsKeepTheirKind();
    void observerThatThrowsEndsItsRequest();
    void twoThreadsSubmitAtOnce();
    void completionMaySubmit();
    void destructorEndsEverything();
    void handlesOutliveTheScheduler();
    void aThousandTinyRequests();
    void nothingIsKeptAfterTheEnd();
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

void TestScheduler::requestsThatCannotRunAreRefusedAtOnce()
{
    Bench bench(settlingModel(64));
    Outcomes outcomes;
    GenerationRequest tooLong = requestFor(1, 1000, 25);
    try {
        bench.scheduler->submit(tooLong, nullptr, outcomes.completion());
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::ContextLength);
        for (const char *number : {"1000", "25", "1024", "24"}) {
            QVERIFY2(std::string(error.what()).find(number) != std::string::npos, error.what());
        }
    }
    GenerationRequest empty = requestFor(1);
    empty.prompt.clear();
    QVERIFY_EXCEPTION_THROWN(bench.scheduler->submit(empty, nullptr, outcomes.completion()), Error);
    QVERIFY_EXCEPTION_THROWN((void)bench.scheduler->run(empty), Error);
    QCOMPARE(outcomes.count(), std::size_t{0});
}

void TestScheduler::settingsOutOfRangeAreRefused()
{
    for (const SchedulerSettings &settings :
         {SchedulerSettings{0, 64, 0}, SchedulerSettings{8, -1, 0}, SchedulerSettings{8, 64, -1}}) {
        QVERIFY_EXCEPTION_THROWN(Bench(settlingModel(64), settings), Error);
    }
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

void TestScheduler::cancelWhileWaiting()
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

void TestScheduler::cancelDuringPrefill()
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

void TestScheduler::cancelBetweenSteps()
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

void TestScheduler::cancelTwiceAndAfterTheEnd()
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

void TestScheduler::cancelledCanvasesAreReported()
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

void TestScheduler::pauseStepAndResume()
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

void TestScheduler::startsPausedButReadsThePrompt()
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

void TestScheduler::freezeReachesTheRunningCanvas()
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

void TestScheduler::freezeOutOfRangeIsRefusedAtOnce()
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

void TestScheduler::failingStepEndsOnlyItsRequests()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    std::atomic<bool> fails = false;
    log->beforeDenoise = [&](auto) {
        gate.pass();
        if (fails.exchange(false)) {
            throw Error(ErrorKind::Backend, "the device is gone", "device");
        }
    };
    Bench bench(settlingModel(64), {.maxBatch = 2}, {}, log);
    Outcomes outcomes;
    const auto submit = [&](std::uint64_t seed) {
        return bench.scheduler->submit(requestFor(seed), nullptr, outcomes.completion());
    };
    submit(1);
    gate.waitForArrival(1);
    submit(2);
    submit(3); // waits: not in the call that fails
    gate.permit(3);
    gate.waitForArrival(4); // admitted behind the first step, encoded behind the second: both are in the fourth
    fails = true;
    gate.open();
    int failed = 0;
    for (const Outcome &outcome : outcomes.wait(3)) {
        if (const auto *error = std::get_if<Error>(&outcome)) {
            ++failed;
            QCOMPARE(error->kind(), ErrorKind::Backend);
            QCOMPARE(QString::fromUtf8(error->what()), QStringLiteral("the device is gone"));
        } else {
            QVERIFY(sameAnswer(std::get<GenerationResult>(outcome),
                               Bench(settlingModel(64)).scheduler->run(requestFor(3))));
        }
    }
    QCOMPARE(failed, 2);
}

void TestScheduler::failingPrefillEndsOnlyItsRequest()
{
    const auto log = std::make_shared<FakeLog>();
    log->beforeEncode = [](std::span<const TokenId> ids, const std::stop_token &) {
        if (ids.size() == 13) {
            throw std::runtime_error("unlucky");
        }
    };
    Bench bench(settlingModel(64), {}, {}, log);
    Outcomes outcomes;
    for (const std::size_t tokens : {12, 13, 14}) {
        bench.scheduler->submit(requestFor(tokens, tokens), nullptr, outcomes.completion());
    }
    int failed = 0;
    for (const Outcome &outcome : outcomes.wait(3)) {
        failed += std::holds_alternative<Error>(outcome) ? 1 : 0;
    }
    QCOMPARE(failed, 1);
}

void TestScheduler::errorsKeepTheirKind_data()
{
    QTest::addColumn<std::function<void()>>("thrower");
    QTest::addColumn<int>("kind");
    using Thrower = std::function<void()>;
    QTest::newRow("ours") << Thrower([] { throw Error(ErrorKind::ContextLength, "too long"); })
                          << static_cast<int>(ErrorKind::ContextLength);
    QTest::newRow("memory") << Thrower([] { throw std::bad_alloc(); }) << static_cast<int>(ErrorKind::OutOfMemory);
    QTest::newRow("other") << Thrower([] { throw std::runtime_error("?"); }) << static_cast<int>(ErrorKind::Backend);
}

void TestScheduler::errorsKeepTheirKind()
{
    QFETCH(std::function<void()>, thrower);
    QFETCH(int, kind);
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&](auto) {
        thrower();
    };
    Bench bench(settlingModel(64), {}, {}, log);
    try {
        (void)bench.scheduler->run(requestFor(1));
        QFAIL("no error");
    } catch (const Error &error) {
        QCOMPARE(static_cast<int>(error.kind()), kind);
    }
}

void TestScheduler::observerThatThrowsEndsItsRequest()
{
    class Thrower : public GenerationObserver
    {
    public:
        void onStep(const std::shared_ptr<const StepEvent> &) override { throw std::runtime_error("no more paper"); }
    };
    Bench bench(settlingModel(64));
    Outcomes outcomes;
    bench.scheduler->submit(requestFor(1), std::make_shared<Thrower>(), outcomes.completion());
    bench.scheduler->submit(requestFor(2), nullptr, outcomes.completion());
    const std::deque<Outcome> all = outcomes.wait(2);
    QVERIFY(std::string(std::get<Error>(all[0]).what()).find("no more paper") != std::string::npos);
    QVERIFY(std::holds_alternative<GenerationResult>(all[1]));
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

void TestScheduler::completionMaySubmit()
{
    Bench bench(settlingModel(64));
    Outcomes outcomes;
    bench.scheduler->submit(requestFor(1), nullptr, [&](const Outcome &) {
        bench.scheduler->submit(requestFor(2), nullptr, outcomes.completion());
    });
    QVERIFY(std::holds_alternative<GenerationResult>(outcomes.wait(1).front()));
}

void TestScheduler::destructorEndsEverything()
{
    Gate gate;
    const auto log = std::make_shared<FakeLog>();
    log->beforeDenoise = [&](auto) {
        gate.pass();
    };
    Bench bench(restlessModel(64), {.maxBatch = 2}, {}, log);
    Outcomes outcomes;
    for (std::uint64_t i = 0; i < 5; ++i) {
        bench.scheduler->submit(endlessRequest(i), nullptr, outcomes.completion());
    }
    gate.waitForArrival(1);
    std::thread destroyer([&] { bench.scheduler.reset(); });
    gate.open();
    destroyer.join();
    QCOMPARE(outcomes.count(), std::size_t{5});
    for (const Outcome &outcome : outcomes.wait(5)) {
        QCOMPARE(std::get<GenerationResult>(outcome).finish, FinishReason::Cancelled);
    }
    QCOMPARE(log->counts().liveSequences, 0);
}

void TestScheduler::handlesOutliveTheScheduler()
{
    Bench bench(restlessModel(64));
    Outcomes outcomes;
    RequestHandle handle = bench.scheduler->submit(endlessRequest(), nullptr, outcomes.completion());
    bench.scheduler.reset();
    handle.cancel();
    handle.pause();
    handle.step();
    handle.freeze(0, {{0, 1}});
    QCOMPARE(handle.queuePosition(), 0);
    QCOMPARE(outcomes.count(), std::size_t{1});
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

void TestScheduler::nothingIsKeptAfterTheEnd()
{
    Bench bench(settlingModel(64), {.prefixCacheBytes = 0});
    const auto recorder = std::make_shared<Recorder>();
    const std::weak_ptr<Recorder> watched = recorder;
    const GenerationResult result = bench.scheduler->run(requestFor(1), recorder);
    QCOMPARE(bench.log->counts().liveSequences, 0);
    QCOMPARE(recorder.use_count(), 1L);
}

QTEST_GUILESS_MAIN(TestScheduler)
#include "tst_scheduler.moc"
