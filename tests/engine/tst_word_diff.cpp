// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/word_diff.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <algorithm>

using namespace palimpsest;

namespace {

/// Makes the revision out of the original and the script.
std::string applyChanges(std::string_view original, std::string_view revised, const std::vector<TextChange> &changes)
{
    std::string text;
    std::int64_t done = 0;
    for (const TextChange &change : changes) {
        text += ByteRange{done, change.original.begin}.of(original);
        text += change.revised.of(revised);
        done = change.original.end;
    }
    return text + std::string(original.substr(static_cast<std::size_t>(done)));
}

/// "[old>new]" for every change, in place.
std::string marked(std::string_view original, std::string_view revised)
{
    std::string text;
    std::int64_t done = 0;
    for (const TextChange &change : diffWords(original, revised)) {
        text += ByteRange{done, change.original.begin}.of(original);
        text += '[';
        text += change.original.of(original);
        text += '>';
        text += change.revised.of(revised);
        text += ']';
        done = change.original.end;
    }
    return text + std::string(original.substr(static_cast<std::size_t>(done)));
}

/// Length of the longest common subsequence, by the textbook's table.
std::int64_t commonLength(const std::vector<std::int32_t> &a, const std::vector<std::int32_t> &b)
{
    std::vector<std::vector<std::int64_t>> table(a.size() + 1, std::vector<std::int64_t>(b.size() + 1));
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
        }
    }
    return table[a.size()][b.size()];
}

} // namespace

class TestWordDiff : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void marksChangedWords_data();
    void marksChangedWords();
    void scriptsOfRandomTextsRebuildTheRevision();
    void matchesAreLongestCommonSubsequences();
    void farApartTextsStayOneChange();
};

void TestWordDiff::marksChangedWords_data()
{
    QTest::addColumn<QString>("original");
    QTest::addColumn<QString>("revised");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char *name, const char *original, const char *revised, const char *expected) {
        QTest::newRow(name) << QString::fromUtf8(original) << QString::fromUtf8(revised) << QString::fromUtf8(expected);
    };
    row("equal", "The cat.", "The cat.", "The cat.");
    row("both empty", "", "", "");
    row("from nothing", "", "The cat", "[>The cat]");
    row("to nothing", "The cat", "", "[The cat>]");
    row("one word", "Teh cat sat.", "The cat sat.", "[Teh>The] cat sat.");
    row("inserted comma", "Well I went", "Well, I went", "Well[>,] I went");
    row("inserted word", "the cat", "the big cat", "the [>big ]cat");
    row("deleted word", "the the cat", "the cat", "the [the >]cat");
    row("joined word", "Dow nload it", "Download it", "[Dow nload>Download] it");
    row("white space", "a  b", "a b", "a[  > ]b");
    row("last word", "he go", "he goes", "he [go>goes]");
    row("accents", "caf\xC3\xA9 au lait", "cafe au lait", "[caf\xC3\xA9>cafe] au lait");
}

void TestWordDiff::marksChangedWords()
{
    QFETCH(QString, original);
    QFETCH(QString, revised);
    QTEST(QString::fromStdString(marked(original.toStdString(), revised.toStdString())), "expected");
}

void TestWordDiff::scriptsOfRandomTextsRebuildTheRevision()
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::RandomText random(seed);
        const std::string original = random.document(30);
        const std::string revised = random.document(30);
        const std::vector<TextChange> changes = diffWords(original, revised);
        QCOMPARE(applyChanges(original, revised, changes), revised);
        for (std::size_t i = 1; i < changes.size(); ++i) {
            QVERIFY(changes[i].original.begin > changes[i - 1].original.end);
            QCOMPARE(changes[i].original.begin - changes[i - 1].original.end,
                     changes[i].revised.begin - changes[i - 1].revised.end);
        }
    }
}

void TestWordDiff::matchesAreLongestCommonSubsequences()
{
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        test::RandomText random(seed);
        std::vector<std::int32_t> a(static_cast<std::size_t>(random.below(20)));
        std::vector<std::int32_t> b(static_cast<std::size_t>(random.below(20)));
        for (auto *sequence : {&a, &b}) {
            for (std::int32_t &value : *sequence) {
                value = static_cast<std::int32_t>(random.below(4));
            }
        }
        std::int64_t common = 0;
        std::int64_t originalDone = 0;
        std::int64_t revisedDone = 0;
        for (const SequenceMatch &match : matchSequences(a, b)) {
            QVERIFY(match.originalBegin >= originalDone && match.revisedBegin >= revisedDone && match.length > 0);
            for (std::int64_t i = 0; i < match.length; ++i) {
                QCOMPARE(a[static_cast<std::size_t>(match.originalBegin + i)],
                         b[static_cast<std::size_t>(match.revisedBegin + i)]);
            }
            common += match.length;
            originalDone = match.originalBegin + match.length;
            revisedDone = match.revisedBegin + match.length;
        }
        QVERIFY(originalDone <= static_cast<std::int64_t>(a.size()));
        QVERIFY(revisedDone <= static_cast<std::int64_t>(b.size()));
        QCOMPARE(common, commonLength(a, b));
    }
}

void TestWordDiff::farApartTextsStayOneChange()
{
    std::string original = "Start. ";
    std::string revised = "Start. ";
    for (int i = 0; i < 3000; ++i) {
        original += "a" + std::to_string(i) + ",";
        revised += "b" + std::to_string(i) + ";";
    }
    original += " End";
    revised += " End";
    const std::vector<TextChange> changes = diffWords(original, revised);
    QCOMPARE(changes.size(), std::size_t{1});
    QCOMPARE(applyChanges(original, revised, changes), revised);
}

QTEST_APPLESS_MAIN(TestWordDiff)
#include "tst_word_diff.moc"
