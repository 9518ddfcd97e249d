// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"
#include "tests/app/studio/studio_bench.h"

#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;
using test::kSentence;

/// What a writer asks of the model, and what becomes of the answer.
class TestStudioProposals : public QObject
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

private:
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioProposals::proofreadsAndAcceptsAChangeF093()
{
    bench().openDraft(kSentence);
    bench().click(QStringLiteral("Run"));
    QTRY_COMPARE(bench().draft().openChanges(), 2);
    QCOMPARE(bench().text(), kSentence); // nothing changes before it is accepted
    QTRY_COMPARE(bench().marks(PageMark::Kind::Removed), 2);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Inserted), 2);
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

void TestStudioProposals::rejectKeepsWhatWasTypedF094()
{
    bench().openDraft(kSentence);
    bench().click(QStringLiteral("Run"));
    QTRY_COMPARE(bench().draft().openChanges(), 2);
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().type(QStringLiteral(" Yours"));
    QTRY_COMPARE(bench().text(), kSentence + QStringLiteral(" Yours"));
    bench().key(Qt::Key_Backspace, Qt::ControlModifier | Qt::ShiftModifier); // one of them
    QTRY_COMPARE(bench().draft().openChanges(), 1);
    bench().click(QStringLiteral("Reject all"));
    QTRY_COMPARE(bench().draft().openChanges(), 0);
    QCOMPARE(bench().text(), kSentence + QStringLiteral(" Yours"));
}

void TestStudioProposals::rewritesTheSelection()
{
    bench().openDraft(kLetter);
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    QCOMPARE(bench().stored().proposals().back().origin.instruction, QStringLiteral("Correct it."));
    QTRY_VERIFY(bench().draft().originText().startsWith(QStringLiteral("seed ")));
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("Dear board,\nI have paid the fee.\nYours"));
}

void TestStudioProposals::renoisesTheSelection_data()
{
    QTest::addColumn<QString>("amount");
    QTest::newRow("light") << "light";
    QTest::newRow("medium") << "medium";
    QTest::newRow("full") << "full";
}

void TestStudioProposals::renoisesTheSelection()
{
    QFETCH(QString, amount);
    bench().openDraft(kLetter);
    bench().select(kSentence);
    bench().click(QStringLiteral("Re-noise"));
    bench().click(amount);
    QTRY_COMPARE(bench().draft().session()->runs().size(), 1U);
    const editing::RunInfo run = bench().draft().session()->runs().front();
    QCOMPARE(run.action, editing::RunAction::Renoise);
    QCOMPARE(editing::nameOf(run.amount), amount);
    QTRY_VERIFY(!bench().draft().running());
    QCOMPARE(bench().text(), kLetter);
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text() != kLetter);
    QVERIFY(bench().text().startsWith(QStringLiteral("Dear board,\n")));
    QVERIFY(bench().text().endsWith(QStringLiteral("\nYours")));
}

void TestStudioProposals::locksAWordF017()
{
    bench().openDraft(kLetter);
    bench().select(QStringLiteral("payed"));
    bench().click(QStringLiteral("Lock"));
    QTRY_COMPARE(bench().stored().locks().size(), 1U);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Locked), 1);
    bench().placeCaret(0);
    bench().click(QStringLiteral("Run"));
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

void TestStudioProposals::fillsAtTheCaret()
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
    QTRY_VERIFY(bench().draft().openChanges() > 0);
    bench().key(Qt::Key_Return, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY(bench().text().size() > 16);
    QVERIFY(bench().text().startsWith(QStringLiteral("I have paid ")));
    QVERIFY(bench().text().endsWith(QStringLiteral("fee.")));
}

void TestStudioProposals::continuesFromTheCaret()
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

void TestStudioProposals::offersAlternativesF098()
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
    QTRY_VERIFY(distance() > bench().page().gap());
    const editing::Proposal &proposal = bench().stored().proposals().back();
    const QString id = proposal.id;
    bench().key(Qt::Key_3, Qt::AltModifier);
    QTRY_COMPARE(proposal.chosen, 2U);
    bench().key(Qt::Key_2, Qt::AltModifier);
    QTRY_COMPARE(proposal.chosen, 1U);
    const QString second = proposal.alternatives[1].text;
    bench().click(QStringLiteral("3 more")); // they stay, and more join them
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

void TestStudioProposals::takesAWordOfAChange()
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

void TestStudioProposals::showsTheOriginal()
{
    bench().openDraft(kSentence);
    bench().click(QStringLiteral("Run"));
    QTRY_VERIFY(bench().pageText() != kSentence && bench().draft().openChanges() == 2);
    bench().key(Qt::Key_D, Qt::ControlModifier);
    QTRY_COMPARE(bench().pageText(), kSentence);
    bench().key(Qt::Key_D, Qt::ControlModifier);
    QTRY_VERIFY(bench().pageText() != kSentence);
}

void TestStudioProposals::repeatsWithTheSameSeedAndAnother()
{
    bench().openDraft(kLetter);
    bench().askRewrite(kSentence, QStringLiteral("Correct it."));
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
    QTRY_COMPARE(bench().inspector().seedText(), QString::number(bench().draft().session()->runs().back().seed));
}

QTEST_MAIN(TestStudioProposals)
#include "tst_studio_proposals.moc"
