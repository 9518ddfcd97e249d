// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/text_edit.h"
#include "app/editing/utf8_text.h"
#include "engine/error.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <deque>

using namespace palimpsest;
using namespace palimpsest::editing;

namespace {

/// A random edit of a text that cuts no surrogate pair.
TextEdit randomEdit(test::RandomText &random, const QString &text)
{
    const auto place = [&] {
        return static_cast<qsizetype>(random.below(text.size() + 1));
    };
    TextSpan span{place(), place()};
    if (span.start > span.end)
        std::swap(span.start, span.end);
    if (random.below(3) == 0)
        span.end = span.start;
    const QString put = random.below(3) == 0 ? QString() : fromUtf8(random.document(2));
    return {snappedToCodePoints(span, text), put};
}

QString applied(QString text, const TextEdit &edit)
{
    apply(text, edit);
    return text;
}

/// A window of the live channel, as its contract describes it: one edit in flight, the others wait their turn.
struct Window
{
    QString text;
    std::deque<TextEdit> unanswered;

    void write(const TextEdit &edit)
    {
        apply(text, edit);
        unanswered.push_back(edit);
    }

    void receive(TextEdit other)
    {
        for (TextEdit &own : unanswered) {
            const TextEdit ownBehind = moved(own, other, EditOrder::Later);
            other = moved(other, own, EditOrder::Earlier);
            own = ownBehind;
        }
        apply(text, other);
    }
};

} // namespace

class TestTextEdit : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void editsMoveOverEachOther_data();
    void editsMoveOverEachOther();
    void bothOrdersLeadToOneText();
    void windowsConverge();
    void spansMove_data();
    void spansMove();
    void inverseTakesBack();
    void textsAreCleanedOneForOne();
    void positionsGoToBytesAndBack();
    void selectionsSnapToCharacters_data();
    void selectionsSnapToCharacters();
    void locksSnapToWords_data();
    void locksSnapToWords();
};

void TestTextEdit::editsMoveOverEachOther_data()
{
    QTest::addColumn<TextEdit>("edit");
    QTest::addColumn<TextEdit>("over");
    QTest::addColumn<EditOrder>("order");
    QTest::addColumn<TextEdit>("expected");
    const auto later = EditOrder::Later;
    const auto earlier = EditOrder::Earlier;

    QTest::newRow("two insertions, the later one")
        << TextEdit{{2, 2}, "x"} << TextEdit{{2, 2}, "abc"} << later << TextEdit{{5, 5}, "x"};
    QTest::newRow("two insertions, the earlier one")
        << TextEdit{{2, 2}, "x"} << TextEdit{{2, 2}, "abc"} << earlier << TextEdit{{2, 2}, "x"};
    QTest::newRow("in front") << TextEdit{{0, 2}, "x"} << TextEdit{{4, 6}, "abc"} << later << TextEdit{{0, 2}, "x"};
    QTest::newRow("touching in front") << TextEdit{{0, 4}, "x"} << TextEdit{{4, 6}, "abc"} << later
                                       << TextEdit{{0, 4}, "x"};
    QTest::newRow("behind") << TextEdit{{7, 9}, "x"} << TextEdit{{4, 6}, "abc"} << later << TextEdit{{8, 10}, "x"};
    QTest::newRow("touching behind") << TextEdit{{6, 9}, "x"} << TextEdit{{4, 6}, ""} << later << TextEdit{{4, 7}, "x"};
    QTest::newRow("insertion at the front of what is replaced")
        << TextEdit{{4, 4}, "x"} << TextEdit{{4, 6}, "abc"} << later << TextEdit{{4, 4}, "x"};
    QTest::newRow("insertion inside of what is deleted")
        << TextEdit{{5, 5}, "x"} << TextEdit{{4, 6}, ""} << later << TextEdit{{4, 4}, "x"};
    QTest::newRow("holds the other one") << TextEdit{{2, 9}, "x"} << TextEdit{{4, 6}, "abc"} << later
                                         << TextEdit{{2, 10}, "xabc"};
    QTest::newRow("is held") << TextEdit{{4, 6}, "x"} << TextEdit{{2, 9}, "abc"} << later << TextEdit{{5, 5}, "x"};
    QTest::newRow("the same letters, later")
        << TextEdit{{4, 6}, "x"} << TextEdit{{4, 6}, "abc"} << later << TextEdit{{7, 7}, "x"};
    QTest::newRow("the same letters, earlier")
        << TextEdit{{4, 6}, "x"} << TextEdit{{4, 6}, "abc"} << earlier << TextEdit{{4, 7}, "xabc"};
    QTest::newRow("ends inside") << TextEdit{{2, 5}, "x"} << TextEdit{{4, 6}, "abc"} << later << TextEdit{{2, 4}, "x"};
    QTest::newRow("begins inside") << TextEdit{{5, 9}, "x"} << TextEdit{{4, 6}, "abc"} << later
                                   << TextEdit{{7, 10}, "x"};
}

