// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/changed_box.h"
#include "tests/app/studio/studio_bench.h"

#include <QGuiApplication>
#include <QImage>
#include <QPixmap>
#include <QQuickWindow>
#include <QScreen>
#include <QStyleHints>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;
using test::kSentence;

/// The software renderer paints what it takes for changed. What is on the screen is compared with the same window drawn
/// anew: nothing of an earlier step may be left.
class TestStudioRepaint : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_bench.reset(); }

    void nothingOfAStepIsLeft();

private:
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }
    /// What differs between the screen and the window drawn anew, in words; "" for nothing.
    [[nodiscard]] QString leftOvers();

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioRepaint::init()
{
    QGuiApplication::styleHints()->setCursorFlashTime(0);
    m_bench = std::make_unique<test::StudioBench>();
}

QString TestStudioRepaint::leftOvers()
{
    bench().waitForFrame();
    bench().waitForFrame(); // the first one may have asked for another
    const QImage shown = bench().view().screen()->grabWindow(bench().view().winId()).toImage();
    const QImage anew = bench().view().grabWindow();
    if (shown.isNull() || shown.size() != anew.size())
        return QStringLiteral("no picture");
    const QRect box =
        test::changedBox(shown.convertToFormat(QImage::Format_RGB32), anew.convertToFormat(QImage::Format_RGB32));
    return box.isEmpty()
               ? QString()
               : QStringLiteral("%1 x %2 at %3, %4").arg(box.width()).arg(box.height()).arg(box.x()).arg(box.y());
}

void TestStudioRepaint::nothingOfAStepIsLeft()
{
    bench().script->settleWithin(12);
    bench().openDraft(kLetter);
    QCOMPARE(leftOvers(), QString());
    bench().gate.close();
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    for (int step = 0; step < 14; ++step) {
        bench().gate.let(1);
        QTest::qWait(30);
        bench().waitForFrame();
        if (step % 7 != 6)
            continue;
        const QString left = leftOvers();
        QVERIFY2(left.isEmpty(), qPrintable(QStringLiteral("step %1: %2").arg(step).arg(left)));
    }
    bench().gate.open();
    QTRY_VERIFY(!bench().draft().running());
    QCOMPARE(leftOvers(), QString());
}

QTEST_MAIN(TestStudioRepaint)
#include "tst_studio_repaint.moc"
