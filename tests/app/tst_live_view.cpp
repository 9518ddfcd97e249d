// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/live_view.h"

#include <QTest>

#include <numeric>
#include <random>

using namespace palimpsest;
using namespace palimpsest::cli;

namespace {

constexpr TokenId kEnd = 0;
constexpr TokenId kMarker = 1;

/// Tokens 2 and up are these pieces.
const std::vector<std::string> kPieces{"The",
                                       " ship",
                                       " left",
                                       " before",
                                       " dawn",
                                       ".",
                                       "\n",
                                       " 漢字",
                                       "\xF0",
                                       "\x9F\x98\x80",
                                       "\x1b[2J",
                                       "\t",
                                       "e\u0301",
                                       " naïve",
                                       "\u202Eabc",
                                       "\x80x",
                                       " incomprehensibilities"};

TokenTexts tokens()
{
    return {.bytes =
                [](TokenId id) {
                    return id < 2 ? std::string_view("<x>")
                                  : std::string_view(kPieces[static_cast<std::size_t>(id - 2)]);
                },
            .isSpecial = [](TokenId id) { return id < 2; },
            .isEnd =
                [](TokenId id) {
                    return id == kEnd;
                }};
}

struct Position
{
    TokenId id = 0;
    float entropy = 0.0F;
    bool frozen = false;
};

std::shared_ptr<const StepEvent> stepEvent(const std::vector<Position> &positions)
{
    auto result = std::make_shared<StepEvent>();
    for (const Position &position : positions) {
        result->argmax.push_back(position.id);
        result->positions.push_back({.argmax = position.id, .entropyNats = position.entropy});
        result->frozen.push_back(position.frozen ? 1 : 0);
    }
    return result;
}

QString plain(const Row &row)
{
    QString text;
    for (const Cell &cell : row)
        text += QString::fromStdString(cell.text);
    return text;
}

QStringList plain(const Frame &frame)
{
    QStringList rows;
    for (const Row &row : frame.rows)
        rows << plain(row);
    return rows;
}

/// "..uu" : one letter a cell: settled, unsettled, locked, changed, faint, status.
QString inks(const Row &row)
{
    QString text;
    for (const Cell &cell : row)
        text += QLatin1Char(".ulcfs"[static_cast<int>(cell.style.ink)]);
    return text;
}

LivePage textPage(const std::string &text)
{
    return {.pieces = {StyledText{text, {}}}, .focus = std::nullopt, .status = {"one", "two", "three"}};
}

} // namespace

class TestLiveView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void levelsFollowEntropy();
    void cellsAreSafeToPrint_data();
    void cellsAreSafeToPrint();
    void textIsWrapped_data();
    void textIsWrapped();
    void canvasEndsAtACertainEnd_data();
    void canvasEndsAtACertainEnd();
    void wordsAreStyledAsAWhole();
    void framesFitEveryTerminal_data();
    void framesFitEveryTerminal();
    void focusStaysInView();
    void goldenFrame();
};

void TestLiveView::levelsFollowEntropy()
{
    QCOMPARE(int(unsettledLevel(0.0F)), 0);
    QCOMPARE(int(unsettledLevel(0.049F)), 0);
    QCOMPARE(int(unsettledLevel(0.05F)), 1);
    QCOMPARE(int(unsettledLevel(0.81F)), 2);
    QCOMPARE(int(unsettledLevel(3.3F)), 5);
    QCOMPARE(int(unsettledLevel(1e30F)), 5);
    QCOMPARE(int(unsettledLevel(std::numeric_limits<float>::quiet_NaN())), 0);
}

void TestLiveView::cellsAreSafeToPrint_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("shown"); // cells joined by |
    QTest::addColumn<int>("columns");
    QTest::newRow("letters") << QByteArray("ab") << "a|b" << 2;
    QTest::newRow("wide") << QByteArray("漢字") << "漢|字" << 4;
    QTest::newRow("combining mark") << QByteArray("e\u0301x") << "e\u0301|x" << 2;
    QTest::newRow("mark without a letter") << QByteArray("\u0301x") << " \u0301|x" << 2;
    QTest::newRow("escape sequence") << QByteArray("\x1b[2J") << "·|[|2|J" << 4;
    QTest::newRow("C1 control") << QByteArray("\xC2\x9B"
                                              "5n")
                                << "·|5|n" << 3;
    QTest::newRow("bell, delete") << QByteArray("\x07\x7F") << "·|·" << 2;
    QTest::newRow("tab") << QByteArray("a\tb") << "a| | | | |b" << 6;
    QTest::newRow("direction override dropped") << QByteArray("a\u202Eb") << "a|b" << 2;
    QTest::newRow("zero width space dropped") << QByteArray("a\u200Bb") << "a|b" << 2;
    QTest::newRow("byte order mark dropped") << QByteArray("\uFEFF"
                                                           "a")
                                             << "a" << 1;
    QTest::newRow("invalid byte") << QByteArray("a\xFF"
                                                "b")
                                  << "a|·|b" << 3;
    QTest::newRow("cut character") << QByteArray("a\xE6\xBC") << "a|·|·" << 3;
    QTest::newRow("CRLF is one line end") << QByteArray("a\r\nb") << "a|\n|b" << 2;
    QTest::newRow("emoji with a joiner") << QByteArray("👩\u200D🚀") << "👩\u200D|🚀" << 4;
}

