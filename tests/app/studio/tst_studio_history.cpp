// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include <QAbstractItemModelTester>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;

/// Steps and canvases of a run, looked at again; revisions.
class TestStudioHistory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench = std::make_unique<test::StudioBench>(); }
    void cleanup() { m_bench.reset(); }

    void thePageShowsTheStepGoneBackTo();
    void branchesFromAStep();
    void scrubsByMouse();
    void goesOverCanvases();
    void looksBackWhileItRuns();
    void playsTheSteps();
    void saysWhyACanvasEnded();
    void figuresAreThoseOfTheRun();
    void restoresARevision();

private:
    void rewrite();
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }
    [[nodiscard]] InspectorView &inspector() { return m_bench->inspector(); }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioHistory::rewrite()
{
    bench().select(QStringLiteral("I have payed teh fee."));
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(QStringLiteral("Correct it."));
    bench().key(Qt::Key_Return);
}

void TestStudioHistory::thePageShowsTheStepGoneBackTo()
{
    bench().script->settleWithin(5);
    bench().openDraft(kLetter);
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QTRY_VERIFY(inspector().steps() > 3);
    QTRY_VERIFY(bench().pageText().contains(QStringLiteral("payedpaid")));
    const QString proposed = bench().pageText();
    for (int back = 1; back <= 2; ++back) {
        bench().key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier);
        QTRY_COMPARE(inspector().step(), inspector().steps() - back);
        QTRY_COMPARE(bench().pageText(),
                     QStringLiteral("Dear board,\n") + inspector().frameText() + QStringLiteral("\nYours"));
    }
    QCOMPARE(bench().text(), kLetter);
    QVERIFY(bench().named(QStringLiteral("Back to the draft")) != nullptr);
    bench().key(Qt::Key_Escape); // back to the draft, and no further
    QTRY_COMPARE(bench().pageText(), proposed);
    QVERIFY(inspector().following());
    QVERIFY(bench().draft().openChanges() > 0);
}

void TestStudioHistory::branchesFromAStep()
{
    bench().script->settleWithin(5);
    bench().openDraft(kLetter);
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QTRY_VERIFY(inspector().steps() > 3);
    const int revisions = bench().window->studio().revisions()->count();
    bench().key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier);
    bench().key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(inspector().step(), inspector().steps() - 2);
    const QString shown = inspector().frameText();
    bench().key(Qt::Key_B, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("Dear board,\n") + shown + QStringLiteral("\nYours")); // exactly that
    QTRY_VERIFY(bench().window->studio().revisions()->count() > revisions);
    QTRY_COMPARE(bench().pageText(), bench().text());
    bench().key(Qt::Key_Z, Qt::ControlModifier); // one step
    QTRY_COMPARE(bench().text(), kLetter);
}

void TestStudioHistory::scrubsByMouse()
{
    bench().script->settleWithin(8);
    bench().openDraft(kLetter);
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QTRY_VERIFY(inspector().steps() >= 8);
    QQuickItem *slider =
        bench().item([](QQuickItem &item) { return item.objectName() == u"timeline" && item.isEnabled(); });
    QVERIFY(slider != nullptr);
    bench().waitForFrame();
    const auto point = [slider](double share) {
        return slider->mapToScene({7 + share * (slider->width() - 14), slider->height() / 2}).toPoint();
    };
    QTest::mousePress(&bench().view(), Qt::LeftButton, Qt::NoModifier, point(1));
    QTest::mouseMove(&bench().view(), point(0.5));
    QTest::mouseMove(&bench().view(), point(0));
    QTest::mouseRelease(&bench().view(), Qt::LeftButton, Qt::NoModifier, point(0));
    QTRY_COMPARE(inspector().step(), 1);
    QTRY_COMPARE(bench().pageText(),
                 QStringLiteral("Dear board,\n") + inspector().frameText() + QStringLiteral("\nYours"));
    bench().click(QStringLiteral("Newest step"));
    QTRY_COMPARE(inspector().step(), inspector().steps());
}

