// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"

#include <QTest>

// What PROTOCOL.md says of an open draft. Runs are in tst_live_runs.cpp.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveDrafts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void opensWhatThereIsAndNothingElse();
    void editsReachTheOtherWindows();
    void editsOfOldVersionsAreMoved();
    void wrongEditsAreRefused_data();
    void wrongEditsAreRefused();
    void undoAndRedoReachEverybody();
    void locksAreWholeWords();
    void settingsAreMerged();
    void revisionsComeBack();
    void whatIsSentBehindAnOpenWaitsForIt();
    void aClosedDocumentIsNotHeardOf();
    void draftsSurviveARestart();
};

void TestLiveDrafts::opensWhatThereIsAndNothingElse()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString text = QStringLiteral("Zeile 1\r\n\tzwei \U0001F600 e\u0301 \u2028 \u0002");
    const QString document = client.openNew(text);
    const QJsonObject opened = client.reopen(document);
    QCOMPARE(opened.value(u"text").toString(), text);
    for (const char *name : {"locks", "runs", "proposals"})
        QVERIFY2(opened.value(QLatin1String(name)).isArray(), name);
    QVERIFY(opened.value(u"undo").isNull());
    QVERIFY(opened.value(u"redo").isNull());
    QVERIFY(opened.value(u"settings").isObject());
    QVERIFY(opened.value(u"saved").toBool());
    QCOMPARE(client.refusal("open", {{"document", "nowhere"}}), QStringLiteral("not_found"));
    QCOMPARE(client.refusal("open"), QStringLiteral("invalid_request"));
    LiveClient other(fixture.url());
    QCOMPARE(other.refusal("undo", {{"document", document}}), QStringLiteral("not_found")); // not open there
}

void TestLiveDrafts::editsReachTheOtherWindows()
{
    LiveFixture fixture;
    LiveClient writer(fixture.url());
    LiveClient reader(fixture.url());
    const QString document = writer.openNew(QStringLiteral("one two"));
    const int version = reader.reopen(document).value(u"version").toInt();
    const QJsonObject reply = writer.demand(
        "edit",
        {{"document", document}, {"version", version}, {"start", 4}, {"end", 7}, {"text", "three"}, {"typing", true}});
    QCOMPARE(reply.value(u"version").toInt(), version + 1);
    QCOMPARE(reply.value(u"start").toInt(), 4);
    QCOMPARE(reply.value(u"end").toInt(), 7);
    const QJsonObject edited = reader.waitFor("edited");
    QCOMPARE(edited.value(u"document").toString(), document);
    QCOMPARE(edited.value(u"version").toInt(), version + 1);
    QCOMPARE(edited.value(u"start").toInt(), 4);
    QCOMPARE(edited.value(u"end").toInt(), 7);
    QCOMPARE(edited.value(u"text").toString(), QStringLiteral("three"));
    QCOMPARE(edited.value(u"by"), writer.log().front().value(u"client"));
    QCOMPARE(edited.value(u"cause").toString(), QStringLiteral("typing"));
    const QJsonObject undoable = reader.waitFor("undoable");
    QVERIFY(undoable.value(u"undo").isString());
    QVERIFY(undoable.value(u"redo").isNull());
    reader.waitFor("saved", [](const QJsonObject &saved) { return saved.value(u"saved").toBool(); });
    QVERIFY(writer.heard("edited").empty()); // it has the reply
}

void TestLiveDrafts::editsOfOldVersionsAreMoved()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("ab"));
    const auto edit = [&](int version, int at, const char *text) {
        return client.demand(
            "edit",
            {{"document", document}, {"version", version}, {"start", at}, {"end", at}, {"text", QLatin1String(text)}});
    };
    edit(0, 0, "11");
    QCOMPARE(edit(0, 2, "22").value(u"start").toInt(), 4);
    QCOMPARE(edit(0, 0, "33").value(u"start").toInt(), 2); // behind the one that came first
    QCOMPARE(client.reopen(document).value(u"text").toString(), QStringLiteral("1133ab22"));
}

