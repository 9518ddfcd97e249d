// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// F102: what happens to a store that something is wrong with: newer, older, damaged, foreign, locked, without room.

#include "app/documents/database.h"
#include "app/documents/schema.h"
#include "tests/app/documents/step_samples.h"
#include "tests/app/documents/store_fixture.h"

#include <QFile>
#include <QTest>

#include <array>
#include <csignal>
#include <map>
#include <sys/resource.h>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::faultOf;
using palimpsest::test::kindOf;
using palimpsest::test::StoreFixture;

namespace fs = std::filesystem;

namespace {

constexpr std::array kSecondVersion = {"ALTER TABLE documents ADD COLUMN mood BLOB NOT NULL DEFAULT x''",
                                       "CREATE TABLE moods (name BLOB) STRICT"};
constexpr std::array kBrokenVersion = {"CREATE TABLE moods (name BLOB) STRICT", "CREATE TABLE documents (x BLOB)"};
/// SQLite's own limit stands for a full disk.
constexpr std::array kSmallDisk = {"PRAGMA max_page_count = 80"};

std::vector<SchemaStep> schemaWith(std::span<const char *const> statements)
{
    std::vector<SchemaStep> schema(currentSchema().begin(), currentSchema().end());
    schema.push_back({.version = schema.back().version + 1, .statements = statements});
    return schema;
}

/// Name and contents of every file in the folder.
std::map<std::string, QByteArray> contentsOf(const fs::path &folder)
{
    std::map<std::string, QByteArray> contents;
    for (const auto &entry : fs::directory_iterator(folder)) {
        QFile file(QString::fromStdString(entry.path().string()));
        if (!entry.is_directory() && !file.open(QFile::ReadOnly))
            throw std::runtime_error("cannot read " + entry.path().string());
        contents[entry.path().filename().string()] = entry.is_directory() ? QByteArray() : file.readAll();
    }
    return contents;
}

std::vector<fs::path> copiesIn(const fs::path &folder)
{
    std::vector<fs::path> copies;
    for (const auto &entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".copy")
            copies.push_back(entry.path());
    }
    return copies;
}

void write(const fs::path &path, const QByteArray &bytes)
{
    QFile file(QString::fromStdString(path.string()));
    if (!file.open(QFile::WriteOnly) || file.write(bytes) != bytes.size())
        throw std::runtime_error("cannot write " + path.string());
}

/// A limit on the size of files for as long as it lives; a write beyond it fails as on a full disk.
class FileSizeLimit
{
public:
    explicit FileSizeLimit(rlim_t bytes)
    {
        m_handler = std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit{.rlim_cur = bytes, .rlim_max = m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit()
    {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }
    FileSizeLimit(const FileSizeLimit &) = delete;
    FileSizeLimit &operator=(const FileSizeLimit &) = delete;

private:
    rlimit m_before{};
    void (*m_handler)(int) = nullptr;
};

std::string longText(char letter)
{
    return std::string(20'000, letter);
}

} // namespace

class TestStoreFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anEmptyFileBecomesAStore();
    void foreignFilesAreLeftAlone_data();
    void foreignFilesAreLeftAlone();
    void aNewerVersionIsNeverWritten();
    void aNewerVersionInTheLogIsSeen();
    void aNewerVersionThatTakesOverStopsTheOlder();
    void anOlderVersionIsCopiedAndBroughtUpToDate();
    void aStepThatFailsLeavesTheStoreAsItWas();
    void noRoomForTheCopyMeansNoChange();
    void damagedStoresAreReported_data();
    void damagedStoresAreReported();
    void aLockedStoreSaysSo();
    void aFullDiskLosesNothing();
    void aFileThatMayNotGrowLosesNothing();
    void pathsOfAnyKind_data();
    void pathsOfAnyKind();
};

void TestStoreFiles::anEmptyFileBecomesAStore()
{
    StoreFixture fixture;
    write(fixture.file(), {});
    const auto store = fixture.open();
    store->create("t", "");
    QCOMPARE(store->list().size(), std::size_t{1});
}

void TestStoreFiles::foreignFilesAreLeftAlone_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("a letter") << QByteArray("Dear all, this is no database.\n").repeated(20);
    QTest::newRow("one byte") << QByteArray("x");
    QTest::newRow("zeros") << QByteArray(8192, '\0');
    QTest::newRow("only the first bytes of a database") << QByteArray("SQLite format 3\0", 16);
    StoreFixture other;
    {
        Database database(other.file(), Database::Access::ReadWrite, std::chrono::seconds(1));
        database.run("CREATE TABLE recipes (name TEXT)");
    }
    QTest::newRow("another program's database") << contentsOf(other.folder())["documents.sqlite"];
}

