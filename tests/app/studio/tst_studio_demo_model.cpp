// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;

namespace {

const QString kLetter = QStringLiteral(
    "Dear members of the board,\n\n"
    "I am writing about the mooring on the east quay, which I have held since the spring of 1998 and which your letter "
    "of last week describes as vacant.\n\n"
    "I have payed the fee each quarter, and the reciepts are enclosed. Your records may not show the last two payments "
    "because the office moved in September and the post was forwarded late.\n\n"
    "I am happy to bring the original papers to the office on any weekday morning.");
const QString kFaulty = QStringLiteral("I have payed the fee each quarter, and the reciepts are enclosed.");
constexpr int kPatienceMs = 120'000;

} // namespace

/// The eight interactions with the shipped model, as a writer meets them on the first day. What it answers is its own
/// business; that it answers, in place, and that nothing is lost, is ours.
class TestStudioDemoModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();

    void rewrite();
    void aPassageSettles();
    void renoise();
    void lock();
    void fill();
    void continues();
    void alternatives();
    void reachingIn();
    void scrubAndBranch();

private:
    void waitForEnd();
    void waitForStep(int step);
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioDemoModel::initTestCase()
{
    const std::string folder = PALIMPSEST_SOURCE_DIR "/resources/demo_model";
    m_bench = std::make_unique<test::StudioBench>(
        engineLoader({.model = {.model = folder, .threads = 2, .device = "cpu"}, .id = {}}));
    QTRY_COMPARE_WITH_TIMEOUT(bench().window->studio().model()->phase(), ModelView::Phase::Ready, kPatienceMs);
}

void TestStudioDemoModel::init()
{
    bench().openDraft(kLetter);
    bench().draft().session()->mergeSettings({{QStringLiteral("seed"), 20260611}});
}

void TestStudioDemoModel::waitForEnd()
{
    QTRY_VERIFY_WITH_TIMEOUT(!bench().draft().session()->runs().empty() && !bench().draft().running(), kPatienceMs);
    QTest::qWait(2 * PageText::kFrameMs);
}

void TestStudioDemoModel::waitForStep(int step)
{
    QTRY_VERIFY_WITH_TIMEOUT(bench().inspector().step() >= step || !bench().draft().running(), kPatienceMs);
    QTest::qWait(2 * PageText::kFrameMs);
}

void TestStudioDemoModel::rewrite()
{
    bench().select(kFaulty);
    bench().picture(QStringLiteral("1-rewrite-selection"));
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(QStringLiteral("Correct the spelling."));
    bench().picture(QStringLiteral("1-rewrite-instruction"));
    bench().key(Qt::Key_Return);
    waitForStep(2);
    bench().picture(QStringLiteral("1-rewrite-running"));
    waitForEnd();
    bench().picture(QStringLiteral("1-rewrite-changes"));
    QCOMPARE(bench().text(), kLetter);
    QVERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text() != kLetter);
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), kLetter);
}

void TestStudioDemoModel::aPassageSettles()
{
    bench().draft().setTitle(QStringLiteral("Letter to the harbour board"));
    bench().page().setEntropyShown(true);
    const qsizetype start = kLetter.indexOf(QStringLiteral("I am writing"));
    bench().page().selectInDraft({start, kLetter.size()});
    QTRY_VERIFY(bench().draft().session()->saveState().saved);
    bench().draft().rewrite(QStringLiteral("Correct the spelling and grammar."));
    waitForStep(6);
    QVERIFY(bench().marks(PageMark::Kind::Entropy) > 0);
    QCOMPARE(bench().marks(PageMark::Kind::Running), 1);
    QVERIFY(bench().inspector().positions() > 0);
    bench().picture(QStringLiteral("9-a-passage-settles"));
    waitForEnd();
    QCOMPARE(bench().text(), kLetter);
    QVERIFY(bench().draft().openChanges() > 0);
    bench().page().setEntropyShown(false);
}

void TestStudioDemoModel::renoise()
{
    bench().select(QStringLiteral("on any weekday morning"));
    bench().click(QStringLiteral("Re-noise"));
    bench().picture(QStringLiteral("2-renoise-how-much"));
    bench().click(QStringLiteral("full"));
    waitForEnd();
    bench().picture(QStringLiteral("2-renoise-changes"));
    QCOMPARE(bench().text(), kLetter);
}

