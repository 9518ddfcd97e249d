// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft.h"
#include "engine/error.h"
#include "tests/app/editing/draft_bench.h"

#include <QTest>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

/// What becomes of the proposals in a draft.
class TestDraftProposals : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void acceptingOneChange();
    void acceptingWordsOneByOne();
    void acceptingLeavesLockedWords();
    void rejectingKeepsWhatWasTyped();
    void editingTheOriginalDropsTheProposal();
    void correctionsAreDroppedOneByOne();
    void undoingAnAcceptanceOpensItAgain();
    void wordsAreTakenFromSeveral();
    void ownTextIsAnAlternative();
    void changedProposalsAreTold();
};

void TestDraftProposals::acceptingOneChange()
{
    Draft draft(QStringLiteral("I recieved teh letter yesterday."));
    draft.addProposal(
        proposalFor(draft, draft.text(), {QStringLiteral("I received the letter yesterday.")}, RunAction::Proofread));
    QCOMPARE(draft.proposals().front().changes.size(), std::size_t{2});
    draft.accept(QStringLiteral("p0"), 1, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("I recieved the letter yesterday."));
    const Proposal &proposal = draft.proposals().front();
    QVERIFY(proposal.isOpen());
    QCOMPARE(proposal.changes[0].state, ChangeState::Open);
    QCOMPARE(proposal.changes[1].state, ChangeState::Accepted);
    QCOMPARE(draft.textOf(proposal.changes[1].span), QStringLiteral("the"));
    draft.reject(QStringLiteral("p0"), 0);
    QCOMPARE(draft.proposals().front().state, ProposalState::Accepted);
    QVERIFY_EXCEPTION_THROWN(draft.accept(QStringLiteral("p0"), 0, std::nullopt, by()), Error);
    QVERIFY_EXCEPTION_THROWN(draft.accept(QStringLiteral("none"), 0, std::nullopt, by()), Error);
}

void TestDraftProposals::acceptingWordsOneByOne()
{
    Draft draft(QStringLiteral("We saw it."));
    draft.addProposal(proposalFor(draft, QStringLiteral("saw"), {QStringLiteral("have seen quite")}));
    draft.accept(QStringLiteral("p0"), 0, 2, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("We have seen saw it."));
    QVERIFY(draft.proposals().front().isOpen());
    draft.accept(QStringLiteral("p0"), 1, 1, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("We have seen quite it."));
    QCOMPARE(draft.proposals().front().state, ProposalState::Accepted);
    draft.undo();
    draft.undo();
    QCOMPARE(draft.text(), QStringLiteral("We saw it."));
}

void TestDraftProposals::acceptingLeavesLockedWords()
{
    Draft draft(QStringLiteral("teh cobalt see"));
    draft.addProposal(proposalFor(draft, draft.text(), {QStringLiteral("the blue sea")}, RunAction::Proofread));
    draft.setLocked({4, 10}, draft.version(), true);
    QVERIFY_EXCEPTION_THROWN(draft.accept(QStringLiteral("p0"), 1, std::nullopt, by()), Error);
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("the cobalt sea"));
    QVERIFY(!draft.proposals().front().note.isEmpty());
}

// F094
void TestDraftProposals::rejectingKeepsWhatWasTyped()
{
    Draft draft(QStringLiteral("One sentence. Another one."));
    draft.addProposal(proposalFor(draft, QStringLiteral("One sentence."), {QStringLiteral("A sentence.")}));
    type(draft, QStringLiteral(" Typed."), 0);
    draft.edit({{0, 0}, QStringLiteral("Title\n")}, draft.version(), by());
    draft.reject(QStringLiteral("p0"), std::nullopt);
    QCOMPARE(draft.text(), QStringLiteral("Title\nOne sentence. Another one. Typed."));
    QCOMPARE(draft.proposals().front().state, ProposalState::Rejected);
    draft.undo();
    QVERIFY(draft.proposals().front().isOpen());
    QCOMPARE(draft.textOf(draft.proposals().front().span), QStringLiteral("One sentence."));
}

void TestDraftProposals::editingTheOriginalDropsTheProposal()
{
    Draft draft(QStringLiteral("One sentence. Another one."));
    draft.addProposal(proposalFor(draft, QStringLiteral("One sentence."), {QStringLiteral("A sentence.")}));
    draft.edit({{4, 4}, QStringLiteral("long ")}, draft.version(), by());
    QCOMPARE(draft.proposals().front().state, ProposalState::Dropped);
    QVERIFY(!draft.proposals().front().note.isEmpty());
    draft.undo();
    QVERIFY(draft.proposals().front().isOpen());
    draft.redo();
    QCOMPARE(draft.proposals().front().state, ProposalState::Dropped);
}

