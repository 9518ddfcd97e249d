// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/documents/step_samples.h"
#include "tests/app/documents/store_fixture.h"

#include <QTest>

#include <algorithm>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::asKept;
using palimpsest::test::kindOf;
using palimpsest::test::randomSteps;
using palimpsest::test::settlingCanvas;
using palimpsest::test::StoreFixture;

class TestStoreHistory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stepsAreReadByCanvasAndByStep();
    void batchesOfACanvasGoTogether();
    void stepsDoNotComeTwice();
    void theOldestRunsArePruned();
    void runsOfOpenProposalsAreKept();
    void erasedRunsAreGone();
    void aRunThatACrashCutOffIsReadable();
};

void TestStoreHistory::stepsAreReadByCanvasAndByStep()
{
    StoreFixture fixture;
    auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const OpaqueId run = store->beginRun(id, "{\"seed\":5}");
    const auto first = settlingCanvas(1, 48, 256, 262'144);
    const auto second = settlingCanvas(2, 20, 100, 262'144);
    store->appendSteps(run, 0, first);
    store->appendSteps(run, 1, second);
    store->setRunMetadata(run, "{\"seed\":5,\"stop\":\"converged\"}");
    store.reset();
    store = fixture.open();
    QVERIFY(store->steps(run, 0) == asKept(first));
    QVERIFY(store->steps(run, 1) == asKept(second));
    QVERIFY(store->steps(run, 2).empty());
    QVERIFY(store->step(run, 1, 20) == asKept(second).back());
    QVERIFY(!store->step(run, 1, 21));
    QVERIFY(!store->step(run, 3, 1));
    const RunSummary summary = store->run(run);
    QCOMPARE(summary.metadata, std::string("{\"seed\":5,\"stop\":\"converged\"}"));
    QCOMPARE(summary.steps, std::int64_t{68});
    QCOMPARE(summary.canvases, std::int64_t{2});
    QVERIFY(summary.bytes > 1000);
    QVERIFY(!summary.pruned);
    QCOMPARE(store->runs(id).size(), std::size_t{1});
    QCOMPARE(kindOf([&] { store->setRunMetadata(run, "nonsense"); }), ErrorKind::InvalidArgument);
}

void TestStoreHistory::batchesOfACanvasGoTogether()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const OpaqueId run = store->beginRun(id, "{}");
    const auto steps = randomSteps(3, 30, 16);
    for (std::size_t begin = 0; begin < steps.size(); begin += 7) {
        const std::size_t count = std::min<std::size_t>(7, steps.size() - begin);
        store->appendSteps(run, 4, std::span(steps).subspan(begin, count));
    }
    store->appendSteps(run, 4, {});
    QVERIFY(store->steps(run, 4) == asKept(steps));
    for (const StepRecord &step : asKept(steps))
        QVERIFY(store->step(run, 4, step.step) == step);
}

void TestStoreHistory::stepsDoNotComeTwice()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const OpaqueId run = store->beginRun(id, "{}");
    const auto steps = randomSteps(3, 4, 4);
    store->appendSteps(run, 0, steps);
    QCOMPARE(kindOf([&] { store->appendSteps(run, 0, steps); }), ErrorKind::InvalidArgument);
    QCOMPARE(kindOf([&] { store->appendSteps(run, 0, std::span(steps).last(1)); }), ErrorKind::InvalidArgument);
    QCOMPARE(store->steps(run, 0).size(), std::size_t{4});
    store->appendSteps(run, 1, steps); // another canvas counts from 1 again
}

void TestStoreHistory::theOldestRunsArePruned()
{
    StoreFixture fixture;
    StoreOptions options = fixture.options();
    options.historyCapBytes = 200'000;
    DocumentStore store(options);
    const OpaqueId id = store.create("t", "text").summary.id;
    const OpaqueId other = store.create("u", "").summary.id;
    const OpaqueId untouched = store.beginRun(other, "{}");
    store.appendSteps(untouched, 0, settlingCanvas(1, 48, 256, 262'144));
    std::vector<OpaqueId> runs;
    std::vector<OpaqueId> pruned;
    for (std::uint64_t number = 0; number < 12; ++number) {
        runs.push_back(store.beginRun(id, "{}"));
        store.save(id, {.text = "text " + std::to_string(number),
                        .revision = NewRevision{.origin = Origin::Model, .model = ModelOrigin{}, .run = runs.back()}});
        for (const OpaqueId &each : store.appendSteps(runs.back(), 0, settlingCanvas(number, 48, 256, 262'144)))
            pruned.push_back(each);
        std::int64_t bytes = 0;
        for (const RunSummary &run : store.runs(id))
            bytes += run.bytes;
        QVERIFY(bytes <= options.historyCapBytes);
    }
    QVERIFY(!pruned.empty());
    QVERIFY(pruned.size() < 12);
    QVERIFY(std::equal(pruned.begin(), pruned.end(), runs.begin())); // the oldest, in order
    QVERIFY(store.run(pruned[0]).pruned);
    QVERIFY(store.steps(pruned[0], 0).empty());
    QCOMPARE(store.steps(runs.back(), 0).size(), std::size_t{48});
    QCOMPARE(store.revision(id, 2).text, std::string("text 0"));
    QCOMPARE(store.revision(id, 2).summary.run, std::optional(runs[0]));
    QCOMPARE(store.steps(untouched, 0).size(), std::size_t{48});
}

void TestStoreHistory::runsOfOpenProposalsAreKept()
{
    StoreFixture fixture;
    StoreOptions options = fixture.options();
    options.historyCapBytes = 1;
    DocumentStore store(options);
    const OpaqueId id = store.create("t", "text").summary.id;
    const OpaqueId open = store.beginRun(id, "{}");
    const Proposal proposal =
        store.addProposal(id, {.state = ProposalState::Open, .end = 4, .original = "text", .run = open});
    const auto steps = randomSteps(1, 4, 8);
    QVERIFY(store.appendSteps(open, 0, steps).empty()); // the run that is appended to stays, however large
    const OpaqueId second = store.beginRun(id, "{}");
    QVERIFY(store.appendSteps(second, 0, steps).empty());
    store.save(id, {.proposals = {{.proposal = proposal.id, .state = ProposalState::Rejected}}});
    const OpaqueId third = store.beginRun(id, "{}");
    QVERIFY((store.appendSteps(third, 0, steps) == std::vector<OpaqueId>{open, second}));
}

void TestStoreHistory::erasedRunsAreGone()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const OpaqueId run = store->beginRun(id, "{}");
    store->appendSteps(run, 0, randomSteps(1, 4, 8));
    const Proposal proposal = store->addProposal(id, {.run = run});
    store->eraseRun(run);
    QCOMPARE(kindOf([&] { (void)store->steps(run, 0); }), ErrorKind::NotFound);
    QVERIFY(!store->proposal(proposal.id).run);
    QVERIFY(store->runs(id).empty());
}

void TestStoreHistory::aRunThatACrashCutOffIsReadable()
{
    StoreFixture fixture;
    auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const OpaqueId run = store->beginRun(id, "{}");
    const Proposal proposal = store->addProposal(id, {.run = run});
    store->appendSteps(run, 0, randomSteps(1, 4, 8));
    store.reset();
    store = fixture.open();
    QVERIFY(store->proposal(proposal.id).state == ProposalState::Running);
    QCOMPARE(store->steps(run, 0).size(), std::size_t{4});
}

QTEST_GUILESS_MAIN(TestStoreHistory)
#include "tst_store_history.moc"
