// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/app/studio/studio_bench.h"

#include <QQuickItem>
#include <QQuickWindow>
#include <QTest>

#include <memory>

using namespace palimpsest;
using namespace palimpsest::studio;
using test::kLetter;

/// What a writer does to a canvas while it runs.
class TestStudioReachingIn : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_bench.reset(); }

    void aClickHoldsAWord();
    void choosesAWordByMouse();
    void choosesAWordByKeys();
    void goesFromWordToWord();
    void holdsTheSelectedWords();
    void entropyIsShownWhileAltIsHeld();
    void marksWhatIsAcceptedAndLocked();
    void lettersInsideTheRunAreRefused();
    void theCaretStaysInItsWord();

private:
    void startRun(); ///< a rewrite of the second line, of which a step has come
    void letStep();
    [[nodiscard]] int step() const;
    [[nodiscard]] qsizetype live() const { return m_bench->pageText().indexOf(u'\n') + 1; }
    [[nodiscard]] editing::Frame frame() const;
    [[nodiscard]] test::StudioBench &bench() { return *m_bench; }

    std::unique_ptr<test::StudioBench> m_bench;
};

void TestStudioReachingIn::init()
{
    m_bench = std::make_unique<test::StudioBench>();
    bench().script->settleWithin(test::StudioScript::kNever);
    startRun();
}

void TestStudioReachingIn::startRun()
{
    bench().openDraft(kLetter);
    bench().gate.close();
    bench().select(QStringLiteral("I have payed teh fee."));
    bench().key(Qt::Key_K, Qt::ControlModifier);
    bench().type(QStringLiteral("Correct it."));
    bench().key(Qt::Key_Return);
    letStep();
    QTRY_VERIFY(bench().pageText() != kLetter);
}

int TestStudioReachingIn::step() const
{
    const auto newest = m_bench->draft().session()->newestFrame(m_bench->draft().run(), 0);
    return newest ? newest->step : 0;
}

editing::Frame TestStudioReachingIn::frame() const
{
    return m_bench->draft().session()->newestFrame(m_bench->draft().run(), 0).value();
}

void TestStudioReachingIn::letStep()
{
    const int before = step();
    bench().gate.let(1);
    QTRY_VERIFY(step() > before);
    QTest::qWait(2 * PageText::kFrameMs); // the page has it too
}

void TestStudioReachingIn::aClickHoldsAWord()
{
    const qsizetype at = live() + 1;
    const auto place = bench().page().canvasPlaceAt(at);
    QVERIFY(place);
    bench().clickAt(at);
    const QString word = frame().text[static_cast<std::size_t>(place->position)];
    letStep();
    letStep(); // the step under way may have begun before
    QCOMPARE(frame().marks.at(place->position), '#');
    QCOMPARE(frame().text[static_cast<std::size_t>(place->position)], word);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Locked), 1);
    bench().clickAt(bench().page().shownOf(*place)->start + 1);
    letStep();
    letStep();
    QVERIFY(frame().marks.at(place->position) != '#');
}

void TestStudioReachingIn::choosesAWordByMouse()
{
    const qsizetype at = live() + 5;
    const auto place = bench().page().canvasPlaceAt(at);
    bench().hoverAt(at);
    QQuickItem *choice = nullptr;
    QTRY_VERIFY((choice = bench().named(QStringLiteral("and, 13 percent"))) != nullptr ||
                (choice = bench().named(QStringLiteral("of, 13 percent"))) != nullptr);
    const QString wanted = choice->property("choiceText").toString();
    bench().click(choice);
    letStep();
    letStep();
    QCOMPARE(frame().marks.at(place->position), '#');
    QCOMPARE(frame().text[static_cast<std::size_t>(place->position)].trimmed(), wanted);
    QVERIFY(bench().draft().running()); // it goes on with the word
}

void TestStudioReachingIn::choosesAWordByKeys()
{
    bench().editor()->forceActiveFocus();
    bench().placeCaret(live());
    bench().key(Qt::Key_Right); // arrowing to a word shows its card
    const auto place = bench().page().canvasPlaceAt(bench().caret());
    QVERIFY(place);
    const auto card = [this] {
        return bench().item([](QQuickItem &item) { return item.property("choices").isValid(); });
    };
    QTRY_VERIFY(card() != nullptr);
    QVERIFY(bench().editor()->hasActiveFocus()); // which does not take the keys of the page
    bench().key(Qt::Key_Down, Qt::AltModifier);
    QTRY_VERIFY(card()->hasActiveFocus());
    bench().key(Qt::Key_Down);
    QCOMPARE(card()->property("current").toInt(), 1);
    const QString wanted = card()->property("choices").toList()[1].toMap()[QStringLiteral("text")].toString().trimmed();
    letStep(); // the canvas moves on below it
    bench().key(Qt::Key_Return);
    QTRY_VERIFY(card() == nullptr);
    QVERIFY(bench().editor()->hasActiveFocus());
    letStep();
    letStep();
    QCOMPARE(frame().marks.at(place->position), '#');
    QCOMPARE(frame().text[static_cast<std::size_t>(place->position)].trimmed(), wanted);
}