void TestLiveDrafts::wrongEditsAreRefused_data()
{
    QTest::addColumn<int>("version");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("end");
    QTest::addColumn<QString>("code");
    QTest::newRow("beyond the end") << 0 << 0 << 4 << QStringLiteral("invalid_request");
    QTest::newRow("begins beyond the end") << 0 << 4 << 4 << QStringLiteral("invalid_request");
    QTest::newRow("a version to come") << 7 << 0 << 1 << QStringLiteral("stale");
}

void TestLiveDrafts::wrongEditsAreRefused()
{
    QFETCH(const int, version);
    QFETCH(const int, start);
    QFETCH(const int, end);
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("abc"));
    const QString code = client.refusal(
        "edit", {{"document", document}, {"version", version}, {"start", start}, {"end", end}, {"text", "x"}});
    QTEST(code, "code");
    QCOMPARE(client.reopen(document).value(u"text").toString(), QStringLiteral("abc"));
}

void TestLiveDrafts::undoAndRedoReachEverybody()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    LiveClient other(fixture.url());
    const QString document = client.openNew(QStringLiteral("one"));
    other.reopen(document);
    client.demand("edit", {{"document", document}, {"version", 0}, {"start", 3}, {"end", 3}, {"text", "!"}});
    QCOMPARE(other.demand("undo", {{"document", document}}).value(u"version").toInt(), 2);
    const auto isUndo = [](const QJsonObject &edited) {
        return edited.value(u"cause").toString() == u"undo";
    };
    QCOMPARE(client.waitFor("edited", isUndo).value(u"version").toInt(), 2);
    QVERIFY(client.waitFor("edited", isUndo).value(u"by").isNull());
    other.waitFor("edited", isUndo); // nobody's edit: to the one that asked for it, too
    QCOMPARE(client.demand("redo", {{"document", document}}).value(u"version").toInt(), 3);
    QCOMPARE(client.reopen(document).value(u"text").toString(), QStringLiteral("one!"));
    QCOMPARE(client.demand("redo", {{"document", document}}).value(u"version").toInt(), 3); // nothing to redo
}

void TestLiveDrafts::locksAreWholeWords()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    LiveClient other(fixture.url());
    const QString document = client.openNew(QStringLiteral("some words here"));
    other.reopen(document);
    const QJsonObject held =
        client.demand("lock", {{"document", document}, {"version", 0}, {"start", 6}, {"end", 8}, {"locked", true}});
    QCOMPARE(held.value(u"start").toInt(), 5);
    QCOMPARE(held.value(u"end").toInt(), 10);
    const QJsonObject locks = other.waitFor("locks");
    QCOMPARE(locks.value(u"locks").toArray(), (QJsonArray{QJsonObject{{"start", 5}, {"end", 10}}}));
    QVERIFY(locks.contains(u"version"));
    const std::size_t from = other.mark();
    client.demand("unlock.all", {{"document", document}});
    QVERIFY(other.waitFor("locks", {}, from).value(u"locks").toArray().isEmpty());
    QCOMPARE(
        client.refusal("lock", {{"document", document}, {"version", 0}, {"start", 4}, {"end", 5}, {"locked", true}}),
        QStringLiteral("invalid_request")); // a blank
    QCOMPARE(
        client.refusal("lock", {{"document", document}, {"version", 9}, {"start", 6}, {"end", 8}, {"locked", true}}),
        QStringLiteral("stale"));
}

void TestLiveDrafts::settingsAreMerged()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    LiveClient other(fixture.url());
    const QString document = client.openNew(QStringLiteral("x"));
    other.reopen(document);
    client.demand("settings", {{"document", document}, {"settings", QJsonObject{{"seed", 5}, {"mine", "a"}}}});
    client.demand("settings", {{"document", document}, {"settings", QJsonObject{{"mine", QJsonValue()}}}});
    const QJsonObject settings = client.reopen(document).value(u"settings").toObject();
    QCOMPARE(settings.value(u"seed").toInt(), 5);
    QVERIFY(!settings.contains(u"mine"));
    QCOMPARE(other.waitFor("settings").value(u"settings").toObject().value(u"mine").toString(), QStringLiteral("a"));
    QCOMPARE(client.refusal("settings", {{"document", document}, {"settings", QJsonObject{{"seed", QJsonArray()}}}}),
             QStringLiteral("invalid_request"));
}

