// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/server/live/live_client.h"
#include "tests/app/server/live/live_fixture.h"
#include "tests/app/server/live/live_run.h"

#include <QTest>

// What PROTOCOL.md says of proposals, with a model that is a fake.

using namespace palimpsest;
using namespace palimpsest::test;

class TestLiveProposals : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void acceptIsOneUndoStep();
    void acceptsChangeByChange();
    void rejectedProposalsAreClosed();
    void alternativesAreChosenTakenAndWritten();
    void directRunsWriteStraightIn();
    void editingTheOriginalDropsTheProposal();
};

void TestLiveProposals::acceptIsOneUndoStep()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const EndedRun ran(client, "renoise", {{"amount", "full"}});
    const QString &document = ran.document;
    const QString &id = ran.proposal;
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

void TestLiveProposals::acceptsChangeByChange()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const EndedRun ran(client, "renoise", {{"amount", "full"}});
    const QString &document = ran.document;
    const QString &id = ran.proposal;
    client.demand("proposal.accept", {{"proposal", id}, {"change", 0}, {"words", 1}});
    QVERIFY(client.reopen(document).value(u"text").toString() != kText);
    QCOMPARE(client.refusal("proposal.accept", {{"proposal", id}, {"words", 1}}), QStringLiteral("invalid_request"));
    QCOMPARE(client.refusal("proposal.reject", {{"proposal", id}, {"change", 99}}), QStringLiteral("invalid_request"));
}

void TestLiveProposals::rejectedProposalsAreClosed()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const EndedRun ran(client);
    const QString &document = ran.document;
    const QString &id = ran.proposal;
    client.demand("proposal.reject", {{"proposal", id}});
    QCOMPARE(client.heard("proposal").back().value(u"state").toString(), QStringLiteral("rejected"));
    QCOMPARE(client.reopen(document).value(u"text").toString(), kText);
}

void TestLiveProposals::alternativesAreChosenTakenAndWritten()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = startRun(client, document, "renoise", {{"amount", "full"}, {"alternatives", 3}});
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

void TestLiveProposals::directRunsWriteStraightIn()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const QString document = client.openNew(kText);
    const QString run = startRun(client, document, "renoise", {{"amount", "full"}, {"direct", true}});
    client.waitForEnd(run);
    QCOMPARE(client.waitFor("edited").value(u"cause").toString(), QStringLiteral("direct"));
    QVERIFY(client.reopen(document).value(u"text").toString() != kText);
    client.demand("undo", {{"document", document}});
    QCOMPARE(client.reopen(document).value(u"text").toString(), kText);
}

void TestLiveProposals::editingTheOriginalDropsTheProposal()
{
    LiveFixture fixture;
    LiveClient client(fixture.url());
    const EndedRun ran(client);
    const QString &document = ran.document;
    const QString &id = ran.proposal;
    client.demand("edit",
                  {{"document", document}, {"version", 0}, {"start", kStart + 2}, {"end", kStart + 4}, {"text", ""}});
    const QJsonObject dropped = client.waitFor(
        "proposal", [](const QJsonObject &proposal) { return proposal.value(u"state").toString() == u"dropped"; });
    QVERIFY(!dropped.value(u"note").toString().isEmpty());
    QVERIFY(!client.refusal("proposal.accept", {{"proposal", id}}).isEmpty());
}

QTEST_GUILESS_MAIN(TestLiveProposals)
#include "tst_live_proposals.moc"
