// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include <QElapsedTimer>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;
using test::kSentence;

/// A run that is under way: pausing, stopping, typing beside it, and what is said of it.
class TestStudioRuns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench = std::make_unique<test::StudioBench>(); }
    void cleanup() { m_bench.reset(); }

    void pausesAndStepsOneByOne();
    void stopRestoresF099_data();
    void stopRestoresF099();
    void keepsWhatSettled();
    void typingElsewhereGoesOn();
    void clicksOnButtonsLeaveTheKeysOnThePage();
    void tellsWhatTheModelSeesAhead();
    void speaksOfStartsAndEndsAloneF091();
    void aLongWishShowsItsBeginning();
    void nothingLiesBelowTheInspector();

private:
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioRuns::pausesAndStepsOneByOne()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    QTRY_VERIFY(bench().gate.isWaitedFor()); // the engine is in its first step
    bench().key(Qt::Key_P, Qt::ControlModifier);
    QTRY_VERIFY(bench().draft().paused());
    bench().gate.open();
    const auto step = [this] {
        const auto frame = bench().draft().session()->newestFrame(bench().draft().run(), 0);
        return frame ? frame->step : 0;
    };
    QTRY_COMPARE(step(), 1); // which comes to its end
    bench().key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(step(), 2);
    for (int i = 0; i < 3; ++i) {
        const int before = step();
        bench().click(QStringLiteral("Step"));
        QTRY_COMPARE(step(), before + 1);
        QTRY_VERIFY(bench().draft().progressText().contains(QStringLiteral("step %1 of 48").arg(before + 1)));
    }
    QVERIFY(bench().draft().paused());
    bench().click(QStringLiteral("Go on"));
    QTRY_VERIFY(!bench().draft().running()); // to the cap
    QTRY_VERIFY(bench().inspector().stopText().contains(QStringLiteral("cap")));
}

void TestStudioRuns::stopRestoresF099_data()
{
    QTest::addColumn<int>("passes"); // before it is stopped
    QTest::addColumn<int>("times");
    QTest::newRow("before the first step") << 0 << 1;
    QTest::newRow("in the first step") << 1 << 1;
    QTest::newRow("later, twice quickly") << 5 << 2;
}

void TestStudioRuns::stopRestoresF099()
{
    QFETCH(int, passes);
    QFETCH(int, times);
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    bench().gate.let(passes);
    if (passes > 0)
        QTRY_VERIFY(bench().pageText() != kLetter);
    QElapsedTimer time;
    time.start();
    for (int i = 0; i < times; ++i)
        bench().key(Qt::Key_Escape); // the engine is still at its step
    QTRY_VERIFY(!bench().draft().running());
    QVERIFY2(time.elapsed() < 300, qPrintable(QString::number(time.elapsed())));
    QTRY_COMPARE(bench().pageText(), kLetter);
    QCOMPARE(bench().text(), kLetter);
    QCOMPARE(bench().draft().openChanges(), 0);
    bench().gate.open();
}

void TestStudioRuns::keepsWhatSettled()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    bench().gate.let(3);
    QTRY_VERIFY(bench().pageText() != kLetter);
    bench().click(QStringLiteral("Keep what settled"));
    QTRY_VERIFY(!bench().draft().running());
    bench().gate.open();
    QCOMPARE(bench().text(), kLetter); // offered, not written
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().click(QStringLiteral("Reject all"));
    QTRY_COMPARE(bench().pageText(), kLetter);
}

void TestStudioRuns::typingElsewhereGoesOn()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    bench().gate.let(1);
    QTRY_VERIFY(bench().pageText() != kLetter);
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_End, Qt::ControlModifier);
    QString typed;
    for (const QChar letter : QStringLiteral(" sincerely")) {
        bench().type(letter);
        typed += letter;
        bench().gate.let(1); // a step between two letters
        QTest::qWait(0);
        QVERIFY2(bench().pageText().endsWith(QStringLiteral("\nYours") + typed), qPrintable(bench().pageText()));
        QCOMPARE(bench().caret(), bench().pageText().size());
    }
    bench().placeCaret(0);
    bench().type(QStringLiteral("My "));
    bench().gate.let(1);
    QCOMPARE(bench().text(), QStringLiteral("My ") + kLetter + QStringLiteral(" sincerely"));
    bench().key(Qt::Key_Escape);
    bench().gate.open();
    QTRY_COMPARE(bench().pageText(), QStringLiteral("My ") + kLetter + QStringLiteral(" sincerely"));
    QCOMPARE(bench().caret(), 3);
}