void TestStudioReachingIn::goesFromWordToWord()
{
    bench().editor()->forceActiveFocus();
    bench().placeCaret(live() + 1);
    bench().key(Qt::Key_Down, Qt::AltModifier);
    const auto position = [this] {
        const QQuickItem *card = bench().item([](QQuickItem &item) { return item.property("choices").isValid(); });
        return card == nullptr ? -1 : card->property("word").toMap()[QStringLiteral("position")].toInt();
    };
    QTRY_VERIFY(position() >= 0);
    const int first = position();
    bench().key(Qt::Key_Right);
    bench().key(Qt::Key_Right);
    QCOMPARE(position(), first + 2);
    bench().key(Qt::Key_Left);
    QCOMPARE(position(), first + 1);
    bench().key(Qt::Key_Space); // holds that word
    letStep();
    letStep();
    QCOMPARE(frame().marks.at(first + 1), '#');
    bench().key(Qt::Key_Down, Qt::AltModifier);
    QTRY_VERIFY(position() >= 0);
    bench().key(Qt::Key_Escape); // closes the card, and does not stop the run
    QTRY_COMPARE(position(), -1);
    QVERIFY(bench().draft().running());
}

void TestStudioReachingIn::holdsTheSelectedWords()
{
    bench().editor()->forceActiveFocus();
    bench().placeCaret(live());
    for (int i = 0; i < 8; ++i)
        bench().key(Qt::Key_Right, Qt::ShiftModifier);
    const auto last = bench().page().canvasPlaceAt(live() + 7);
    QVERIFY(last && last->position > 1);
    bench().key(Qt::Key_L, Qt::ControlModifier);
    letStep();
    letStep();
    for (std::int64_t i = 0; i <= last->position; ++i)
        QCOMPARE(frame().marks.at(i), '#');
    bench().key(Qt::Key_L, Qt::ControlModifier);
    letStep();
    letStep();
    QVERIFY(frame().held < last->position);
}

void TestStudioReachingIn::entropyIsShownWhileAltIsHeld()
{
    QCOMPARE(bench().marks(PageMark::Kind::Entropy), 0);
    QTest::keyPress(&bench().view(), Qt::Key_Alt);
    QTRY_VERIFY(bench().marks(PageMark::Kind::Entropy) > 10); // nothing has settled
    QTest::keyRelease(&bench().view(), Qt::Key_Alt);
    QTRY_COMPARE(bench().marks(PageMark::Kind::Entropy), 0);
    QTest::keyPress(&bench().view(), Qt::Key_Alt);
    bench().key(Qt::Key_9, Qt::AltModifier); // a combination is no holding
    QTest::qWait(2 * PageText::kHoldMs);
    QCOMPARE(bench().marks(PageMark::Kind::Entropy), 0);
    QTest::keyRelease(&bench().view(), Qt::Key_Alt);
    bench().key(Qt::Key_E, Qt::ControlModifier);
    QTRY_VERIFY(bench().marks(PageMark::Kind::Entropy) > 10);
}

void TestStudioReachingIn::marksWhatIsAcceptedAndLocked()
{
    bench().script->settleWithin(4);
    letStep();
    letStep();
    const editing::Frame now = frame();
    QTRY_COMPARE(bench().marks(PageMark::Kind::Accepted),
                 static_cast<int>(std::count(now.marks.begin() + now.showBegin, now.marks.begin() + now.showEnd, '+')));
    QCOMPARE(bench().marks(PageMark::Kind::Running), 1);
}

void TestStudioReachingIn::lettersInsideTheRunAreRefused()
{
    bench().editor()->forceActiveFocus();
    QString reason;
    QObject here;
    connect(&bench().page(), &PageText::refused, &here, [&](const QString &why) { reason = why; });
    bench().placeCaret(live() + 3);
    bench().type(QStringLiteral("x"));
    QVERIFY(!reason.isEmpty());
    QCOMPARE(bench().text(), kLetter);
    QTRY_COMPARE(bench().caret(), live() + 3);
    QVERIFY(bench().draft().running());
}

void TestStudioReachingIn::theCaretStaysInItsWord()
{
    bench().editor()->forceActiveFocus();
    const auto place = bench().page().canvasPlaceAt(live() + 20);
    QVERIFY(place);
    bench().placeCaret(bench().page().shownOf(*place)->start + 1);
    for (int i = 0; i < 6; ++i) {
        letStep(); // words of other lengths in front of it
        const TextSpan word = bench().page().shownOf(*place).value();
        QCOMPARE(bench().caret(), word.start + 1);
    }
}

QTEST_MAIN(TestStudioReachingIn)
#include "tst_studio_reaching_in.moc"