void TestTextEdit::editsMoveOverEachOther()
{
    QFETCH(const TextEdit, edit);
    QFETCH(const TextEdit, over);
    QFETCH(const EditOrder, order);
    QFETCH(const TextEdit, expected);
    const TextEdit result = moved(edit, over, order);
    QCOMPARE(result.span.start, expected.span.start);
    QCOMPARE(result.span.end, expected.span.end);
    QCOMPARE(result.text, expected.text);
}

void TestTextEdit::bothOrdersLeadToOneText()
{
    test::RandomText random(7);
    for (int round = 0; round < 20'000; ++round) {
        const QString text = fromUtf8(random.document(6));
        const TextEdit first = randomEdit(random, text);
        const TextEdit second = randomEdit(random, text);
        const QString one = applied(applied(text, first), moved(second, first, EditOrder::Later));
        const QString other = applied(applied(text, second), moved(first, second, EditOrder::Earlier));
        QVERIFY2(one == other, qPrintable(QStringLiteral("round %1: \"%2\" and \"%3\"").arg(round).arg(one, other)));
        QCOMPARE(one, cleaned(one)); // no pair was cut
    }
}

void TestTextEdit::windowsConverge()
{
    test::RandomText random(11);
    for (int round = 0; round < 300; ++round) {
        const QString begin = fromUtf8(random.document(8));
        std::vector<Window> windows(3, Window{begin, {}});
        std::vector<std::deque<TextEdit>> mail(3);    // on the way to each window
        std::vector<std::deque<bool>> answers(3);     // whether a letter is the answer to the window's own edit
        std::vector<std::vector<TextEdit>> unseen(3); // what the server applied since each window's last word
        std::vector<bool> inFlight(3, false);
        QString server = begin;
        const auto deliver = [&](std::size_t to) {
            const TextEdit edit = mail[to].front();
            const bool isAnswer = answers[to].front();
            mail[to].pop_front();
            answers[to].pop_front();
            if (isAnswer) {
                windows[to].unanswered.pop_front();
                inFlight[to] = false;
            } else {
                windows[to].receive(edit);
                unseen[to].erase(unseen[to].begin());
            }
        };
        const auto send = [&](std::size_t from) {
            if (inFlight[from] || windows[from].unanswered.empty())
                return;
            // Everything that the window has not seen yet is moved over, as Draft does by its version.
            TextEdit edit = windows[from].unanswered.front();
            for (const TextEdit &other : unseen[from])
                edit = moved(edit, other, EditOrder::Later);
            apply(server, edit);
            inFlight[from] = true;
            for (std::size_t to = 0; to < 3; ++to) {
                mail[to].push_back(edit);
                answers[to].push_back(to == from);
                if (to != from)
                    unseen[to].push_back(edit);
            }
        };
        for (int turn = 0; turn < 40; ++turn) {
            const auto who = static_cast<std::size_t>(random.below(3));
            switch (random.below(3)) {
            case 0:
                windows[who].write(randomEdit(random, windows[who].text));
                break;
            case 1:
                send(who);
                break;
            default:
                if (!mail[who].empty())
                    deliver(who);
            }
        }
        for (bool busy = true; busy;) {
            busy = false;
            for (std::size_t who = 0; who < 3; ++who) {
                for (; !mail[who].empty(); busy = true)
                    deliver(who);
                busy = busy || !windows[who].unanswered.empty();
                send(who);
            }
        }
        for (const Window &window : windows)
            QCOMPARE(window.text, server);
    }
}

