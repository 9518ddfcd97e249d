// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"
#include "tests/app/studio/studio_bench.h"

#include <QElapsedTimer>
#include <QQuickItem>
#include <QQuickWindow>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;

namespace {

const QString kLetter = QStringLiteral("Dear board,\nI have payed teh fee.\nYours");
const QString kSentence = QStringLiteral("I have payed teh fee.");

} // namespace

/// What a writer asks of the model, and what becomes of the answer.
class TestStudioRuns : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench = std::make_unique<test::StudioBench>(); }
    void cleanup() { m_bench.reset(); }

    void proofreadsAndAcceptsAChangeF093();
    void rejectKeepsWhatWasTypedF094();
    void rewritesTheSelection();
    void renoisesTheSelection_data();
    void renoisesTheSelection();
    void locksAWordF017();
    void fillsAtTheCaret();
    void continuesFromTheCaret();
    void offersAlternativesF098();
    void takesAWordOfAChange();
    void showsTheOriginal();
    void repeatsWithTheSameSeedAndAnother();
    void pausesAndStepsOneByOne();
    void stopRestoresF099_data();
    void stopRestoresF099();
    void keepsWhatSettled();
    void typingElsewhereGoesOn();
    void tellsWhatTheModelSeesAhead();
    void speaksOfStartsAndEndsAloneF091();

private:
    void askRewrite(const QString &words, const QString &instruction);
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioRuns::askRewrite(const QString &words, const QString &instruction)
{
    bench().select(words);
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(instruction);
    bench().key(Qt::Key_Return);
}

void TestStudioRuns::proofreadsAndAcceptsAChangeF093()
{
    bench().openDraft(kSentence);
    bench().click(bench().named(QStringLiteral("Run")));
    QTRY_COMPARE(bench().draft().openChanges(), 2);
    QCOMPARE(bench().text(), kSentence); // nothing changes before it is accepted
    QTRY_COMPARE(bench().marks(PageMark::Kind::Removed), 2);
    QCOMPARE(bench().marks(PageMark::Kind::Inserted), 2);
    bench().key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("I have paid teh fee."));
    bench().key(Qt::Key_F7);
    bench().key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("I have paid the fee."));
    QCOMPARE(bench().draft().openChanges(), 0);
    bench().key(Qt::Key_Z, Qt::ControlModifier); // each acceptance is a step of its own
    QTRY_COMPARE(bench().text(), QStringLiteral("I have paid teh fee."));
    QTRY_COMPARE(bench().draft().openChanges(), 1);
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), kSentence);
    bench().key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    bench().key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("I have paid the fee."));
}

void TestStudioRuns::rejectKeepsWhatWasTypedF094()
{
    bench().openDraft(kSentence);
    bench().click(bench().named(QStringLiteral("Run")));
    QTRY_COMPARE(bench().draft().openChanges(), 2);
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().type(QStringLiteral(" Yours"));
    QTRY_COMPARE(bench().text(), kSentence + QStringLiteral(" Yours"));
    bench().key(Qt::Key_Backspace, Qt::ControlModifier | Qt::ShiftModifier); // one of them
    QTRY_COMPARE(bench().draft().openChanges(), 1);
    bench().click(bench().named(QStringLiteral("Reject all")));
    QTRY_COMPARE(bench().draft().openChanges(), 0);
    QCOMPARE(bench().text(), kSentence + QStringLiteral(" Yours"));
}

void TestStudioRuns::rewritesTheSelection()
{
    bench().openDraft(kLetter);
    askRewrite(kSentence, QStringLiteral("Correct it."));
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QCOMPARE(bench().stored().proposals().back().origin.instruction, QStringLiteral("Correct it."));
    QVERIFY(bench().draft().originText().startsWith(QStringLiteral("seed ")));
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("Dear board,\nI have paid the fee.\nYours"));
}

void TestStudioRuns::renoisesTheSelection_data()
{
    QTest::addColumn<QString>("amount");
    QTest::newRow("light") << "light";
    QTest::newRow("medium") << "medium";
    QTest::newRow("full") << "full";
}

void TestStudioRuns::renoisesTheSelection()
{
    QFETCH(QString, amount);
    bench().openDraft(kLetter);
    bench().select(kSentence);
    bench().click(bench().named(QStringLiteral("Re-noise")));
    bench().click(bench().named(amount));
    QTRY_COMPARE(bench().draft().session()->runs().size(), 1U);
    const editing::RunInfo run = bench().draft().session()->runs().front();
    QCOMPARE(run.action, editing::RunAction::Renoise);
    QCOMPARE(editing::nameOf(run.amount), amount);
    QTRY_VERIFY(!bench().draft().running());
    QCOMPARE(bench().text(), kLetter);
    QVERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text() != kLetter);
    QVERIFY(bench().text().startsWith(QStringLiteral("Dear board,\n")));
    QVERIFY(bench().text().endsWith(QStringLiteral("\nYours")));
}

