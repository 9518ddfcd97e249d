// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What was erased is in no byte of any file any more: the files are searched for the words themselves.

#include "app/documents/database.h"
#include "tests/app/documents/step_samples.h"
#include "tests/app/documents/store_fixture.h"

#include <QFile>
#include <QTest>

#include <fstream>
#include <random>
#include <unordered_set>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::below;
using palimpsest::test::randomSteps;
using palimpsest::test::StoreFixture;

namespace {

/// The search index keeps a word without what it shares with the word before, so the last part counts.
constexpr std::size_t kPartBytes = 12;

/// How many of the words the files of the folder hold.
std::size_t countOnDisk(const StoreFixture &fixture, const std::vector<std::string> &words)
{
    std::unordered_set<std::string_view> parts;
    for (const std::string &word : words)
        parts.insert(std::string_view(word).substr(word.size() - kPartBytes));
    std::unordered_set<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(fixture.folder())) {
        QFile file(QString::fromStdString(entry.path().string()));
        if (!file.open(QFile::ReadOnly))
            throw std::runtime_error("cannot read " + entry.path().string());
        const QByteArray bytes = file.readAll();
        const std::string_view all(bytes.constData(), static_cast<std::size_t>(bytes.size()));
        for (std::size_t position = 0; position + kPartBytes <= all.size(); ++position) {
            if (const auto part = parts.find(all.substr(position, kPartBytes)); part != parts.end())
                found.emplace(*part);
        }
    }
    return found.size();
}

bool isOnDisk(const StoreFixture &fixture, const std::string &secret)
{
    return countOnDisk(fixture, {secret}) == 1;
}

/// Words that nothing else holds.
class Secrets
{
public:
    explicit Secrets(std::uint64_t seed) : m_random(seed) {}

    std::string word()
    {
        std::string word = "s";
        for (int count = 0; count < 20; ++count)
            word += static_cast<char>('a' + below(m_random, 26));
        m_words.push_back(word);
        return word;
    }
    /// Words, about `bytes` long, as they do not shrink when they are packed.
    std::string text(std::size_t bytes)
    {
        std::string text;
        while (text.size() < bytes)
            text += word() + ' ';
        return text;
    }
    std::uint64_t number(std::uint64_t bound) { return below(m_random, bound); }
    [[nodiscard]] const std::vector<std::string> &words() const { return m_words; }

private:
    std::mt19937_64 m_random;
    std::vector<std::string> m_words;
};

/// A document with something in every place that can hold a text.
OpaqueId writeEverywhere(DocumentStore &store, Secrets &secrets, std::size_t bytes)
{
    const std::string locked = secrets.word();
    OpaqueId id = store.create(secrets.word(), secrets.text(bytes)).summary.id;
    const OpaqueId run = store.beginRun(id, "{\"" + secrets.word() + "\":1}");
    store.appendSteps(run, 0, randomSteps(secrets.number(1000), 3, 40));
    store.addProposal(id, {.original = secrets.word(),
                           .proposed = secrets.text(secrets.number(300)),
                           .changes = "\"" + secrets.word() + "\"",
                           .run = run});
    store.save(id, {.title = secrets.word(),
                    .text = locked + " " + secrets.text(secrets.number(2 * bytes)),
                    .locks = {{{.begin = 0, .end = static_cast<std::int64_t>(locked.size()), .text = locked}}},
                    .settings = "{\"" + secrets.word() + "\":1}",
                    .revision = NewRevision{.origin = Origin::Model,
                                            .label = secrets.word(),
                                            .model = ModelOrigin{.instruction = secrets.word()},
                                            .run = run}});
    return id;
}

} // namespace

class TestStoreErase : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void erasedTextsAreOverwritten_data();
    void erasedTextsAreOverwritten();
    void historyIsOverwritten();
    void copiesOfOlderVersionsGo();
    void aReaderOnlyPutsItOff();
};

void TestStoreErase::erasedTextsAreOverwritten_data()
{
    QTest::addColumn<int>("seed");
    QTest::addColumn<int>("bytes");
    for (int seed = 1; seed <= 2; ++seed) {
        QTest::addRow("small, %d", seed) << seed << 60;
        QTest::addRow("a page, %d", seed) << seed << 400; // not packed: the words stand in the file
        QTest::addRow("large, %d", seed) << seed << 6000;
    }
}

void TestStoreErase::erasedTextsAreOverwritten()
{
    QFETCH(int, seed);
    QFETCH(int, bytes);
    StoreFixture fixture;
    const auto store = fixture.open();
    Secrets kept(static_cast<std::uint64_t>(seed) * 2);
    Secrets erased(static_cast<std::uint64_t>(seed) * 2 + 1);
    std::vector<OpaqueId> victims;
    for (int count = 0; count < 12; ++count) {
        writeEverywhere(*store, kept, static_cast<std::size_t>(bytes));
        victims.push_back(writeEverywhere(*store, erased, static_cast<std::size_t>(bytes)));
    }
    const std::size_t onDisk = countOnDisk(fixture, erased.words());
    QVERIFY(onDisk > 12 * 5);
    for (std::size_t index = 0; index < victims.size(); ++index) {
        if (index % 2 == 0)
            store->erase(victims[index]);
        else
            store->moveToBin(victims[index]);
    }
    QCOMPARE(store->emptyBin(), std::int64_t{6});
    QCOMPARE(countOnDisk(fixture, erased.words()), std::size_t{0});
    QCOMPARE(store->list().size(), std::size_t{12});
    QVERIFY(isOnDisk(fixture, kept.words().front()));
}

void TestStoreErase::historyIsOverwritten()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const OpaqueId run = store->beginRun(id, "{}");
    const auto steps = randomSteps(1, 3, 40);
    const std::string record = packSteps(steps).substr(0, 400);
    store->appendSteps(run, 0, steps);
    QVERIFY(isOnDisk(fixture, record));
    store->eraseRun(run);
    QVERIFY(!isOnDisk(fixture, record));
}

void TestStoreErase::copiesOfOlderVersionsGo()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "secretword").summary.id;
    const std::filesystem::path copy = fixture.file().string() + ".v0-20260101-000000.copy";
    const std::filesystem::path other = fixture.folder() / "documents.sqlite.old";
    std::ofstream(copy) << "secretword";
    std::ofstream(other) << "the person's own";
    store->erase(id);
    QVERIFY(!std::filesystem::exists(copy));
    QVERIFY(std::filesystem::exists(other));
}

void TestStoreErase::aReaderOnlyPutsItOff()
{
    StoreFixture fixture;
    StoreOptions options = fixture.options();
    options.busyTimeout = std::chrono::milliseconds(1);
    DocumentStore store(options);
    const OpaqueId kept = store.create("t", "").summary.id;
    const OpaqueId id = store.create("t", "the secret abcdefghijklmnop").summary.id;
    {
        Database reader(fixture.file(), Database::Access::ReadOnly, options.busyTimeout);
        Statement row(reader, "SELECT title FROM documents UNION ALL SELECT title FROM documents");
        QVERIFY(row.next()); // another process in the middle of its list
        store.erase(id);
        QVERIFY(isOnDisk(fixture, "abcdefghijklmnop"));
    }
    store.saveText(kept, "more", {}, std::nullopt);
    QVERIFY(!isOnDisk(fixture, "abcdefghijklmnop"));
}

QTEST_GUILESS_MAIN(TestStoreErase)
#include "tst_store_erase.moc"
