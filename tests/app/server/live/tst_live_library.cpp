// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"

#include <QTest>

// What PROTOCOL.md says of the library. What is in a draft is in tst_live_drafts.cpp.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveLibrary : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void libraryIsWatched();
    void librarySearches();
    void binRestoreAndDelete();
    void duplicatesHaveWhatWasJustTyped();
};

void TestLiveLibrary::libraryIsWatched()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    QVERIFY(client.demand("library.watch").value(u"documents").toArray().isEmpty());
    const QString document = client.openNew(QStringLiteral("The first words. And more."), QStringLiteral("One"));
    const QJsonObject entry =
        client
            .waitFor("library", [](const QJsonObject &list) { return list.value(u"documents").toArray().size() == 1; })
            .value(u"documents")
            .toArray()
            .first()
            .toObject();
    QCOMPARE(entry.value(u"id").toString(), document);
    QCOMPARE(entry.value(u"title").toString(), QStringLiteral("One"));
    QCOMPARE(entry.value(u"excerpt").toString(), QStringLiteral("The first words. And more."));
    QCOMPARE(entry.value(u"binned").toBool(true), false);
    QVERIFY(entry.value(u"modified").toDouble() > 1.6e12);
    QVERIFY(entry.value(u"revisions").toInt() >= 1);
    // Another window renames it; it is open, so its title is told as well.
    LiveClient other(fixture.url());
    other.demand("document.rename", {{"document", document}, {"title", "Two"}});
    client.waitFor("title", [](const QJsonObject &title) { return title.value(u"title").toString() == u"Two"; });
    client.waitFor("library", [](const QJsonObject &list) {
        return list.value(u"documents").toArray().first().toObject().value(u"title").toString() == u"Two";
    });
    // And one that is not open.
    const QString closed = other.demand("document.create", {{"title", "C"}}).value(u"document").toString();
    other.demand("document.rename", {{"document", closed}, {"title", "D"}});
    client.waitFor("library", [](const QJsonObject &list) {
        return list.value(u"documents").toArray().first().toObject().value(u"title").toString() == u"D";
    });
    QCOMPARE(other.refusal("document.rename", {{"document", "none"}, {"title", "x"}}), QStringLiteral("not_found"));
}

void TestLiveLibrary::librarySearches()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    client.demand("document.create", {{"title", "a"}, {"text", "a heron stood in the marsh"}});
    client.demand("document.create", {{"title", "b"}, {"text", "nothing of the kind"}});
    const QJsonArray found = client.demand("library.watch", {{"query", "heron"}}).value(u"documents").toArray();
    QCOMPARE(found.size(), 1);
    QVERIFY(found.first().toObject().value(u"snippet").toString().contains(QStringLiteral("\u0002heron\u0003")));
    for (const char *query : {"\"", "heron\" OR", "AND", "*", "  "}) // nothing is a wrong query
        client.demand("library.watch", {{"query", QLatin1String(query)}});
    client.demand("library.watch", {{"query", "kind"}, {"binned", true}});
}

void TestLiveLibrary::binRestoreAndDelete()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    LiveClient other(fixture.url());
    const QString document = client.openNew(QStringLiteral("text"));
    const auto sizeOf = [&](bool binned) {
        return client.demand("library.watch", {{"binned", binned}}).value(u"documents").toArray().size();
    };
    client.demand("document.bin", {{"document", document}});
    QCOMPARE(sizeOf(false), 0);
    QCOMPARE(sizeOf(true), 1);
    client.demand("document.restore", {{"document", document}});
    QCOMPARE(sizeOf(false), 1);
    other.demand("document.delete", {{"document", document}});
    client.waitFor("document.gone",
                   [&](const QJsonObject &gone) { return gone.value(u"document").toString() == document; });
    QCOMPARE(sizeOf(false), 0);
    QCOMPARE(client.refusal("open", {{"document", document}}), QStringLiteral("not_found"));
    QCOMPARE(client.refusal("undo", {{"document", document}}), QStringLiteral("not_found"));
    for (const char *type : {"document.bin", "document.restore", "document.delete", "document.duplicate"})
        QCOMPARE(client.refusal(type, {{"document", document}}), QStringLiteral("not_found"));
}

void TestLiveLibrary::duplicatesHaveWhatWasJustTyped()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("one"), QStringLiteral("T"));
    client.demand("edit", {{"document", document}, {"version", 0}, {"start", 3}, {"end", 3}, {"text", " two"}});
    const QString copy = client.demand("document.duplicate", {{"document", document}}).value(u"document").toString();
    QVERIFY(copy != document);
    const QJsonObject opened = client.reopen(copy);
    QCOMPARE(opened.value(u"text").toString(), QStringLiteral("one two"));
    QCOMPARE(opened.value(u"title").toString(), QStringLiteral("T (copy)"));
}

QTEST_GUILESS_MAIN(TestLiveLibrary)
#include "tst_live_library.moc"
