// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/request_desk.h"
#include "tests/app/desk_bench.h"
#include "tests/support/scheduler_bench.h"

#include <QTest>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>

using namespace palimpsest;
using namespace palimpsest::test;

/// Whose turn it is, how many at a time, and how many may wait.
class TestRequestDesk : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void clientsTakeTurns();
    void positionsTellWhatComesBefore();
    void aFullQueueRefusesF057();
    void batchesFormAndAreNotExceeded();
    void refusesBadRequestsAtOnce();
    void closingEndsEverythingOnce();
    void manyThreadsAtOnce();
    void everyRunIsCounted();
};

void TestRequestDesk::clientsTakeTurns()
{
    DeskBench bench({.maxBatch = 1});
    Ends ends;
    for (const char *name : {"a0", "a1", "a2", "a3"})
        bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of(name));
    for (const char *name : {"b0", "b1"})
        bench.desk->submit("b", requestFor(2, 5, 8), nullptr, ends.of(name));
    bench.desk->submit("c", requestFor(3, 5, 8), nullptr, ends.of("c0"));
    bench.gate.open();
    QCOMPARE(ends.wait(7), (std::vector<std::string>{"a0", "a1", "b0", "c0", "a2", "b1", "a3"}));
}

void TestRequestDesk::positionsTellWhatComesBefore()
{
    DeskBench bench({.maxBatch = 1});
    Ends ends;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::vector<int>> told;
    const auto teller = [&](const std::string &name) {
        return [&, name](int position) {
            const std::lock_guard lock(mutex);
            told[name].push_back(position);
            changed.notify_all();
        };
    };
    bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of("a0"));
    std::vector<Ticket> tickets;
    for (const char *name : {"a1", "a2", "a3"})
        tickets.push_back(bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of(name), teller(name)));
    QCOMPARE(tickets[2].queuePosition(), 2);
    QVERIFY(tickets[2].waiting());
    tickets.push_back(bench.desk->submit("b", requestFor(2, 5, 8), nullptr, ends.of("b0"), teller("b0")));
    QCOMPARE(tickets[0].queuePosition(), 0);
    QCOMPARE(tickets[3].queuePosition(), 1);
    QCOMPARE(tickets[1].queuePosition(), 2); // b comes between
    QCOMPARE(tickets[2].queuePosition(), 3);
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return !told["b0"].empty() && !told["a3"].empty() && told["a3"].back() == 3; });
        QCOMPARE(told["b0"].front(), 1);
    }
    tickets[0].cancel();
    QCOMPARE(tickets[2].queuePosition(), 2);
    bench.gate.open();
    ends.wait(5);
    QCOMPARE(tickets[2].queuePosition(), 0);
    QVERIFY(!tickets[2].waiting());
}

void TestRequestDesk::aFullQueueRefusesF057()
{
    DeskBench bench({.maxBatch = 2, .queueCapacity = 3});
    Ends ends;
    for (int i = 0; i < 5; ++i)
        bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of(std::to_string(i)));
    QCOMPARE(refusalOf([&] { bench.desk->submit("b", requestFor(2), nullptr, ends.of("b")); }), ErrorKind::QueueFull);
    QVERIFY(bench.desk->secondsUntilFree() >= 1);
    QCOMPARE(bench.desk->status().waiting, 3);
    QCOMPARE(bench.desk->status().running, 2);
    bench.gate.open();
    ends.wait(5);
    bench.desk->submit("b", requestFor(2, 5, 8), nullptr, ends.of("b"));
    QCOMPARE(ends.wait(6).back(), "b");
    QCOMPARE(bench.desk->status().submitted, std::uint64_t{6});
    QCOMPARE(bench.desk->status().completed, std::uint64_t{6});

    DeskBench none({.maxBatch = 1, .queueCapacity = 0});
    none.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of("only"));
    QCOMPARE(refusalOf([&] { none.desk->submit("a", requestFor(2), nullptr, ends.of("x")); }), ErrorKind::QueueFull);
    none.gate.open();
    ends.wait(7);
}

void TestRequestDesk::batchesFormAndAreNotExceeded()
{
    DeskBench bench({.maxBatch = 3});
    Ends ends;
    bench.desk->submit("a", requestFor(1), nullptr, ends.of("first"));
    bench.gate.waitForArrival(1);
    for (int i = 0; i < 8; ++i)
        bench.desk->submit(std::to_string(i), requestFor(static_cast<std::uint64_t>(i)), nullptr, ends.of("other"));
    bench.gate.open();
    ends.wait(9);
    QCOMPARE(bench.log->counts().largestBatch, std::size_t{3});
}

