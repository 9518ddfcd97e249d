// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/canvas_run_plan.h"
#include "app/editing/canvas_view.h"
#include "app/editing/locked_words.h"
#include "app/editing/presets.h"
#include "app/editing/stored_proposal.h"
#include "app/editing/typed_words.h"
#include "app/editing/utf8_text.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <set>

using namespace palimpsest;
using namespace palimpsest::editing;
using namespace palimpsest::test;

namespace {

std::vector<TokenId> idsOf(const QString &text)
{
    return demoTokenizer()->encode(toUtf8(text), SpecialTokens::Parse);
}

RecordedStep stepOf(std::vector<TokenId> ids)
{
    RecordedStep step;
    step.step = 1;
    step.maxSteps = 48;
    step.entropy.assign(ids.size(), 12);
    step.accepted.assign(ids.size(), 0);
    step.frozen.assign(ids.size(), 0);
    step.argmax = std::move(ids);
    return step;
}

CanvasLayout plainLayout()
{
    CanvasLayout layout;
    layout.endIds = {demoTokenizer()->idOf("<turn|>").value(), demoTokenizer()->idOf("<pad>").value()};
    return layout;
}

/// A frame of these pieces; '.' in `marks` has not settled.
Frame frameOf(const QStringList &pieces, const QByteArray &marks)
{
    Frame frame;
    for (const QString &piece : pieces)
        frame.text.push_back(piece);
    frame.marks = marks;
    frame.showEnd = static_cast<int>(pieces.size());
    return frame;
}

} // namespace

/// How canvases are read: the pure parts between the engine's steps and what people see.
class TestCanvasView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void textsOfPositionsMakeTheText_data();
    void textsOfPositionsMakeTheText();
    void theAnswerEndsAtItsEnd();
    void marksTellOfSteps();
    void gapsAreShownAlone();
    void heldLettersAreTheDrafts();
    void wordsAreFoundAround();
    void settledTextIsWhatHasSettled_data();
    void settledTextIsWhatHasSettled();
    void typingAndModelAreMerged_data();
    void typingAndModelAreMerged();
    void changesGoAroundLocks_data();
    void changesGoAroundLocks();
    void storedProposalsFindTheirPlace_data();
    void storedProposalsFindTheirPlace();
    void presetsAreComplete();
};

void TestCanvasView::textsOfPositionsMakeTheText_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("plain") << QStringLiteral("The cat sat on the mat.");
    QTest::newRow("an emoji of several tokens")
        << QString::fromUtf8("ok \xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9 go");
    QTest::newRow("letters of two bytes") << QString::fromUtf8("na\xC3\xAFve \xE6\xBC\xA2\xE5\xAD\x97 \xD7\xA9");
    QTest::newRow("line ends") << QStringLiteral("one\n\n- two\n\tthree");
}

void TestCanvasView::textsOfPositionsMakeTheText()
{
    QFETCH(const QString, text);
    const CanvasView view(demoTokenizer(), plainLayout());
    const Frame frame = view.frame(0, stepOf(idsOf(text)), nullptr);
    QCOMPARE(frame.shownText(), text);
    QCOMPARE(view.textOf(0, idsOf(text)), text);
    for (const QString &piece : frame.text)
        QVERIFY(!piece.contains(QChar::ReplacementCharacter)); // no character is torn
}

void TestCanvasView::theAnswerEndsAtItsEnd()
{
    const CanvasView view(demoTokenizer(), plainLayout());
    const Frame frame = view.frame(0, stepOf(idsOf(QStringLiteral("Yes.<turn|><pad> and noise"))), nullptr);
    QCOMPARE(frame.shownText(), QStringLiteral("Yes."));
    QCOMPARE(frame.marks.count('-'), frame.positions() - frame.showEnd);
    QCOMPARE(view.frame(0, stepOf(idsOf(QStringLiteral("<turn|>"))), nullptr).showEnd, 0);
}

