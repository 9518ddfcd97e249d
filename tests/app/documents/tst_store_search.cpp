// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/search_query.h"
#include "tests/app/documents/step_samples.h"
#include "tests/app/documents/store_fixture.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <random>

using namespace palimpsest;
using namespace palimpsest::documents;
using palimpsest::test::below;
using palimpsest::test::StoreFixture;

namespace {

std::vector<std::string> titlesOf(const std::vector<SearchHit> &hits)
{
    std::vector<std::string> titles;
    titles.reserve(hits.size());
    for (const SearchHit &hit : hits)
        titles.push_back(hit.document.title);
    return titles;
}

} // namespace

class TestStoreSearch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void expressions_data();
    void expressions();
    void queries_data();
    void queries();
    void snippetsMarkWhatMatched();
    void theIndexFollowsEveryChange();
    void betterMatchesComeFirst();
    void noInputIsAnError_data();
    void noInputIsAnError();
    void noRandomInputIsAnError();
};

void TestStoreSearch::expressions_data()
{
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QByteArray>("expression");
    QTest::newRow("nothing") << QByteArray("") << QByteArray("");
    QTest::newRow("no word") << QByteArray(" \t* ( ) \" - ^") << QByteArray("");
    QTest::newRow("a word") << QByteArray("sea") << QByteArray("\"sea\"*");
    QTest::newRow("two words") << QByteArray(" sea\nwind ") << QByteArray("\"sea\"* \"wind\"*");
    QTest::newRow("quoted") << QByteArray("\"the sea\" win") << QByteArray("\"the sea\" \"win\"*");
    QTest::newRow("quotes not closed") << QByteArray("\"the se") << QByteArray("\"the se\"*");
    QTest::newRow("quotes inside a word") << QByteArray("a\"b\"c") << QByteArray("\"a\"* \"b\" \"c\"*");
    QTest::newRow("operators are words") << QByteArray("sea OR NOT NEAR(wind)")
                                         << QByteArray("\"sea\"* \"OR\"* \"NOT\"* \"NEAR(wind)\"*");
    QTest::newRow("ideographic space") << QByteArray("a\xE3\x80\x80\x62") << QByteArray("\"a\"* \"b\"*");
    QTest::newRow("NUL and stray bytes part words")
        << QByteArray("a\0b\xFF\x63", 5) << QByteArray("\"a\"* \"b\"* \"c\"*");
}

void TestStoreSearch::expressions()
{
    QFETCH(QByteArray, query);
    QFETCH(QByteArray, expression);
    QCOMPARE(searchQuery(query.toStdString()).expression, expression.toStdString());
}

void TestStoreSearch::queries_data()
{
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<int>("hits");
    QTest::newRow("word") << QByteArray("harbour") << 1;
    QTest::newRow("beginning of a word") << QByteArray("harb") << 1;
    QTest::newRow("middle of a word") << QByteArray("arbour") << 0;
    QTest::newRow("another case") << QByteArray("HARBOUR") << 1;
    QTest::newRow("without accents") << QByteArray("cafe") << 1;
    QTest::newRow("with accents, in parts") << QByteArray("cafe\xCC\x81") << 1;
    QTest::newRow("in the title") << QByteArray("letter") << 1;
    QTest::newRow("title and text") << QByteArray("letter harbour") << 1;
    QTest::newRow("one of two is missing") << QByteArray("harbour mountain") << 0;
    QTest::newRow("quoted, together") << QByteArray("\"harbour was\"") << 1;
    QTest::newRow("quoted, apart") << QByteArray("\"harbour quiet\"") << 0;
    QTest::newRow("quoted, a beginning") << QByteArray("\"harbour wa\"") << 0;
    QTest::newRow("apostrophe") << QByteArray("don't") << 1;
    QTest::newRow("hyphen") << QByteArray("well-known") << 1;
    QTest::newRow("Greek") << QByteArray("\xCE\xB8\xCE\xAC\xCE\xBB") << 1;
    QTest::newRow("Hebrew") << QByteArray("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D") << 1;
    QTest::newRow("number") << QByteArray("1907") << 1;
    QTest::newRow("column filter is no filter") << QByteArray("title:harbour") << 0;
    QTest::newRow("column filter, the words") << QByteArray("title: harbour") << 0;
    QTest::newRow("Japanese, inside a sentence") << QByteArray("\xE6\xBC\xA2\xE5\xAD\x97") << 1;
    QTest::newRow("Japanese, not there") << QByteArray("\xE5\xAD\x97\xE6\xBC\xA2") << 0;
    QTest::newRow("Japanese and a word") << QByteArray("harbour \"\xE6\xBC\xA2\"") << 1;
    QTest::newRow("Japanese and a word that is not there") << QByteArray("\xE6\xBC\xA2 mountain") << 0;
    QTest::newRow("Thai, inside a sentence") << QByteArray("\xE0\xB8\x97\xE0\xB8\xA2") << 1;
    QTest::newRow("in a title without spaces") << QByteArray("\xE6\x9C\xAC") << 1;
    QTest::newRow("an empty quotation does not matter") << QByteArray("\"\" harbour") << 1;
}

