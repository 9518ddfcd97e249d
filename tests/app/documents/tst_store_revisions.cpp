// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/documents/store_fixture.h"

#include <QTest>

#include <limits>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::kindOf;
using palimpsest::test::StoreFixture;

namespace {

const ModelOrigin kModelOrigin{.model = "demo",
                               .seed = std::numeric_limits<std::uint64_t>::max(),
                               .action = "rewrite",
                               .instruction = "Kürzer, bitte \xF0\x9F\x98\x80",
                               .sampler = "{ \"steps\" : 48 }",
                               .steps = 61,
                               .canvases = 2,
                               .stopReason = "converged",
                               .figures = "{\"ms\":1.5}"};

} // namespace

/// What a store keeps of a document's past, and of what was proposed for it.
class TestStoreRevisions : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aDocumentBeginsWithARevision();
    void revisionsKeepTheirOrigin();
    void restoredRevisionsBringTextAndLocksBack();
    void longRevisionsArePacked();
    void proposalsSurviveReopening();
    void acceptingIsOneTransaction();
};

void TestStoreRevisions::aDocumentBeginsWithARevision()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const Document made = store->create("Letter", "Dear all", Origin::Imported, "{\"zoom\":2}");
    QCOMPARE(made.summary.title, std::string("Letter"));
    QCOMPARE(made.summary.version, std::int64_t{1});
    QCOMPARE(made.summary.lastRevision, std::int64_t{1});
    QCOMPARE(made.settings, std::string("{\"zoom\":2}"));
    QVERIFY(!made.summary.binnedMs);
    QCOMPARE(made.summary.id.size(), std::size_t{32});
    QVERIFY(made.summary.id != store->create("Letter", "Dear all").summary.id);
    const auto revisions = store->revisions(made.summary.id);
    QCOMPARE(revisions.size(), std::size_t{1});
    QCOMPARE(revisions[0].number, std::int64_t{1});
    QVERIFY(revisions[0].origin == Origin::Imported);
    QVERIFY(!revisions[0].parent);
}

void TestStoreRevisions::revisionsKeepTheirOrigin()
{
    StoreFixture fixture;
    auto store = fixture.open();
    const OpaqueId id = store->create("t", "one").summary.id;
    const OpaqueId run = store->beginRun(id, "{}");
    const SaveOutcome outcome = store->save(
        id, {.text = "two",
             .revision = NewRevision{.origin = Origin::Model, .label = "shorter", .model = kModelOrigin, .run = run}});
    QCOMPARE(outcome.revision, std::optional<std::int64_t>(2));
    QCOMPARE(outcome.document.lastRevision, std::int64_t{2});
    QCOMPARE(store->addRevision(id, {.parent = 1, .label = "aside"}).number, std::int64_t{3});
    store.reset();
    store = fixture.open();
    const auto list = store->revisions(id);
    QCOMPARE(list.size(), std::size_t{3});
    QVERIFY(list[1].origin == Origin::Model);
    QCOMPARE(list[1].parent, std::optional<std::int64_t>(1));
    QCOMPARE(list[1].label, std::string("shorter"));
    QCOMPARE(list[1].run, std::optional(run));
    QVERIFY(list[1].model == kModelOrigin);
    QCOMPARE(list[2].parent, std::optional<std::int64_t>(1));
    QVERIFY(!list[2].model);

    const OpaqueId other = store->create("other", "").summary.id;
    QCOMPARE(kindOf([&] { store->addRevision(other, {.run = run}); }), ErrorKind::InvalidArgument);
    QCOMPARE(kindOf([&] { store->addRevision(other, {.parent = 2}); }), ErrorKind::InvalidArgument);
    QCOMPARE(store->document(other).summary.lastRevision, std::int64_t{1}); // the failed ones took no number
    store->eraseRun(run);
    QVERIFY(!store->revision(id, 2).summary.run);
    QCOMPARE(store->revision(id, 2).text, std::string("two"));
}

