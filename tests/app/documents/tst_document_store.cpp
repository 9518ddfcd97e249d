// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/documents/store_fixture.h"

#include <QTest>

#include <algorithm>
#include <functional>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::kindOf;
using palimpsest::test::StoreFixture;

/// What is written into a store comes back from it: texts, versions, locks, the bin.
class TestDocumentStore : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void textsComeBackToTheByte_data();
    void textsComeBackToTheByte();
    void whatIsNoTextIsRefused_data();
    void whatIsNoTextIsRefused();
    void unknownIdsAreNotFound();
    void savesRaiseTheVersion();
    void aSaveOverAnotherOnesVersionChangesNothing();
    void savingTheSameIsNoChange();
    void excerptsEndWithAWholeCharacter();
    void locksFitTheText_data();
    void locksFitTheText();
    void binAndBack();
    void emptyBinKeepsTheYounger();
    void duplicatesStandAlone();
    void filesAreForTheirOwnerAlone();
};

void TestDocumentStore::textsComeBackToTheByte_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray("");
    QTest::newRow("CR LF, CR, LF") << QByteArray("a\r\nb\rc\n\r\n");
    QTest::newRow("byte-order mark") << QByteArray("\xEF\xBB\xBF# Title\r\n");
    QTest::newRow("two byte-order marks, one alone at the end") << QByteArray("\xEF\xBB\xBF\xEF\xBB\xBFx\xEF\xBB\xBF");
    QTest::newRow("control characters") << QByteArray("\x01\x02\x7F\x1B[0m\xC2\x85");
    QTest::newRow("combining, joined, flags")
        << QByteArray("e\xCC\x81 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 \xF0\x9F\x87\xA9\xF0\x9F\x87\xAA");
    QTest::newRow("right to left, with marks") << QByteArray("\xE2\x80\xAB\xD7\xA9\xD7\x9C\xE2\x80\xAC \xD9\x85");
    QTest::newRow("noncharacters, last code point") << QByteArray("\xEF\xBF\xBE\xEF\xBF\xBF\xF4\x8F\xBF\xBF");
    QTest::newRow("replacement character") << QByteArray("\xEF\xBF\xBD");
    QTest::newRow("line and paragraph separators") << QByteArray("a\xE2\x80\xA8\x62\xE2\x80\xA9\x63");
    QTest::newRow("looks like SQL") << QByteArray("'); DROP TABLE documents; --");
    QTest::newRow("a megabyte") << QByteArray("The sea was calm. \xF0\x9F\x8C\x8A\r\n").repeated(45000);
}

void TestDocumentStore::textsComeBackToTheByte()
{
    QFETCH(QByteArray, text);
    const std::string bytes = text.toStdString();
    const std::string title = bytes.substr(0, std::min<std::size_t>(bytes.size(), 600));
    const std::string wholeTitle = title.size() < bytes.size() ? "cut" : title;
    StoreFixture fixture;
    OpaqueId id;
    {
        const auto store = fixture.open();
        id = store->create(wholeTitle, bytes).summary.id;
        QCOMPARE(store->save(id, {.title = wholeTitle, .text = bytes + "x"}).saved, true);
        QCOMPARE(store->saveText(id, bytes, {}, std::nullopt).saved, true);
        store->addRevision(id, {.label = wholeTitle});
    }
    const auto store = fixture.open();
    const Document document = store->document(id);
    QCOMPARE(document.text, bytes);
    QCOMPARE(document.summary.title, wholeTitle);
    QCOMPARE(document.summary.textBytes, static_cast<std::int64_t>(bytes.size()));
    QCOMPARE(store->revision(id, 1).text, bytes);
    QCOMPARE(store->revision(id, 2).text, bytes);
    QCOMPARE(store->revision(id, 2).summary.label, wholeTitle);
}

void TestDocumentStore::whatIsNoTextIsRefused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("NUL") << QByteArray("a\0b", 3);
    QTest::newRow("Latin-1") << QByteArray("caf\xE9");
    QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80");
    QTest::newRow("overlong") << QByteArray("\xC0\xAF");
    QTest::newRow("cut off") << QByteArray("\xF0\x9F\x98");
    QTest::newRow("too long") << QByteArray("0123456789abcdef").repeated(static_cast<int>(kMostTextBytes / 16)) + "x";
}

void TestDocumentStore::whatIsNoTextIsRefused()
{
    QFETCH(QByteArray, text);
    const std::string bytes = text.toStdString();
    StoreFixture fixture;
    const auto store = fixture.open();
    QCOMPARE(kindOf([&] { store->create("t", bytes); }), ErrorKind::InvalidInput);
    QCOMPARE(kindOf([&] { store->create(bytes, "t"); }), ErrorKind::InvalidInput);
    const OpaqueId id = store->create("t", "kept").summary.id;
    QCOMPARE(kindOf([&] { store->saveText(id, bytes, {}, std::nullopt); }), ErrorKind::InvalidInput);
    QCOMPARE(kindOf([&] { store->save(id, {.settings = "{"}); }), ErrorKind::InvalidArgument);
    QCOMPARE(store->list().size(), std::size_t{1});
    QCOMPARE(store->document(id).text, std::string("kept"));
}