void TestStoreFiles::foreignFilesAreLeftAlone()
{
    QFETCH(QByteArray, bytes);
    StoreFixture fixture;
    write(fixture.file(), bytes);
    const auto before = contentsOf(fixture.folder());
    QCOMPARE(faultOf([&] { fixture.open(); }), StoreFault::Foreign);
    QVERIFY(contentsOf(fixture.folder()) == before);
}

void TestStoreFiles::aNewerVersionIsNeverWritten()
{
    StoreFixture fixture;
    const std::vector<SchemaStep> newer = schemaWith(kSecondVersion);
    StoreOptions options = fixture.options();
    options.schema = newer;
    DocumentStore(options).create("t", "from the future");
    const auto before = contentsOf(fixture.folder());
    try {
        fixture.open();
        QFAIL("opened");
    } catch (const StoreError &error) {
        QCOMPARE(error.fault(), StoreFault::NewerVersion);
        QCOMPARE(error.kind(), ErrorKind::Unsupported);
        QVERIFY(std::string(error.what()).find("newer version") != std::string::npos);
        QCOMPARE(error.subject(), fixture.file().string());
    }
    QVERIFY(contentsOf(fixture.folder()) == before);
    QCOMPARE(DocumentStore(options).list().size(), std::size_t{1});
}

void TestStoreFiles::aNewerVersionInTheLogIsSeen()
{
    // A newer program was killed: what it wrote is in the log only.
    StoreFixture fixture;
    fixture.open()->create("t", "old");
    StoreFixture crashed;
    {
        const std::vector<SchemaStep> newer = schemaWith(kSecondVersion);
        StoreOptions options = fixture.options();
        options.schema = newer;
        Database reader(fixture.file(), Database::Access::ReadOnly, std::chrono::seconds(1));
        Statement row(reader, "SELECT number FROM documents UNION ALL SELECT number FROM documents");
        QVERIFY(row.next()); // keeps the log from being written back
        const DocumentStore store(options);
        for (const char *suffix : {"", "-wal"})
            fs::copy_file(fixture.file().string() + suffix, crashed.file().string() + suffix);
    }
    const auto before = contentsOf(crashed.folder());
    QCOMPARE(faultOf([&] { crashed.open(); }), StoreFault::NewerVersion);
    for (const auto &[name, bytes] : before)
        QVERIFY2(contentsOf(crashed.folder())[name] == bytes, name.c_str());
}

void TestStoreFiles::aNewerVersionThatTakesOverStopsTheOlder()
{
    StoreFixture fixture;
    const auto older = fixture.open();
    const OpaqueId id = older->create("t", "old").summary.id;
    const std::vector<SchemaStep> schema = schemaWith(kSecondVersion);
    StoreOptions options = fixture.options();
    options.schema = schema;
    const DocumentStore newer(options);
    QCOMPARE(faultOf([&] { older->saveText(id, "older again", {}, std::nullopt); }), StoreFault::NewerVersion);
    QCOMPARE(newer.document(id).text, std::string("old"));
}

