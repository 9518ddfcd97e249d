// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/scheduler_bench.h"

#include <QTest>

#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::test;

class TestSchedulerFaults : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void requestsThatCannotRunAreRefusedAtOnce();
    void settingsOutOfRangeAreRefused();
    void failingStepEndsOnlyItsRequests();
    void failingPrefillEndsOnlyItsRequest();
    void errorsKeepTheirKind_data();
    void errorsKeepTheirKind();
    void observerThatThrowsEndsItsRequest();
    void completionMaySubmit();
    void destructorEndsEverything();
    void handlesOutliveTheScheduler();
    void nothingIsKeptAfterTheEnd();
};

void TestSchedulerFaults::requestsThatCannotRunAreRefusedAtOnce()
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

void TestSchedulerFaults::settingsOutOfRangeAreRefused()
{
    for (const SchedulerSettings &settings :
         {SchedulerSettings{0, 64, 0}, SchedulerSettings{8, -1, 0}, SchedulerSettings{8, 64, -1}}) {
        QVERIFY_EXCEPTION_THROWN(Bench(settlingModel(64), settings), Error);
    }
}

void TestSchedulerFaults::failingStepEndsOnlyItsRequests()
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

void TestSchedulerFaults::failingPrefillEndsOnlyItsRequest()
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

void TestSchedulerFaults::errorsKeepTheirKind_data()
{
    QTest::addColumn<std::function<void()>>("thrower");
    QTest::addColumn<int>("kind");
    using Thrower = std::function<void()>;
    QTest::newRow("ours") << Thrower([] { throw Error(ErrorKind::ContextLength, "too long"); })
                          << static_cast<int>(ErrorKind::ContextLength);
    QTest::newRow("memory") << Thrower([] { throw std::bad_alloc(); }) << static_cast<int>(ErrorKind::OutOfMemory);
    QTest::newRow("other") << Thrower([] { throw std::runtime_error("?"); }) << static_cast<int>(ErrorKind::Backend);
}

void TestSchedulerFaults::errorsKeepTheirKind()
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

void TestSchedulerFaults::observerThatThrowsEndsItsRequest()
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

void TestSchedulerFaults::completionMaySubmit()
{
    Bench bench(settlingModel(64));
    Outcomes outcomes;
    bench.scheduler->submit(requestFor(1), nullptr, [&](const Outcome &) {
        bench.scheduler->submit(requestFor(2), nullptr, outcomes.completion());
    });
    QVERIFY(std::holds_alternative<GenerationResult>(outcomes.wait(1).front()));
}

void TestSchedulerFaults::destructorEndsEverything()
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

void TestSchedulerFaults::handlesOutliveTheScheduler()
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

void TestSchedulerFaults::nothingIsKeptAfterTheEnd()
{
    Bench bench(settlingModel(64), {.prefixCacheBytes = 0});
    const auto recorder = std::make_shared<Recorder>();
    const std::weak_ptr<Recorder> watched = recorder;
    const GenerationResult result = bench.scheduler->run(requestFor(1), recorder);
    QCOMPARE(bench.log->counts().liveSequences, 0);
    QCOMPARE(recorder.use_count(), 1L);
}

QTEST_GUILESS_MAIN(TestSchedulerFaults)
#include "tst_scheduler_faults.moc"