void TestStudioRuns::locksAWordF017()
{
    bench().openDraft(kLetter);
    bench().select(QStringLiteral("payed"));
    bench().click(bench().named(QStringLiteral("Lock")));
    QTRY_COMPARE(bench().stored().locks().size(), 1U);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Locked), 1);
    bench().placeCaret(0);
    bench().click(bench().named(QStringLiteral("Run")));
    QTRY_VERIFY(!bench().draft().session()->runs().empty() && !bench().draft().running());
    for (const editing::Proposal &proposal : bench().stored().proposals()) {
        for (const editing::ProposalChange &change : proposal.changes)
            QVERIFY(!change.original.contains(QStringLiteral("payed")));
    }
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().stored().locks().size(), 0U);
    bench().key(Qt::Key_Z, Qt::ControlModifier); // locks are undone like text
    QTRY_COMPARE(bench().stored().locks().size(), 1U);
}

void TestStudioRuns::fillsAtTheCaret()
{
    bench().openDraft(QStringLiteral("I have paid fee."));
    bench().placeCaret(12);
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(QStringLiteral("an article"));
    bench().key(Qt::Key_Return);
    QTRY_COMPARE(bench().draft().session()->runs().size(), 1U);
    QCOMPARE(bench().draft().session()->runs().front().action, editing::RunAction::Fill);
    QTRY_VERIFY(!bench().draft().running());
    QCOMPARE(bench().text(), QStringLiteral("I have paid fee.")); // offered, not written
    QVERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text().size() > 16);
    QVERIFY(bench().text().startsWith(QStringLiteral("I have paid ")));
    QVERIFY(bench().text().endsWith(QStringLiteral("fee.")));
}

void TestStudioRuns::continuesFromTheCaret()
{
    bench().script->answer(QStringLiteral("I am writing to you."));
    bench().openDraft(QStringLiteral("Dear board,\n"));
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().key(Qt::Key_J, Qt::ControlModifier);
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text().size() > 12);
    QVERIFY(bench().text().startsWith(QStringLiteral("Dear board,\n")));
}

void TestStudioRuns::offersAlternativesF098()
{
    bench().script->answer([](std::uint64_t seed) { return QStringLiteral("I paid fee number %1.").arg(seed % 1000); });
    bench().openDraft(kLetter);
    bench().select(kSentence);
    bench().key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().draft().alternatives().size(), 3);
    // They stand below the passage, and the rest of the page below them.
    QTRY_VERIFY(bench().page().gap() > 40);
    const auto distance = [this] { // from the passage to what follows it
        const QTextDocument &document = *bench().page().document();
        const qsizetype after = bench().pageText().lastIndexOf(QStringLiteral("Yours"));
        return lineRects(document, {after, after + 1}).front().top() - lineRects(document, {12, 13}).front().top();
    };
    QVERIFY(distance() > bench().page().gap());
    const editing::Proposal &proposal = bench().stored().proposals().back();
    const QString id = proposal.id;
    bench().key(Qt::Key_3, Qt::AltModifier);
    QTRY_COMPARE(proposal.chosen, 2U);
    bench().key(Qt::Key_2, Qt::AltModifier);
    QTRY_COMPARE(proposal.chosen, 1U);
    const QString second = proposal.alternatives[1].text;
    bench().click(bench().named(QStringLiteral("3 more"))); // they stay, and more join them
    QTRY_COMPARE(bench().draft().session()->runs().size(), 2U);
    QTRY_VERIFY(bench().draft().alternatives().size() > 3);
    QTRY_VERIFY(!bench().draft().running());
    QCOMPARE(bench().stored().proposals().back().id, id);
    bench().key(Qt::Key_2, Qt::AltModifier);
    bench().key(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(bench().draft().alternatives().size(), 0);
    QTRY_VERIFY(distance() < 60); // closed again
    QCOMPARE(bench().text(), QStringLiteral("Dear board,\n") + second + QStringLiteral("\nYours"));
}

