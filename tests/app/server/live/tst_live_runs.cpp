// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"
#include "tests/support/test_tokenizers.h"

#include <QRegularExpression>
#include <QTest>

// What PROTOCOL.md says of runs and proposals, with a model that is a fake.

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

const QString kText = QStringLiteral("The quick brown fox jumps over the lazy dog and runs away.");
constexpr int kStart = 4; ///< "quick brown fox"
constexpr int kEnd = 19;

QJsonObject wish(const QString &document, const char *action, QJsonObject more = {})
{
    more.insert(QStringLiteral("document"), document);
    more.insert(QStringLiteral("action"), QLatin1String(action));
    for (const auto &[name, value] : {std::pair("version", 0), {"start", kStart}, {"end", kEnd}, {"seed", 7}}) {
        if (!more.contains(QLatin1String(name)))
            more.insert(QLatin1String(name), value);
    }
    return more;
}

QString shownText(const QJsonObject &frame)
{
    const QJsonArray texts = frame.value(u"text").toArray();
    const QJsonArray show = frame.value(u"show").toArray();
    QString shown;
    for (int i = show.at(0).toInt(); i < show.at(1).toInt(); ++i)
        shown += texts.at(i).toString();
    return shown;
}

bool isFrameOf(const QJsonObject &message, const QString &run, int step)
{
    return message.value(u"run").toString() == run && message.value(u"lane").toInt() == 0 &&
           message.value(u"step").toInt() == step;
}

QJsonObject place(const QString &run, QJsonObject more = {})
{
    more.insert(QStringLiteral("run"), run);
    more.insert(QStringLiteral("lane"), 0);
    more.insert(QStringLiteral("canvas"), 0);
    return more;
}

/// A document with a run that is paused before its first step.
struct PausedRun
{
    explicit PausedRun(LiveClient &client, QJsonObject more = {})
    {
        document = client.openNew(kText);
        more.insert(QStringLiteral("paused"), true);
        run = client.demand("run.start", wish(document, "renoise", more)).value(u"run").toString();
    }
    /// Lets the run do one step; its frame.
    QJsonObject step(LiveClient &client)
    {
        client.demand("run.step", {{"run", run}});
        ++steps;
        return client.waitFor("frame", [this](const QJsonObject &frame) { return isFrameOf(frame, run, steps); });
    }

    QString document;
    QString run;
    int steps = 0;
};

} // namespace

class TestLiveRuns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRunGoesFromStartToProposal_data();
    void aRunGoesFromStartToProposal();
    void framesSayWhatTheCanvasHolds();
    void stepsOneByOne();
    void pauseAndResume();
    void stopLeavesTheTextAlone();
    void stopMayKeepWhatHasSettled();
    void heldPositionsStay();
    void frozenPositionsStay();
    void alternativesOfAPosition();
    void historyHasEveryStep();
    void branchingIsOneUndoStep();
    void acceptIsOneUndoStep();
    void acceptsChangeByChange();
    void rejectedProposalsAreClosed();
    void alternativesAreChosenTakenAndWritten();
    void againHasANewSeed();
    void directRunsWriteStraightIn();
    void newcomersSeeWhatIsUnderWay();
    void runsGoOnWithoutWindows();
    void editingTheOriginalDropsTheProposal();
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
    const QString run =
        client.demand("run.start", wish(document, action.toUtf8().constData(), more)).value(u"run").toString();
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

void TestLiveRuns::framesSayWhatTheCanvasHolds()
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

void TestLiveRuns::stepsOneByOne()
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

