// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"
#include "tests/app/server/live/live_run.h"

#include <QTest>

// What PROTOCOL.md says of runs from start to end, with a model that is a fake. Their steps are in
// tst_live_steps.cpp, what comes of them in tst_live_proposals.cpp.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveRuns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRunGoesFromStartToProposal_data();
    void aRunGoesFromStartToProposal();
    void pauseAndResume();
    void stopLeavesTheTextAlone();
    void stopMayKeepWhatHasSettled();
    void againHasANewSeed();
    void newcomersSeeWhatIsUnderWay();
    void runsGoOnWithoutWindows();
    void whatIsNotThereIsNotFound_data();
    void whatIsNotThereIsNotFound();
    void wrongWishesAreRefused_data();
    void wrongWishesAreRefused();
    void afullQueueIsSaid();
    void aModelThatLoadsIsSaid();
};

void TestLiveRuns::aRunGoesFromStartToProposal_data()
{
    QTest::addColumn<QString>("action");
    QTest::addColumn<QJsonObject>("more");
    QTest::newRow("renoise light") << QStringLiteral("renoise") << QJsonObject{{"amount", "light"}};
    QTest::newRow("renoise full") << QStringLiteral("renoise") << QJsonObject{{"amount", "full"}};
    QTest::newRow("rewrite") << QStringLiteral("rewrite") << QJsonObject{{"instruction", "Say it better."}};
    QTest::newRow("fill") << QStringLiteral("fill") << QJsonObject{{"end", kStart}};
    QTest::newRow("continue") << QStringLiteral("continue")
                              << QJsonObject{{"start", kText.size()}, {"end", kText.size()}};
    QTest::newRow("proofread") << QStringLiteral("proofread") << QJsonObject{{"start", 0}, {"end", 0}};
    QTest::newRow("with a sampler") << QStringLiteral("renoise")
                                    << QJsonObject{{"sampler", QJsonObject{{"maxSteps", 3}, {"tMin", 0.5}}}};
}

void TestLiveRuns::aRunGoesFromStartToProposal()
{
    QFETCH(const QString, action);
    QFETCH(const QJsonObject, more);
    LiveFixture fixture;
    LiveClient client(fixture.url());
    LiveClient other(fixture.url());
    const QString document = client.openNew(kText);
    other.reopen(document);
    const QString run = startRun(client, document, action.toUtf8().constData(), more);
    const QJsonObject ended = client.waitForEnd(run);
    QCOMPARE(ended.value(u"state").toString(), QStringLiteral("done"));
    QCOMPARE(ended.value(u"action").toString(), action);
    QCOMPARE(ended.value(u"document").toString(), document);
    QCOMPARE(ended.value(u"seed").toInt(), 7);
    QVERIFY(!ended.value(u"lanes").toArray().isEmpty());
    const QJsonObject figures = ended.value(u"figures").toObject();
    QVERIFY(figures.value(u"steps").toInt() > 0);
    for (const char *name : {"canvases", "stepMs", "firstDraftMs", "totalMs", "wordsPerSecond", "tokensPerSecond",
                             "promptTokens", "reusedTokens"})
        QVERIFY2(figures.contains(QLatin1String(name)), name);
    if (more.contains(u"sampler"))
        QCOMPARE(ended.value(u"sampler").toObject().value(u"maxSteps").toInt(), 3);
    QCOMPARE(other.waitForEnd(run), ended); // everybody hears the same
    QVERIFY(!client.heard("settled").empty());
    QCOMPARE(client.reopen(document).value(u"text").toString(), kText); // nothing changes until it is accepted
}

void TestLiveRuns::pauseAndResume()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 2000, .stepMs = 2});
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = startRun(client, document);
    client.waitFor("frame");
    client.demand("run.pause", {{"run", run}});
    client.waitFor("run", [](const QJsonObject &state) { return state.value(u"state").toString() == u"paused"; });
    const std::size_t from = client.mark();
    client.demand("run.resume", {{"run", run}});
    client.waitFor("frame", {}, from);
    client.demand("run.stop", {{"run", run}});
    QCOMPARE(client.waitForEnd(run).value(u"state").toString(), QStringLiteral("stopped"));
}