void TestStudioRuns::takesAWordOfAChange()
{
    bench().openDraft(QStringLiteral("Dear board,\n"));
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().key(Qt::Key_J, Qt::ControlModifier);
    QTRY_COMPARE(bench().draft().openChanges(), 1);
    const QString offered = bench().stored().proposals().back().changes.front().text;
    QVERIFY(offered.trimmed().count(u' ') > 4);
    const QString taken = QStringLiteral("Dear board,\n") + offered.trimmed().section(u' ', 0, 1);
    bench().key(Qt::Key_Right, Qt::AltModifier);
    bench().key(Qt::Key_Right, Qt::AltModifier);
    QTRY_COMPARE(bench().text().trimmed(), taken);
    bench().key(Qt::Key_Backspace, Qt::ControlModifier | Qt::ShiftModifier); // the rest is not wanted
    QTRY_COMPARE(bench().draft().openChanges(), 0);
    QCOMPARE(bench().text().trimmed(), taken);
}

void TestStudioRuns::showsTheOriginal()
{
    bench().openDraft(kSentence);
    bench().click(bench().named(QStringLiteral("Run")));
    QTRY_VERIFY(bench().pageText() != kSentence && bench().draft().openChanges() == 2);
    bench().key(Qt::Key_D, Qt::ControlModifier);
    QTRY_COMPARE(bench().pageText(), kSentence);
    bench().key(Qt::Key_D, Qt::ControlModifier);
    QTRY_VERIFY(bench().pageText() != kSentence);
}

void TestStudioRuns::repeatsWithTheSameSeedAndAnother()
{
    bench().openDraft(kLetter);
    askRewrite(kSentence, QStringLiteral("Correct it."));
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    const std::uint64_t seed = bench().draft().session()->runs().back().seed;
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().draft().session()->runs().size(), 2U);
    QTRY_VERIFY(!bench().draft().running());
    QCOMPARE(bench().draft().session()->runs().back().seed, seed);
    bench().click(bench().item([](QQuickItem &item) { return item.objectName() == u"again"; }));
    QTRY_COMPARE(bench().draft().session()->runs().size(), 3U);
    QTRY_VERIFY(!bench().draft().running());
    bench().editor()->forceActiveFocus();
    bench().placeCaret(0);
    bench().key(Qt::Key_R, Qt::ControlModifier);
    QTRY_COMPARE(bench().draft().session()->runs().size(), 4U);
    QTRY_VERIFY(!bench().draft().running());
    QVERIFY(bench().draft().session()->runs().back().seed != seed);
    QCOMPARE(bench().inspector().seedText(), QString::number(bench().draft().session()->runs().back().seed));
}

void TestStudioRuns::pausesAndStepsOneByOne()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    askRewrite(kSentence, QStringLiteral("Correct it."));
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
        bench().click(bench().named(QStringLiteral("Step")));
        QTRY_COMPARE(step(), before + 1);
        QTRY_VERIFY(bench().draft().progressText().contains(QStringLiteral("step %1 of 48").arg(before + 1)));
    }
    QVERIFY(bench().draft().paused());
    bench().click(bench().named(QStringLiteral("Go on")));
    QTRY_VERIFY(!bench().draft().running()); // to the cap
    QVERIFY(bench().inspector().stopText().contains(QStringLiteral("cap")));
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
    askRewrite(kSentence, QStringLiteral("Correct it."));
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
    askRewrite(kSentence, QStringLiteral("Correct it."));
    bench().gate.let(3);
    QTRY_VERIFY(bench().pageText() != kLetter);
    bench().click(bench().named(QStringLiteral("Keep what settled")));
    QTRY_VERIFY(!bench().draft().running());
    bench().gate.open();
    QCOMPARE(bench().text(), kLetter); // offered, not written
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().click(bench().named(QStringLiteral("Reject all")));
    QTRY_COMPARE(bench().pageText(), kLetter);
}

void TestStudioRuns::typingElsewhereGoesOn()
{
    bench().script->settleWithin(test::StudioScript::kNever);
    bench().openDraft(kLetter);
    bench().gate.close();
    askRewrite(kSentence, QStringLiteral("Correct it."));
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
    askRewrite(kSentence, QStringLiteral("Correct it."));
    QTRY_VERIFY(!bench().draft().session()->runs().empty() && !bench().draft().running());
    QCOMPARE(spoken.size(), 3);
    QCOMPARE(spoken.front(), QStringLiteral("Generating"));
    QVERIFY(spoken[1].contains(QStringLiteral("cap of 48 steps")));
    QVERIFY(spoken.back().startsWith(QStringLiteral("Done")));
}

QTEST_MAIN(TestStudioRuns)
#include "tst_studio_runs.moc"