void TestLiveRuns::pauseAndResume()
{
    LiveFixture fixture({.model = LiveSettings::Model::Restless, .maxSteps = 2000, .stepMs = 2});
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = client.demand("run.start", wish(document, "renoise")).value(u"run").toString();
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
    const QString run = client.demand("run.start", wish(document, "renoise")).value(u"run").toString();
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

void TestLiveRuns::heldPositionsStay()
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
    for (const QJsonValue &one : held) {
        QCOMPARE(after.value(u"text").toArray().at(one.toInt()), before.value(u"text").toArray().at(one.toInt()));
        QCOMPARE(after.value(u"marks").toString().at(one.toInt()), QLatin1Char('#'));
    }
    client.demand("run.hold", place(run.run, {{"position", position}, {"held", false}}));
    QVERIFY(run.step(client).value(u"marks").toString().at(position) != QLatin1Char('#'));
    QCOMPARE(client.refusal("run.hold", place(run.run, {{"position", 9999}, {"held", true}})),
             QStringLiteral("invalid_request"));
}

void TestLiveRuns::frozenPositionsStay()
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

void TestLiveRuns::alternativesOfAPosition()
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

void TestLiveRuns::historyHasEveryStep()
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

void TestLiveRuns::branchingIsOneUndoStep()
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

void TestLiveRuns::acceptIsOneUndoStep()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run =
        client.demand("run.start", wish(document, "renoise", {{"amount", "full"}})).value(u"run").toString();
    const QString id = client.waitForEnd(run).value(u"proposal").toString();
    QVERIFY(!id.isEmpty());
    const QJsonObject proposal = client.waitFor("proposal");
    QCOMPARE(proposal.value(u"proposal").toString(), id);
    QCOMPARE(proposal.value(u"state").toString(), QStringLiteral("open"));
    QCOMPARE(proposal.value(u"document").toString(), document);
    QCOMPARE(proposal.value(u"original").toString(), kText.mid(kStart, kEnd - kStart));
    QCOMPARE(proposal.value(u"origin").toObject().value(u"model").toString(), QStringLiteral("palimpsest-test"));
    QCOMPARE(proposal.value(u"origin").toObject().value(u"seed").toInt(), 7);
    const QJsonObject chosen =
        proposal.value(u"alternatives").toArray().at(proposal.value(u"chosen").toInt()).toObject();
    client.demand("proposal.accept", {{"proposal", id}});
    const QJsonObject accepted = client.reopen(document);
    QCOMPARE(accepted.value(u"text").toString(),
             kText.left(kStart) + chosen.value(u"text").toString() + kText.mid(kEnd));
    QCOMPARE(client.heard("edited").back().value(u"cause").toString(), QStringLiteral("accept"));
    QCOMPARE(client.heard("proposal").back().value(u"state").toString(), QStringLiteral("accepted"));
    QCOMPARE(client.refusal("proposal.accept", {{"proposal", id}}), QStringLiteral("stale")); // it is settled
    client.demand("undo", {{"document", document}});
    QCOMPARE(client.reopen(document).value(u"text").toString(), kText);
    QCOMPARE(client.heard("proposal").back().value(u"state").toString(), QStringLiteral("open"));
}

void TestLiveRuns::acceptsChangeByChange()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run =
        client.demand("run.start", wish(document, "renoise", {{"amount", "full"}})).value(u"run").toString();
    const QString id = client.waitForEnd(run).value(u"proposal").toString();
    client.demand("proposal.accept", {{"proposal", id}, {"change", 0}, {"words", 1}});
    QVERIFY(client.reopen(document).value(u"text").toString() != kText);
    QCOMPARE(client.refusal("proposal.accept", {{"proposal", id}, {"words", 1}}), QStringLiteral("invalid_request"));
    QCOMPARE(client.refusal("proposal.reject", {{"proposal", id}, {"change", 99}}), QStringLiteral("invalid_request"));
}

void TestLiveRuns::rejectedProposalsAreClosed()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = client.demand("run.start", wish(document, "renoise")).value(u"run").toString();
    const QString id = client.waitForEnd(run).value(u"proposal").toString();
    client.demand("proposal.reject", {{"proposal", id}});
    QCOMPARE(client.heard("proposal").back().value(u"state").toString(), QStringLiteral("rejected"));
    QCOMPARE(client.reopen(document).value(u"text").toString(), kText);
}