void TestDocumentStore::unknownIdsAreNotFound()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("", "").summary.id;
    const std::function<void()> calls[] = {[&] { (void)store->document("x"); },
                                           [&] { (void)store->saveText("x", "", {}, std::nullopt); },
                                           [&] { store->duplicate("x", ""); },
                                           [&] { store->moveToBin("x"); },
                                           [&] { store->takeFromBin(""); },
                                           [&] { store->erase("x"); },
                                           [&] { store->addRevision("x", {}); },
                                           [&] { (void)store->revisions("x"); },
                                           [&] { (void)store->revision(id, 2); },
                                           [&] { store->beginRun("x", "{}"); },
                                           [&] { (void)store->runs("x"); },
                                           [&] { (void)store->run("x"); },
                                           [&] { (void)store->steps("x", 0); },
                                           [&] { store->eraseRun("x"); },
                                           [&] { store->addProposal("x", {.changes = "[]"}); },
                                           [&] { store->updateProposal({.id = "x", .changes = "[]"}); },
                                           [&] { store->eraseProposal("x"); },
                                           [&] { (void)store->proposal("x"); },
                                           [&] {
                                               store->save(id, {.proposals = {{.proposal = "x"}}});
                                           }};
    for (const auto &call : calls)
        QCOMPARE(kindOf(call), ErrorKind::NotFound);
}

void TestDocumentStore::savesRaiseTheVersion()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const Document made = store->create("t", "one");
    const SaveOutcome second = store->saveText(made.summary.id, "two", {}, made.summary.version);
    QVERIFY(second.saved);
    QCOMPARE(second.document.version, std::int64_t{2});
    QVERIFY(second.document.modifiedMs > made.summary.modifiedMs);
    QVERIFY(!second.revision);
    // Neither a title nor settings are in another window's way.
    const SaveOutcome renamed = store->save(made.summary.id, {.title = "u", .settings = "{\"a\":1}"});
    QCOMPARE(renamed.document.version, std::int64_t{2});
    QCOMPARE(renamed.document.title, std::string("u"));
    QCOMPARE(store->document(made.summary.id).settings, std::string("{\"a\":1}"));
}

void TestDocumentStore::aSaveOverAnotherOnesVersionChangesNothing()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "one").summary.id;
    store->saveText(id, "from here", {}, 1);
    const SaveOutcome outcome = store->save(
        id, {.title = "x", .text = "from there", .revision = NewRevision{}, .proposals = {}, .expectedVersion = 1});
    QVERIFY(!outcome.saved);
    QCOMPARE(outcome.document.version, std::int64_t{2});
    QCOMPARE(store->document(id).text, std::string("from here"));
    QCOMPARE(store->document(id).summary.title, std::string("t"));
    QCOMPARE(store->revisions(id).size(), std::size_t{1});
}

void TestDocumentStore::savingTheSameIsNoChange()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const Document made = store->create("t", "one");
    const SaveOutcome outcome = store->save(made.summary.id, {.title = "t", .text = "one", .settings = "{}"});
    QVERIFY(outcome.saved);
    QCOMPARE(outcome.document.version, made.summary.version);
    QCOMPARE(outcome.document.modifiedMs, made.summary.modifiedMs);
}

void TestDocumentStore::excerptsEndWithAWholeCharacter()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const std::string grin = "\xF0\x9F\x98\x80";
    for (std::size_t front = kExcerptBytes - 5; front <= kExcerptBytes + 1; ++front) {
        const std::string text = std::string(front, 'x') + grin + "y";
        const std::string wanted = front + grin.size() < kExcerptBytes ? text
                                   : front + grin.size() == kExcerptBytes
                                       ? std::string(front, 'x') + grin
                                       : std::string(std::min(front, kExcerptBytes), 'x');
        const Document made = store->create("t", text);
        QCOMPARE(made.summary.excerpt, wanted);
        QCOMPARE(store->list().front().excerpt, wanted);
        QCOMPARE(store->search("t").front().document.excerpt, wanted);
        QCOMPARE(store->saveText(made.summary.id, "short", {}, std::nullopt).document.excerpt, std::string("short"));
        QCOMPARE(store->list().front().excerpt, std::string("short"));
        store->erase(made.summary.id);
    }
    QCOMPARE(store->create("empty", "").summary.excerpt, std::string());
}

