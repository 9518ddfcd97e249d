// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/shown_text.h"

#include <QTest>

#include <random>

using namespace palimpsest::studio;

namespace {

Overlay live(qsizetype start, qsizetype end, const char *text, int source = 0)
{
    return {.kind = Overlay::Kind::Live, .span = {start, end}, .text = QString::fromUtf8(text), .source = source};
}

Overlay change(qsizetype start, qsizetype end, const char *text, int source = 0)
{
    return {.kind = Overlay::Kind::Change, .span = {start, end}, .text = QString::fromUtf8(text), .source = source};
}

/// The draft after an edit that was made on the page.
QString edited(const QString &draft, const TextEdit &edit)
{
    QString text = draft;
    text.replace(edit.span.start, edit.span.length(), edit.text);
    return text;
}

} // namespace

class TestShownText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void showsOverlaysInPlace_data();
    void showsOverlaysInPlace();
    void leavesOutWhatOverlaps();
    void typingBecomesAnEditOfTheDraft_data();
    void typingBecomesAnEditOfTheDraft();
    void foreignTextCannotBeTypedInto_data();
    void foreignTextCannotBeTypedInto();
    void positionsGoThereAndBack();
    void typingOnThePageEqualsTypingInTheDraft();
    void knowsThePageAfterTyping_data();
    void knowsThePageAfterTyping();
    void followsAnyTyping();
    void placesHoldOnToLetters();
};

void TestShownText::showsOverlaysInPlace_data()
{
    QTest::addColumn<QString>("draft");
    QTest::addColumn<QVariant>("overlays");
    QTest::addColumn<QString>("shown");
    const auto row = [](const char *name, const char *draft, const std::vector<Overlay> &overlays, const char *shown) {
        QTest::newRow(name) << QString::fromUtf8(draft) << QVariant::fromValue(overlays) << QString::fromUtf8(shown);
    };
    row("none", "one two", {}, "one two");
    row("empty draft", "", {}, "");
    row("a run hides what it writes anew", "one two three", {live(4, 7, "2")}, "one 2 three");
    row("a run that continues", "one", {live(3, 3, " two")}, "one two");
    row("a change shows both words", "one tow three", {change(4, 7, "two")}, "one towtwo three");
    row("a change that takes away", "one one two", {change(4, 8, "")}, "one one two");
    row("a change that puts in", "one three", {change(4, 4, "two ")}, "one two three");
    row("the page has no CR", "a\r\nb\r\n", {}, "a\nb\n");
    row("a CR of its own stays", "a\rb", {}, "a\rb");
    row("two passages", "aa bb cc", {live(0, 2, "A", 0), live(6, 8, "CCC", 1)}, "A bb CCC");
}

void TestShownText::showsOverlaysInPlace()
{
    QFETCH(QString, draft);
    QFETCH(QVariant, overlays);
    QFETCH(QString, shown);
    const ShownText text(draft, overlays.value<std::vector<Overlay>>());
    QCOMPARE(text.text(), shown);
    qsizetype at = 0;
    for (const ShownPiece &piece : text.pieces()) { // no gaps
        QCOMPARE(piece.shown.start, at);
        at = piece.shown.end;
    }
    QCOMPARE(at, shown.size());
}

void TestShownText::leavesOutWhatOverlaps()
{
    const ShownText text(u"one two three", {live(4, 7, "2", 0), live(5, 9, "x", 1), live(20, 30, "y", 2)});
    QCOMPARE(text.text(), QStringLiteral("one 2 three"));
    QVERIFY(text.shownOf(0));
    QVERIFY(!text.shownOf(1));
    QVERIFY(!text.shownOf(2));
}

void TestShownText::typingBecomesAnEditOfTheDraft_data()
{
    QTest::addColumn<QString>("draft");
    QTest::addColumn<QVariant>("overlays");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("end");
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("after");
    const auto row = [](const char *name, const char *draft, const std::vector<Overlay> &overlays, int start, int end,
                        const char *typed, const char *after) {
        QTest::newRow(name) << QString::fromUtf8(draft) << QVariant::fromValue(overlays) << start << end
                            << QString::fromUtf8(typed) << QString::fromUtf8(after);
    };
    row("into nothing", "", {}, 0, 0, "a", "a");
    row("in front", "bc", {}, 0, 0, "a", "abc");
    row("behind", "ab", {}, 2, 2, "c", "abc");
    row("behind a run that hides more", "aaaa b", {live(0, 4, "x")}, 3, 3, "c", "aaaa bc");
    row("in front of a run", "a bb", {live(2, 4, "xyz")}, 2, 2, "c", "a cbb");
    row("words that a change takes away", "one tow", {change(4, 7, "two")}, 4, 7, "2", "one 2");
    row("behind the last letter of such words", "one tow x", {change(4, 7, "two")}, 7, 7, "s", "one tows x");
    row("a line end goes as a whole", "a\r\nb", {}, 1, 2, "", "ab");
    row("a letter behind a line end", "a\r\nb", {}, 2, 3, "", "a\r\n");
    row("at the end of a line", "a\r\nb", {}, 1, 1, "x", "ax\r\nb");
    row("in an empty line", "a\r\n\r\nb", {}, 2, 2, "x", "a\r\nx\r\nb");
    row("in an empty first line", "\r\nb", {}, 0, 0, "x", "x\r\nb");
    row("across lines", "ab\r\ncd", {}, 1, 4, "", "ad");
}