void TestLiveRuns::alternativesAreChosenTakenAndWritten()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = client.demand("run.start", wish(document, "renoise", {{"amount", "full"}, {"alternatives", 3}}))
                            .value(u"run")
                            .toString();
    const QJsonObject ended = client.waitForEnd(run);
    QVERIFY(ended.value(u"lanes").toArray().size() >= 3); // more where lengths are tried
    const QString id = ended.value(u"proposal").toString();
    const auto newest = [&] {
        return client.heard("proposal").back();
    };
    const qsizetype count = newest().value(u"alternatives").toArray().size();
    QVERIFY(count >= 2);
    const int other = newest().value(u"chosen").toInt() == 0 ? 1 : 0;
    client.demand("proposal.choose", {{"proposal", id}, {"alternative", other}});
    QCOMPARE(newest().value(u"chosen").toInt(), other);
    const int third = other == 0 ? 1 : 0;
    client.demand("proposal.take", {{"proposal", id}, {"alternative", third}, {"start", 0}, {"end", 4}});
    QCOMPARE(newest().value(u"alternatives").toArray().size(), count + 1);
    client.demand("proposal.edit", {{"proposal", id}, {"text", "my own words"}});
    const QJsonObject own = newest();
    QCOMPARE(own.value(u"alternatives").toArray().at(own.value(u"chosen").toInt()).toObject().value(u"text").toString(),
             QStringLiteral("my own words"));
    QCOMPARE(client.refusal("proposal.choose", {{"proposal", id}, {"alternative", 99}}),
             QStringLiteral("invalid_request"));
    QCOMPARE(client.refusal("proposal.take", {{"proposal", id}, {"alternative", 99}, {"start", 0}, {"end", 1}}),
             QStringLiteral("invalid_request"));
    client.demand("proposal.accept", {{"proposal", id}});
    QCOMPARE(client.reopen(document).value(u"text").toString(),
             kText.left(kStart) + QStringLiteral("my own words") + kText.mid(kEnd));
}

void TestLiveRuns::againHasANewSeed()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = client.demand("run.start", wish(document, "renoise")).value(u"run").toString();
    const QString proposal = client.waitForEnd(run).value(u"proposal").toString();
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

void TestLiveRuns::directRunsWriteStraightIn()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = client.demand("run.start", wish(document, "renoise", {{"amount", "full"}, {"direct", true}}))
                            .value(u"run")
                            .toString();
    client.waitForEnd(run);
    QCOMPARE(client.waitFor("edited").value(u"cause").toString(), QStringLiteral("direct"));
    QVERIFY(client.reopen(document).value(u"text").toString() != kText);
    client.demand("undo", {{"document", document}});
    QCOMPARE(client.reopen(document).value(u"text").toString(), kText);
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

void TestLiveRuns::editingTheOriginalDropsTheProposal()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = client.demand("run.start", wish(document, "renoise")).value(u"run").toString();
    const QString id = client.waitForEnd(run).value(u"proposal").toString();
    client.demand("edit",
                  {{"document", document}, {"version", 0}, {"start", kStart + 2}, {"end", kStart + 4}, {"text", ""}});
    const QJsonObject dropped = client.waitFor(
        "proposal", [](const QJsonObject &proposal) { return proposal.value(u"state").toString() == u"dropped"; });
    QVERIFY(!dropped.value(u"note").toString().isEmpty());
    QVERIFY(!client.refusal("proposal.accept", {{"proposal", id}}).isEmpty());
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
    QString queued;
    for (int i = 0; i < 40 && code.isEmpty(); ++i) {
        const QJsonObject answer = client.ask("run.start", wish(document, "renoise"));
        code = answer.value(u"code").toString();
    }
    QCOMPARE(code, QStringLiteral("queue_full"));
    client.waitFor("run", [](const QJsonObject &run) { return run.value(u"state").toString() == u"queued"; });
    for (const QJsonValue &run : client.reopen(document).value(u"runs").toArray())
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
