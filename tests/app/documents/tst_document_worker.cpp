// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_worker.h"
#include "tests/app/documents/store_fixture.h"

#include <QCoreApplication>
#include <QTest>

#include <fstream>
#include <future>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::faultOf;
using palimpsest::test::kindOf;
using palimpsest::test::StoreFixture;

class TestDocumentWorker : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void resultsComeByFuture();
    void resultsComeToTheCallersThread();
    void errorsComeBack();
    void callsKeepTheirOrder();
    void nobodyWaitsForABusyStore();
    void repliesOfABoxThatIsGoneAreDropped();
    void aReplyMayDestroyItsBox();
    void everythingIsDoneBeforeTheEnd();
    void aStoreThatCannotBeOpenedSaysWhy();
    void aDamagedStoreIsReplacedWhenAsked();
};

void TestDocumentWorker::resultsComeByFuture()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    const Document made = worker.run([](DocumentStore &store) { return store.create("t", "one"); }).get();
    const auto read = [id = made.summary.id](DocumentStore &store) {
        return store.document(id).text;
    };
    QCOMPARE(worker.run(read).get(), std::string("one"));
    std::future<void> nothing = worker.run([](DocumentStore &) {});
    nothing.get();
}

void TestDocumentWorker::resultsComeToTheCallersThread()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    DocumentReplies replies;
    std::thread::id workedOn;
    std::thread::id repliedOn;
    std::size_t count = 0;
    worker.run(
        [&workedOn](DocumentStore &store) {
            workedOn = std::this_thread::get_id();
            store.create("t", "one");
            return store.list();
        },
        replies,
        [&](std::future<std::vector<DocumentSummary>> result) {
            repliedOn = std::this_thread::get_id();
            count = result.get().size();
        });
    QTRY_COMPARE(count, std::size_t{1});
    QVERIFY(repliedOn == std::this_thread::get_id());
    QVERIFY(workedOn != repliedOn);
}

void TestDocumentWorker::errorsComeBack()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    const auto fails = [](DocumentStore &store) {
        return store.document("unknown");
    };
    QCOMPARE(kindOf([&] { worker.run(fails).get(); }), ErrorKind::NotFound);
    DocumentReplies replies;
    std::optional<ErrorKind> kind;
    worker.run(fails, replies, [&kind](std::future<Document> result) { kind = kindOf([&] { result.get(); }); });
    QTRY_VERIFY(kind.has_value());
    QCOMPARE(*kind, ErrorKind::NotFound);
    QVERIFY(worker.run([](DocumentStore &store) { return store.list(); }).get().empty()); // it goes on
}

void TestDocumentWorker::callsKeepTheirOrder()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    DocumentReplies replies;
    std::vector<int> order;
    for (int number = 0; number < 200; ++number)
        worker.run([number](DocumentStore &) { return number; }, replies,
                   [&order](std::future<int> result) { order.push_back(result.get()); });
    QTRY_COMPARE(order.size(), std::size_t{200});
    QVERIFY(std::is_sorted(order.begin(), order.end()));
}

void TestDocumentWorker::nobodyWaitsForABusyStore()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    DocumentReplies replies;
    std::promise<void> disk; // a disk that takes its time
    const std::shared_future<void> free = disk.get_future().share();
    worker.run([free](DocumentStore &) { free.wait(); });
    bool saved = false;
    worker.run([](DocumentStore &store) { return store.create("t", ""); }, replies,
               [&saved](std::future<Document>) { saved = true; });
    QCoreApplication::processEvents(); // the caller's thread goes on
    QVERIFY(!saved);
    disk.set_value();
    QTRY_VERIFY(saved);
}

void TestDocumentWorker::repliesOfABoxThatIsGoneAreDropped()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    auto replies = std::make_unique<DocumentReplies>();
    bool called = false;
    const auto call = [&] {
        worker.run([](DocumentStore &) { return 1; }, *replies, [&called](std::future<int>) { called = true; });
    };
    call();
    worker.flush().get(); // its reply is on its way
    call();
    replies.reset();
    worker.flush().get();
    QCoreApplication::processEvents();
    QVERIFY(!called);
}

void TestDocumentWorker::aReplyMayDestroyItsBox()
{
    StoreFixture fixture;
    DocumentWorker worker(fixture.options());
    auto replies = std::make_unique<DocumentReplies>();
    int calls = 0;
    for (int number = 0; number < 3; ++number)
        worker.run([](DocumentStore &) { return 1; }, *replies,
                   [&](std::future<int>) {
                       ++calls;
                       replies.reset();
                   });
    worker.flush().get();
    QTRY_COMPARE(calls, 1);
    QCoreApplication::processEvents();
    QCOMPARE(calls, 1);
}

void TestDocumentWorker::everythingIsDoneBeforeTheEnd()
{
    StoreFixture fixture;
    {
        DocumentWorker worker(fixture.options());
        for (int number = 0; number < 50; ++number)
            worker.run([number](DocumentStore &store) { store.create(std::to_string(number), ""); });
    }
    QCOMPARE(fixture.open()->list().size(), std::size_t{50});
}

void TestDocumentWorker::aStoreThatCannotBeOpenedSaysWhy()
{
    StoreFixture fixture;
    std::ofstream(fixture.file()) << "Not a database, but somebody's letter.";
    DocumentWorker worker(fixture.options());
    const auto list = [](DocumentStore &store) {
        return store.list();
    };
    QCOMPARE(faultOf([&] { worker.run(list).get(); }), StoreFault::Foreign);
    QCOMPARE(faultOf([&] { worker.run(list).get(); }), StoreFault::Foreign);
    QCOMPARE(faultOf([&] { worker.reopen().get(); }), StoreFault::Foreign);
    std::filesystem::rename(fixture.file(), fixture.folder() / "letter");
    worker.reopen().get();
    QVERIFY(worker.run(list).get().empty());
    worker.reopen().get(); // an open one stays open
}

void TestDocumentWorker::aDamagedStoreIsReplacedWhenAsked()
{
    StoreFixture fixture;
    std::ofstream(fixture.file()) << "damaged";
    DocumentWorker worker(fixture.options());
    const std::filesystem::path aside = worker.replaceDamaged().get();
    QVERIFY(std::filesystem::exists(aside));
    QCOMPARE(std::filesystem::file_size(aside), std::uintmax_t{7});
    worker.run([](DocumentStore &store) { store.create("t", ""); }).get();
    QVERIFY(std::filesystem::exists(fixture.file()));
}

QTEST_GUILESS_MAIN(TestDocumentWorker)
#include "tst_document_worker.moc"