void TestLiveView::cellsAreSafeToPrint()
{
    QFETCH(QByteArray, bytes);
    const CharacterWidths widths;
    const StyledText text{bytes.toStdString(), {}};
    const std::vector<Cell> cells = toCells({&text, 1}, widths);
    QStringList shown;
    for (const Cell &cell : cells)
        shown << QString::fromStdString(cell.text);
    QTEST(shown.join(QLatin1Char('|')), "shown");
    QTEST(rowColumns(cells), "columns");
    // The same bytes in pieces of one byte, as byte tokens bring them, give the same cells.
    std::vector<StyledText> pieces;
    for (const char byte : bytes)
        pieces.push_back({std::string(1, byte), {}});
    QCOMPARE(toCells(pieces, widths), cells);
}

void TestLiveView::textIsWrapped_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("columns");
    QTest::addColumn<QStringList>("rows");
    QTest::newRow("fits") << "one two" << 7 << QStringList{"one two"};
    QTest::newRow("at a blank") << "one two" << 6 << QStringList{"one ", "two"};
    QTest::newRow("blank at the edge is dropped") << "one two" << 3 << QStringList{"one", "two"};
    QTest::newRow("long word is cut") << "abcdefgh" << 3 << QStringList{"abc", "def", "gh"};
    QTest::newRow("long word behind a short one") << "a bcdefgh" << 4 << QStringList{"a bc", "defg", "h"};
    QTest::newRow("wide characters never straddle the edge") << "漢字漢" << 5 << QStringList{"漢字", "漢"};
    QTest::newRow("narrowest") << "漢a" << 2 << QStringList{"漢", "a"};
    QTest::newRow("line ends") << "a\n\nb" << 9 << QStringList{"a", "", "b"};
    QTest::newRow("indentation is kept") << "  a" << 9 << QStringList{"  a"};
}

void TestLiveView::textIsWrapped()
{
    QFETCH(QString, text);
    QFETCH(int, columns);
    const StyledText piece{text.toStdString(), {}};
    QStringList rows;
    for (const Row &row : wrapCells(toCells({&piece, 1}, CharacterWidths()), columns))
        rows << plain(row);
    QTEST(rows, "rows");
}

void TestLiveView::canvasEndsAtACertainEnd_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("variant");
    QTest::newRow("certain end hides what follows") << "The ship" << 0;
    QTest::newRow("wavering end is a dot, the text goes on") << "The· ship" << 1;
    QTest::newRow("trailing ends are hidden, however open") << "The ship" << 2;
    QTest::newRow("marker is a dot") << "The·" << 3;
    QTest::newRow("a given end shows all up to it") << "The·" << 4;
    QTest::newRow("nothing but padding") << "" << 5;
}

void TestLiveView::canvasEndsAtACertainEnd()
{
    QFETCH(int, variant);
    const std::vector<std::vector<Position>> canvases{{{2}, {3}, {kEnd, 0.1F}, {4}, {5, 4.0F}},
                                                      {{2}, {kEnd, 2.0F}, {3}, {kEnd, 0.0F}},
                                                      {{2}, {3}, {kEnd, 3.0F}, {kEnd, 3.0F}},
                                                      {{2}, {kMarker}},
                                                      {{2}, {kEnd}, {3}},
                                                      {{kEnd}, {kEnd}}};
    LiveCanvas canvas{.event = stepEvent(canvases[static_cast<std::size_t>(variant)]), .begin = 0, .end = std::nullopt};
    if (variant == 4)
        canvas.end = 2;
    QString text;
    for (const StyledText &piece : canvasText(canvas, tokens()))
        text += QString::fromStdString(piece.text);
    QTEST(text, "text");
}

