// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Many random operations on a store and on a plain model of it in memory; both have to agree at any time.

#include "app/documents/database.h"
#include "tests/app/documents/step_samples.h"
#include "tests/app/documents/store_fixture.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::asKept;
using palimpsest::test::randomSteps;
using palimpsest::test::RandomText;
using palimpsest::test::StoreFixture;

namespace {

struct ModelRevision
{
    std::string text;
    Origin origin = Origin::Human;
};

struct ModelRun
{
    OpaqueId id;
    std::vector<StepRecord> steps;
};

struct ModelDocument
{
    std::string title;
    std::string text;
    std::int64_t version = 1;
    bool binned = false;
    std::vector<ModelRevision> revisions = {};
    std::vector<ModelRun> runs = {};
    std::vector<Proposal> proposals = {};
};

/// Drives both. Each operation is drawn at random; most documents stay a while.
class Pair
{
public:
    Pair(StoreFixture &fixture, std::uint64_t seed) : m_fixture(fixture), m_random(seed), m_store(fixture.open()) {}

    void step()
    {
        switch (m_random.below(14)) {
        case 0:
            return create();
        case 1:
            return m_model.size() > 6 ? erase() : create();
        case 2:
            return bin();
        case 3:
            return rename();
        case 4:
            return addRevision();
        case 5:
            return restore();
        case 6:
            return run();
        case 7:
            return propose();
        case 8:
            return settle();
        case 9:
            return conflict();
        case 10:
            return reopen();
        case 11:
            return search();
        default:
            return saveText();
        }
    }

    void compareAll()
    {
        std::set<OpaqueId> found;
        for (const auto shelf : {DocumentStore::Shelf::Drafts, DocumentStore::Shelf::Bin}) {
            for (const DocumentSummary &summary : m_store->list(shelf)) {
                found.insert(summary.id);
                QCOMPARE(summary.binnedMs.has_value(), shelf == DocumentStore::Shelf::Bin);
                compare(summary.id);
                if (QTest::currentTestFailed())
                    return;
            }
        }
        QCOMPARE(found.size(), m_model.size());
    }

private:
    [[nodiscard]] std::pair<const OpaqueId, ModelDocument> &any()
    {
        if (m_model.empty())
            create();
        return *std::next(m_model.begin(), m_random.below(static_cast<std::int64_t>(m_model.size())));
    }
    [[nodiscard]] std::string text() { return m_random.document(m_random.below(5) == 0 ? 400 : 30); }

