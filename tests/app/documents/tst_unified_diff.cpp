// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/unified_diff.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace palimpsest;
using namespace palimpsest::documents;

namespace {

const DiffNames kNames{.original = "a", .revised = "b"};

/// Applies a unified diff as `patch` does, strictly: context and removed lines must be there.
class Patcher
{
public:
    Patcher(std::string_view original, std::string_view diff) : m_rest(original), m_diff(diff) {}

    std::string apply()
    {
        if (m_diff.empty())
            return std::string(m_rest);
        require(takeLine(m_diff).starts_with("--- ") && takeLine(m_diff).starts_with("+++ "), "names");
        while (!m_diff.empty()) {
            const std::string_view header = takeLine(m_diff);
            require(header.starts_with("@@ -"), "hunk header");
            copyUpTo(header);
            while (!m_diff.empty() && !m_diff.starts_with("@@ "))
                applyLine();
        }
        m_result += m_rest;
        return m_result;
    }

private:
    static void require(bool holds, const char *what)
    {
        if (!holds)
            throw std::runtime_error(what);
    }
    static std::string_view takeLine(std::string_view &text)
    {
        const std::size_t feed = text.find('\n');
        const std::string_view line = text.substr(0, feed == std::string_view::npos ? text.size() : feed + 1);
        text.remove_prefix(line.size());
        return line;
    }
    void copyUpTo(std::string_view header) // "@@ -first,count +first,count @@"
    {
        const std::size_t first = std::stoul(std::string(header.substr(4)));
        const std::string_view numbers = header.substr(4, header.find(' ', 4) - 4);
        const bool empty = numbers.ends_with(",0");
        for (const std::size_t target = empty ? first : first - 1; m_line < target; ++m_line)
            m_result += takeLine(m_rest);
    }
    void applyLine()
    {
        std::string_view line = takeLine(m_diff);
        const char sign = line.front();
        line.remove_prefix(1);
        if (m_diff.starts_with("\\ No newline")) {
            takeLine(m_diff);
            line.remove_suffix(1);
        }
        if (sign == '+') {
            m_result += line;
            return;
        }
        require(takeLine(m_rest) == line, "context");
        ++m_line;
        if (sign == ' ')
            m_result += line;
    }

    std::string_view m_rest;
    std::string_view m_diff;
    std::string m_result;
    std::size_t m_line = 0;
};

} // namespace

class TestUnifiedDiff : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knownDiffs_data();
    void knownDiffs();
    void everyDiffPatches();
    void reversedAndLargeOnesPatch();
};

void TestUnifiedDiff::knownDiffs_data()
{
    QTest::addColumn<QByteArray>("original");
    QTest::addColumn<QByteArray>("revised");
    QTest::addColumn<QByteArray>("hunks"); // behind the names
    QTest::newRow("equal") << QByteArray("a\n") << QByteArray("a\n") << QByteArray();
    QTest::newRow("from nothing") << QByteArray("") << QByteArray("a\nb\n") << QByteArray("@@ -0,0 +1,2 @@\n+a\n+b\n");
    QTest::newRow("to nothing") << QByteArray("a\n") << QByteArray("") << QByteArray("@@ -1 +0,0 @@\n-a\n");
    QTest::newRow("one line") << QByteArray("a\nb\nc\n") << QByteArray("a\nx\nc\n")
                              << QByteArray("@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    QTest::newRow("line feed at the end came")
        << QByteArray("a\nb") << QByteArray("a\nb\n")
        << QByteArray("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    QTest::newRow("no line feed on both sides")
        << QByteArray("a\nb") << QByteArray("x\nb")
        << QByteArray("@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n");
    QTest::newRow("line ends") << QByteArray("a\r\nb\r\n") << QByteArray("a\r\nb\n")
                               << QByteArray("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n");
    QTest::newRow("two hunks") << QByteArray("1\n2\n3\n4\n5\n6\n7\n8\n9\n") << QByteArray("x\n2\n3\n4\n5\n6\n7\n8\ny\n")
                               << QByteArray("@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n"
                                             "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n");
    QTest::newRow("hunks that meet are one")
        << QByteArray("1\n2\n3\n4\n5\n6\n7\n8\n") << QByteArray("x\n2\n3\n4\n5\n6\n7\ny\n")
        << QByteArray("@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n");
    QTest::newRow("lines that look like a diff") << QByteArray("--- a\n+++ b\n@@ -1 +1 @@\n") << QByteArray("--- a\n")
                                                 << QByteArray("@@ -1,3 +1 @@\n --- a\n-+++ b\n-@@ -1 +1 @@\n");
}

void TestUnifiedDiff::knownDiffs()
{
    QFETCH(QByteArray, original);
    QFETCH(QByteArray, revised);
    QFETCH(QByteArray, hunks);
    const std::string expected = hunks.isEmpty() ? "" : "--- a\n+++ b\n" + hunks.toStdString();
    QCOMPARE(unifiedDiff(original.toStdString(), revised.toStdString(), kNames), expected);
}

void TestUnifiedDiff::everyDiffPatches()
{
    test::RandomText random(20);
    for (int round = 0; round < 3000; ++round) {
        const std::string original = random.document(40);
        std::string revised = original;
        for (std::int64_t edits = random.below(4); edits > 0; --edits) {
            const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(revised.size()) + 1));
            const auto length = static_cast<std::size_t>(random.below(20));
            revised.replace(at, std::min(length, revised.size() - at), random.document(3));
        }
        QCOMPARE(Patcher(original, unifiedDiff(original, revised, kNames)).apply(), revised);
    }
}

void TestUnifiedDiff::reversedAndLargeOnesPatch()
{
    std::string forward;
    std::string backward;
    for (int line = 0; line < 4000; ++line) { // more differences than are followed up
        forward += std::to_string(line) + "\n";
        backward += std::to_string(3999 - line) + "\n";
    }
    QCOMPARE(Patcher(forward, unifiedDiff(forward, backward, kNames)).apply(), backward);
}

QTEST_GUILESS_MAIN(TestUnifiedDiff)
#include "tst_unified_diff.moc"