void TestStudioRuns::clicksOnButtonsLeaveTheKeysOnThePage()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().gate.close();
    for (const char *button : {"Continue", "Proofread", "Run", "Pause", "Go on", "Stop"}) {
        bench().click(QString::fromLatin1(button));
        QVERIFY2(bench().editor()->hasActiveFocus(), button);
        QTest::qWait(0);
    }
    QTRY_VERIFY(!bench().draft().running());
    bench().gate.open();
    bench().type(QStringLiteral(" sincerely"));
    QTRY_COMPARE(bench().text(), kLetter + QStringLiteral(" sincerely"));
    QVERIFY(!bench().draft().running()); // the space was no press of a button
}

void TestStudioRuns::tellsWhatTheModelSeesAhead()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(QStringLiteral("One. Two. ") + QStringLiteral("And so on. ").repeated(60));
    bench().gate.close();
    bench().placeCaret(5);
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().key(Qt::Key_Return);
    bench().gate.let(2);
    QTRY_VERIFY(bench().draft().progressText().contains(bench().draft().aheadText()));
    QVERIFY(!bench().draft().aheadText().isEmpty());
    bench().gate.open();
    QTRY_VERIFY(!bench().draft().running());
    QTRY_VERIFY(!bench().inspector().figures().isEmpty());
    const QVariantList figures = bench().inspector().figures();
    QVERIFY(figures.back().toMap()[QStringLiteral("value")].toString().contains(QStringLiteral(" of ")));
}

void TestStudioRuns::speaksOfStartsAndEndsAloneF091()
{
    bench().script->settleWithin(test::StudioScript::kNever); // 48 steps
    bench().openDraft(kLetter);
    QStringList spoken;
    QObject here;
    connect(&bench().draft(), &DraftView::announced, &here, [&] { spoken << bench().draft().announcement(); });
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    QTRY_VERIFY(!bench().draft().session()->runs().empty() && !bench().draft().running());
    QTRY_COMPARE(spoken.size(), 3);
    QCOMPARE(spoken.front(), QStringLiteral("Generating"));
    QVERIFY(spoken[1].contains(QStringLiteral("cap of 48 steps")));
    QVERIFY(spoken.back().startsWith(QStringLiteral("Done")));
}

void TestStudioRuns::aLongWishShowsItsBeginning()
{
    bench().view().resize(1024, 700);
    bench().openDraft(kLetter);
    QQuickItem *wish = bench().named(QStringLiteral("What should be done with the text?"));
    QVERIFY(wish != nullptr);
    const auto leftEnd = [wish] {
        QRectF first;
        QMetaObject::invokeMethod(wish, "positionToRectangle", Q_RETURN_ARG(QRectF, first), Q_ARG(int, 0));
        return first.left();
    };
    bench().click(wish);
    bench().key(Qt::Key_End);
    bench().type(
        QStringLiteral(" Leave names alone, and leave numbers as they are, and leave the quotations as well."));
    QVERIFY(leftEnd() < 0.0); // where it is typed is to be seen
    bench().editor()->forceActiveFocus();
    QTRY_VERIFY(leftEnd() >= 0.0);
}

void TestStudioRuns::nothingLiesBelowTheInspector()
{
    bench().view().resize(1024, 700);
    bench().openDraft(kLetter);
    bench().key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier); // opens it, also where there is little room
    QTRY_VERIFY(bench().named(QStringLiteral("History")) != nullptr);
    const double right = bench().view().width() - bench().window->theme().property("inspectorWidth").toInt();
    for (const char *name : {"Run", "Custom…"}) {
        const QQuickItem *button = bench().named(QString::fromUtf8(name));
        QVERIFY2(button != nullptr, name);
        QTRY_VERIFY2(button->mapRectToScene(QRectF(0, 0, button->width(), button->height())).right() < right, name);
    }
}

QTEST_MAIN(TestStudioRuns)
#include "tst_studio_runs.moc"
