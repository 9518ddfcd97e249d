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
};

void TestShownText::showsOverlaysInPlace_data()
{
    QTest::addColumn<QString>("draft");
    QTest::addColumn<QVariant>("overlays");
    QTest::addColumn<QString>("shown");
    const auto row = [](const char *name, const char *draft, std::vector<Overlay> overlays, const char *shown) {
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
    const auto row = [](const char *name, const char *draft, std::vector<Overlay> overlays, int start, int end,
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

QTEST_GUILESS_MAIN(TestShownText)
#include "tst_shown_text.moc"