void TestLiveDrafts::revisionsComeBack()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(QStringLiteral("first words"));
    const QJsonArray revisions = client.demand("revisions", {{"document", document}}).value(u"revisions").toArray();
    QVERIFY(!revisions.isEmpty());
    const QJsonObject first = revisions.first().toObject();
    QCOMPARE(first.value(u"origin").toObject().value(u"kind").toString(), QStringLiteral("imported"));
    QCOMPARE(first.value(u"words").toInt(), 2);
    QVERIFY(first.value(u"created").toDouble() > 1.6e12);
    const int number = first.value(u"revision").toInt();
    client.demand("edit", {{"document", document}, {"version", 0}, {"start", 0}, {"end", 5}, {"text", "other"}});
    QCOMPARE(client.demand("revision.text", {{"document", document}, {"revision", number}}).value(u"text").toString(),
             QStringLiteral("first words"));
    const QJsonObject restored = client.demand("revision.restore", {{"document", document}, {"revision", number}});
    QVERIFY(restored.value(u"version").toInt() >= 2);
    QCOMPARE(client.waitFor("edited").value(u"cause").toString(), QStringLiteral("restore"));
    client.waitFor("revision.added", [](const QJsonObject &added) {
        return added.value(u"revision").toObject().value(u"origin").toObject().value(u"kind").toString() == u"restored";
    });
    QCOMPARE(client.reopen(document).value(u"text").toString(), QStringLiteral("first words"));
    QCOMPARE(client.refusal("revision.text", {{"document", document}, {"revision", 99}}), QStringLiteral("not_found"));
    QCOMPARE(client.refusal("revision.restore", {{"document", document}, {"revision", 99}}),
             QStringLiteral("not_found"));
}

void TestLiveDrafts::whatIsSentBehindAnOpenWaitsForIt()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.demand("document.create", {{"text", "ab"}}).value(u"document").toString();
    client.send("open", {{"document", document}});
    const std::int64_t edit =
        client.send("edit", {{"document", document}, {"version", 0}, {"start", 1}, {"end", 1}, {"text", "x"}});
    const std::int64_t undo = client.send("undo", {{"document", document}});
    QCOMPARE(client.answerTo(edit).value(u"version").toInt(), 1);
    QCOMPARE(client.answerTo(undo).value(u"version").toInt(), 2);
}

void TestLiveDrafts::aClosedDocumentIsNotHeardOf()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    LiveClient other(fixture.url());
    const QString document = client.openNew(QStringLiteral("x"));
    other.reopen(document);
    other.demand("close", {{"document", document}});
    client.demand("edit", {{"document", document}, {"version", 0}, {"start", 0}, {"end", 0}, {"text", "y"}});
    QCOMPARE(other.refusal("edit", {{"document", document}, {"version", 0}, {"start", 0}, {"end", 0}, {"text", "y"}}),
             QStringLiteral("not_found"));
    QVERIFY(other.heard("edited").empty());
    QCOMPARE(other.refusal("close", {{"document", document}}), QStringLiteral("not_found"));
}

void TestLiveDrafts::draftsSurviveARestart()
{
    LiveFixture fixture;
    QString document;
    {
        LiveClient client(fixture.url());
        document = client.openNew(QStringLiteral("before"));
        client.demand("edit", {{"document", document}, {"version", 0}, {"start", 6}, {"end", 6}, {"text", " after"}});
    }
    fixture.restart(); // within the delay of saving
    LiveClient client(fixture.url());
    QCOMPARE(client.reopen(document).value(u"text").toString(), QStringLiteral("before after"));
}

QTEST_GUILESS_MAIN(TestLiveDrafts)
#include "tst_live_drafts.moc"