void TestShownText::typingBecomesAnEditOfTheDraft()
{
    QFETCH(QString, draft);
    QFETCH(QVariant, overlays);
    QFETCH(int, start);
    QFETCH(int, end);
    QFETCH(QString, typed);
    QFETCH(QString, after);
    const ShownText text(draft, overlays.value<std::vector<Overlay>>());
    const auto edit = text.draftEdit({{start, end}, typed});
    QVERIFY(edit);
    QCOMPARE(edited(draft, *edit), after);
}

void TestShownText::foreignTextCannotBeTypedInto_data()
{
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("end");
    QTest::newRow("a letter of it") << 5 << 6;
    QTest::newRow("from in front") << 2 << 5;
    QTest::newRow("to behind") << 6 << 10;
    QTest::newRow("all of it") << 0 << 11;
    QTest::newRow("between two letters of it") << 5 << 5;
}

void TestShownText::foreignTextCannotBeTypedInto()
{
    QFETCH(int, start);
    QFETCH(int, end);
    const ShownText text(u"one two end", {live(4, 7, "xyz")}); // "one xyz end"
    QVERIFY(!text.draftEdit({{start, end}, {}}));
}

void TestShownText::positionsGoThereAndBack()
{
    const ShownText text(u"one two three", {live(4, 7, "twenty-two")});
    for (const qsizetype draft : {0, 3, 4, 8, 13})
        QCOMPARE(text.toDraft(text.toShown(draft)), draft);
    QCOMPARE(text.toShown(TextSpan{4, 7}), (TextSpan{4, 14}));
    QCOMPARE(text.toShown(5), 4);  // hidden: where the overlay begins
    QCOMPARE(text.toDraft(10), 7); // inside foreign text: behind the words it stands for
}

void TestShownText::typingOnThePageEqualsTypingInTheDraft()
{
    std::mt19937 random(20261129);
    const auto below = [&](qsizetype bound) {
        return qsizetype(random() % std::uint32_t(bound));
    };
    const QStringView letters(u"ab \n");
    for (int round = 0; round < 2000; ++round) {
        QString draft;
        for (qsizetype i = below(20); i > 0; --i)
            draft += below(5) == 0 ? QStringLiteral("\r\n") : QString(letters[below(letters.size())]);
        const ShownText plain(draft, {});
        QString shown = draft;
        shown.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
        QCOMPARE(plain.text(), shown);
        const qsizetype start = below(shown.size() + 1);
        const qsizetype end = start + below(shown.size() - start + 1);
        const auto edit = plain.draftEdit({{start, end}, QStringLiteral("X")});
        QVERIFY(edit);
        QString after = edited(draft, *edit);
        after.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
        QCOMPARE(after, edited(shown, {{start, end}, QStringLiteral("X")}));
    }
}

void TestShownText::knowsThePageAfterTyping_data()
{
    QTest::addColumn<QString>("draft");
    QTest::addColumn<QVariant>("overlays");
    QTest::addColumn<int>("start");
    QTest::addColumn<int>("end");
    QTest::addColumn<QString>("typed");
    const auto row = [](const char *name, const char *draft, const std::vector<Overlay> &overlays, int start, int end,
                        const char *typed) {
        QTest::newRow(name) << QString::fromUtf8(draft) << QVariant::fromValue(overlays) << start << end
                            << QString::fromUtf8(typed);
    };
    row("behind two changes", "payed teh fee", {change(0, 5, "paid"), change(6, 9, "the", 1)}, 20, 20, "s");
    row("between a word and its change", "one tow x", {change(4, 7, "two")}, 7, 7, "s");
    row("in front of a run", "a bb", {live(2, 4, "xyz")}, 2, 2, "c");
    row("behind a run at the end", "a bb", {live(2, 4, "xyz")}, 5, 5, "c");
    row("over a word that a change would take away", "one tow x", {change(4, 7, "two")}, 3, 7, "-");
    row("a line end goes", "a\r\nb", {}, 1, 2, "");
    row("a line end comes", "a\r\nb", {}, 1, 1, "\r\n");
}

