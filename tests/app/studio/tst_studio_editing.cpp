// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"
#include "tests/app/studio/studio_bench.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QInputMethodEvent>
#include <QMimeData>
#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;

/// The page as an editor of text: what is typed, pasted, found and undone.
class TestStudioEditing : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench = std::make_unique<test::StudioBench>(); }
    void cleanup() { m_bench.reset(); }

    void typesUndoesAndRedoes();
    void undoLeadsTheCaretToTheChange();
    void pastesPlainTextF097();
    void keepsLineEndsOutsideF101();
    void caretStaysWhileChangesComeAndGo_data();
    void caretStaysWhileChangesComeAndGo();
    void lettersTypedBeforeThePageShowsChanges();
    void keysInsideForeignTextAreTakenBack();
    void editsFromElsewhereMoveTheCaret();
    void inputMethodsComposeF087();
    void inputMethodsComposeWhileThePageChanges();
    void emojiAndCombiningLetters();
    void paragraphsGoTheirOwnWayF092_data();
    void paragraphsGoTheirOwnWayF092();
    void marksFollowLettersOfBothDirectionsF092();
    void findsAndReplaces();
    void zooms();
    void savesAndFindsAgain();

private:
    void compose(const QString &preedit, const QString &commit = {});
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioEditing::typesUndoesAndRedoes()
{
    bench().openDraft({});
    bench().type(QStringLiteral("One two\nthree"));
    QCOMPARE(bench().text(), QStringLiteral("One two\nthree"));
    while (!bench().draft().undoLabel().isEmpty())
        bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(bench().page().empty());
    QCOMPARE(bench().text(), QString());
    while (!bench().draft().redoLabel().isEmpty())
        bench().key(Qt::Key_Y, Qt::ControlModifier);
    QTRY_COMPARE(bench().pageText(), QStringLiteral("One two\nthree"));
    QCOMPARE(bench().text(), QStringLiteral("One two\nthree"));
}

void TestStudioEditing::undoLeadsTheCaretToTheChange()
{
    bench().openDraft(QStringLiteral("one two three"));
    bench().placeCaret(3);
    bench().type(QStringLiteral("!!"));
    bench().placeCaret(15);
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(bench().pageText(), QStringLiteral("one two three"));
    QCOMPARE(bench().caret(), 3);
}

void TestStudioEditing::pastesPlainTextF097()
{
    bench().openDraft(QStringLiteral("a\r\nb"));
    auto *rich = new QMimeData; // the clipboard owns it
    rich->setText(QStringLiteral("x\ty\nz"));
    rich->setHtml(QStringLiteral("<b>x</b>\ty<p>z</p>"));
    QGuiApplication::clipboard()->setMimeData(rich);
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().key(Qt::Key_V, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), QStringLiteral("a\r\nbx\ty\r\nz"));
    bench().key(Qt::Key_A, Qt::ControlModifier);
    bench().key(Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("a\nbx\ty\nz"));
    QVERIFY(!QGuiApplication::clipboard()->mimeData()->hasHtml());
    bench().key(Qt::Key_X, Qt::ControlModifier);
    QTRY_COMPARE(bench().text(), QString());
}

void TestStudioEditing::keepsLineEndsOutsideF101()
{
    bench().openDraft(QString::fromUtf8("\xF0\x9F\x98\x80 one\r\ntwo\r\n\r\nthree"));
    bench().select(QStringLiteral("two"));
    bench().type(QStringLiteral("2\n3"));
    QTRY_COMPARE(bench().text(), QString::fromUtf8("\xF0\x9F\x98\x80 one\r\n2\r\n3\r\n\r\nthree"));
    bench().key(Qt::Key_Backspace);
    bench().key(Qt::Key_Backspace);
    bench().key(Qt::Key_Delete);
    QTRY_COMPARE(bench().text(), QString::fromUtf8("\xF0\x9F\x98\x80 one\r\n2\r\nthree"));
}

void TestStudioEditing::caretStaysWhileChangesComeAndGo_data()
{
    QTest::addColumn<QString>("behind"); // where the caret is put, once the changes are shown
    QTest::addColumn<QString>("after");  // typing "X Y" and rejecting
    QTest::newRow("at the end") << "fee."
                                << "I have payed teh fee.X Y";
    QTest::newRow("between the changes") << " te"
                                         << "";
    QTest::newRow("behind a word that would go") << "payed"
                                                 << "";
    QTest::newRow("at the start") << ""
                                  << "X YI have payed teh fee.";
    QTest::newRow("in front of the changes") << "I ha"
                                             << "I haX Yve payed teh fee.";
}