void TestStudioDemoModel::lock()
{
    bench().select(QStringLiteral("payed"));
    bench().key(Qt::Key_L, Qt::ControlModifier);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Locked), 1);
    bench().placeCaret(0);
    bench().click(QStringLiteral("Run")); // proofreads
    waitForEnd();
    bench().picture(QStringLiteral("3-lock"));
    QVERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text().contains(QStringLiteral("receipts")));
    QVERIFY(bench().text().contains(QStringLiteral("payed")));
}

void TestStudioDemoModel::fill()
{
    bench().placeCaret(kLetter.indexOf(QStringLiteral("I am happy")));
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().picture(QStringLiteral("4-fill-at-the-caret"));
    bench().key(Qt::Key_Return);
    waitForStep(3);
    bench().picture(QStringLiteral("4-fill-running"));
    waitForEnd();
    bench().picture(QStringLiteral("4-fill-offered"));
    QCOMPARE(bench().text(), kLetter);
}

void TestStudioDemoModel::continues()
{
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().key(Qt::Key_J, Qt::ControlModifier);
    waitForStep(4);
    QTest::keyPress(&bench().view(), Qt::Key_Alt);
    QTRY_VERIFY(bench().page().entropyHeld());
    bench().picture(QStringLiteral("5-continue-entropy"));
    QTest::keyRelease(&bench().view(), Qt::Key_Alt);
    bench().click(QStringLiteral("Keep what settled"));
    waitForEnd();
    bench().picture(QStringLiteral("5-continue-kept"));
    QCOMPARE(bench().text(), kLetter);
}

void TestStudioDemoModel::alternatives()
{
    bench().select(kFaulty);
    bench().key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    waitForEnd();
    bench().picture(QStringLiteral("6-alternatives"));
    QVERIFY(bench().draft().alternatives().size() > 1);
    bench().key(Qt::Key_2, Qt::AltModifier);
    QTRY_COMPARE(bench().stored().proposals().back().chosen, 1U);
    bench().key(Qt::Key_Escape); // keeps mine
    QTRY_COMPARE(bench().draft().openChanges(), 0);
    QTRY_COMPARE(bench().pageText(), kLetter);
}

void TestStudioDemoModel::reachingIn()
{
    bench().key(Qt::Key_End, Qt::ControlModifier);
    const qsizetype end = bench().caret();
    bench().key(Qt::Key_J, Qt::ControlModifier);
    waitForStep(2);
    bench().key(Qt::Key_P, Qt::ControlModifier);
    QTRY_VERIFY(bench().draft().paused());
    bench().placeCaret(end + 12);
    bench().key(Qt::Key_Right);
    bench().key(Qt::Key_Down, Qt::AltModifier);
    bench().key(Qt::Key_Down);
    bench().picture(QStringLiteral("7-reaching-in"));
    const auto place = bench().page().canvasPlaceAt(bench().caret());
    QVERIFY(place);
    bench().key(Qt::Key_Return);
    bench().key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    const auto isHeld = [&] {
        const auto frame = bench().draft().session()->newestFrame(place->run, place->lane);
        return frame && frame->marks.at(place->position) == '#';
    };
    QTRY_VERIFY_WITH_TIMEOUT(isHeld(), kPatienceMs);
    bench().picture(QStringLiteral("7-reaching-in-locked"));
    bench().key(Qt::Key_Escape);
    QTRY_COMPARE(bench().pageText(), kLetter);
}

void TestStudioDemoModel::scrubAndBranch()
{
    bench().select(kFaulty);
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(QStringLiteral("Make it more formal."));
    bench().key(Qt::Key_Return);
    waitForEnd();
    QTRY_VERIFY(bench().inspector().steps() > 1);
    const int steps = bench().inspector().steps();
    for (int back = 1; back <= steps / 2; ++back)
        bench().key(Qt::Key_Left, Qt::ControlModifier | Qt::AltModifier);
    QTRY_COMPARE(bench().inspector().step(), steps - steps / 2);
    QTRY_VERIFY(bench().page().previewing());
    QTRY_VERIFY(bench().named(QStringLiteral("Use this step")) != nullptr);
    bench().picture(QStringLiteral("8-scrub"));
    const QString shown = bench().inspector().frameText();
    bench().click(QStringLiteral("Use this step"));
    QTRY_VERIFY(bench().text().contains(shown.trimmed()));
    QTRY_VERIFY(!bench().page().previewing());
    bench().click(QStringLiteral("History"));
    bench().picture(QStringLiteral("8-branch-history"));
    bench().click(QStringLiteral("Canvas"));
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), kLetter);
}

QTEST_MAIN(TestStudioDemoModel)
#include "tst_studio_demo_model.moc"
