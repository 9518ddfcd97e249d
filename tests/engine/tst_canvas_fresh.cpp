// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/canvas.h"
#include "tests/engine/canvas_bench.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>

using namespace palimpsest;
using namespace palimpsest::test;

/// Edits that the model answers as a conversation does.
class TestCanvasFresh : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void freshAnswersAreSpliced_data();
    void freshAnswersAreSpliced();
    void freshAnswerMayStartFromTheSelection();
    void unusableAnswersLeaveTheDocument_data();
    void unusableAnswersLeaveTheDocument();
};

void TestCanvasFresh::freshAnswersAreSpliced_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("rewrite") << QByteArray("Say [helo ]you") << QByteArray("hello") << QByteArray("Say hello you");
    QTest::newRow("rewrite with white space")
        << QByteArray("Say [helo] you") << QByteArray("\n hello\n") << QByteArray("Say hello you");
    QTest::newRow("rewrite with CR LF") << QByteArray("a\r\n[b]\r\n") << QByteArray("- c\n- d")
                                        << QByteArray("a\r\n- c\r\n- d\r\n");
    QTest::newRow("fill") << QByteArray("The | sat down.") << QByteArray("The old cat sat down.")
                          << QByteArray("The old cat sat down.");
    QTest::newRow("fill at the beginning")
        << QByteArray("|sat down.") << QByteArray("The cat sat down.") << QByteArray("The cat sat down.");
    QTest::newRow("fill with nothing") << QByteArray("The |cat sat.") << QByteArray("The cat sat.")
                                       << QByteArray("The cat sat.");
    QTest::newRow("fill, other words changed")
        << QByteArray("Yestreday the |cat sat down.") << QByteArray("Yesterday the old cat sat up.")
        << QByteArray("Yestreday the old cat sat down.");
    QTest::newRow("continue") << QByteArray("The cat sat.|") << QByteArray("It slept.")
                              << QByteArray("The cat sat. It slept.");
    QTest::newRow("continue on a new line")
        << QByteArray("The cat sat.\n|") << QByteArray("It slept.") << QByteArray("The cat sat.\nIt slept.");
    QTest::newRow("continue with a comma")
        << QByteArray("The cat sat|\n") << QByteArray(", then slept.") << QByteArray("The cat sat, then slept.\n");
}

void TestCanvasFresh::freshAnswersAreSpliced()
{
    QFETCH(QByteArray, document);
    QFETCH(QByteArray, answer);
    const ByteRange selection = takeSelection(document);
    EditRequest request = requestFor(document.toStdString(), selection);
    request.strategy = EditStrategy::FreshAnswer;
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    QVERIFY(!plan.candidates.front().request.firstCanvas);
    const EditOutcome outcome = editor.apply(plan, std::vector{answerWith(answer.toStdString())});
    QTEST(QByteArray::fromStdString(outcome.document), "expected");
}

void TestCanvasFresh::freshAnswerMayStartFromTheSelection()
{
    const std::string document = "one two three four five six seven eight";
    EditRequest request = requestFor(document, {0, static_cast<std::int64_t>(document.size())});
    request.strategy = EditStrategy::FreshAnswer;
    request.noise = NoiseAmount::Light;
    const EditPlan plan = editorWith().plan(request);
    const CanvasStart &start = *plan.candidates.front().request.firstCanvas;
    const std::vector<TokenId> ids = idsOf(document);
    QCOMPARE(start.ids.size(), std::size_t{64});
    QVERIFY(std::equal(ids.begin(), ids.end(), start.ids.begin()));
    QCOMPARE(start.ids[ids.size()], kTurnEnd);
    QVERIFY(std::all_of(start.frozen.begin(), start.frozen.end(), [](std::uint8_t flag) { return flag == 0; }));
    const auto anew = std::count(start.keepAtStart.begin(), start.keepAtStart.end(), std::uint8_t{0});
    QVERIFY(anew >= 2 && anew <= 5);
}

void TestCanvasFresh::unusableAnswersLeaveTheDocument_data()
{
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<int>("finish");
    QTest::addColumn<bool>("fill");
    QTest::newRow("empty") << QByteArray(" \n") << static_cast<int>(FinishReason::EndOfTurn) << false;
    QTest::newRow("cut") << QByteArray("a dog") << static_cast<int>(FinishReason::Budget) << false;
    QTest::newRow("cancelled") << QByteArray("a dog") << static_cast<int>(FinishReason::Cancelled) << false;
    QTest::newRow("another text") << QByteArray("Well, hello.") << static_cast<int>(FinishReason::EndOfTurn) << true;
    QTest::newRow("text without its end") << QByteArray("The big") << static_cast<int>(FinishReason::EndOfTurn) << true;
}

void TestCanvasFresh::unusableAnswersLeaveTheDocument()
{
    QFETCH(QByteArray, answer);
    QFETCH(int, finish);
    QFETCH(bool, fill);
    const std::string document = "The cat sat";
    EditRequest request = requestFor(document, {4, fill ? 4 : 7});
    request.strategy = EditStrategy::FreshAnswer;
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    const EditOutcome outcome =
        editor.apply(plan, std::vector{answerWith(answer.toStdString(), static_cast<FinishReason>(finish))});
    QCOMPARE(outcome.document, document);
    QCOMPARE(outcome.replaced, plan.replaced);
    QVERIFY(!outcome.problem.empty());
}

QTEST_APPLESS_MAIN(TestCanvasFresh)
#include "tst_canvas_fresh.moc"
