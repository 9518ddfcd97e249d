// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/request_desk.h"
#include "tests/app/desk_bench.h"
#include "tests/support/scheduler_bench.h"

#include <QTest>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::test;

/// What a ticket can do with its request, whether that waits, runs or has ended.
class TestRequestTickets : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aWaitingRequestIsCancelledAtOnceF064();
    void aRunningRequestIsCancelledWithinAStepF064();
    void pausedRequestsDoNotHoldUpTheQueue();
    void ordersGivenWhileWaitingAreKept();
    void ticketsOutliveTheDesk();
    void ticketsDoNotHoldObservers();
    void completionsMaySubmit();
};

void TestRequestTickets::aWaitingRequestIsCancelledAtOnceF064()
{
    DeskBench bench({.maxBatch = 1});
    Ends ends;
    bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of("runs"));
    bench.gate.waitForArrival(1); // in its first step, and stays there
    Ticket waiting = bench.desk->submit("a", requestFor(77, 5, 8), nullptr, ends.of("waits"));
    waiting.cancel();
    QCOMPARE(bench.desk->status().waiting, 0);
    QCOMPARE(ends.wait(1), std::vector<std::string>{"waits"});
    QCOMPARE(ends.result("waits").finish, FinishReason::Cancelled);
    QCOMPARE(ends.result("waits").seed, std::uint64_t{77});
    QCOMPARE(ends.result("waits").promptTokens, 5);
    waiting.cancel(); // nothing more
    bench.gate.open();
    ends.wait(2);
    QCOMPARE(ends.count(), std::size_t{2});
}

void TestRequestTickets::aRunningRequestIsCancelledWithinAStepF064()
{
    DeskBench bench({.maxBatch = 1});
    Ends ends;
    Ticket ticket = bench.desk->submit("a", endlessRequest(), nullptr, ends.of("endless"));
    bench.desk->submit("b", requestFor(1, 5, 8), nullptr, ends.of("next"));
    bench.gate.waitForArrival(1);
    ticket.cancel();
    bench.gate.permit(1); // the step in flight
    QCOMPARE(ends.wait(1), std::vector<std::string>{"endless"});
    bench.gate.open();
    QCOMPARE(ends.wait(2).back(), "next");
}

void TestRequestTickets::pausedRequestsDoNotHoldUpTheQueue()
{
    DeskBench bench({.maxBatch = 1});
    bench.gate.open();
    Ends ends;
    GenerationRequest paused = requestFor(1, 5, 8);
    paused.startPaused = true;
    std::vector<Ticket> tickets;
    for (const char *name : {"p0", "p1"})
        tickets.push_back(bench.desk->submit("p", paused, nullptr, ends.of(name)));
    bench.desk->submit("a", requestFor(2, 5, 8), nullptr, ends.of("a"));
    QCOMPARE(ends.wait(1), std::vector<std::string>{"a"});
    for (Ticket &ticket : tickets)
        ticket.resume();
    ends.wait(3);
    QCOMPARE(bench.desk->status().running, 0);
}

void TestRequestTickets::ordersGivenWhileWaitingAreKept()
{
    DeskBench bench({.maxBatch = 1});
    Ends ends;
    const auto recorder = std::make_shared<Recorder>();
    bench.desk->submit("a", requestFor(1, 5, 8), nullptr, ends.of("runs"));
    Ticket ticket = bench.desk->submit("a", requestFor(5, 5, 8), recorder, ends.of("waits"));
    ticket.pause();
    ticket.step();
    ticket.step();
    ticket.freeze(0, {{.position = 3, .id = 42}});
    QCOMPARE(refusalOf([&] { ticket.freeze(0, {{.position = 8, .id = 42}}); }), ErrorKind::InvalidArgument);
    ticket.freeze(9, {{.position = 3, .id = 42}}); // never a canvas of it
    bench.gate.open();
    recorder->waitForSteps(2);
    QCOMPARE(recorder->events().steps.front()->input[3], 42);
    QCOMPARE(ends.count(), std::size_t{1});
    ticket.resume();
    ends.wait(2);
    QCOMPARE(ends.result("waits").tokens[3], 42);
}

void TestRequestTickets::ticketsOutliveTheDesk()
{
    Ticket ticket;
    ticket.cancel();
    Ends ends;
    {
        DeskBench bench({.maxBatch = 1});
        ticket = bench.desk->submit("a", endlessRequest(), nullptr, ends.of("endless"));
    }
    QVERIFY(ticket);
    ticket.pause();
    ticket.step();
    ticket.resume();
    ticket.freeze(0, {{.position = 1, .id = 2}});
    ticket.cancel();
    QCOMPARE(ticket.queuePosition(), 0);
    QCOMPARE(ends.count(), std::size_t{1});
}

void TestRequestTickets::ticketsDoNotHoldObservers()
{
    // An observer may hold whoever holds the ticket: a circle that would never end.
    for (const bool counted : {false, true}) {
        DeskSettings settings{.maxBatch = 1};
        if (counted)
            settings.onFinished = [](const FinishedRun &) {
            };
        DeskBench bench(settings);
        bench.gate.open();
        Ends ends;
        auto recorder = std::make_shared<Recorder>();
        const std::weak_ptr<Recorder> observer = recorder;
        const Ticket ticket = bench.desk->submit("a", requestFor(1, 5, 8), std::move(recorder), ends.of("a"));
        ends.wait(1);
        QTRY_VERIFY(observer.expired());
        QVERIFY(ticket);
    }
}

void TestRequestTickets::completionsMaySubmit()
{
    DeskBench bench({.maxBatch = 1});
    bench.gate.open();
    Ends ends;
    std::atomic<int> left = 20;
    std::function<void(Outcome)> again = [&](const Outcome &outcome) {
        if (left-- > 0)
            bench.desk->submit("a", requestFor(1, 5, 8), nullptr, again);
        else
            ends.of("last")(outcome);
    };
    bench.desk->submit("a", requestFor(1, 5, 8), nullptr, again);
    ends.wait(1);
}

QTEST_GUILESS_MAIN(TestRequestTickets)
#include "tst_request_tickets.moc"
