// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/marks_item.h"
#include "tests/app/studio/studio_bench.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QImage>
#include <QInputMethodEvent>
#include <QQuickItem>
#include <QQuickWindow>
#include <QRegularExpression>
#include <QTest>
#include <QTextBlock>

#include <memory>
#include <random>

using namespace palimpsest;
using namespace palimpsest::studio;

namespace {

QString bookOf(int paragraphs)
{
    QString text;
    for (int i = 0; i < paragraphs; ++i)
        text += QStringLiteral("%1. The boats came in, and the men went home.\n\n").arg(i + 1);
    return text;
}

int wordsIn(const QString &text)
{
    static const QRegularExpression kSpaces(QStringLiteral("\\s+"));
    return static_cast<int>(text.split(kSpaces, Qt::SkipEmptyParts).size());
}

} // namespace

/// A draft as long as a book: what is not looked at again for each key is right all the same, and what is not drawn is
/// drawn when it comes into sight.
class TestStudioLongDraft : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_bench = std::make_unique<test::StudioBench>(); }
    void cleanup() { m_bench.reset(); }

    void pageAndDraftStayAlike_data();
    void pageAndDraftStayAlike();
    void whatIsScrolledToIsDrawn();
    void whatIsTypedOutOfSightIsDrawnThere();
    void nothingIsDrawnTwice();

private:
    void doSomething();
    void editFromElsewhere();
    /// Every paragraph of which the first line is in sight shows letters.
    [[nodiscard]] bool showsItsLetters();
    void scrollTo(double y);
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }
    [[nodiscard]] QQuickItem &flickable() { return *m_bench->editor()->parentItem()->parentItem(); }

    std::unique_ptr<test::StudioBench> m_bench;
    std::mt19937 m_random{20260611};
};

void TestStudioLongDraft::pageAndDraftStayAlike_data()
{
    QTest::addColumn<QString>("text");
    QTest::newRow("empty") << QString();
    QTest::newRow("one line") << QStringLiteral("One two  three");
    QTest::newRow("lines") << QStringLiteral("One two\nthree\n\n four ");
    QTest::newRow("lines of Windows") << QStringLiteral("One two\r\nthree\r\n\r\n four ");
}

void TestStudioLongDraft::editFromElsewhere()
{
    editing::DraftSession &session = *bench().draft().session();
    const QString &text = session.draft().text();
    qsizetype at = static_cast<qsizetype>(m_random()) % (text.size() + 1);
    if (at > 0 && text[at - 1] == u'\r')
        --at; // not into a line end
    session.edit(77, session.draft().version(), {{at, at}, QStringLiteral("x y")}, true);
}

void TestStudioLongDraft::doSomething()
{
    switch (m_random() % 14) {
    case 0:
        bench().key(Qt::Key_Backspace);
        break;
    case 1:
        bench().key(Qt::Key_Delete);
        break;
    case 2:
        bench().key(Qt::Key_Left, m_random() % 2 == 0 ? Qt::ShiftModifier : Qt::NoModifier);
        break;
    case 3:
        bench().key(Qt::Key_Right, m_random() % 2 == 0 ? Qt::ShiftModifier : Qt::NoModifier);
        break;
    case 4:
        bench().key(Qt::Key_Up, m_random() % 2 == 0 ? Qt::ShiftModifier : Qt::NoModifier);
        break;
    case 5:
        bench().type(QStringLiteral("\n"));
        break;
    case 6:
        bench().key(Qt::Key_Z, Qt::ControlModifier);
        break;
    case 7:
        QGuiApplication::clipboard()->setText(QStringLiteral("pasted\nlines, \U0001F468 "));
        bench().key(Qt::Key_V, Qt::ControlModifier);
        break;
    case 8:
        editFromElsewhere();
        break;
    case 9:
        bench().placeCaret(static_cast<qsizetype>(m_random()) % (bench().pageText().size() + 1));
        break;
    case 10:
        bench().type(QStringLiteral(" "));
        break;
    default:
        bench().type(QString(QChar(u'a' + static_cast<char16_t>(m_random() % 3)))); // many are doubled
        break;
    }
}

void TestStudioLongDraft::pageAndDraftStayAlike()
{
    QFETCH(const QString, text);
    bench().openDraft(text);
    for (int i = 0; i < 150; ++i) {
        doSomething();
        if (m_random() % 3 == 0)
            continue; // several come together
        QCoreApplication::processEvents();
        QString draft = bench().text();
        QCOMPARE(bench().page().words(), wordsIn(draft));
        draft.remove(u'\r');
        QCOMPARE(bench().pageText(), draft);
        QCOMPARE(bench().page().shown().text(), draft);
    }
}

void TestStudioLongDraft::scrollTo(double y)
{
    flickable().setProperty("contentY", y);
    bench().waitForFrame();
}