void TestStoreRevisions::restoredRevisionsBringTextAndLocksBack()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "one").summary.id;
    const std::vector<LockedRange> locks{{.begin = 0, .end = 3, .text = "two"}};
    store->save(
        id, {.text = "two", .locks = locks, .revision = NewRevision{.origin = Origin::Model, .model = kModelOrigin}});
    store->saveText(id, "three", {}, std::nullopt);
    const SaveOutcome conflict = store->restore(id, 2, 1);
    QVERIFY(!conflict.saved);
    const SaveOutcome outcome = store->restore(id, 2, 3);
    QVERIFY(outcome.saved);
    const Document document = store->document(id);
    QCOMPARE(document.text, std::string("two"));
    QVERIFY(document.locks == locks);
    const Revision revision = store->revision(id, *outcome.revision);
    QVERIFY(revision.summary.origin == Origin::Restored);
    QCOMPARE(revision.summary.parent, std::optional<std::int64_t>(2));
    QVERIFY(revision.summary.model == kModelOrigin);
    QVERIFY(revision.locks == locks);
}

void TestStoreRevisions::longRevisionsArePacked()
{
    StoreFixture fixture;
    auto store = fixture.open();
    const std::string text = QByteArray("The sea was calm, and the harbour slept. ").repeated(5000).toStdString();
    const OpaqueId id = store->create("t", text).summary.id;
    for (int count = 0; count < 50; ++count)
        store->addRevision(id, {});
    QCOMPARE(store->revision(id, 51).text, text);
    store.reset();
    QVERIFY(std::filesystem::file_size(fixture.file()) < 10 * text.size()); // and not 51 times
}

void TestStoreRevisions::proposalsSurviveReopening()
{
    StoreFixture fixture;
    auto store = fixture.open();
    const OpaqueId id = store->create("t", "one two").summary.id;
    const OpaqueId run = store->beginRun(id, "{\"seed\":1}");
    Proposal proposal =
        store->addProposal(id, {.begin = 4, .end = 7, .original = "two", .proposed = "", .changes = "[]", .run = run});
    const Proposal second = store->addProposal(id, {.changes = "[]"});
    proposal.state = ProposalState::Open;
    proposal.proposed = "three\r\n\xEF\xBB\xBF";
    proposal.changes = "[[4,7,4,9]]";
    store->updateProposal(proposal);
    store.reset();
    store = fixture.open();
    const std::vector<Proposal> list = store->proposals(id);
    QCOMPARE(list.size(), std::size_t{2});
    QVERIFY(list[0] == proposal);
    QVERIFY(list[1] == second);
    QVERIFY(store->proposal(proposal.id) == proposal);
    store->eraseProposal(second.id);
    QCOMPARE(store->proposals(id).size(), std::size_t{1});
    QCOMPARE(kindOf([&] { store->addProposal(id, {.begin = 2, .end = 1, .changes = "[]"}); }),
             ErrorKind::InvalidArgument);
    QCOMPARE(kindOf([&] { store->addProposal(id, {.changes = ""}); }), ErrorKind::InvalidArgument);
}

void TestStoreRevisions::acceptingIsOneTransaction()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "one two").summary.id;
    const Proposal proposal = store->addProposal(
        id,
        {.state = ProposalState::Open, .begin = 4, .end = 7, .original = "two", .proposed = "three", .changes = "[]"});
    const auto accept = [&](const OpaqueId &settled) {
        return store->save(id, {.text = "one three",
                                .revision = NewRevision{.origin = Origin::Model, .model = kModelOrigin},
                                .proposals = {{.proposal = settled, .state = ProposalState::Accepted}},
                                .expectedVersion = 1});
    };
    QCOMPARE(kindOf([&] { accept("unknown"); }), ErrorKind::NotFound);
    QCOMPARE(store->document(id).text, std::string("one two"));
    QCOMPARE(store->revisions(id).size(), std::size_t{1});
    QVERIFY(accept(proposal.id).saved);
    QVERIFY(store->proposal(proposal.id).state == ProposalState::Accepted);
    QVERIFY(!accept(proposal.id).saved); // the version is another one now
}

QTEST_GUILESS_MAIN(TestStoreRevisions)
#include "tst_store_revisions.moc"