void TestStudioEditing::caretStaysWhileChangesComeAndGo()
{
    QFETCH(QString, behind);
    QFETCH(QString, after);
    if (behind == u" te")
        after = QStringLiteral("I have payed X Yteh fee.");
    bench().openDraft(QStringLiteral("I have payed teh fee."));
    bench().click(QStringLiteral("Run"));
    QTRY_COMPARE(bench().page().shown().pieces().size(), 7U); // both changes are on the page
    bench().editor()->forceActiveFocus();
    qsizetype at = bench().pageText().indexOf(behind) + behind.size();
    if (behind == u" te")
        at = bench().pageText().indexOf(QStringLiteral("teh"));
    bench().placeCaret(at);
    bench().type(QStringLiteral("X"));
    QTest::qWait(0); // the page is made anew between two key strokes
    bench().type(QStringLiteral(" Y"));
    QTRY_COMPARE(bench().pageText(), bench().page().shown().text());
    bench().click(QStringLiteral("Reject all"));
    QTRY_COMPARE(bench().draft().openChanges(), 0);
    if (!after.isEmpty())
        QCOMPARE(bench().text(), after);
    else // it touches the word: that change goes by itself
        QCOMPARE(bench().text(), QStringLiteral("I have payedX Y teh fee."));
    QTRY_COMPARE(bench().pageText(), bench().text());
    QCOMPARE(bench().caret(), bench().text().indexOf(QStringLiteral(" Y")) + 2);
}

void TestStudioEditing::lettersTypedBeforeThePageShowsChanges()
{
    bench().openDraft(QStringLiteral("I have payed teh fee."));
    bench().click(QStringLiteral("Run"));
    QTRY_COMPARE(bench().draft().openChanges(), 2); // known, but perhaps not yet on the page
    bench().editor()->forceActiveFocus();
    bench().key(Qt::Key_End, Qt::ControlModifier);
    bench().type(QStringLiteral(" Yours"));
    QCOMPARE(bench().text(), QStringLiteral("I have payed teh fee. Yours"));
    QTRY_COMPARE(bench().pageText(), QStringLiteral("I have payedpaid tehthe fee. Yours"));
    QCOMPARE(bench().caret(), bench().pageText().size());
}

void TestStudioEditing::keysInsideForeignTextAreTakenBack()
{
    bench().openDraft(QStringLiteral("I have payed teh fee."));
    bench().click(QStringLiteral("Run"));
    QTRY_VERIFY(bench().pageText().contains(QStringLiteral("paid")));
    QString reason;
    QObject here;
    connect(&bench().page(), &PageText::refused, &here, [&](const QString &why) { reason = why; });
    bench().editor()->forceActiveFocus();
    const QString shown = bench().pageText();
    const qsizetype at = shown.indexOf(QStringLiteral("paid")) + 1;
    for (const int key : {int(Qt::Key_Delete), int(Qt::Key_Backspace), int(Qt::Key_X)}) {
        reason.clear();
        bench().placeCaret(at);
        bench().key(key);
        QVERIFY(!reason.isEmpty());
        QTRY_COMPARE(bench().pageText(), shown);
        QCOMPARE(bench().text(), QStringLiteral("I have payed teh fee."));
    }
    QCOMPARE(bench().caret(), at);
}

void TestStudioEditing::editsFromElsewhereMoveTheCaret()
{
    bench().openDraft(QStringLiteral("one two three"));
    bench().select(QStringLiteral("two"));
    editing::DraftSession &session = *bench().draft().session();
    session.edit(77, session.draft().version(), {{0, 0}, QStringLiteral("zero ")}, true); // another window
    session.edit(77, session.draft().version(), {{18, 18}, QStringLiteral(" four")}, true);
    bench().key(Qt::Key_F12); // any key brings the page up to date first
    QTRY_COMPARE(bench().pageText(), QStringLiteral("zero one two three four"));
    QCOMPARE(bench().page().plainSelection(), QStringLiteral("two"));
    bench().type(QStringLiteral("2"));
    QCOMPARE(bench().text(), QStringLiteral("zero one 2 three four"));
}