void TestShownText::knowsThePageAfterTyping()
{
    QFETCH(QString, draft);
    QFETCH(QVariant, overlays);
    QFETCH(int, start);
    QFETCH(int, end);
    QFETCH(QString, typed);
    const ShownText before(draft, overlays.value<std::vector<Overlay>>());
    const TextEdit onPage{{start, end}, QString(typed).remove(u'\r')};
    const auto edit = before.draftEdit({{start, end}, typed});
    QVERIFY(edit);
    const ShownText after = before.afterTyping(onPage, *edit);
    QCOMPARE(after.text(), edited(before.text(), onPage));
    const QString draftAfter = edited(draft, *edit);
    qsizetype at = 0;
    for (const ShownPiece &piece : after.pieces()) {
        QCOMPARE(piece.shown.start, at);
        at = piece.shown.end;
        if (piece.kind == ShownPiece::Kind::Draft || piece.kind == ShownPiece::Kind::Removed)
            QCOMPARE(draftAfter.mid(piece.draft.start, piece.draft.length()),
                     after.text().mid(piece.shown.start, piece.shown.length()));
    }
    QCOMPARE(at, after.text().size());
}

void TestShownText::followsAnyTyping()
{
    std::mt19937 random(20261130);
    const auto below = [&](qsizetype bound) {
        return qsizetype(random() % std::uint32_t(bound));
    };
    int typings = 0;
    for (int round = 0; round < 500; ++round) {
        QString draft = QStringLiteral("one two\r\nthree four five six");
        std::vector<Overlay> overlays;
        for (qsizetype at = below(6); at < draft.size() - 4; at += 4 + below(9))
            overlays.push_back(below(2) == 0 ? live(at, at + 1 + below(3), "<live>", int(overlays.size()))
                                             : change(at, at + below(4), "<change>", int(overlays.size())));
        ShownText page(draft, std::move(overlays));
        for (int stroke = 0; stroke < 8; ++stroke) { // each measured against what the one before left behind
            const qsizetype start = below(page.text().size() + 1);
            const qsizetype end = std::min(start + below(3), page.text().size());
            const TextEdit typed{{start, end}, below(3) == 0 ? QString() : QStringLiteral("X")};
            const auto edit = page.draftEdit(typed);
            if (!edit)
                continue;
            ++typings;
            const QString shown = edited(page.text(), typed);
            draft = edited(draft, *edit);
            page = page.afterTyping(typed, *edit);
            QCOMPARE(page.text(), shown);
            for (const ShownPiece &piece : page.pieces()) {
                if (piece.kind == ShownPiece::Kind::Draft || piece.kind == ShownPiece::Kind::Removed)
                    QCOMPARE(draft.mid(piece.draft.start, piece.draft.length()),
                             page.text().mid(piece.shown.start, piece.shown.length()));
            }
        }
    }
    QVERIFY(typings > 1000);
}

void TestShownText::placesHoldOnToLetters()
{
    using Lean = ShownPlace::Lean;
    const ShownText text(u"one tow three", {change(4, 7, "two", 5)}); // "one tow|two| three"
    QCOMPARE(text.placeOf(7, Lean::Before), (ShownPlace{.draft = 7, .lean = Lean::Before}));
    QCOMPARE(text.placeOf(10, Lean::Before), (ShownPlace{.draft = 7, .lean = Lean::After}));
    QCOMPARE(text.placeOf(8, Lean::Before), (ShownPlace{.draft = 7, .source = 5, .offset = 1}));
    for (const qsizetype shown : {0, 3, 4, 7, 10, 16}) { // the sides of an overlay are told apart
        const ShownPlace place = text.placeOf(shown, Lean::Before);
        QCOMPARE(text.toShown(place.draft, place.lean), shown);
    }
    const ShownText longer(u"one tow three", {change(4, 7, "twenty", 5)});
    QCOMPARE(longer.toShown(7, Lean::Before), 7);
    QCOMPARE(longer.toShown(7, Lean::After), 13);
    const ShownText hidden(u"one tow three", {live(4, 7, "2")});
    QCOMPARE(hidden.toShown(6, Lean::Before), 4); // its letter cannot be seen
    QCOMPARE(ShownText().placeOf(0, Lean::Before), ShownPlace());
}

QTEST_GUILESS_MAIN(TestShownText)
#include "tst_shown_text.moc"