void TestStoreFiles::anOlderVersionIsCopiedAndBroughtUpToDate()
{
    StoreFixture fixture;
    OpaqueId id;
    {
        const auto older = fixture.open();
        id = older->create("t", "one").summary.id;
        older->saveText(id, "two", {}, std::nullopt);
    }
    const std::vector<SchemaStep> schema = schemaWith(kSecondVersion);
    StoreOptions options = fixture.options();
    options.schema = schema;
    {
        DocumentStore newer(options);
        QCOMPARE(newer.document(id).text, std::string("two"));
        QCOMPARE(newer.search("two").size(), std::size_t{1});
        newer.saveText(id, "three", {}, std::nullopt);
    }
    const std::vector<fs::path> copies = copiesIn(fixture.folder());
    QCOMPARE(copies.size(), std::size_t{1});
    QVERIFY((fs::status(copies[0]).permissions() & fs::perms::others_all) == fs::perms::none);
    StoreOptions old = fixture.options();
    old.file = copies[0];
    const DocumentStore copy(old); // a whole store of the version before
    QCOMPARE(copy.document(id).text, std::string("two"));
    QCOMPARE(copy.revisions(id).size(), std::size_t{1});
    DocumentStore again(options); // nothing to be done twice
    QCOMPARE(copiesIn(fixture.folder()).size(), std::size_t{1});
    again.erase(id);
    QVERIFY(copiesIn(fixture.folder()).empty());
}

void TestStoreFiles::aStepThatFailsLeavesTheStoreAsItWas()
{
    StoreFixture fixture;
    const OpaqueId id = fixture.open()->create("t", "one").summary.id;
    const std::vector<SchemaStep> broken = schemaWith(kBrokenVersion);
    StoreOptions options = fixture.options();
    options.schema = broken;
    QCOMPARE(kindOf([&] { const DocumentStore store(options); }), ErrorKind::Io);
    QCOMPARE(fixture.open()->document(id).text, std::string("one"));
    QCOMPARE(copiesIn(fixture.folder()).size(), std::size_t{1});
}

void TestStoreFiles::noRoomForTheCopyMeansNoChange()
{
    StoreFixture fixture;
    const OpaqueId id = fixture.open()->create("t", longText('a')).summary.id;
    const std::vector<SchemaStep> schema = schemaWith(kSecondVersion);
    StoreOptions options = fixture.options();
    options.schema = schema;
    {
        const FileSizeLimit limit(fs::file_size(fixture.file()) / 2);
        QCOMPARE(kindOf([&] { const DocumentStore store(options); }), ErrorKind::Io);
    }
    QVERIFY(copiesIn(fixture.folder()).empty());
    QCOMPARE(fixture.open()->document(id).text, longText('a')); // of the old version still
}

void TestStoreFiles::damagedStoresAreReported_data()
{
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("length"); // that many bytes are overwritten; 0: the file ends there
    QTest::newRow("cut in the middle") << 50'000 << 0;
    QTest::newRow("cut behind the header") << 4096 << 0;
    QTest::newRow("pages overwritten") << 20'000 << 40'000;
    QTest::newRow("the tables' page overwritten") << 100 << 3996;
}

void TestStoreFiles::damagedStoresAreReported()
{
    QFETCH(int, from);
    QFETCH(int, length);
    StoreFixture fixture;
    {
        const auto store = fixture.open();
        for (char letter = 'a'; letter < 'h'; ++letter)
            store->create("t", longText(letter));
    }
    QByteArray bytes = contentsOf(fixture.folder())["documents.sqlite"];
    bytes = length == 0 ? bytes.left(from) : bytes.replace(from, length, QByteArray(length, '\x5A'));
    write(fixture.file(), bytes);
    QCOMPARE(faultOf([&] { fixture.open(); }), StoreFault::Damaged);
    QVERIFY(contentsOf(fixture.folder())["documents.sqlite"] == bytes); // evidence, and a chance of rescue
    const fs::path aside = DocumentStore::moveAside(fixture.file());
    QVERIFY(contentsOf(fixture.folder())[aside.filename().string()] == bytes);
    QVERIFY(fixture.open()->list().empty());
}