void TestLiveRuns::stopLeavesTheTextAlone()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 2000, .stepMs = 2});
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = startRun(client, document);
    client.waitFor("frame");
    client.demand("run.stop", {{"run", run}, {"keep", false}});
    const QJsonObject ended = client.waitForEnd(run);
    QCOMPARE(ended.value(u"state").toString(), QStringLiteral("stopped"));
    QVERIFY(!ended.contains(u"proposal"));
    QVERIFY(client.heard("proposal").empty());
    const QJsonObject opened = client.reopen(document);
    QCOMPARE(opened.value(u"text").toString(), kText);
    QCOMPARE(opened.value(u"version").toInt(), 0);
}

void TestLiveRuns::stopMayKeepWhatHasSettled()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless});
    LiveClient client(fixture.url());
    PausedRun run(client);
    const QString shown = shownText(run.step(client));
    client.demand("run.stop", {{"run", run.run}, {"keep", true}});
    QCOMPARE(client.waitForEnd(run.run).value(u"state").toString(), QStringLiteral("stopped"));
    QCOMPARE(client.reopen(run.document).value(u"text").toString(), kText);
}

void TestLiveRuns::againHasANewSeed()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const EndedRun ran(client);
    const QString &document = ran.document;
    const QString &run = ran.run;
    const QString &proposal = ran.proposal;
    const QString again = client.demand("run.start", {{"document", document}, {"again", run}}).value(u"run").toString();
    QVERIFY(again != run);
    const QJsonObject ended = client.waitForEnd(again);
    QVERIFY(ended.value(u"seed").toInteger() != 7);
    QVERIFY(ended.value(u"seed").toDouble() < 9007199254740992.0); // JavaScript counts it exactly
    QCOMPARE(ended.value(u"start").toInt(), kStart);
    const QString same =
        client.demand("run.start", {{"document", document}, {"again", proposal}, {"seed", 7}}).value(u"run").toString();
    QCOMPARE(client.waitForEnd(same).value(u"seed").toInt(), 7);
    QCOMPARE(client.refusal("run.start", {{"document", document}, {"again", "none"}}), QStringLiteral("not_found"));
}

void TestLiveRuns::newcomersSeeWhatIsUnderWay()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless});
    LiveClient client(fixture.url());
    PausedRun run(client);
    const QJsonObject frame = run.step(client);
    LiveClient late(fixture.url());
    const QJsonObject opened = late.reopen(run.document);
    QCOMPARE(opened.value(u"runs").toArray().size(), 1);
    QCOMPARE(opened.value(u"runs").toArray().first().toObject().value(u"run").toString(), run.run);
    QCOMPARE(late.waitFor("frame"), frame);
    late.demand("run.resume", {{"run", run.run}}); // any window may
    QCOMPARE(late.waitForEnd(run.run).value(u"state").toString(), QStringLiteral("done"));
    client.waitForEnd(run.run);
}

void TestLiveRuns::runsGoOnWithoutWindows()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 100, .stepMs = 5});
    QString document;
    {
        LiveClient client(fixture.url());
        document = client.openNew(kText);
        client.demand("run.start", wish(document, "renoise"));
        client.waitFor("frame");
    }
    QTRY_COMPARE(fixture.hub().counters().windows.load(), 0);
    QTRY_COMPARE_WITH_TIMEOUT(fixture.engine().model()->desk->status().running, 0, 60'000);
    LiveClient client(fixture.url());
    const QJsonArray proposals = client.reopen(document).value(u"proposals").toArray();
    QCOMPARE(proposals.size(), 1);
    QCOMPARE(proposals.first().toObject().value(u"state").toString(), QStringLiteral("open"));
}