    void create()
    {
        const std::string title = m_random.document(3);
        const std::string body = text();
        const OpaqueId id = m_store->create(title, body, Origin::Imported).summary.id;
        m_model[id] = {.title = title, .text = body, .revisions = {{.text = body, .origin = Origin::Imported}}};
    }
    void erase()
    {
        const OpaqueId id = any().first;
        m_store->erase(id);
        m_model.erase(id);
    }
    void bin()
    {
        auto &[id, document] = any();
        document.binned = !document.binned;
        (void)(document.binned ? m_store->moveToBin(id) : m_store->takeFromBin(id));
    }
    void rename()
    {
        auto &[id, document] = any();
        document.title = m_random.document(3);
        m_store->save(id, {.title = document.title});
    }
    void saveText()
    {
        auto &[id, document] = any();
        const std::string body = text();
        QVERIFY(m_store->saveText(id, body, {}, document.version).saved);
        document.version += body != document.text ? 1 : 0;
        document.text = body;
    }
    void addRevision()
    {
        auto &[id, document] = any();
        m_store->addRevision(id, {.origin = Origin::Model, .model = ModelOrigin{.seed = 7}});
        document.revisions.push_back({.text = document.text, .origin = Origin::Model});
    }
    void restore()
    {
        auto &[id, document] = any();
        const auto index = m_random.below(static_cast<std::int64_t>(document.revisions.size()));
        const std::string old = document.revisions[static_cast<std::size_t>(index)].text;
        QVERIFY(m_store->restore(id, index + 1, document.version).saved);
        document.version += old != document.text ? 1 : 0;
        document.text = old;
        document.revisions.push_back({.text = old, .origin = Origin::Restored});
    }
    void run()
    {
        auto &[id, document] = any();
        ModelRun &run = document.runs.emplace_back();
        run.id = m_store->beginRun(id, "{}");
        run.steps = asKept(randomSteps(static_cast<std::uint64_t>(m_random.below(1000)), 4, 12));
        m_store->appendSteps(run.id, 3, std::span(run.steps).first(2));
        m_store->appendSteps(run.id, 3, std::span(run.steps).last(2));
    }
    void propose()
    {
        auto &[id, document] = any();
        Proposal proposal;
        proposal.end = 1;
        proposal.original = text();
        proposal.proposed = text();
        if (!document.runs.empty())
            proposal.run.emplace(document.runs.back().id);
        document.proposals.push_back(m_store->addProposal(id, std::move(proposal)));
    }
    void settle()
    {
        auto &[id, document] = any();
        if (document.proposals.empty())
            return;
        Proposal &proposal = document.proposals.front();
        if (m_random.below(2) == 0) {
            m_store->eraseProposal(proposal.id);
            document.proposals.erase(document.proposals.begin());
            return;
        }
        proposal.state = ProposalState::Accepted;
        m_store->save(id, {.proposals = {{.proposal = proposal.id, .state = ProposalState::Accepted}}});
    }
    void conflict()
    {
        auto &[id, document] = any();
        QVERIFY(!m_store->saveText(id, text(), {}, document.version + 1).saved);
    }
    void reopen()
    {
        m_store.reset();
        m_store = m_fixture.open();
    }
    void search()
    {
        static constexpr const char *kWords[] = {"cat", "sat", "smith", "wonderful", "heading", "example"};
        const std::string word = kWords[m_random.below(std::size(kWords))];
        std::set<OpaqueId> expected;
        for (const auto &[id, document] : m_model) {
            const QString all = QString::fromStdString(document.title + "\n" + document.text).toLower();
            if (!document.binned && all.contains(QString::fromStdString(word)))
                expected.insert(id);
        }
        std::set<OpaqueId> found;
        for (const SearchHit &hit : m_store->search(word))
            found.insert(hit.document.id);
        // A word that stands right behind another one's letters is no beginning of a word.
        QVERIFY(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
        if (word == "smith") // always stands behind "Mr. "
            QVERIFY(found == expected);
    }
    void compare(const OpaqueId &id)
    {
        const ModelDocument &expected = m_model.at(id);
        const Document document = m_store->document(id);
        QCOMPARE(document.summary.title, expected.title);
        QCOMPARE(document.text, expected.text);
        QCOMPARE(document.summary.version, expected.version);
        QCOMPARE(document.summary.binnedMs.has_value(), expected.binned);
        QCOMPARE(m_store->revisions(id).size(), expected.revisions.size());
        for (std::size_t index = 0; index < expected.revisions.size(); ++index) {
            const Revision revision = m_store->revision(id, static_cast<std::int64_t>(index) + 1);
            QCOMPARE(revision.text, expected.revisions[index].text);
            QVERIFY(revision.summary.origin == expected.revisions[index].origin);
        }
        QCOMPARE(m_store->runs(id).size(), expected.runs.size());
        for (const ModelRun &each : expected.runs)
            QVERIFY(m_store->steps(each.id, 3) == each.steps);
        QVERIFY(m_store->proposals(id) == expected.proposals);
    }

    StoreFixture &m_fixture;
    RandomText m_random;
    std::unique_ptr<DocumentStore> m_store;
    std::map<OpaqueId, ModelDocument> m_model;
};

} // namespace

class TestStoreModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void storeAndModelAgree_data();
    void storeAndModelAgree();
};

void TestStoreModel::storeAndModelAgree_data()
{
    QTest::addColumn<int>("seed");
    for (int seed = 1; seed <= 2; ++seed)
        QTest::addRow("seed %d", seed) << seed;
}

void TestStoreModel::storeAndModelAgree()
{
    QFETCH(int, seed);
    StoreFixture fixture;
    {
        Pair pair(fixture, static_cast<std::uint64_t>(seed));
        for (int step = 1; step <= 400; ++step) {
            pair.step();
            if (step % 50 == 0)
                pair.compareAll();
            if (QTest::currentTestFailed())
                return;
        }
    }
    Database database(fixture.file(), Database::Access::ReadWrite, std::chrono::seconds(1));
    Statement check(database, "PRAGMA integrity_check");
    QVERIFY(check.next());
    QCOMPARE(check.bytes(0), std::string("ok"));
    QCOMPARE(database.integer("SELECT count(*) FROM pragma_foreign_key_check"), std::int64_t{0});
    database.run("INSERT INTO document_search (document_search, rank) VALUES ('integrity-check', 1)");
}

QTEST_GUILESS_MAIN(TestStoreModel)
#include "tst_store_model.moc"