void TestCanvasView::marksTellOfSteps()
{
    const CanvasView view(demoTokenizer(), plainLayout());
    RecordedStep before = stepOf(idsOf(QStringLiteral(" the of to in and")));
    RecordedStep now = before;
    QCOMPARE(now.argmax.size(), std::size_t{5});
    before.accepted = {1, 0, 1, 0, 0};
    now.accepted = {1, 1, 1, 0, 1};
    now.frozen = {0, 0, 0, 0, 1};
    now.argmax[2] = now.argmax[0]; // accepted, but it is another word
    const Frame frame = view.frame(0, now, &before);
    QCOMPARE(frame.marks, QByteArray("=++.#"));
    QCOMPARE(frame.accepted, 3);
    QCOMPARE(frame.settled, 1);
    QCOMPARE(frame.held, 1);
    QCOMPARE(view.frame(0, now, nullptr).marks, QByteArray("+++.#"));
}

void TestCanvasView::gapsAreShownAlone()
{
    CanvasLayout layout = plainLayout();
    layout.gapBegin = 1;
    layout.gapEnd = 3;
    layout.dropsLeadingSpace = true;
    layout.crLf = true;
    const CanvasView view(demoTokenizer(), layout);
    const Frame frame = view.frame(0, stepOf(idsOf(QStringLiteral(" the of to in"))), nullptr);
    QCOMPARE(frame.shownText(), QStringLiteral("of to")); // without the space that the draft has
    QCOMPARE(frame.text.front(), QStringLiteral(" the"));
    const Frame next = view.frame(1, stepOf(idsOf(QStringLiteral(" the\n of"))), nullptr);
    QCOMPARE(next.shownText(), QStringLiteral(" the\r\n of")); // a later canvas is text as a whole
}

void TestCanvasView::heldLettersAreTheDrafts()
{
    CanvasLayout layout = plainLayout();
    layout.gapBegin = 0;
    layout.gapEnd = 5;
    layout.held = {{1, 3, " OF to"}}; // the draft has other letters than the tokens spell
    const CanvasView view(demoTokenizer(), layout);
    RecordedStep step = stepOf(idsOf(QStringLiteral(" the of to in and")));
    step.frozen = {0, 1, 1, 0, 0};
    QCOMPARE(view.frame(0, step, nullptr).shownText(), QStringLiteral(" the OF to in and"));
}

void TestCanvasView::wordsAreFoundAround()
{
    const CanvasView view(demoTokenizer(), plainLayout());
    const std::vector<TokenId> ids = idsOf(QStringLiteral("the xylophonist of"));
    QVERIFY(ids.size() > 4); // the long word has several tokens
    const std::vector<std::int64_t> word = view.wordAround(0, ids, 2);
    QCOMPARE(word.front(), 1);
    QCOMPARE(word.back(), static_cast<std::int64_t>(ids.size()) - 2);
    const QString family = QString::fromUtf8("\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9");
    const std::vector<TokenId> emoji = idsOf(family);
    for (std::size_t at = 0; at < emoji.size(); ++at) {
        const std::vector<std::int64_t> all = view.wordAround(0, emoji, static_cast<std::int64_t>(at));
        QVERIFY(std::find(all.begin(), all.end(), static_cast<std::int64_t>(at)) != all.end());
    }
    QCOMPARE(view.wordAround(0, idsOf(QStringLiteral("a<turn|>")), 1), (std::vector<std::int64_t>{1}));
}

