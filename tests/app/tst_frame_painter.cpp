// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/frame_painter.h"

#include <QTest>

#include <random>

using namespace palimpsest::cli;

namespace {

/// As much of a terminal as the painter uses: text, cursor, erasing, scrolling, line breaks on or off.
class Screen
{
public:
    explicit Screen(TerminalSize size) : m_size(size), m_rows(static_cast<std::size_t>(size.rows)) {}

    void write(const std::string &bytes)
    {
        for (std::size_t at = 0; at < bytes.size();)
            at += bytes[at] == '\x1b' ? escape(bytes, at) : plain(bytes, at);
    }

    [[nodiscard]] QStringList text() const
    {
        QStringList rows;
        for (const std::string &stored : m_rows) {
            QString line = QString::fromStdString(stored);
            while (line.endsWith(QLatin1Char(' ')))
                line.chop(1);
            rows << line;
        }
        while (!rows.isEmpty() && rows.last().isEmpty())
            rows.removeLast();
        return rows;
    }

    bool cursorVisible = true;
    bool wraps = true;
    bool plainText = true; ///< no attribute is set
    bool sawUnknown = false;
    int row = 0;
    int column = 0;

private:
    std::size_t plain(const std::string &bytes, std::size_t at)
    {
        if (bytes[at] == '\r') {
            column = 0;
        } else if (bytes[at] == '\n') {
            if (++row == m_size.rows) {
                --row;
                m_rows.erase(m_rows.begin());
                m_rows.emplace_back();
            }
        } else {
            std::string &line = m_rows[static_cast<std::size_t>(row)];
            line.resize(std::max(line.size(), static_cast<std::size_t>(column) + 1), ' ');
            line[static_cast<std::size_t>(column)] = bytes[at];
            column = std::min(column + 1, m_size.columns - 1);
        }
        return 1;
    }

    std::size_t escape(const std::string &bytes, std::size_t at)
    {
        const std::size_t end = bytes.find_first_of("ABCDHJKhlm", at + 2);
        const std::string body = bytes.substr(at + 2, end - at - 2);
        switch (bytes[end]) {
        case 'A':
            row = std::max(0, row - std::stoi(body));
            break;
        case 'K':
            m_rows[static_cast<std::size_t>(row)].resize(static_cast<std::size_t>(column));
            break;
        case 'J':
            m_rows[static_cast<std::size_t>(row)].resize(static_cast<std::size_t>(column));
            for (std::size_t below = static_cast<std::size_t>(row) + 1; below < m_rows.size(); ++below)
                m_rows[below].clear();
            break;
        case 'm':
            plainText = body == "0";
            break;
        case 'h':
        case 'l':
            mode(body, bytes[end] == 'h');
            break;
        default:
            sawUnknown = true;
        }
        return end + 1 - at;
    }

    void mode(const std::string &body, bool on)
    {
        if (body == "?25")
            cursorVisible = on;
        else if (body == "?7")
            wraps = on;
        else
            sawUnknown = sawUnknown || body != "?2026";
    }

    TerminalSize m_size;
    std::vector<std::string> m_rows;
};

Row rowOf(const std::string &text, Style style = {})
{
    Row row;
    for (const char letter : text)
        row.push_back({std::string(1, letter), 1, style});
    return row;
}

Frame frameOf(const QStringList &lines)
{
    Frame frame;
    for (const QString &line : lines)
        frame.rows.push_back(rowOf(line.toStdString()));
    return frame;
}

} // namespace

class TestFramePainter : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stylesDifferInMoreThanColour_data();
    void stylesDifferInMoreThanColour();
    void coloursFollowTheDepth();
    void screenShowsEveryFrame();
    void unchangedRowsAreNotSent();
    void eraseAndKeepRestoreTheTerminal();
    void narrowedTerminalIsCleared();
};

void TestFramePainter::stylesDifferInMoreThanColour_data()
{
    QTest::addColumn<int>("depth");
    for (int depth = 0; depth < 4; ++depth)
        QTest::addRow("depth %d", depth) << depth;
}

void TestFramePainter::stylesDifferInMoreThanColour()
{
    QFETCH(int, depth);
    for (const Background background : {Background::Dark, Background::Light}) {
        const auto attributes = [&](Style style) {
            const QStringList parts =
                QString::fromStdString(sgrParameters(style, ColourDepth(depth), background)).split(';');
            QStringList shapes; // 1 bold, 2 dim, 3 slanted, 4 underlined come before any colour
            for (const QString &part : parts) {
                if (part.toInt() > 4)
                    break;
                shapes << part;
            }
            return shapes.join(';');
        };
        QCOMPARE(attributes({Ink::Settled, 0}), QString());
        QStringList shapes;
        for (const Ink ink : {Ink::Settled, Ink::Unsettled, Ink::Locked, Ink::Changed, Ink::Faint})
            shapes << attributes({ink, ink == Ink::Unsettled ? std::uint8_t{1} : std::uint8_t{0}});
        shapes.removeDuplicates();
        QCOMPARE(shapes.size(), 5);
    }
}