void TestStoreSearch::queries()
{
    QFETCH(QByteArray, query);
    QFETCH(int, hits);
    StoreFixture fixture;
    const auto store = fixture.open();
    store->create("A letter",
                  "In 1907 the harbour was quiet. I don't know the caf\xC3\xA9, a well-known one.\n"
                  "\xCE\xB8\xCE\xAC\xCE\xBB\xCE\xB1\xCF\x83\xCF\x83\xCE\xB1 \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D\n"
                  "\xE3\x81\x93\xE3\x81\xAE\xE6\xBC\xA2\xE5\xAD\x97\xE3\x81\xAF \xE0\xB9\x84\xE0\xB8\x97\xE0\xB8\xA2");
    store->create("\xE6\x97\xA5\xE6\x9C\xAC", "Nothing of that.");
    QCOMPARE(store->search(query.toStdString()).size(), static_cast<std::size_t>(hits));
}

void TestStoreSearch::snippetsMarkWhatMatched()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const std::string before = QByteArray("some words in front ").repeated(30).toStdString();
    store->create("t", before + "the caf\xC3\xA9 by the harbour closed " + before);
    const SearchHit hit = store->search("harb caf").at(0);
    QVERIFY(hit.snippet.starts_with("\xE2\x80\xA6"));
    QVERIFY(hit.snippet.ends_with("\xE2\x80\xA6"));
    QCOMPARE(hit.marks.size(), std::size_t{2});
    const auto marked = [&hit](std::size_t index) {
        const SearchHit::Mark &mark = hit.marks.at(index);
        return hit.snippet.substr(static_cast<std::size_t>(mark.begin),
                                  static_cast<std::size_t>(mark.end - mark.begin));
    };
    QCOMPARE(marked(0), std::string("caf\xC3\xA9"));
    QCOMPARE(marked(1), std::string("harbour"));
    const std::string ideographs = QByteArray("\xE6\x97\xA5").repeated(100).toStdString();
    store->create("u", ideographs + "\xE6\xBC\xA2" + ideographs);
    const SearchHit piece = store->search("\xE6\xBC\xA2").at(0);
    QCOMPARE(QString::fromStdString(piece.snippet).toStdString(), piece.snippet); // no character is cut through
    QCOMPARE(piece.marks.size(), std::size_t{1});
    QCOMPARE(piece.snippet.substr(static_cast<std::size_t>(piece.marks[0].begin), 3), std::string("\xE6\xBC\xA2"));
    QCOMPARE(piece.snippet.size(), std::size_t{3 + 60 + 180 + 3});
    const SearchHit title = store->search("t").at(0); // found by "t", "the"
    QVERIFY(!title.snippet.empty());
}

