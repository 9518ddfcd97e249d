// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/marked_text.h"

#include <QTest>

using namespace palimpsest;
using namespace palimpsest::cli;

class TestMarkedText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void differencesAreShownByLine_data();
    void differencesAreShownByLine();
    void changesStandOutOnATerminal();
};

void TestMarkedText::differencesAreShownByLine_data()
{
    QTest::addColumn<QString>("original");
    QTest::addColumn<QString>("revised");
    QTest::addColumn<QString>("difference");
    QTest::newRow("nothing") << "the cat"
                             << "the cat"
                             << "";
    QTest::newRow("a word") << "teh cat\n"
                            << "the cat\n"
                            << "1: [-teh-]{+the+} cat\n";
    QTest::newRow("the third line") << "a\nb\nteh\nd"
                                    << "a\nb\nthe\nd"
                                    << "3: [-teh-]{+the+}\n";
    QTest::newRow("without a line end") << "a teh"
                                        << "a the"
                                        << "1: a [-teh-]{+the+}\n";
    QTest::newRow("CRLF") << "a\r\nteh b\r\n"
                          << "a\r\nthe b\r\n"
                          << "2: [-teh-]{+the+} b\n";
}

void TestMarkedText::differencesAreShownByLine()
{
    QFETCH(QString, original);
    QFETCH(QString, revised);
    const std::string before = original.toStdString();
    const std::string after = revised.toStdString();
    QTEST(QString::fromStdString(wordDiff(before, after, diffWords(before, after), {}, CharacterWidths())),
          "difference");
}

void TestMarkedText::changesStandOutOnATerminal()
{
    const std::string before = "teh cat\x1b[2J";
    const std::string after = "the cat\x1b[2J";
    const std::vector<TextChange> changes = diffWords(before, after);
    TerminalCapabilities terminal{
        .isTerminal = true, .canRedraw = true, .wantsColour = true, .depth = ColourDepth::Ansi16};
    QCOMPARE(markedText(after, changes, terminal, CharacterWidths()), std::string("\x1b[1;32mthe\x1b[0m cat·[2J"));
    terminal.depth = ColourDepth::None;
    QCOMPARE(markedText(after, changes, terminal, CharacterWidths()), std::string("the cat·[2J"));
    const std::vector<StyledText> pieces = markChanges(after, changes);
    std::string joined;
    for (const StyledText &piece : pieces)
        joined += piece.text;
    QCOMPARE(joined, after);
}

QTEST_GUILESS_MAIN(TestMarkedText)
#include "tst_marked_text.moc"
