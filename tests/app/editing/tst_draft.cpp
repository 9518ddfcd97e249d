// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/draft.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"
#include "tests/app/editing/draft_bench.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <algorithm>
#include <utility>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

namespace {

constexpr int kProposals = 3;

/// What undo has to bring back.
struct State
{
    QString text;
    std::vector<TextSpan> locks;
    std::vector<ProposalState> proposals;
    std::vector<TextSpan> places;
    bool operator==(const State &) const = default;
};

State stateOf(const Draft &draft)
{
    State state{draft.text(), draft.locks(), {}, {}};
    for (const Proposal &proposal : draft.proposals()) {
        state.proposals.push_back(proposal.state);
        state.places.push_back(proposal.isOpen() ? proposal.span : TextSpan{});
    }
    return state;
}

TextSpan randomSpan(RandomText &random, const Draft &draft)
{
    TextSpan span{static_cast<qsizetype>(random.below(draft.text().size() + 1)),
                  static_cast<qsizetype>(random.below(draft.text().size() + 1))};
    if (span.start > span.end)
        std::swap(span.start, span.end);
    return snappedToCodePoints({span.start, std::min(span.end, span.start + 12)}, draft.text());
}

/// Edits, locks, or decides about a proposal.
void takeTurn(RandomText &random, Draft &draft)
{
    const QString id = QStringLiteral("p%1").arg(random.below(kProposals));
    const bool canDecide = draft.proposal(id)->isOpen();
    try {
        switch (random.below(6)) {
        case 0:
        case 1:
            draft.edit({randomSpan(random, draft), fromUtf8(random.document(2))}, draft.version(), by());
            break;
        case 2:
            draft.setLocked(randomSpan(random, draft), draft.version(), random.below(3) != 0);
            break;
        case 3:
            if (canDecide)
                draft.accept(id, std::nullopt, std::nullopt, by(EditCause::Accept));
            break;
        case 4:
            if (canDecide && !draft.proposal(id)->changes.empty())
                draft.accept(id, 0, 1, by(EditCause::Accept));
            break;
        default:
            if (canDecide)
                draft.reject(id, std::nullopt);
        }
    } catch (const Error &) { // no word to lock, a locked or settled change: nothing happened
    }
}

/// Undoes everything; the states that were seen, the first one first.
std::vector<State> statesOnTheWayBack(Draft &draft)
{
    std::vector<State> back{stateOf(draft)};
    while (draft.undoLabels().undo) {
        draft.undo();
        if (!(stateOf(draft) == back.back()))
            back.push_back(stateOf(draft));
    }
    std::reverse(back.begin(), back.end());
    return back;
}

} // namespace

/// A draft's text, versions, locks and undo.
class TestDraft : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void typingIsOneStep();
    void typingIsParted_data();
    void typingIsParted();
    void modelEditsAreOneStepEach();
    void undoAndRedoLeadThroughTheSameStates();
    void olderVersionsAreBroughtOn();
    void unknownVersionsAreStale();
    void spansOutsideAreRefused();
    void locksFollowTheText();
    void unlockingAPartKeepsTheRest();
    void restoringEditsOnlyWhatDiffers();
};

void TestDraft::typingIsOneStep()
{
    Draft draft(QStringLiteral("Dear board,"));
    type(draft, QStringLiteral(" the boat is mine"), 100);
    QCOMPARE(draft.text(), QStringLiteral("Dear board, the boat is mine"));
    QCOMPARE(*draft.undoLabels().undo, QStringLiteral("Typing"));
    draft.undo();
    QCOMPARE(draft.text(), QStringLiteral("Dear board,"));
    QVERIFY(!draft.undoLabels().undo);
    draft.redo();
    QCOMPARE(draft.text(), QStringLiteral("Dear board, the boat is mine"));
    QVERIFY(draft.undo().size() > 1); // as many edits as were typed
}

