// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"

#include <QJsonDocument>
#include <QTcpSocket>
#include <QTest>

// What PROTOCOL.md says of greeting, library and drafts. Runs are in tst_live_runs.cpp.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveChannel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void greets();
    void statusFollowsTheServer();
    void aLoadingModelIsToldOf();
    void garbageIsAnsweredAndTheConnectionLives_data();
    void garbageIsAnsweredAndTheConnectionLives();
    void largeMessagesCloseTheConnection();
    void tooManyWindowsAreTurnedAway();
    void silentWindowsAreCutOff();
    void libraryIsWatched();
    void librarySearches();
    void binRestoreAndDelete();
    void duplicatesHaveWhatWasJustTyped();
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

void TestLiveChannel::greets()
{
    LiveFixture fixture;
    LiveClient first(fixture.url());
    LiveClient second(fixture.url());
    const QJsonObject hello = first.log().front();
    QCOMPARE(hello.value(u"protocol").toInt(), 1);
    QCOMPARE(hello.value(u"version").toString(), QStringLiteral("0.0-test"));
    QVERIFY(!hello.value(u"client").toString().isEmpty());
    QVERIFY(hello.value(u"client") != second.log().front().value(u"client"));
    const QJsonObject status = hello.value(u"status").toObject();
    QCOMPARE(status.value(u"state").toString(), QStringLiteral("ready"));
    QCOMPARE(status.value(u"progress").toDouble(), 1.0);
    const QJsonObject model = status.value(u"model").toObject();
    QCOMPARE(model.value(u"id").toString(), QStringLiteral("palimpsest-test"));
    QCOMPARE(model.value(u"canvasLength").toInt(), 48);
    QCOMPARE(model.value(u"thinking").toBool(true), false);
    QCOMPARE(model.value(u"defaults").toObject().value(u"maxSteps").toInt(), 12);
    for (const char *name : {"device", "deviceKind", "contextLength", "vocabSize", "weightBytes"})
        QVERIFY2(model.contains(QLatin1String(name)), name);
    QVERIFY(!hello.value(u"presets").toArray().isEmpty());
    QVERIFY(hello.value(u"presets").toArray().first().toObject().contains(u"action"));
}

void TestLiveChannel::statusFollowsTheServer()
{
    LiveFixture fixture;
    LiveClient first(fixture.url());
    {
        LiveClient second(fixture.url());
        first.waitFor("status", [](const QJsonObject &status) { return status.value(u"windows").toInt() == 2; });
    }
    const std::size_t from = first.mark();
    first.waitFor(
        "status", [](const QJsonObject &status) { return status.value(u"windows").toInt() == 1; }, from);
}

void TestLiveChannel::aLoadingModelIsToldOf()
{
    LiveFixture fixture({.model = LiveSettings::Model::Demo});
    LiveClient client(fixture.url());
    client.waitFor("status", [](const QJsonObject &status) {
        return status.value(u"state").toString() == u"ready" && status.value(u"progress").toDouble() == 1.0;
    });
}

void TestLiveChannel::garbageIsAnsweredAndTheConnectionLives_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    QTest::newRow("empty") << QString() << QStringLiteral("invalid_request");
    QTest::newRow("no JSON") << QStringLiteral("hello?") << QStringLiteral("invalid_request");
    QTest::newRow("half a message") << QStringLiteral(R"({"type":"open",)") << QStringLiteral("invalid_request");
    QTest::newRow("deep") << QString(100'000, u'[') << QStringLiteral("invalid_request");
    QTest::newRow("lone surrogate") << QStringLiteral(R"({"type":"\ud800"})") << QStringLiteral("invalid_request");
    QTest::newRow("unknown") << QStringLiteral(R"({"type":"fly"})") << QStringLiteral("unknown_type");
}

void TestLiveChannel::garbageIsAnsweredAndTheConnectionLives()
{
    QFETCH(const QString, text);
    LiveFixture fixture;
    LiveClient client(fixture.url());
    client.sendText(text);
    const QJsonObject error = client.waitFor("error");
    QTEST(error.value(u"code").toString(), "code");
    QVERIFY(!error.contains(u"ref"));
    const std::size_t from = client.mark();
    client.socket().sendBinaryMessage("\x01\x02");
    QCOMPARE(client.waitFor("error", {}, from).value(u"code").toString(), QStringLiteral("invalid_request"));
    client.demand("library.watch");
}

void TestLiveChannel::largeMessagesCloseTheConnection()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    client.demand("document.create", {{"text", QString(200 * 1024, u'x')}}); // in one frame, as some browsers send it
    client.sendText(QString(300 * 1024, u'x'));
    QTRY_VERIFY(client.isClosed());
    QCOMPARE(client.socket().closeCode(), QWebSocketProtocol::CloseCodeTooMuchData);
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 0);
}