void TestStudioEditing::compose(const QString &preedit, const QString &commit)
{
    QInputMethodEvent event(preedit, {});
    event.setCommitString(commit);
    QCoreApplication::sendEvent(bench().editor(), &event);
}

void TestStudioEditing::inputMethodsComposeF087()
{
    bench().openDraft(QStringLiteral("a b"));
    bench().placeCaret(2);
    compose(QString::fromUtf8("に"));
    compose(QString::fromUtf8("にほん"));
    QVERIFY(bench().editor()->property("inputMethodComposing").toBool());
    QCOMPARE(bench().text(), QStringLiteral("a b")); // not before it is committed
    compose({}, QString::fromUtf8("日本"));
    QCOMPARE(bench().text(), QString::fromUtf8("a 日本b"));
    QTRY_COMPARE(bench().pageText(), bench().text());
    QCOMPARE(bench().caret(), 4);
    compose(QString::fromUtf8("X"));
    compose({}); // cancelled
    QCOMPARE(bench().text(), QString::fromUtf8("a 日本b"));
}

void TestStudioEditing::inputMethodsComposeWhileThePageChanges()
{
    bench().openDraft(QStringLiteral("one two"));
    bench().placeCaret(3);
    compose(QString::fromUtf8("ㅎ"));
    editing::DraftSession &session = *bench().draft().session();
    session.edit(77, session.draft().version(), {{0, 0}, QStringLiteral("zero ")}, true);
    QTest::qWait(0);
    QCOMPARE(bench().pageText(), QStringLiteral("one two"));   // not while it composes
    compose(QString::fromUtf8("ㄱ"), QString::fromUtf8("하")); // commits a letter and goes on
    QTRY_COMPARE(bench().text(), QString::fromUtf8("zero one하 two"));
    compose({}, QString::fromUtf8("가"));
    QTRY_COMPARE(bench().text(), QString::fromUtf8("zero one하가 two"));
    QTRY_COMPARE(bench().pageText(), bench().text());
}

void TestStudioEditing::emojiAndCombiningLetters()
{
    bench().openDraft({});
    const QString family = QString::fromUtf8("\U0001F468‍\U0001F469‍\U0001F467");
    const QString accented = QString::fromUtf8("e\u0301");
    bench().type(QStringLiteral("a"));
    bench().type(family);
    bench().type(accented);
    bench().type(QStringLiteral("b"));
    QCOMPARE(bench().text(), QStringLiteral("a") + family + accented + QStringLiteral("b"));
    bench().key(Qt::Key_Home);
    bench().key(Qt::Key_Right);
    bench().key(Qt::Key_Right); // over the whole family
    QCOMPARE(bench().caret(), 1 + family.size());
    bench().key(Qt::Key_Delete); // the letter with its accent
    QCOMPARE(bench().text(), QStringLiteral("a") + family + QStringLiteral("b"));
    QTRY_COMPARE(bench().pageText(), bench().text());
}

void TestStudioEditing::paragraphsGoTheirOwnWayF092_data()
{
    QTest::addColumn<QString>("paragraph");
    QTest::addColumn<bool>("rightToLeft");
    QTest::newRow("Latin") << "The board (of 1998) met." << false;
    QTest::newRow("Arabic") << QString::fromUtf8("اجتمع المجلس (Board) في المرفأ.") << true;
    QTest::newRow("Hebrew") << QString::fromUtf8("המועצה (Board) נפגשה בנמל.") << true;
    QTest::newRow("Persian with digits") << QString::fromUtf8("شورا در سال ۱۳۷۷ (Board) گرد آمد.") << true;
    QTest::newRow("Urdu") << QString::fromUtf8("بورڈ (Board) بندرگاہ پر ملا۔") << true;
    QTest::newRow("Latin first, then Hebrew") << QString::fromUtf8("Board: המועצה נפגשה.") << false;
    QTest::newRow("digits first, then Arabic") << QString::fromUtf8("12: المجلس.") << true;
}