void TestStoreFiles::aLockedStoreSaysSo()
{
    StoreFixture fixture;
    StoreOptions options = fixture.options();
    options.busyTimeout = std::chrono::milliseconds(30);
    DocumentStore store(options);
    const OpaqueId id = store.create("t", "one").summary.id;
    {
        Database other(fixture.file(), Database::Access::ReadWrite, options.busyTimeout);
        const Transaction transaction(other);
        QCOMPARE(faultOf([&] { store.saveText(id, "two", {}, std::nullopt); }), StoreFault::Locked);
        QCOMPARE(store.document(id).text, std::string("one")); // reading goes on
    }
    QVERIFY(store.saveText(id, "two", {}, std::nullopt).saved);
}

void TestStoreFiles::aFullDiskLosesNothing()
{
    StoreFixture fixture;
    const std::vector<SchemaStep> schema = schemaWith(kSmallDisk);
    StoreOptions options = fixture.options();
    options.schema = schema;
    DocumentStore store(options);
    const OpaqueId kept = store.create("kept", "the text").summary.id;
    const OpaqueId run = store.beginRun(kept, "{}");
    std::vector<OpaqueId> others;
    const auto fill = [&] {
        for (;;)
            others.push_back(store.create("t", longText('a')).summary.id);
    };
    QCOMPARE(faultOf(fill), StoreFault::DiskFull);
    QCOMPARE(faultOf([&] { store.saveText(kept, longText('b'), {}, std::nullopt); }), StoreFault::DiskFull);
    QCOMPARE(faultOf([&] { store.appendSteps(run, 0, test::settlingCanvas(1, 48, 256, 262'144)); }),
             StoreFault::DiskFull);
    QCOMPARE(store.document(kept).text, std::string("the text"));
    QCOMPARE(store.document(kept).summary.version, std::int64_t{1});
    QCOMPARE(store.list().size(), others.size() + 1);
    QVERIFY(store.search("text").size() == 1);
    store.erase(others.back()); // room again
    QVERIFY(store.saveText(kept, longText('b'), {}, std::nullopt).saved);
}

void TestStoreFiles::aFileThatMayNotGrowLosesNothing()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("t", "one").summary.id;
    {
        const FileSizeLimit limit(fs::file_size(fixture.file().string() + "-wal") + 4096);
        QCOMPARE(kindOf([&] { store->saveText(id, longText('a'), {}, std::nullopt); }), ErrorKind::Io);
        QCOMPARE(store->document(id).text, std::string("one"));
    }
    QVERIFY(store->saveText(id, longText('b'), {}, std::nullopt).saved);
    QCOMPARE(fixture.open()->document(id).text, longText('b'));
}

void TestStoreFiles::pathsOfAnyKind_data()
{
    QTest::addColumn<QString>("name");
    QTest::newRow("spaces and quotes") << QStringLiteral("my \"drafts\" 'of' 2026.sqlite");
    QTest::newRow("like a URI") << QStringLiteral("file:x?mode=memory#y");
    QTest::newRow("percent, semicolon") << QStringLiteral("100%41;b=c");
    QTest::newRow("other scripts") << QString::fromUtf8("\xC3\xA9t\xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80");
}

void TestStoreFiles::pathsOfAnyKind()
{
    QFETCH(QString, name);
    StoreFixture fixture;
    StoreOptions options = fixture.options();
    options.file = fixture.folder() / name.toStdString();
    const OpaqueId id = DocumentStore(options).create("t", "one").summary.id;
    QVERIFY(fs::exists(options.file));
    const std::vector<SchemaStep> schema = schemaWith(kSecondVersion);
    options.schema = schema;
    QCOMPARE(DocumentStore(options).document(id).text, std::string("one"));
    QCOMPARE(copiesIn(fixture.folder()).size(), std::size_t{1});
}

QTEST_GUILESS_MAIN(TestStoreFiles)
#include "tst_store_files.moc"