void TestRequestDesk::refusesBadRequestsAtOnce()
{
    DeskBench bench({.maxBatch = 1});
    Ends ends;
    GenerationRequest empty = requestFor(1);
    empty.prompt.clear();
    QCOMPARE(refusalOf([&] { bench.desk->submit("a", empty, nullptr, ends.of("x")); }), ErrorKind::InvalidArgument);
    QCOMPARE(refusalOf([&] { bench.desk->submit("a", requestFor(1, 5, 5000), nullptr, ends.of("x")); }),
             ErrorKind::ContextLength);
    QCOMPARE(refusalOf([] { DeskBench({.maxBatch = 0}); }), ErrorKind::InvalidArgument);
    QCOMPARE(bench.desk->status().submitted, std::uint64_t{0});
    QCOMPARE(ends.count(), std::size_t{0});
}

void TestRequestDesk::closingEndsEverythingOnce()
{
    DeskBench bench({.maxBatch = 2});
    Ends ends;
    std::size_t accepted = 0;
    const auto submit = [&] {
        bench.desk->submit(std::to_string(accepted % 2), endlessRequest(), nullptr, ends.of(std::to_string(accepted)));
        ++accepted;
    };
    for (int i = 0; i < 6; ++i)
        submit();
    bench.gate.waitForArrival(1);
    std::thread closer([&] { bench.desk->close(); });
    while (refusalOf(submit) != ErrorKind::Backend) // no step is made before it closes, however late that is
        std::this_thread::yield();
    bench.gate.open();
    closer.join();
    QCOMPARE(ends.count(), accepted);
    for (std::size_t i = 0; i < accepted; ++i)
        QCOMPARE(ends.result(std::to_string(i)).finish, FinishReason::Cancelled);
    QCOMPARE(refusalOf([&] { bench.desk->submit("a", requestFor(1), nullptr, ends.of("x")); }), ErrorKind::Backend);
    QCOMPARE(bench.log->counts().liveSequences, 0);
    const DeskStatus status = bench.desk->status();
    QCOMPARE(status.running + status.waiting, 0);
    QCOMPARE(status.completed, status.submitted);
    bench.desk->close();
}

void TestRequestDesk::manyThreadsAtOnce()
{
    DeskBench bench({.maxBatch = 4, .queueCapacity = 12});
    bench.gate.open();
    constexpr int kThreads = 4;
    constexpr int kEach = 60;
    std::atomic<int> accepted = 0;
    std::atomic<int> ended = 0;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            std::mt19937 random(static_cast<unsigned>(thread));
            for (int i = 0; i < kEach; ++i) {
                try {
                    Ticket ticket = bench.desk->submit(
                        std::to_string(thread), requestFor(random() % 50, 3, 16), nullptr,
                        [&](const Outcome &) { ++ended; }, [](int) {});
                    ++accepted;
                    switch (random() % 4) {
                    case 0:
                        ticket.cancel();
                        break;
                    case 1:
                        ticket.pause();
                        ticket.step();
                        static_cast<void>(ticket.queuePosition());
                        ticket.resume();
                        break;
                    default:
                        break;
                    }
                } catch (const Error &error) {
                    if (error.kind() != ErrorKind::QueueFull)
                        qFatal("%s", error.what());
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    QTRY_COMPARE(ended.load(), accepted.load());
    const DeskStatus status = bench.desk->status();
    QCOMPARE(status.submitted, static_cast<std::uint64_t>(accepted.load()));
    QCOMPARE(status.completed, status.submitted);
    QCOMPARE(status.running + status.waiting, 0);
}

void TestRequestDesk::everyRunIsCounted()
{
    std::atomic<int> settled = 0;
    std::atomic<int> cancelled = 0;
    std::atomic<int> wrong = 0;
    const auto count = [&](const FinishedRun &run) {
        const auto &result = std::get<GenerationResult>(run.outcome);
        const bool ended = result.finish != FinishReason::Cancelled;
        ++(ended ? settled : cancelled);
        if (run.queueMs < 0.0 || run.firstSettledMs.has_value() != ended || run.firstSettledMs.value_or(1.0) <= 0.0)
            ++wrong;
    };
    DeskBench bench({.maxBatch = 1, .onFinished = count});
    Ends ends;
    bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of("runs"));
    bench.gate.waitForArrival(1);
    Ticket waiting = bench.desk->submit("a", requestFor(2, 5, 8), nullptr, ends.of("waits"));
    bench.desk->submit("a", requestFor(3, 5, 8), nullptr, ends.of("last"));
    waiting.cancel();
    QCOMPARE(ends.wait(1), std::vector<std::string>{"waits"});
    QCOMPARE(cancelled.load(), 1); // counted before it was told
    bench.gate.open();
    ends.wait(3);
    QCOMPARE(settled.load(), 2);
    QCOMPARE(cancelled.load(), 1);
    QCOMPARE(wrong.load(), 0);
}

QTEST_GUILESS_MAIN(TestRequestDesk)
#include "tst_request_desk.moc"