void TestTextEdit::spansMove_data()
{
    QTest::addColumn<TextSpan>("span");
    QTest::addColumn<TextEdit>("edit");
    QTest::addColumn<TextSpan>("expected");
    QTest::addColumn<bool>("touched");
    QTest::newRow("insertion at its start") << TextSpan{3, 6} << TextEdit{{3, 3}, "ab"} << TextSpan{5, 8} << false;
    QTest::newRow("insertion at its end") << TextSpan{3, 6} << TextEdit{{6, 6}, "ab"} << TextSpan{3, 6} << false;
    QTest::newRow("insertion inside") << TextSpan{3, 6} << TextEdit{{4, 4}, "ab"} << TextSpan{3, 8} << true;
    QTest::newRow("deletion inside") << TextSpan{3, 6} << TextEdit{{4, 5}, ""} << TextSpan{3, 5} << true;
    QTest::newRow("deletion over its end") << TextSpan{3, 6} << TextEdit{{5, 9}, "x"} << TextSpan{3, 5} << true;
    QTest::newRow("deletion over its start") << TextSpan{3, 6} << TextEdit{{1, 4}, "x"} << TextSpan{2, 4} << true;
    QTest::newRow("its first letters") << TextSpan{3, 6} << TextEdit{{3, 5}, "wxyz"} << TextSpan{3, 8} << true;
    QTest::newRow("taken away") << TextSpan{3, 6} << TextEdit{{1, 9}, "xy"} << TextSpan{1, 1} << true;
    QTest::newRow("replaced as a whole") << TextSpan{3, 6} << TextEdit{{3, 6}, "xy"} << TextSpan{3, 3} << true;
    QTest::newRow("empty, insertion there") << TextSpan{3, 3} << TextEdit{{3, 3}, "ab"} << TextSpan{5, 5} << false;
    QTest::newRow("empty, between deleted letters") << TextSpan{3, 3} << TextEdit{{2, 4}, ""} << TextSpan{2, 2} << true;
    QTest::newRow("empty, at the edge of a deletion")
        << TextSpan{3, 3} << TextEdit{{3, 4}, "x"} << TextSpan{3, 3} << false;
    QTest::newRow("nothing is inserted inside") << TextSpan{3, 6} << TextEdit{{4, 4}, ""} << TextSpan{3, 6} << false;
}

void TestTextEdit::spansMove()
{
    QFETCH(const TextSpan, span);
    QFETCH(const TextEdit, edit);
    QFETCH(const TextSpan, expected);
    QFETCH(const bool, touched);
    const TextSpan result = moved(span, edit);
    QCOMPARE(result.start, expected.start);
    QCOMPARE(result.end, expected.end);
    QCOMPARE(touches(edit, span), touched);
}

void TestTextEdit::inverseTakesBack()
{
    test::RandomText random(3);
    for (int round = 0; round < 2000; ++round) {
        const QString text = fromUtf8(random.document(6));
        const TextEdit edit = randomEdit(random, text);
        const TextEdit back = inverse(edit, text);
        QCOMPARE(applied(applied(text, edit), back), text);
        // A span beside the edit is where it was, afterwards.
        const TextSpan span = randomEdit(random, text).span;
        if (!span.empty() && !touches(edit, span))
            QVERIFY(moved(moved(span, edit), back) == span);
    }
}

void TestTextEdit::textsAreCleanedOneForOne()
{
    const QString bad = QStringLiteral("a") + QChar(0xD83D) + QStringLiteral("b") + QChar(0xDE00) + QChar(0) +
                        QString::fromUtf8("\xF0\x9F\x98\x80");
    const QString good = cleaned(bad);
    QCOMPARE(good.size(), bad.size());
    QCOMPARE(good, QStringLiteral("a\uFFFDb\uFFFD\uFFFD") + QString::fromUtf8("\xF0\x9F\x98\x80"));
    QCOMPARE(cleaned(good), good);
}