void TestLiveRuns::whatIsNotThereIsNotFound_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QJsonObject>("fields");
    const auto row = [](const char *type, const QJsonObject &fields) {
        QTest::newRow(type) << QString::fromLatin1(type) << fields;
    };
    for (const char *type : {"run.pause", "run.resume", "run.step", "run.stop", "history"})
        row(type, {{"run", "none"}});
    row("run.freeze", place(QStringLiteral("none"), {{"changes", QJsonArray()}}));
    row("run.hold", place(QStringLiteral("none"), {{"position", 0}, {"held", true}}));
    row("run.alternatives", place(QStringLiteral("none"), {{"position", 0}}));
    row("history.frame", place(QStringLiteral("none"), {{"step", 1}}));
    row("history.branch", place(QStringLiteral("none"), {{"step", 1}}));
    row("proposal.accept", {{"proposal", "none"}});
    row("proposal.reject", {{"proposal", "none"}});
    row("proposal.choose", {{"proposal", "none"}, {"alternative", 0}});
    row("proposal.take", {{"proposal", "none"}, {"alternative", 0}, {"start", 0}, {"end", 1}});
    row("proposal.edit", {{"proposal", "none"}, {"text", ""}});
    row("run.start", wish(QStringLiteral("none"), "renoise"));
}

void TestLiveRuns::whatIsNotThereIsNotFound()
{
    QFETCH(const QString, type);
    QFETCH(const QJsonObject, fields);
    LiveFixture fixture;
    LiveClient client(fixture.url());
    client.openNew(kText);
    QCOMPARE(client.refusal(type.toUtf8().constData(), fields), QStringLiteral("not_found"));
    client.demand("seen", place(QStringLiteral("none"), {{"step", 1}})); // a run may end while it is on its way
}

void TestLiveRuns::wrongWishesAreRefused_data()
{
    QTest::addColumn<QString>("action");
    QTest::addColumn<QJsonObject>("more");
    QTest::addColumn<QString>("code");
    const QString invalid = QStringLiteral("invalid_request");
    QTest::newRow("no instruction") << QStringLiteral("rewrite") << QJsonObject{} << invalid;
    QTest::newRow("nothing to renoise") << QStringLiteral("renoise") << QJsonObject{{"end", kStart}} << invalid;
    QTest::newRow("beyond the text") << QStringLiteral("renoise") << QJsonObject{{"end", 999}} << invalid;
    QTest::newRow("temperatures") << QStringLiteral("renoise")
                                  << QJsonObject{{"sampler", QJsonObject{{"tMin", 0}, {"tMax", 0}}}} << invalid;
    QTest::newRow("a version to come") << QStringLiteral("renoise") << QJsonObject{{"version", 9}}
                                       << QStringLiteral("stale");
}

void TestLiveRuns::wrongWishesAreRefused()
{
    QFETCH(const QString, action);
    QFETCH(const QJsonObject, more);
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString code = client.refusal("run.start", wish(document, action.toUtf8().constData(), more));
    QTEST(code, "code");
    QVERIFY(client.reopen(document).value(u"runs").toArray().isEmpty());
}

void TestLiveRuns::afullQueueIsSaid() // F057
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 5000, .stepMs = 2, .queueCapacity = 1});
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    QString code;
    for (int i = 0; i < 40 && code.isEmpty(); ++i) {
        const QJsonObject answer = client.ask("run.start", wish(document, "renoise"));
        code = answer.value(u"code").toString();
    }
    QCOMPARE(code, QStringLiteral("queue_full"));
    client.waitFor("run", [](const QJsonObject &run) { return run.value(u"state").toString() == u"queued"; });
    for (const auto &run : client.reopen(document).value(u"runs").toArray())
        client.ask("run.stop", {{"run", run.toObject().value(u"run")}});
}

void TestLiveRuns::aModelThatLoadsIsSaid()
{
    LiveFixture fixture({.model = LiveSettings::Model::Demo});
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText); // drafts do not need it
    const QJsonObject answer = client.ask("run.start", wish(document, "renoise"));
    if (answer.value(u"type").toString() == u"error")
        QCOMPARE(answer.value(u"code").toString(), QStringLiteral("model_unavailable"));
}

QTEST_GUILESS_MAIN(TestLiveRuns)
#include "tst_live_runs.moc"