void TestStoreSearch::theIndexFollowsEveryChange()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const OpaqueId id = store->create("first", "alpha").summary.id;
    const auto found = [&store](const char *query) {
        return store->search(query).size();
    };
    QCOMPARE(found("alpha"), std::size_t{1});
    store->saveText(id, "beta", {}, std::nullopt);
    QCOMPARE(found("alpha"), std::size_t{0});
    QCOMPARE(found("beta"), std::size_t{1});
    store->save(id, {.title = "second"});
    QCOMPARE(found("first"), std::size_t{0});
    QCOMPARE(found("second"), std::size_t{1});
    store->restore(id, 1, std::nullopt);
    QCOMPARE(found("alpha"), std::size_t{1});
    const OpaqueId copy = store->duplicate(id, "copy").summary.id;
    QCOMPARE(found("alpha"), std::size_t{2});
    store->erase(copy);
    QCOMPARE(found("alpha"), std::size_t{1});
    store->save(id, {.settings = "{\"alpha\":\"gamma\"}"});
    QCOMPARE(found("gamma"), std::size_t{0});
}

void TestStoreSearch::betterMatchesComeFirst()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    const std::string filling = QByteArray("other words ").repeated(50).toStdString();
    store->create("once", "harbour " + filling);
    store->create("often", "harbour harbour harbour " + filling);
    store->create("The harbour", filling);
    store->create("none", filling);
    QVERIFY((titlesOf(store->search("harbour")) == std::vector<std::string>{"The harbour", "often", "once"}));
    QVERIFY((titlesOf(store->search("harbour", 1)) == std::vector<std::string>{"The harbour"}));
}

void TestStoreSearch::noInputIsAnError_data()
{
    QTest::addColumn<QByteArray>("query");
    for (const char *query : {"\"",
                              "\"\"\"",
                              "*",
                              "a*",
                              "^a",
                              "-a",
                              "+a",
                              "a AND",
                              "AND",
                              "OR OR",
                              "NOT",
                              "NEAR(",
                              "NEAR(a b, 1",
                              "(",
                              ")",
                              "a)",
                              "{a b}: c",
                              "title : a",
                              "a:b",
                              "'",
                              "';--",
                              "\\",
                              "\\\"",
                              "%",
                              "_",
                              "?",
                              "?1",
                              ":name",
                              "@a",
                              "$a",
                              "[a]",
                              "a\nb",
                              "a\x01\x1F",
                              "\xEF\xBB\xBF\x61",
                              "\xF0\x9F\x98\x80",
                              "\xED\xA0\x80",
                              "\xC3",
                              "\xFE\xFF",
                              "\xE2\x80\xA8"})
        QTest::newRow(QByteArray(query).toHex().constData()) << QByteArray(query);
    QTest::newRow("only NUL") << QByteArray("\0", 1);
    QTest::newRow("many words") << QByteArray("word ").repeated(5000);
    QTest::newRow("many quotes") << QByteArray("\"a").repeated(5000);
    QTest::newRow("one long word") << QByteArray("a").repeated(100'000);
    QTest::newRow("many parentheses") << QByteArray("((((").repeated(2000);
}

void TestStoreSearch::noInputIsAnError()
{
    QFETCH(QByteArray, query);
    StoreFixture fixture;
    const auto store = fixture.open();
    store->create("a", "a b c");
    (void)store->search(query.toStdString()); // throws if SQLite does not understand it
    QCOMPARE(store->search("a").size(), std::size_t{1});
}

void TestStoreSearch::noRandomInputIsAnError()
{
    StoreFixture fixture;
    const auto store = fixture.open();
    test::RandomText texts(1);
    for (int count = 0; count < 20; ++count)
        store->create("t", texts.document(100));
    std::mt19937_64 random(2);
    static constexpr std::string_view kPieces[] = {"\"",  "*",   "(", ")", ":", "^",  "-", " ", "NEAR", "AND",
                                                   "NOT", "the", "{", "}", "+", "\\", "'", ",", "\x80", "\xE6\xBC\xA2"};
    for (int round = 0; round < 2000; ++round) {
        std::string query = texts.document(3);
        for (std::uint64_t count = below(random, 12); count > 0; --count)
            query.insert(below(random, query.size() + 1), kPieces[below(random, std::size(kPieces))]);
        for (const SearchHit &hit : store->search(query)) {
            for (const SearchHit::Mark &mark : hit.marks)
                QVERIFY(mark.begin < mark.end && mark.end <= static_cast<std::int64_t>(hit.snippet.size()));
        }
    }
}

QTEST_GUILESS_MAIN(TestStoreSearch)
#include "tst_store_search.moc"