void TestDraftProposals::correctionsAreDroppedOneByOne()
{
    Draft draft(QStringLiteral("I recieved teh letter yestreday."));
    draft.addProposal(
        proposalFor(draft, draft.text(), {QStringLiteral("I received the letter yesterday.")}, RunAction::Proofread));
    draft.edit({{11, 11}, QStringLiteral("all ")}, draft.version(), by()); // in front of "teh": beside it
    QCOMPARE(draft.proposals().front().changes[1].state, ChangeState::Open);
    draft.edit({{18, 18}, QStringLiteral("m")}, draft.version(), by()); // "tehm" is another word
    const Proposal &proposal = draft.proposals().front();
    QVERIFY(proposal.isOpen());
    QCOMPARE(proposal.changes[0].state, ChangeState::Open);
    QCOMPARE(proposal.changes[1].state, ChangeState::Rejected);
    QCOMPARE(proposal.changes[2].state, ChangeState::Open);
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("I received all tehm letter yesterday."));
}

void TestDraftProposals::undoingAnAcceptanceOpensItAgain()
{
    Draft draft(QStringLiteral("A sentence."));
    draft.addProposal(proposalFor(draft, draft.text(), {QStringLiteral("Two sentences.")}));
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("Two sentences."));
    QVERIFY((draft.proposals().front().span == TextSpan{0, 14}));
    draft.undo();
    QVERIFY(draft.proposals().front().isOpen());
    QCOMPARE(draft.text(), QStringLiteral("A sentence."));
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("Two sentences."));
    QVERIFY(!draft.undoLabels().redo);
}

// F098: halves of two rewrites.
void TestDraftProposals::wordsAreTakenFromSeveral()
{
    Draft draft(QStringLiteral("The cat sat on the mat."));
    draft.addProposal(proposalFor(draft, draft.text(),
                                  {QStringLiteral("The dog sat on the mat."), QStringLiteral("The cat lay on a rug."),
                                   QStringLiteral("A cat sat there.")}));
    const QString second = draft.proposals().front().alternatives[1].text;
    const qsizetype start = second.indexOf(QStringLiteral("lay"));
    draft.take(QStringLiteral("p0"), 1, {start, start + 3});
    const Proposal &proposal = draft.proposals().front();
    QCOMPARE(proposal.alternatives.size(), std::size_t{4});
    QCOMPARE(proposal.chosen, std::size_t{3});
    QCOMPARE(proposal.alternatives[3].text, QStringLiteral("The dog lay on the mat."));
    QVERIFY(!draft.undoLabels().undo);
    draft.choose(QStringLiteral("p0"), 2);
    draft.choose(QStringLiteral("p0"), 3);
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("The dog lay on the mat."));
    QVERIFY_EXCEPTION_THROWN(draft.choose(QStringLiteral("p0"), 1), Error); // it is settled
}

void TestDraftProposals::ownTextIsAnAlternative()
{
    Draft draft(QStringLiteral("A sentence."));
    draft.addProposal(proposalFor(draft, draft.text(), {QStringLiteral("Two sentences.")}));
    draft.writeOwn(QStringLiteral("p0"), QStringLiteral("Three"));
    draft.writeOwn(QStringLiteral("p0"), QStringLiteral("Three sentences."));
    QCOMPARE(draft.proposals().front().alternatives.size(), std::size_t{2});
    QCOMPARE(draft.proposals().front().chosen, std::size_t{1});
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    QCOMPARE(draft.text(), QStringLiteral("Three sentences."));
}

void TestDraftProposals::changedProposalsAreTold()
{
    Draft draft(QStringLiteral("A sentence."));
    draft.addProposal(proposalFor(draft, draft.text(), {QStringLiteral("Two sentences.")}));
    QCOMPARE(draft.takeChangedProposals().size(), std::size_t{1});
    draft.edit({{0, 0}, QStringLiteral("x ")}, draft.version(), by());
    QVERIFY(draft.takeChangedProposals().empty()); // it only moved
    draft.edit({{4, 5}, {}}, draft.version(), by());
    QCOMPARE(draft.takeChangedProposals().size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestDraftProposals)
#include "tst_draft_proposals.moc"
