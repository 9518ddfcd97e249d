// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"
#include "tests/app/server/live/live_run.h"
#include "tests/support/test_tokenizers.h"

#include <QRegularExpression>
#include <QTest>

// What PROTOCOL.md says of a run's steps: what each shows, what may be held between two, and how to come back to one.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveSteps : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void framesSayWhatTheCanvasHolds();
    void stepsOneByOne();
    void heldPositionsStay();
    void frozenPositionsStay();
    void alternativesOfAPosition();
    void historyHasEveryStep();
    void branchingIsOneUndoStep();
};

void TestLiveSteps::framesSayWhatTheCanvasHolds()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    PausedRun run(client);
    const QJsonObject frame = run.step(client);
    const int n = frame.value(u"n").toInt();
    QVERIFY(n > 0);
    QCOMPARE(frame.value(u"text").toArray().size(), n);
    QCOMPARE(frame.value(u"entropy").toArray().size(), n);
    QCOMPARE(frame.value(u"marks").toString().size(), n);
    QVERIFY(QRegularExpression(QStringLiteral("^[.+=#-]*$")).match(frame.value(u"marks").toString()).hasMatch());
    const QJsonArray show = frame.value(u"show").toArray();
    QVERIFY(show.at(0).toInt() < show.at(1).toInt() && show.at(1).toInt() <= n);
    QCOMPARE(frame.value(u"lane").toInt(), 0);
    QCOMPARE(frame.value(u"canvas").toInt(), 0);
    QCOMPARE(frame.value(u"maxSteps").toInt(), 12);
    QCOMPARE(frame.value(u"last").toBool(true), false);
    for (const char *name : {"meanEntropy", "accepted", "settled", "held", "stepMs", "elapsedMs"})
        QVERIFY2(frame.value(QLatin1String(name)).isDouble(), name);
}

void TestLiveSteps::stepsOneByOne()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless});
    LiveClient client(fixture.url());
    PausedRun run(client);
    client.waitFor("run", [](const QJsonObject &state) { return state.value(u"state").toString() == u"paused"; });
    for (int step = 1; step <= 3; ++step)
        QCOMPARE(run.step(client).value(u"step").toInt(), step);
    QCOMPARE(client.heard("frame").size(), std::size_t{3});
    client.demand("run.resume", {{"run", run.run}});
    QCOMPARE(client.waitForEnd(run.run).value(u"state").toString(), QStringLiteral("done"));
    const QJsonObject settled = client.waitFor("settled");
    QCOMPARE(settled.value(u"stop").toString(), QStringLiteral("cap"));
    QCOMPARE(settled.value(u"steps").toInt(), 12);
}

void TestLiveSteps::heldPositionsStay()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless});
    LiveClient client(fixture.url());
    PausedRun run(client, {{"amount", "full"}});
    const QJsonObject before = run.step(client);
    const int position = before.value(u"show").toArray().at(0).toInt();
    const QJsonArray held = client.demand("run.hold", place(run.run, {{"position", position}, {"held", true}}))
                                .value(u"positions")
                                .toArray();
    QVERIFY(held.contains(QJsonValue(position)));
    const QJsonObject after = run.step(client);
    for (const auto &one : held) {
        QCOMPARE(after.value(u"text").toArray().at(one.toInt()), before.value(u"text").toArray().at(one.toInt()));
        QCOMPARE(after.value(u"marks").toString().at(one.toInt()), QLatin1Char('#'));
    }
    client.demand("run.hold", place(run.run, {{"position", position}, {"held", false}}));
    QVERIFY(run.step(client).value(u"marks").toString().at(position) != QLatin1Char('#'));
    QCOMPARE(client.refusal("run.hold", place(run.run, {{"position", 9999}, {"held", true}})),
             QStringLiteral("invalid_request"));
}

void TestLiveSteps::frozenPositionsStay()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless});
    LiveClient client(fixture.url());
    PausedRun run(client, {{"amount", "full"}});
    const QJsonObject before = run.step(client);
    const int position = before.value(u"show").toArray().at(0).toInt();
    const int id = demoTokenizer()->encode(" word", SpecialTokens::PlainText).front();
    client.demand("run.freeze",
                  place(run.run, {{"changes", QJsonArray{QJsonObject{{"position", position}, {"id", id}}}}}));
    const QJsonObject after = run.step(client);
    QCOMPARE(after.value(u"marks").toString().at(position), QLatin1Char('#'));
    client.demand("run.freeze", place(run.run, {{"changes", QJsonArray{QJsonObject{{"position", position}}}}}));
    QVERIFY(run.step(client).value(u"marks").toString().at(position) != QLatin1Char('#'));
    QCOMPARE(client.refusal("run.freeze",
                            place(run.run, {{"changes", QJsonArray{QJsonObject{{"position", 9999}, {"id", 1}}}}})),
             QStringLiteral("invalid_request"));
}