void TestLiveChannel::tooManyWindowsAreTurnedAway()
{
    LiveFixture fixture;
    std::vector<std::unique_ptr<LiveClient>> clients;
    for (std::size_t i = 0; i < live::Hub::kMostWindows; ++i)
        clients.push_back(std::make_unique<LiveClient>(fixture.url()));
    QWebSocket late;
    QString heard;
    connect(&late, &QWebSocket::textMessageReceived, this, [&](const QString &text) { heard = text; });
    late.open(fixture.url());
    QTRY_COMPARE(late.closeCode(), QWebSocketProtocol::CloseCodePolicyViolated);
    QVERIFY(heard.contains(QStringLiteral("too_many_windows")));
    clients.pop_back();
    QTRY_COMPARE(fixture.hub().counters().windows.load(), static_cast<std::int64_t>(live::Hub::kMostWindows) - 1);
    const LiveClient next(fixture.url()); // a place is free again
    QVERIFY(!next.isClosed());
}

void TestLiveChannel::silentWindowsAreCutOff()
{
    using namespace std::chrono_literals;
    LiveFixture fixture({.pingEvery = 50ms, .lostAfter = 2s});
    const LiveClient answering(fixture.url()); // as every library for WebSockets answers a ping
    QTcpSocket silent;
    silent.connectToHost(QHostAddress::LocalHost, static_cast<quint16>(fixture.url().port()));
    silent.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 2);
    QTRY_COMPARE_WITH_TIMEOUT(fixture.hub().counters().windows.load(), 1, 30'000);
    QCOMPARE(fixture.hub().counters().windowsCutOff.load(), 1);
    QVERIFY(!answering.isClosed());
    QTRY_COMPARE(silent.state(), QAbstractSocket::UnconnectedState);
}

void TestLiveChannel::libraryIsWatched()
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

void TestLiveChannel::librarySearches()
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

void TestLiveChannel::binRestoreAndDelete()
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

void TestLiveChannel::duplicatesHaveWhatWasJustTyped()
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

void TestLiveChannel::opensWhatThereIsAndNothingElse()
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

void TestLiveChannel::editsReachTheOtherWindows()
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

void TestLiveChannel::editsOfOldVersionsAreMoved()
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

void TestLiveChannel::wrongEditsAreRefused_data()
{
    QTest::addColumn<int>("version");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("end");
    QTest::addColumn<QString>("code");
    QTest::newRow("beyond the end") << 0 << 0 << 4 << QStringLiteral("invalid_request");
    QTest::newRow("begins beyond the end") << 0 << 4 << 4 << QStringLiteral("invalid_request");
    QTest::newRow("a version to come") << 7 << 0 << 1 << QStringLiteral("stale");
}

void TestLiveChannel::wrongEditsAreRefused()
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

void TestLiveChannel::undoAndRedoReachEverybody()
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

void TestLiveChannel::locksAreWholeWords()
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

void TestLiveChannel::settingsAreMerged()
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

void TestLiveChannel::revisionsComeBack()
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

void TestLiveChannel::whatIsSentBehindAnOpenWaitsForIt()
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

void TestLiveChannel::aClosedDocumentIsNotHeardOf()
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

void TestLiveChannel::draftsSurviveARestart()
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

QTEST_GUILESS_MAIN(TestLiveChannel)
#include "tst_live_channel.moc"