bool TestStudioLongDraft::showsItsLetters()
{
    bench().waitForFrame();
    const QImage picture = bench().view().grabWindow();
    const QRectF sight = flickable().mapRectToScene({0, 0, flickable().width(), flickable().height()});
    const QRgb paper = picture.pixel(bench().editor()->mapToScene({-8.0, 0.0}).toPoint().x(), int(sight.center().y()));
    int lines = 0;
    for (QTextBlock block = bench().page().document()->begin(); block.isValid(); block = block.next()) {
        if (block.length() < 2)
            continue;
        const QRectF line = lineRects(*bench().page().document(), {block.position(), block.position() + 2}).front();
        const QRect there = bench().editor()->mapRectToScene(line).toAlignedRect();
        if (!sight.contains(there))
            continue;
        ++lines;
        bool hasInk = false;
        for (int y = there.top(); y <= there.bottom(); ++y) {
            for (int x = there.left(); x <= there.right(); ++x)
                hasInk = hasInk || qGray(picture.pixel(x, y)) < qGray(paper) - 100;
        }
        if (!hasInk) {
            qWarning("nothing of \"%s\" is drawn", qPrintable(block.text()));
            return false;
        }
    }
    return lines > 5;
}

void TestStudioLongDraft::whatIsScrolledToIsDrawn()
{
    bench().openDraft(bookOf(800));
    QVERIFY(showsItsLetters());
    const double end = flickable().property("contentHeight").toDouble() - flickable().height();
    QVERIFY(end > 20'000.0);
    for (const double y :
         {300.0, 310.0, 0.3 * end, 0.3 * end + 500.0, 0.3 * end - 500.0, end - 100.0, 1.0, 0.9 * end}) {
        scrollTo(y);
        QVERIFY2(showsItsLetters(), qPrintable(QString::number(y)));
    }
    for (int i = 0; i < 15; ++i) { // as a wheel does
        scrollTo(0.5 * end + 45.0 * i);
        QVERIFY(showsItsLetters());
    }
    bench().view().resize(1000, 1300);
    QVERIFY(showsItsLetters());
}

void TestStudioLongDraft::whatIsTypedOutOfSightIsDrawnThere()
{
    const QString book = bookOf(800);
    bench().openDraft(book);
    bench().placeCaret(book.size() / 2);
    QVERIFY(showsItsLetters());
    editing::DraftSession &session = *bench().draft().session();
    for (const qsizetype place : {qsizetype{0}, book.size() / 2, book.size()}) { // above, in and below what is seen
        session.edit(77, session.draft().version(), {{place, place}, bookOf(20)}, true);
        QTRY_COMPARE(bench().pageText(), bench().text());
        QVERIFY(showsItsLetters());
    }
    bench().type(QStringLiteral("Here.\n"));
    QVERIFY(showsItsLetters());
    scrollTo(0.0);
    QVERIFY(showsItsLetters());
    bench().type(QStringLiteral("and there")); // goes back to the caret
    QVERIFY(flickable().property("contentY").toDouble() > 10'000.0);
    QVERIFY(showsItsLetters());
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    bench().key(Qt::Key_End, Qt::ControlModifier);
    QVERIFY(showsItsLetters());
}

void TestStudioLongDraft::nothingIsDrawnTwice()
{
    bench().openDraft(bookOf(12));
    const qsizetype place = bench().pageText().indexOf(QStringLiteral("7. The"));
    bench().placeCaret(place);
    const auto linesInFront = [&] { // six paragraphs, which nobody touches
        bench().waitForFrame();
        const QPointF top = bench().editor()->mapToScene({0.0, 0.0});
        const double bottom = lineRects(*bench().page().document(), {place - 3, place - 2}).front().bottom();
        return bench().view().grabWindow().copy(QRectF(top, QSizeF(bench().editor()->width(), bottom)).toAlignedRect());
    };
    const QImage before = linesInFront();
    for (int i = 0; i < 5; ++i)
        bench().key(Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(linesInFront(), before);
    bench().key(Qt::Key_Right);
    QCOMPARE(linesInFront(), before);
    bench().type(QStringLiteral("abc"));
    QCOMPARE(linesInFront(), before);
    QInputMethodEvent composing(QStringLiteral("de"), {});
    QCoreApplication::sendEvent(bench().editor(), &composing);
    QCOMPARE(linesInFront(), before);
    QInputMethodEvent cancelled;
    QCoreApplication::sendEvent(bench().editor(), &cancelled);
    QCOMPARE(linesInFront(), before);
    bench().key(Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(linesInFront(), before);
    const QString &text = bench().text();
    bench().draft().session()->edit(77, bench().stored().version(), {{text.size(), text.size()}, bookOf(2)}, true);
    QTRY_COMPARE(bench().pageText(), bench().text());
    QCOMPARE(linesInFront(), before);
}

QTEST_MAIN(TestStudioLongDraft)
#include "tst_studio_long_draft.moc"