void TestLiveView::wordsAreStyledAsAWhole()
{
    // "ship" and "." are one word on the page: the most open token colours both, blanks stay plain, locked letters stay
    // locked.
    const LivePage page{.pieces = {LiveCanvas{.event = stepEvent({{2, 0.0F}, {3, 0.9F}, {7, 3.0F}, {4, 0.0F, true}}),
                                              .begin = 0,
                                              .end = std::nullopt}},
                        .focus = std::nullopt,
                        .status = {}};
    const Frame frame = LiveView(tokens()).render(page, {40, 5});
    QCOMPARE(plain(frame.rows[0]), QStringLiteral("The ship. left"));
    QCOMPARE(inks(frame.rows[0]), QStringLiteral("....uuuuulllll"));
    QCOMPARE(int(frame.rows[0][5].style.level), int(unsettledLevel(3.0F)));
}

void TestLiveView::framesFitEveryTerminal_data()
{
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("rows");
    for (const int columns : {1, 2, 20, 21, 40, 79, 80, 81, 120, 200}) {
        for (const int rows : {1, 2, 3, 24})
            QTest::addRow("%d x %d", columns, rows) << columns << rows;
    }
}

void TestLiveView::framesFitEveryTerminal()
{
    QFETCH(int, columns);
    QFETCH(int, rows);
    std::mt19937 random(7);
    std::uniform_int_distribution<TokenId> id(0, static_cast<TokenId>(kPieces.size()) + 1);
    std::uniform_real_distribution<float> entropy(0.0F, 5.0F);
    const LiveView view(tokens());
    for (int round = 0; round < 10; ++round) {
        std::vector<Position> positions(256);
        for (Position &position : positions)
            position = {std::max<TokenId>(id(random), 1), entropy(random), id(random) == 0};
        const LivePage page{.pieces = {StyledText{"before ", {}},
                                       LiveCanvas{.event = stepEvent(positions), .begin = 0, .end = std::nullopt},
                                       StyledText{" after", {}}},
                            .focus = 1,
                            .status = {"step 1 of 48", "mean entropy 0.4 nats", "28 ms a step"}};
        const Frame frame = view.render(page, {columns, rows});
        QVERIFY(static_cast<int>(frame.rows.size()) <= std::max(1, rows - 1));
        for (const Row &row : frame.rows)
            QVERIFY2(rowColumns(row) <= std::max(2, columns), qPrintable(plain(row)));
    }
}

void TestLiveView::focusStaysInView()
{
    std::string front;
    for (int line = 0; line < 100; ++line)
        front += "line " + std::to_string(line) + "\n";
    LivePage page{.pieces = {StyledText{front, {}}, StyledText{"HERE\n", {}}, StyledText{front, {}}},
                  .focus = 1,
                  .status = {"s"}};
    const LiveView view(tokens());
    const QStringList rows = plain(view.render(page, {40, 12}));
    QCOMPARE(rows.size(), 11);
    QVERIFY2(rows.contains(QStringLiteral("HERE")), qPrintable(rows.join(QLatin1Char('/'))));
    QVERIFY(rows.contains(QStringLiteral("line 99"))); // what was done before is in view too
    page.focus.reset();
    QCOMPARE(plain(view.render(textPage(front + "last"), {40, 12}))[9], QStringLiteral("last"));
}

void TestLiveView::goldenFrame()
{
    const LivePage page{
        .pieces = {StyledText{"It was late.\n\n", {}},
                   LiveCanvas{.event = stepEvent(
                                  {{2, 0.0F}, {3, 0.0F}, {4, 1.7F}, {5, 0.01F}, {6, 0.0F}, {7, 0.0F}, {kEnd, 0.0F}}),
                              .begin = 0,
                              .end = std::nullopt},
                   StyledText{" Nobody knew.", {Ink::Faint, 0}}},
        .focus = 1,
        .status = {"canvas 1", "step 7 of 48", "mean entropy 0.41 nats", "28 ms a step"}};
    const LiveView view(tokens());
    const Frame wide = view.render(page, {80, 24});
    QCOMPARE(plain(wide), (QStringList{"It was late.", "", "The ship left before dawn. Nobody knew.",
                                       "canvas 1 · step 7 of 48 · mean entropy 0.41 nats · 28 ms a step"}));
    QCOMPARE(inks(wide.rows[2]), QStringLiteral(".........uuuu.............fffffffffffff"));
    QCOMPARE(plain(view.render(page, {20, 24})),
             (QStringList{"It was late.", "", "The ship left before", "dawn. Nobody knew.", "canvas 1"}));
}

QTEST_GUILESS_MAIN(TestLiveView)
#include "tst_live_view.moc"