void TestTextEdit::positionsGoToBytesAndBack()
{
    test::RandomText random(5);
    for (int round = 0; round < 200; ++round) {
        const QString text = fromUtf8(random.document(300));
        const Utf8Text utf8(text);
        for (qsizetype unit = 0; unit <= text.size(); ++unit) {
            const bool isInside = unit > 0 && unit < text.size() && text.at(unit).isLowSurrogate();
            const std::int64_t byte = utf8.toByte(unit);
            QCOMPARE(byte, static_cast<std::int64_t>(text.left(isInside ? unit - 1 : unit).toUtf8().size()));
            QCOMPARE(utf8.toUnit(byte), isInside ? unit - 1 : unit);
        }
    }
}

void TestTextEdit::selectionsSnapToCharacters_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<TextSpan>("span");
    QTest::addColumn<QString>("expected");
    const QString family =
        QString::fromUtf8("\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7");
    QTest::newRow("F028 second half of a family") << "a" + family + "b" << TextSpan{4, 9} << family;
    QTest::newRow("F028 a letter without its accent")
        << QString::fromUtf8("cafe\xCC\x81 x") << TextSpan{3, 4} << QString::fromUtf8("e\xCC\x81");
    QTest::newRow("F028 half of a surrogate pair")
        << QString::fromUtf8("a\xF0\x9F\x98\x80z") << TextSpan{2, 3} << QString::fromUtf8("\xF0\x9F\x98\x80");
    QTest::newRow("a CR without its LF") << QStringLiteral("a\r\nb") << TextSpan{1, 2} << QStringLiteral("\r\n");
    QTest::newRow("whole already") << QStringLiteral("one two") << TextSpan{0, 3} << QStringLiteral("one");
}

void TestTextEdit::selectionsSnapToCharacters()
{
    QFETCH(const QString, text);
    QFETCH(const TextSpan, span);
    QFETCH(const QString, expected);
    const TextSpan snapped = snappedToCharacters(span, text);
    QCOMPARE(text.mid(snapped.start, snapped.length()), expected);
    QVERIFY_EXCEPTION_THROWN((void)snappedToCharacters({2, 1}, text), Error);
    QVERIFY_EXCEPTION_THROWN((void)snappedToCharacters({0, text.size() + 1}, text), Error);
    QVERIFY_EXCEPTION_THROWN((void)snappedToCharacters({-1, 1}, text), Error);
}

void TestTextEdit::locksSnapToWords_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<TextSpan>("span");
    QTest::addColumn<QString>("expected");
    QTest::newRow("a part of a word") << QStringLiteral("the cobalt sea") << TextSpan{5, 7} << QStringLiteral("cobalt");
    QTest::newRow("parts of two") << QStringLiteral("the cobalt sea") << TextSpan{8, 12}
                                  << QStringLiteral("cobalt sea");
    QTest::newRow("a caret in a word") << QStringLiteral("don't go") << TextSpan{2, 2} << QStringLiteral("don't");
    QTest::newRow("a caret behind a word") << QStringLiteral("go, now") << TextSpan{2, 2} << QStringLiteral("go");
    QTest::newRow("white space around") << QStringLiteral("a  bc  d") << TextSpan{2, 6} << QStringLiteral("bc");
    QTest::newRow("an emoji") << QString::fromUtf8("a \xF0\x9F\x98\x80 b") << TextSpan{2, 3}
                              << QString::fromUtf8("\xF0\x9F\x98\x80");
    QTest::newRow("white space alone") << QStringLiteral("a   b") << TextSpan{2, 3} << QString();
    QTest::newRow("the second line") << QStringLiteral("one\ntwo\nthree") << TextSpan{5, 6} << QStringLiteral("two");
}

void TestTextEdit::locksSnapToWords()
{
    QFETCH(const QString, text);
    QFETCH(const TextSpan, span);
    QFETCH(const QString, expected);
    const TextSpan snapped = snappedToWords(span, text);
    QCOMPARE(text.mid(snapped.start, snapped.length()), expected);
}

QTEST_APPLESS_MAIN(TestTextEdit)
#include "tst_text_edit.moc"