void TestCanvasView::settledTextIsWhatHasSettled_data()
{
    QTest::addColumn<QString>("original");
    QTest::addColumn<QStringList>("pieces");
    QTest::addColumn<QByteArray>("marks");
    QTest::addColumn<QString>("expected");
    const QStringList rewrite{"He", " does", " not", " know", " them", "."};
    QTest::newRow("everything") << QStringLiteral("He doesn't know it.") << rewrite << QByteArray("======")
                                << QStringLiteral("He does not know them.");
    QTest::newRow("the second change alone") << QStringLiteral("He doesn't know it.") << rewrite << QByteArray("==.===")
                                             << QStringLiteral("He doesn't know them.");
    QTest::newRow("nothing") << QStringLiteral("He doesn't know it.") << rewrite << QByteArray("......")
                             << QStringLiteral("He doesn't know it.");
    QTest::newRow("a deletion beside what has settled")
        << QStringLiteral("a very old cat") << QStringList{"a", " old", " cat"} << QByteArray("=++")
        << QStringLiteral("a old cat");
    QTest::newRow("a continuation up to the first doubt") << QString() << QStringList{" and", " then", " it", " rained"}
                                                          << QByteArray("=+.=") << QStringLiteral(" and then");
    QTest::newRow("not half a word") << QString() << QStringList{" and", " rain", "ed"} << QByteArray("=+.")
                                     << QStringLiteral(" and ");
}

void TestCanvasView::settledTextIsWhatHasSettled()
{
    QFETCH(const QString, original);
    QFETCH(const QStringList, pieces);
    QFETCH(const QByteArray, marks);
    QFETCH(const QString, expected);
    QCOMPARE(settledText(original, QString(), frameOf(pieces, marks)), expected);
}

void TestCanvasView::typingAndModelAreMerged_data()
{
    QTest::addColumn<QString>("base");
    QTest::addColumn<QString>("ours");
    QTest::addColumn<QString>("theirs");
    QTest::addColumn<QString>("expected");
    const QString base = QStringLiteral("The cat sat on the mat.");
    QTest::newRow("nothing typed") << base << base << QStringLiteral("A dog.") << QStringLiteral("A dog.");
    QTest::newRow("apart") << base << QStringLiteral("The cat sat on the red mat.")
                           << QStringLiteral("The dog sat on the mat.")
                           << QStringLiteral("The dog sat on the red mat.");
    QTest::newRow("the same word") << base << QStringLiteral("The cow sat on the mat.")
                                   << QStringLiteral("The dog sat on the mat.")
                                   << QStringLiteral("The cow sat on the mat.");
    QTest::newRow("the model has it") << base << QStringLiteral("The big cat sat on the mat.")
                                      << QStringLiteral("The big dog sat on the mat.")
                                      << QStringLiteral("The big dog sat on the mat.");
    QTest::newRow("taken out") << base << QStringLiteral("The cat sat.") << QStringLiteral("The dog sat on the mat.")
                               << QStringLiteral("The dog sat.");
}

void TestCanvasView::typingAndModelAreMerged()
{
    QFETCH(const QString, base);
    QFETCH(const QString, ours);
    QFETCH(const QString, theirs);
    QFETCH(const QString, expected);
    QCOMPARE(mergedTyping(base, ours, theirs), expected);
}

void TestCanvasView::changesGoAroundLocks_data()
{
    QTest::addColumn<QString>("original");
    QTest::addColumn<TextSpan>("lock");
    QTest::addColumn<QString>("revised");
    QTest::addColumn<QString>("expected");
    QTest::newRow("beside") << QStringLiteral("teh cobalt see") << TextSpan{4, 10} << QStringLiteral("the cobalt sea")
                            << QStringLiteral("the cobalt sea");
    QTest::newRow("the locked word is gone") << QStringLiteral("teh cobalt see") << TextSpan{4, 10}
                                             << QStringLiteral("the blue sea") << QStringLiteral("the cobalt sea");
    QTest::newRow("it stands elsewhere") << QStringLiteral("a b c d") << TextSpan{2, 3} << QStringLiteral("c d b x")
                                         << QStringLiteral("c d b x");
    QTest::newRow("one of two equal words") << QStringLiteral("the dog the cat") << TextSpan{8, 11}
                                            << QStringLiteral("the cat") << QStringLiteral("the cat");
}