void TestDraft::typingIsParted_data()
{
    QTest::addColumn<TextEdit>("second");
    QTest::addColumn<std::int64_t>("afterMs");
    QTest::addColumn<WindowId>("window");
    QTest::addColumn<int>("steps");
    QTest::newRow("goes on") << TextEdit{{3, 3}, "d"} << std::int64_t{10} << kWindow << 1;
    QTest::newRow("elsewhere") << TextEdit{{0, 0}, "d"} << std::int64_t{10} << kWindow << 2;
    QTest::newRow("after a pause") << TextEdit{{3, 3}, "d"} << Draft::kTypingPauseMs + 1 << kWindow << 2;
    QTest::newRow("another window") << TextEdit{{3, 3}, "d"} << std::int64_t{10} << kWindow + 1 << 2;
    QTest::newRow("taking back") << TextEdit{{2, 3}, ""} << std::int64_t{10} << kWindow << 2;
}

void TestDraft::typingIsParted()
{
    QFETCH(const TextEdit, second);
    QFETCH(const std::int64_t, afterMs);
    QFETCH(const WindowId, window);
    QFETCH(const int, steps);
    Draft draft;
    type(draft, QStringLiteral("abc"), 0);
    draft.edit(second, draft.version(), typing(afterMs, window));
    int count = 0;
    for (; draft.undoLabels().undo; ++count)
        draft.undo();
    QCOMPARE(count, steps);
    QCOMPARE(draft.text(), QString());
}

