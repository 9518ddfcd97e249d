// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/tokenizer_tables.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>

using namespace palimpsest;

/// The cost of encoding grows with the text and no faster, whatever the text is. Counted in merge candidates, not in
/// time, so that it holds on any machine.
class TestTokenizerGrowth : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void growsLinearly_data();
    void growsLinearly();
    void ordinaryTextIsMergedInShortWords();

private:
    [[nodiscard]] std::int64_t candidates(const std::string &text) const;

    std::optional<TokenizerTables> m_tables;
};

namespace {

std::string repeated(std::string_view unit, std::size_t length)
{
    std::string text;
    while (text.size() < length)
        text += unit;
    text.resize(length);
    return text;
}

std::string randomLetters(std::size_t length)
{
    std::mt19937 random(11);
    std::string text(length, ' ');
    for (char &c : text)
        c = static_cast<char>('a' + random() % 26);
    return text;
}

} // namespace

void TestTokenizerGrowth::initTestCase()
{
    std::ifstream file(std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "resources/demo_model/tokenizer.json");
    const std::string json{std::istreambuf_iterator<char>(file), {}};
    m_tables.emplace(buildTokenizerTables(json, "tokenizer.json"));
}

std::int64_t TestTokenizerGrowth::candidates(const std::string &text) const
{
    std::vector<TokenSpan> spans;
    return encodeText(*m_tables, text, SpecialTokens::Parse, spans);
}

void TestTokenizerGrowth::growsLinearly_data()
{
    constexpr std::size_t kLength = 100000;
    QTest::addColumn<QByteArray>("half");
    QTest::addColumn<QByteArray>("whole");
    const auto row = [](const char *name, const auto &make) {
        QTest::newRow(name) << QByteArray::fromStdString(make(kLength / 2)) << QByteArray::fromStdString(make(kLength));
    };
    const std::vector<std::pair<const char *, const char *>> units = {
        {"one letter", "a"},
        {"a word", "the"},
        {"a pair", "in"},
        {"letter and space", "e "},
        {"spaces", " "},
        {"newlines", "\n"},
        {"opening brackets", "<"},
        {"unfinished markers", "<|turn"},
        {"an unknown character", "\u6f22"},
        {"a long word", "antidisestablishment"},
    };
    for (const auto &[name, unit] : units)
        row(name, [unit = unit](std::size_t length) { return repeated(unit, length - length % std::strlen(unit)); });
    row("random letters", randomLetters);
}

void TestTokenizerGrowth::growsLinearly()
{
    QFETCH(QByteArray, half);
    QFETCH(QByteArray, whole);
    const std::int64_t forHalf = candidates(half.toStdString());
    const std::int64_t forWhole = candidates(whole.toStdString());
    // Every character gives one candidate at first, every merge at most two more: never above three a character.
    QVERIFY2(forWhole <= 3 * whole.size(), qPrintable(QString::number(forWhole)));
    QVERIFY2(10 * forWhole <= 21 * forHalf + 1000, qPrintable(QString::number(forWhole)));
}

void TestTokenizerGrowth::ordinaryTextIsMergedInShortWords()
{
    // Where the text is cut, pieces are merged alone or together with the same result and at the same cost.
    const std::string sentence = "The cost of a sentence does not depend on what stands around it.\n";
    const std::int64_t alone = candidates(sentence);
    QVERIFY(alone > 0);
    QCOMPARE(candidates(repeated(sentence, sentence.size() * 1000)), alone * 1000);
}

QTEST_GUILESS_MAIN(TestTokenizerGrowth)
#include "tst_tokenizer_growth.moc"