void TestFramePainter::coloursFollowTheDepth()
{
    const Style open{Ink::Unsettled, kMaxUnsettledLevel};
    QCOMPARE(sgrParameters(open, ColourDepth::None, Background::Dark), std::string("2;3"));
    QCOMPARE(sgrParameters(open, ColourDepth::Ansi16, Background::Dark), std::string("2;3;33"));
    QCOMPARE(sgrParameters(open, ColourDepth::Ansi256, Background::Dark), std::string("3;38;5;16;48;5;167"));
    QCOMPARE(sgrParameters(open, ColourDepth::TrueColour, Background::Dark),
             std::string("3;38;2;0;0;0;48;2;196;99;78"));
    QVERIFY(sgrParameters(open, ColourDepth::TrueColour, Background::Light) !=
            sgrParameters(open, ColourDepth::TrueColour, Background::Dark));
    for (std::uint8_t level = 1; level < kMaxUnsettledLevel; ++level) {
        const Style lower{Ink::Unsettled, level};
        const Style higher{Ink::Unsettled, static_cast<std::uint8_t>(level + 1)};
        QVERIFY(sgrParameters(lower, ColourDepth::TrueColour, Background::Dark) !=
                sgrParameters(higher, ColourDepth::TrueColour, Background::Dark));
    }
}

void TestFramePainter::screenShowsEveryFrame()
{
    constexpr TerminalSize kSize{12, 6};
    std::mt19937 random(3);
    for (const int above : {0, 3, 5}) { // rows in front of the region: it scrolls where it must
        Screen screen(kSize);
        for (int line = 0; line < above; ++line)
            screen.write("shell\r\n");
        FramePainter painter(ColourDepth::TrueColour, Background::Dark);
        for (int round = 0; round < 200; ++round) {
            QStringList lines;
            const auto count = 1 + random() % 5;
            for (unsigned line = 0; line < count; ++line) // full rows, empty ones and what is between
                lines << QString(static_cast<int>(random() % 3 * 6),
                                 QLatin1Char(static_cast<char>('a' + random() % 3)));
            lines.last() = QStringLiteral("status");
            screen.write(painter.paint(frameOf(lines), kSize));
            const QStringList shown = screen.text();
            QCOMPARE(shown.mid(shown.size() - lines.size()), lines);
            QVERIFY(!screen.cursorVisible && !screen.wraps && screen.plainText && !screen.sawUnknown);
        }
        screen.write(painter.erase(kSize));
        QCOMPARE(screen.text().filter(QStringLiteral("status")).size(), 0);
        QCOMPARE(screen.text().size(), screen.row);
    }
}

void TestFramePainter::unchangedRowsAreNotSent()
{
    constexpr TerminalSize kSize{40, 10};
    FramePainter painter(ColourDepth::None, Background::Dark);
    QVERIFY(!painter.paint(frameOf({"first", "second", "status 1"}), kSize).empty());
    QCOMPARE(painter.paint(frameOf({"first", "second", "status 1"}), kSize), std::string());
    const std::string bytes = painter.paint(frameOf({"first", "second", "status 2"}), kSize);
    QVERIFY(bytes.find("status 2") != std::string::npos);
    QVERIFY(bytes.find("first") == std::string::npos && bytes.find("second") == std::string::npos);
}

void TestFramePainter::eraseAndKeepRestoreTheTerminal()
{
    constexpr TerminalSize kSize{20, 8};
    for (const bool keep : {false, true}) {
        Screen screen(kSize);
        screen.write("prompt\r\n");
        FramePainter painter(ColourDepth::Ansi16, Background::Dark);
        Frame frame;
        frame.rows = {rowOf("open", {Ink::Unsettled, 3}), rowOf("status", {Ink::Status, 0})};
        screen.write(painter.paint(frame, kSize));
        screen.write(keep ? painter.keep() : painter.erase(kSize));
        QCOMPARE(screen.text(), keep ? (QStringList{"prompt", "open", "status"}) : QStringList{"prompt"});
        QVERIFY(screen.cursorVisible && screen.wraps && screen.plainText);
        QCOMPARE(screen.column, 0);
        QCOMPARE(screen.row, keep ? 3 : 1);
        QCOMPARE(painter.erase(kSize), std::string()); // twice does nothing
    }
    Screen screen(kSize);
    screen.cursorVisible = screen.wraps = screen.plainText = false;
    screen.write(FramePainter::restoreSequence());
    QVERIFY(screen.cursorVisible && screen.wraps && screen.plainText && !screen.sawUnknown);
}

void TestFramePainter::narrowedTerminalIsCleared()
{
    // Two rows of 30 columns are four on a terminal that became 20 wide: the painter starts over from the first.
    FramePainter painter(ColourDepth::None, Background::Dark);
    const QString wide(30, QLatin1Char('x'));
    (void)painter.paint(frameOf({wide, wide}), {40, 10});
    const std::string bytes = painter.paint(frameOf({"x"}), {20, 10});
    QVERIFY2(bytes.find("\x1b[3A\x1b[J") != std::string::npos, bytes.c_str());
    // ... but never above the screen's top.
    (void)painter.paint(frameOf({wide, wide}), {40, 10});
    QVERIFY(painter.paint(frameOf({"x"}), {2, 4}).find("\x1b[3A\x1b[J") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestFramePainter)
#include "tst_frame_painter.moc"