// F093: three words typed, a selection rewritten, two more words; to the start and to the end.
void TestDraft::modelEditsAreOneStepEach()
{
    Draft draft(QStringLiteral("A quick fox. "));
    draft.setLocked({2, 7}, draft.version(), true);
    type(draft, QStringLiteral("It runs far. "), 0);
    draft.addProposal(proposalFor(draft, QStringLiteral("It runs far."), {QStringLiteral("It ran very far away.")}));
    draft.accept(QStringLiteral("p0"), std::nullopt, std::nullopt, by(EditCause::Accept));
    const QString accepted = draft.text();
    QCOMPARE(accepted, QStringLiteral("A quick fox. It ran very far away. "));
    type(draft, QStringLiteral("The end"), 10'000);
    const QString end = draft.text();
    const std::vector<TextSpan> locks = draft.locks();

    draft.undo();
    QCOMPARE(draft.text(), accepted);
    draft.undo();
    QCOMPARE(draft.text(), QStringLiteral("A quick fox. It runs far. "));
    draft.undo();
    QCOMPARE(draft.text(), QStringLiteral("A quick fox. "));
    QCOMPARE(draft.locks().size(), std::size_t{1});
    draft.undo();
    QVERIFY(draft.locks().empty());
    QVERIFY(!draft.undoLabels().undo);
    for (int i = 0; i < 4; ++i)
        draft.redo();
    QVERIFY(!draft.undoLabels().redo);
    QCOMPARE(draft.text(), end);
    QVERIFY(draft.locks() == locks);
}

// F093, as a property: text, locks and what is open of the proposals are the same, step by step, there and back.
void TestDraft::undoAndRedoLeadThroughTheSameStates()
{
    RandomText random(23);
    for (int round = 0; round < 150; ++round) {
        Draft draft(fromUtf8(random.document(12)));
        // All proposals are there from the beginning, so that the states can be compared one by one.
        for (int i = 0; i < kProposals; ++i) {
            const TextSpan span = randomSpan(random, draft);
            draft.addProposal(proposalAt(draft, span, {fromUtf8(random.document(4)), QStringLiteral("other words")},
                                         i == 2 ? RunAction::Proofread : RunAction::Rewrite));
        }
        std::vector<State> states{stateOf(draft)};
        for (int turn = 0; turn < 25; ++turn) {
            takeTurn(random, draft);
            if (!(stateOf(draft) == states.back()) || draft.undoLabels().redo)
                states.push_back(stateOf(draft));
        }
        const std::vector<State> back = statesOnTheWayBack(draft);
        QCOMPARE(back.size(), states.size());
        for (std::size_t i = 0; i < states.size(); ++i) {
            QCOMPARE(back[i].text, states[i].text);
            QVERIFY(back[i].locks == states[i].locks);
            QVERIFY(back[i].proposals == states[i].proposals);
            QVERIFY(back[i] == states[i]);
        }
        while (draft.undoLabels().redo)
            draft.redo();
        QVERIFY(stateOf(draft) == states.back());
    }
}

void TestDraft::olderVersionsAreBroughtOn()
{
    Draft draft(QStringLiteral("one two three"));
    const std::int64_t seen = draft.version();
    draft.edit({{0, 0}, QStringLiteral("zero ")}, seen, by());
    const AppliedEdit applied = draft.edit({{4, 7}, QStringLiteral("2")}, seen, by());
    QCOMPARE(draft.text(), QStringLiteral("zero one 2 three"));
    QCOMPARE(applied.edit.span.start, 9);
    QCOMPARE(applied.version, seen + 2);
    QVERIFY((draft.brought(TextSpan{8, 13}, seen) == TextSpan{11, 16}));
}

void TestDraft::unknownVersionsAreStale()
{
    Draft draft(QStringLiteral("abc"));
    for (std::size_t i = 0; i <= Draft::kRememberedEdits; ++i)
        draft.edit({{0, 0}, QStringLiteral("x")}, draft.version(), by());
    for (const std::int64_t version : {draft.version() + 1, std::int64_t{0}}) {
        try {
            draft.edit({{0, 0}, QStringLiteral("y")}, version, by());
            QFAIL("an unknown version was taken");
        } catch (const Error &error) {
            QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
            QCOMPARE(QByteArray(error.subject().c_str()), QByteArray(kStaleSubject));
        }
    }
}

void TestDraft::spansOutsideAreRefused()
{
    Draft draft(QStringLiteral("abc"));
    const std::int64_t before = draft.version();
    draft.edit({{3, 3}, QStringLiteral("def")}, before, by());
    for (const TextSpan span : {TextSpan{-1, 0}, TextSpan{2, 1}, TextSpan{0, 7}})
        QVERIFY_EXCEPTION_THROWN(draft.edit({span, {}}, draft.version(), by()), Error);
    QVERIFY_EXCEPTION_THROWN(draft.edit({{0, 4}, {}}, before, by()), Error); // it had three letters then
    QCOMPARE(draft.text(), QStringLiteral("abcdef"));
}

void TestDraft::locksFollowTheText()
{
    Draft draft(QStringLiteral("the cobalt sea is calm"));
    QVERIFY((draft.setLocked({5, 12}, draft.version(), true) == TextSpan{4, 14}));
    draft.edit({{0, 0}, QStringLiteral("Now ")}, draft.version(), by());
    QCOMPARE(draft.textOf(draft.locks().front()), QStringLiteral("cobalt sea"));
    draft.edit({{15, 15}, QStringLiteral("blue ")}, draft.version(), by());
    QCOMPARE(draft.textOf(draft.locks().front()), QStringLiteral("cobalt blue sea"));
    draft.edit({{0, 25}, {}}, draft.version(), by());
    QVERIFY(draft.locks().empty());
    draft.undo();
    QCOMPARE(draft.textOf(draft.locks().front()), QStringLiteral("cobalt blue sea"));
    QVERIFY_EXCEPTION_THROWN(draft.setLocked({draft.text().size(), draft.text().size() + 1}, draft.version(), true),
                             Error);
}

void TestDraft::unlockingAPartKeepsTheRest()
{
    Draft draft(QStringLiteral("the cobalt blue sea"));
    draft.setLocked({0, 19}, draft.version(), true);
    draft.setLocked({11, 15}, draft.version(), false);
    QCOMPARE(draft.locks().size(), std::size_t{2});
    QCOMPARE(draft.textOf(draft.locks()[0]), QStringLiteral("the cobalt"));
    QCOMPARE(draft.textOf(draft.locks()[1]), QStringLiteral("sea"));
    draft.unlockAll();
    QVERIFY(draft.locks().empty());
    draft.undo();
    QCOMPARE(draft.locks().size(), std::size_t{2});
}

void TestDraft::restoringEditsOnlyWhatDiffers()
{
    Draft draft(QStringLiteral("one two three four"));
    draft.setLocked({14, 18}, draft.version(), true);
    const std::vector<AppliedEdit> edits = draft.restore(QStringLiteral("one 2 three four"), {{0, 3}});
    QCOMPARE(edits.size(), std::size_t{1});
    QCOMPARE(edits.front().edit.text, QStringLiteral("2"));
    QVERIFY((draft.locks() == std::vector<TextSpan>{{0, 3}}));
    draft.undo();
    QCOMPARE(draft.text(), QStringLiteral("one two three four"));
    QVERIFY((draft.locks() == std::vector<TextSpan>{{14, 18}}));
}

QTEST_APPLESS_MAIN(TestDraft)
#include "tst_draft.moc"