void TestCanvasView::changesGoAroundLocks()
{
    QFETCH(const QString, original);
    QFETCH(const TextSpan, lock);
    QFETCH(const QString, revised);
    QFETCH(const QString, expected);
    const std::vector<TextEdit> edits = changesAround({lock}, original, revised);
    QCOMPARE(withEdits(original, edits), expected);
    TextSpan now = lock;
    for (std::size_t i = edits.size(); i-- > 0;) {
        QVERIFY(!touches(edits[i], lock));
        now = moved(now, edits[i]);
    }
    QCOMPARE(withEdits(original, edits).mid(now.start, now.length()), original.mid(lock.start, lock.length()));
}

void TestCanvasView::storedProposalsFindTheirPlace_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<ProposalState>("state");
    QTest::addColumn<qsizetype>("start");
    QTest::newRow("where it was") << QStringLiteral("One. We dont know. End") << ProposalState::Open << qsizetype{5};
    QTest::newRow("moved by a crash") << QStringLiteral("New. One. We dont know. End") << ProposalState::Open
                                      << qsizetype{10};
    QTest::newRow("the nearest") << QStringLiteral("We dont know. xx We dont know. End") << ProposalState::Open
                                 << qsizetype{0};
    QTest::newRow("gone") << QStringLiteral("One. We do not know. End") << ProposalState::Dropped << qsizetype{0};
}

void TestCanvasView::storedProposalsFindTheirPlace()
{
    QFETCH(const QString, text);
    QFETCH(const ProposalState, state);
    QFETCH(const qsizetype, start);
    Proposal proposal;
    proposal.id = QStringLiteral("p");
    proposal.action = RunAction::Renoise;
    proposal.span = {5, 18};
    proposal.original = QStringLiteral("We dont know.");
    proposal.alternatives = {
        {QStringLiteral("We don't know."), 18'446'744'073'709'551'615U, 0.25, {CanvasStop::StepCap}},
        {QStringLiteral("own"), 1, std::nullopt, {}}};
    proposal.origin.amount = NoiseAmount::Light;
    proposal.origin.sampler.tMax = 0.9;
    proposal.note = QStringLiteral("note");
    const QString original = proposal.original;
    proposal = withChanges(std::move(proposal), {original, {}});
    const std::optional<Proposal> read = fromStored(toStored(proposal, proposal.original), text);
    QVERIFY(read.has_value());
    QCOMPARE(read->state, state);
    QCOMPARE(read->alternatives, proposal.alternatives);
    if (state == ProposalState::Dropped)
        return;
    QCOMPARE(read->span.start, start);
    QCOMPARE(text.mid(read->changes.front().span.start, read->changes.front().span.length()), QStringLiteral("dont"));
    QCOMPARE(read->changes.front().text, proposal.changes.front().text);
    QCOMPARE(read->origin.amount, NoiseAmount::Light);
    QCOMPARE(read->origin.sampler.tMax, 0.9);
    QCOMPARE(read->note, proposal.note);

    documents::Proposal damaged = toStored(proposal, proposal.original);
    damaged.changes = "{}";
    QVERIFY(!fromStored(damaged, text));
}

void TestCanvasView::presetsAreComplete()
{
    std::set<QString> ids;
    for (const Preset &preset : presets()) {
        QVERIFY(ids.insert(QString::fromLatin1(preset.id)).second);
        QCOMPARE(presetOf(QString::fromLatin1(preset.id)), &preset);
        const bool writerSays = QLatin1String(preset.id) == QLatin1String("custom");
        QCOMPARE(preset.action == RunAction::Rewrite && !writerSays, *preset.instruction != '\0');
    }
    QCOMPARE(ids.size(), std::size_t{6});
    QVERIFY(presetOf(u"nothing") == nullptr);
}

QTEST_APPLESS_MAIN(TestCanvasView)
#include "tst_canvas_view.moc"