void TestDocumentStore::locksFitTheText_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("begin");
    QTest::addColumn<int>("end");
    QTest::addColumn<QByteArray>("locked");
    QTest::addColumn<bool>("fits");
    const QByteArray text = "\xF0\x9F\x98\x80 caf\xC3\xA9 \xE6\xBC\xA2"; // 2 + 1 + 4 + 1 + 1 code units
    QTest::newRow("behind a surrogate pair") << text << 3 << 7 << QByteArray("caf\xC3\xA9") << true;
    QTest::newRow("the last character") << text << 8 << 9 << QByteArray("\xE6\xBC\xA2") << true;
    QTest::newRow("everything") << text << 0 << 9 << text << true;
    QTest::newRow("other text") << text << 3 << 7 << QByteArray("cafe") << false;
    QTest::newRow("inside a pair") << text << 1 << 3 << QByteArray(" ") << false;
    QTest::newRow("behind the end") << text << 8 << 10 << QByteArray("\xE6\xBC\xA2") << false;
    QTest::newRow("empty") << text << 3 << 3 << QByteArray("") << false;
    QTest::newRow("reversed") << text << 7 << 3 << QByteArray("") << false;
    QTest::newRow("negative") << text << -1 << 2 << QByteArray("\xF0\x9F\x98\x80") << false;
}

void TestDocumentStore::locksFitTheText()
{
    QFETCH(QByteArray, text);
    QFETCH(int, begin);
    QFETCH(int, end);
    QFETCH(QByteArray, locked);
    QFETCH(bool, fits);
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "before").summary.id;
    const std::vector<LockedRange> locks{{.begin = begin, .end = end, .text = locked.toStdString()}};
    const auto save = [&] {
        store->saveText(id, text.toStdString(), locks, std::nullopt);
    };
    if (!fits) {
        QCOMPARE(kindOf(save), ErrorKind::InvalidArgument);
        QCOMPARE(store->document(id).text, std::string("before"));
        return;
    }
    save();
    QVERIFY(store->document(id).locks == locks);
    // A new text has to say what becomes of the locks.
    QCOMPARE(kindOf([&] { store->save(id, {.text = "other"}); }), ErrorKind::InvalidArgument);
    // Two locks on one place are no two locks.
    QCOMPARE(kindOf([&] { store->save(id, {.locks = {{locks[0], locks[0]}}}); }), ErrorKind::InvalidArgument);
    store->save(id, {.locks = std::vector<LockedRange>{}});
    QVERIFY(store->document(id).locks.empty());
}

void TestDocumentStore::binAndBack()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId first = store->create("first", "harbour").summary.id;
    const OpaqueId second = store->create("second", "harbour").summary.id;
    QCOMPARE(store->list()[0].id, second); // the last modified one first
    const DocumentSummary binned = store->moveToBin(second);
    QVERIFY(binned.binnedMs);
    QCOMPARE(store->moveToBin(second).binnedMs, binned.binnedMs); // once is enough
    QCOMPARE(store->list().size(), std::size_t{1});
    QCOMPARE(store->list()[0].id, first);
    QCOMPARE(store->list(DocumentStore::Shelf::Bin)[0].id, second);
    QCOMPARE(store->search("harbour").size(), std::size_t{1});
    QVERIFY(!store->takeFromBin(second).binnedMs);
    QCOMPARE(store->list().size(), std::size_t{2});
    QCOMPARE(store->search("harbour").size(), std::size_t{2});
}

void TestDocumentStore::emptyBinKeepsTheYounger()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId kept = store->create("kept", "").summary.id;
    const OpaqueId older = store->create("older", "").summary.id;
    const OpaqueId younger = store->create("younger", "").summary.id;
    store->moveToBin(older);
    const std::int64_t limit = *store->moveToBin(younger).binnedMs;
    QCOMPARE(store->emptyBin(limit), std::int64_t{1});
    QCOMPARE(kindOf([&] { (void)store->document(older); }), ErrorKind::NotFound);
    QCOMPARE(store->document(younger).summary.title, std::string("younger"));
    QCOMPARE(store->emptyBin(), std::int64_t{1});
    QCOMPARE(store->emptyBin(), std::int64_t{0});
    QCOMPARE(store->list()[0].id, kept);
}

void TestDocumentStore::duplicatesStandAlone()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "").summary.id;
    const std::vector<LockedRange> locks{{.begin = 0, .end = 3, .text = "one"}};
    store->saveText(id, "one", locks, std::nullopt);
    const Document copy = store->duplicate(id, "t (copy)");
    QCOMPARE(copy.text, std::string("one"));
    QVERIFY(copy.locks == locks);
    QCOMPARE(copy.summary.title, std::string("t (copy)"));
    store->saveText(id, "two", {}, std::nullopt);
    QCOMPARE(store->document(copy.summary.id).text, std::string("one"));
    QCOMPARE(store->revision(copy.summary.id, 1).text, std::string("one"));
}

void TestDocumentStore::filesAreForTheirOwnerAlone()
{
    StoreFixture fixture;
    StoreOptions options = fixture.options();
    options.file = fixture.folder() / "new folder/deeper/store.sqlite";
    const DocumentStore store(options);
    namespace fs = std::filesystem;
    constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
    QVERIFY((fs::status(options.file).permissions() & kOthers) == fs::perms::none);
    QVERIFY((fs::status(options.file.string() + "-wal").permissions() & kOthers) == fs::perms::none);
    QVERIFY((fs::status(fixture.folder() / "new folder").permissions() & kOthers) == fs::perms::none);
}

QTEST_GUILESS_MAIN(TestDocumentStore)
#include "tst_document_store.moc"