void TestLiveSteps::alternativesOfAPosition()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    PausedRun run(client, {{"amount", "full"}});
    const QJsonObject frame = run.step(client);
    run.step(client);
    const int position = frame.value(u"show").toArray().at(0).toInt();
    for (const QJsonObject &more : {QJsonObject{}, QJsonObject{{"step", 1}}}) {
        QJsonObject fields = more;
        fields.insert(QStringLiteral("position"), position);
        const QJsonObject answer = client.demand("run.alternatives", place(run.run, fields));
        QVERIFY(answer.value(u"entropy").isDouble());
        const QJsonArray alternatives = answer.value(u"alternatives").toArray();
        QVERIFY(!alternatives.isEmpty());
        QVERIFY(alternatives.first().toObject().value(u"text").isString());
        QVERIFY(alternatives.first().toObject().value(u"probability").toDouble() > 0.0);
        if (more.contains(u"step"))
            QCOMPARE(alternatives.first().toObject().value(u"text").toString().trimmed(),
                     frame.value(u"text").toArray().at(position).toString().trimmed());
    }
    QCOMPARE(client.refusal("run.alternatives", place(run.run, {{"position", position}, {"step", 9}})),
             QStringLiteral("not_found"));
}

void TestLiveSteps::historyHasEveryStep()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    PausedRun run(client);
    std::vector<QJsonObject> frames;
    for (int step = 1; step <= 3; ++step)
        frames.push_back(run.step(client));
    client.demand("run.resume", {{"run", run.run}});
    client.waitForEnd(run.run);
    const QJsonArray lanes = client.demand("history", {{"run", run.run}}).value(u"lanes").toArray();
    const QJsonObject canvas = lanes.first().toObject().value(u"canvases").toArray().first().toObject();
    const int steps = canvas.value(u"steps").toInt();
    QVERIFY(steps >= 3);
    for (const char *name : {"meanEntropy", "accepted", "stepMs"})
        QCOMPARE(canvas.value(QLatin1String(name)).toArray().size(), steps);
    QVERIFY(canvas.value(u"stop").isString());
    for (int step = 1; step <= 3; ++step) {
        const QJsonObject frame =
            client.demand("history.frame", place(run.run, {{"step", step}})).value(u"frame").toObject();
        const QJsonObject &seen = frames[static_cast<std::size_t>(step) - 1];
        for (const char *name : {"run", "lane", "canvas", "step", "show", "text", "marks", "accepted"})
            QCOMPARE(frame.value(QLatin1String(name)), seen.value(QLatin1String(name)));
    }
    QVERIFY(client.demand("history.frame", place(run.run, {{"step", steps}}))
                .value(u"frame")
                .toObject()
                .value(u"last")
                .toBool());
    QCOMPARE(client.refusal("history.frame", place(run.run, {{"step", steps + 1}})), QStringLiteral("not_found"));
}

void TestLiveSteps::branchingIsOneUndoStep()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    PausedRun run(client, {{"amount", "full"}});
    run.step(client);
    const QString shown = shownText(run.step(client));
    client.demand("run.resume", {{"run", run.run}});
    client.waitForEnd(run.run);
    const QJsonObject branched = client.demand("history.branch", place(run.run, {{"step", 2}}));
    QVERIFY(branched.value(u"version").toInt() >= 1);
    const QString expected = kText.left(kStart) + shown + kText.mid(kEnd);
    QCOMPARE(client.reopen(run.document).value(u"text").toString(), expected);
    QCOMPARE(client.heard("edited").back().value(u"cause").toString(), QStringLiteral("branch"));
    client.demand("undo", {{"document", run.document}});
    QCOMPARE(client.reopen(run.document).value(u"text").toString(), kText);
    QCOMPARE(client.refusal("history.branch", place(run.run, {{"step", 999}})), QStringLiteral("not_found"));
}

QTEST_GUILESS_MAIN(TestLiveSteps)
#include "tst_live_steps.moc"