void TestStudioEditing::paragraphsGoTheirOwnWayF092()
{
    QFETCH(QString, paragraph);
    QFETCH(bool, rightToLeft);
    // Between paragraphs of the other direction: none is ruled by its neighbours, or by the first one.
    const QString other = rightToLeft ? QStringLiteral("Left to right.") : QString::fromUtf8("מימין לשמאל.");
    bench().openDraft(other + u'\n' + paragraph + u'\n' + other);
    const QTextDocument &document = *bench().page().document();
    QTRY_COMPARE(document.blockCount(), 3);
    QCOMPARE(document.findBlockByNumber(1).textDirection() == Qt::RightToLeft, rightToLeft);
    QCOMPARE(document.findBlockByNumber(0).textDirection() == Qt::RightToLeft, !rightToLeft);
    QCOMPARE(document.findBlockByNumber(2).textDirection() == Qt::RightToLeft, !rightToLeft);
    const qsizetype start = other.size() + 1;
    const QRectF first = lineRects(document, {start, start + 1}).front();
    const bool isAtTheRight = first.center().x() > bench().editor()->width() / 2;
    QCOMPARE(isAtTheRight, rightToLeft);
}

void TestStudioEditing::marksFollowLettersOfBothDirectionsF092()
{
    const QString text = QString::fromUtf8("abc המועצה def");
    bench().openDraft(text);
    const QTextDocument &document = *bench().page().document();
    // "c " and the first two Hebrew letters: what lies between them on the line is not marked.
    const auto rects = lineRects(document, {2, 6});
    QCOMPARE(rects.size(), 2U);
    double marked = 0.0;
    for (const QRectF &rect : rects)
        marked += rect.width();
    const double whole = lineRects(document, {2, 10}).front().united(lineRects(document, {2, 10}).back()).width();
    QVERIFY2(marked < whole, qPrintable(QStringLiteral("%1 of %2").arg(marked).arg(whole)));
    QCOMPARE(lineRects(document, {4, 10}).size(), 1U); // a word is of one piece
}

void TestStudioEditing::findsAndReplaces()
{
    bench().openDraft(QStringLiteral("one two One two one"));
    bench().key(Qt::Key_F, Qt::ControlModifier);
    bench().type(QStringLiteral("one"));
    QTRY_COMPARE(bench().page().matchCount(), 3); // no capital: any case
    QCOMPARE(bench().marks(PageMark::Kind::Found), 3);
    bench().key(Qt::Key_Return);
    QCOMPARE(bench().page().plainSelection(), QStringLiteral("one"));
    bench().key(Qt::Key_Return);
    QCOMPARE(bench().page().plainSelection(), QStringLiteral("One"));
    bench().click(QStringLiteral("Previous match"));
    QCOMPARE(bench().page().plainSelection(), QStringLiteral("one"));
    bench().click(QStringLiteral("Replace by"));
    bench().type(QStringLiteral("1"));
    bench().key(Qt::Key_Return); // the selected match
    QTRY_COMPARE(bench().text(), QStringLiteral("1 two One two one"));
    bench().click(QStringLiteral("Replace all"));
    QTRY_COMPARE(bench().text(), QStringLiteral("1 two 1 two 1"));
    bench().key(Qt::Key_Escape);
    QVERIFY(bench().editor()->hasActiveFocus());
    QCOMPARE(bench().marks(PageMark::Kind::Found), 0);
    bench().key(Qt::Key_Z, Qt::ControlModifier); // all of them: one step
    QTRY_COMPARE(bench().text(), QStringLiteral("1 two One two one"));
}

void TestStudioEditing::zooms()
{
    bench().openDraft(QStringLiteral("one"));
    const double before = bench().editor()->property("contentHeight").toDouble();
    bench().key(Qt::Key_Plus, Qt::ControlModifier);
    bench().key(Qt::Key_Plus, Qt::ControlModifier);
    QTRY_VERIFY(bench().editor()->property("contentHeight").toDouble() > before);
    bench().key(Qt::Key_0, Qt::ControlModifier);
    QTRY_COMPARE(bench().editor()->property("contentHeight").toDouble(), before);
}

void TestStudioEditing::savesAndFindsAgain()
{
    bench().openDraft({});
    bench().type(QStringLiteral("Kept"));
    QTRY_VERIFY(bench().draft().session()->saveState().saved);
    LibraryModel &library = *bench().window->studio().library();
    library.setQuery(QStringLiteral("kept"));
    QTRY_COMPARE(library.count(), 1);
    const QString id = bench().draft().document();
    bench().window->studio().closeDocument();
    QVERIFY(!bench().draft().isOpen());
    bench().window->studio().openDocument(id);
    QTRY_VERIFY(bench().draft().isOpen());
    QCOMPARE(bench().text(), QStringLiteral("Kept"));
}

QTEST_MAIN(TestStudioEditing)
#include "tst_studio_editing.moc"
