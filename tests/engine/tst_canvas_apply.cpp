// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/canvas.h"
#include "engine/error.h"
#include "engine/utf8.h"
#include "tests/engine/canvas_bench.h"
#include "tests/support/random_text.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

/// Runs an edit as if the model wrote `text` into a gap of just its length.
EditOutcome editWith(EditRequest request, const std::string &text)
{
    const CanvasEditor editor = editorWith();
    const std::vector<TokenId> ids = idsOf(text);
    request.gapLengths = {static_cast<std::int64_t>(ids.size())};
    const EditPlan plan = editor.plan(request);
    return editor.apply(plan, std::vector<GenerationResult>{resultWith(plan.candidates.front(), ids)});
}

} // namespace

/// What the model wrote, back in the document.
class TestCanvasApply : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void splicesWithoutDoubledOrLostSpaces_data();
    void splicesWithoutDoubledOrLostSpaces();
    void lowestMeanEntropyWins();
    void continuationsMayEndTheirTurn();
    void outsideBytesNeverChange();
};

void TestCanvasApply::splicesWithoutDoubledOrLostSpaces_data()
{
    QTest::addColumn<QByteArray>("document"); // [ and ] mark the selection, | a caret
    QTest::addColumn<QByteArray>("written");
    QTest::addColumn<QByteArray>("expected");
    const auto row = [](const char *name, const std::string &document, const char *written,
                        const std::string &expected) {
        QTest::newRow(name) << QByteArray::fromStdString(document) << QByteArray(written)
                            << QByteArray::fromStdString(expected);
    };
    row("a word", "The [cat] sat", " dog", "The dog sat");
    row("a word, space not written", "The [cat] sat", "dog", "The dog sat");
    row("spaces on both sides written", "The [cat] sat", " dog ", "The dog sat");
    row("first word", "[The] cat", " A", "A cat");
    row("last word", "The [cat]", " dog ", "The dog");
    row("spaces selected, too", "The[ cat ]sat", " dog", "The dog sat");
    row("only white space selected", "The[ ]cat", " big", "The big cat");
    row("in front of a word", "The |cat", " big", "The big cat");
    row("behind a word", "The| cat", " big", "The big cat");
    row("at the beginning", "|cat", "Big", "Big cat");
    row("in front of a full stop", "The cat|.", " sat", "The cat sat.");
    row("between space and bracket", "The |(old) cat", " big", "The big (old) cat");
    row("inside brackets", "(|old) cat", "very", "(very old) cat");
    row("inside a word", "The c|at", "he", "The cheat");
    row("part of a word", "The c[a]t", "u", "The cut");
    row("new paragraph", "One.|\n", "\n\nTwo.", "One.\n\nTwo.\n");
    row("CR LF", "One.|\r\n", "\n\nTwo.", "One.\r\n\r\nTwo.\r\n");
    row("CR LF selected", "One.[\r\nTwo]\r\n", " Three\n", "One.\r\nThree\r\n");
    row("two spaces", "One.  [Two]", "Three", "One.  Three");
    row("half a family", kFamily.substr(0, 7) + "[" + kFamily.substr(7) + "] x", "y", "y x");
    row("inside CR LF", "a\r[\nb]", "c", "a\r\nc");
    row("whole document", "[\xEF\xBB\xBFThe cat.\r\n]", "A dog.",
        "\xEF\xBB\xBF"
        "A dog.\r\n");
    row("empty document", "|", "Words", "Words");
    row("rewrite begins where the selection did", "Anna, [I go] now", "\n\nI went\n", "Anna, I went now");
    row("repeats the words behind", "The [cat] sat on it.", " dog sat on", "The dog sat on it.");
    row("repeats all of it", "He [goes] home.", " went home.", "He went home.");
    row("repeats over a full stop", "He [goes]. We stay.", " went. We", "He went. We stay.");
    row("repeats in front of a word", "The |cat sat.", " big cat", "The big cat sat.");
    row("ends like the word behind", "The |cat sat.", " tomcat", "The tomcat cat sat.");
    row("only a full stop repeated", "He [goes].", " went.", "He went.");
    row("repeats and nothing else", "The [cat] sat.", " sat.", "The sat. sat.");
    row("to nothing", "The [cat] sat", " ", "The  sat");
}

void TestCanvasApply::splicesWithoutDoubledOrLostSpaces()
{
    QFETCH(QByteArray, document);
    QFETCH(QByteArray, written);
    const ByteRange selection = takeSelection(document);
    const EditOutcome outcome = editWith(requestFor(document.toStdString(), selection), written.toStdString());
    QTEST(QByteArray::fromStdString(outcome.document), "expected");
    QCOMPARE(std::string(outcome.replaced.of(outcome.document)), outcome.alternatives.front());
    QVERIFY(outcome.problem.empty());
}