void TestStudioHistory::goesOverCanvases()
{
    const QString before = QStringLiteral("Boats came, men went home. ").repeated(12);
    bench().script->answer(QStringLiteral("The boats came in, and the men went home. ").repeated(8));
    bench().script->settleWithin(3);
    bench().openDraft(QStringLiteral("It was late.\n") + before);
    bench().key(Qt::Key_Home, Qt::ControlModifier);
    bench().key(Qt::Key_End, Qt::ControlModifier | Qt::ShiftModifier);
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(QStringLiteral("Longer."));
    bench().key(Qt::Key_Return);
    QTRY_VERIFY(!bench().draft().session()->runs().empty() && !bench().draft().running());
    QTRY_VERIFY(inspector().canvases() > 1);
    bench().key(Qt::Key_Up, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(inspector().canvas(), inspector().canvases() - 2);
    QTRY_COMPARE(inspector().step(), 1);
    bench().key(Qt::Key_Down, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(inspector().canvas(), inspector().canvases() - 1);
    QTRY_VERIFY(bench().pageText().startsWith(QStringLiteral("The boats came in"))); // the canvases before it
    QTRY_VERIFY(bench().pageText().contains(inspector().frameText()));
    bench().key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier); // over the border
    QTRY_COMPARE(inspector().canvas(), inspector().canvases() - 2);
    QTRY_COMPARE(inspector().step(), inspector().steps());
}

void TestStudioHistory::looksBackWhileItRuns()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    rewrite();
    bench().gate.let(3);
    QTRY_COMPARE(inspector().step(), 3);
    QTRY_VERIFY(inspector().steps() == 3);
    bench().key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(inspector().step(), 2);
    QTRY_VERIFY(bench().page().previewing());
    const QString shown = inspector().frameText();
    bench().gate.let(2);
    QTRY_COMPARE(inspector().steps(), 5); // it goes on behind the page
    QCOMPARE(inspector().step(), 2);
    QCOMPARE(bench().pageText(), QStringLiteral("Dear board,\n") + shown + QStringLiteral("\nYours"));
    bench().key(Qt::Key_Escape);
    QTRY_COMPARE(inspector().step(), 5);
    QVERIFY(bench().draft().running());
    bench().key(Qt::Key_Escape);
    QTRY_VERIFY(!bench().draft().running());
    bench().gate.open();
}

void TestStudioHistory::playsTheSteps()
{
    bench().script->settleWithin(4);
    bench().openDraft(kLetter);
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QTRY_VERIFY(inspector().steps() >= 4);
    QList<int> seen;
    QObject here;
    connect(&inspector(), &InspectorView::frameChanged, &here, [&] {
        if (inspector().playing() && (seen.isEmpty() || seen.back() != inspector().step()))
            seen << inspector().step();
    });
    bench().click(QStringLiteral("Replay the steps"));
    QTRY_VERIFY(!inspector().playing() && inspector().step() == inspector().steps());
    QVERIFY(seen.size() + 1 >= inspector().steps()); // it begins at the first one
    QVERIFY(std::is_sorted(seen.begin(), seen.end()));
    bench().click(QStringLiteral("Replay the steps"));
    bench().click(QStringLiteral("Pause the replay"));
    QVERIFY(!inspector().playing());
}

void TestStudioHistory::saysWhyACanvasEnded()
{
    bench().script->settleWithin(3);
    bench().openDraft(kLetter);
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QTRY_VERIFY(inspector().stopText().startsWith(QStringLiteral("Settled after ")));
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().key(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().draft().session()->runs().size(), 2U);
    QTRY_VERIFY(!bench().draft().running());
    QTRY_COMPARE(inspector().stopText(), QStringLiteral("Stopped at the cap (48)"));
    bench().gate.close();
    bench().key(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    bench().gate.let(2);
    QTRY_COMPARE(inspector().step(), 2);
    bench().click(QStringLiteral("Stop"));
    QTRY_VERIFY(inspector().stopText().startsWith(QStringLiteral("Stopped by you after ")));
    bench().gate.open();
}

void TestStudioHistory::figuresAreThoseOfTheRun()
{
    bench().script->settleWithin(3);
    bench().openDraft(kLetter);
    const auto figure = [this](const QString &label) {
        for (const QVariant &row : inspector().figures()) {
            if (row.toMap()[QStringLiteral("label")].toString() == label)
                return row.toMap()[QStringLiteral("value")].toString();
        }
        return QString();
    };
    QCOMPARE(figure(QStringLiteral("Steps a canvas")), QStringLiteral("–")); // not known yet: no figure
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    const editing::RunFigures figures = bench().draft().session()->runs().back().figures.value();
    QCOMPARE(figure(QStringLiteral("Steps a canvas")),
             QLocale().toString(double(figures.steps) / double(figures.canvases), 'f', 1));
    if (!figures.wordsPerSecond) // too short to tell
        QCOMPARE(figure(QStringLiteral("Words a second")), QStringLiteral("–"));
}

void TestStudioHistory::restoresARevision()
{
    QAbstractItemModelTester tester(bench().window->studio().revisions());
    bench().openDraft(kLetter);
    rewrite();
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text() != kLetter);
    QTRY_VERIFY(bench().window->studio().revisions()->count() >= 2);
    bench().click(QStringLiteral("History"));
    bench().waitForFrame();
    QQuickItem *row = bench().item([&](QQuickItem &item) {
        return item.property("revision").isValid() && item.property("newest").isValid() &&
               !item.property("newest").toBool();
    });
    QVERIFY(row != nullptr);
    QTest::mouseMove(&bench().view(), row->mapToScene({40, 8}).toPoint()); // shows its buttons
    QTest::mouseMove(&bench().view(), row->mapToScene({42, 9}).toPoint());
    QQuickItem *restore = nullptr;
    QTRY_VERIFY((restore = bench().item([](QQuickItem &item) {
                    return item.property("text").toString() == u"Restore" && item.inherits("QQuickAbstractButton");
                })) != nullptr);
    bench().click(restore);
    QTRY_COMPARE(bench().text(), kLetter);
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(bench().text() != kLetter);
}

QTEST_MAIN(TestStudioHistory)
#include "tst_studio_history.moc"