void TestCanvasApply::lowestMeanEntropyWins()
{
    EditRequest request = requestFor("The cat sat", {4, 7});
    request.gapLengths = {1, 2, 3};
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    const std::vector<TokenId> ids = idsOf(" big red dog");
    const std::vector<GenerationResult> results = {resultWith(plan.candidates[0], ids, 0.5F),
                                                   resultWith(plan.candidates[1], ids, 0.25F), GenerationResult{}};
    const EditOutcome outcome = editor.apply(plan, results);
    QCOMPARE(outcome.candidate, std::size_t{1});
    QCOMPARE(outcome.document, std::string("The big red sat"));
    QCOMPARE(outcome.alternatives, (std::vector<std::string>{"big", "big red", ""}));
    QVERIFY(std::isinf(outcome.meanEntropyNats[2])); // cancelled
    QCOMPARE(CanvasEditor::splice(plan, outcome.alternatives[0]), std::string("The big sat"));
}

void TestCanvasApply::continuationsMayEndTheirTurn()
{
    const std::string document = "The cat sat. ";
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(requestFor(document, {13, 13}));
    QCOMPARE(plan.kind, EditKind::Continue);
    const EditCandidate &candidate = plan.candidates.front();
    QCOMPARE(candidate.gapEnd, std::int64_t{64});
    QVERIFY(!isBanned(candidate.request, kTurnEnd) && !isBanned(candidate.request, kEos));
    QVERIFY(!isBanned(candidate.request, kPad) && isBanned(candidate.request, 5));
    std::vector<TokenId> ids = idsOf(" It slept.");
    ids.push_back(kTurnEnd);
    ids.resize(64, kPad);
    QCOMPARE(editor.apply(plan, std::vector{resultWith(candidate, ids)}).document,
             std::string("The cat sat. It slept."));
}

void TestCanvasApply::outsideBytesNeverChange()
{
    const CanvasEditor editor = editorWith();
    int edited = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        test::RandomText random(seed);
        EditRequest request;
        request.document = random.document(40);
        const auto size = static_cast<std::int64_t>(request.document.size());
        const std::int64_t begin = random.below(size + 1);
        request.selection = {begin, begin + random.below(std::min<std::int64_t>(size - begin, 60) + 1)};
        request.seed = seed;
        request.strategy = random.below(4) == 0 ? EditStrategy::FreshAnswer : EditStrategy::FrozenCanvas;
        request.noise = static_cast<NoiseAmount>(random.below(3));
        const ByteRange snapped = snapToGraphemes(request.document, request.selection);
        EditPlan plan;
        try {
            plan = editor.plan(request);
        } catch (const Error &error) { // many byte tokens: too long for the small canvas
            QCOMPARE(error.subject(), std::string("selection"));
            continue;
        }
        ++edited;
        QCOMPARE(plan.before + plan.replacedText + plan.after, request.document);
        QCOMPARE(plan.selection, snapped);
        QVERIFY(plan.replaced.begin >= snapped.begin && plan.replaced.end <= snapped.end);
        std::vector<TokenId> ids;
        for (int i = 0; i < 20; ++i) {
            ids.push_back(static_cast<TokenId>(32 + random.below(demoTokenizer()->vocabSize() - 32)));
        }
        std::vector<GenerationResult> results;
        for (const EditCandidate &candidate : plan.candidates) {
            results.push_back(request.strategy == EditStrategy::FrozenCanvas ? resultWith(candidate, ids)
                                                                             : answerWith(random.document(9)));
        }
        const EditOutcome outcome = editor.apply(plan, results);
        QVERIFY(outcome.document.starts_with(ByteRange{0, snapped.begin}.of(request.document)));
        QVERIFY(outcome.document.ends_with(ByteRange{snapped.end, size}.of(request.document)));
        QVERIFY(static_cast<std::int64_t>(outcome.document.size()) >= snapped.begin + size - snapped.end);
        QVERIFY(!firstInvalidUtf8(outcome.document));
        for (const std::string &alternative : outcome.alternatives) {
            QCOMPARE(CanvasEditor::splice(plan, alternative), plan.before + alternative + plan.after);
        }
    }
    QVERIFY(edited > 400);
}

QTEST_APPLESS_MAIN(TestCanvasApply)
#include "tst_canvas_apply.moc"
