// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/text_stream.h"
#include "engine/tokenizer.h"
#include "tests/support/golden.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

using namespace palimpsest;
using nlohmann::json;

using Ids = std::vector<TokenId>;

/// The tokenizer fixtures: what the reference tokenizer makes of several hundred texts and id lists.
class TestTokenizerGolden : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void knownNumbers();
    void encodes_data() { rowsOf("encode"); }
    void encodes();
    void spansCoverTheText_data() { rowsOf("encode"); }
    void spansCoverTheText();
    void decodesWhatItEncoded_data() { rowsOf("encode"); }
    void decodesWhatItEncoded();
    void decodes_data() { rowsOf("decode"); }
    void decodes();
    void streamsTheSameText_data() { rowsOf("decode"); }
    void streamsTheSameText();

private:
    void rowsOf(const char *list);
    [[nodiscard]] const json &row(const char *list) const;

    std::shared_ptr<const Tokenizer> m_tokenizer;
    json m_golden;
};

void TestTokenizerGolden::initTestCase()
{
    const std::filesystem::path path = test::gemmaTokenizerPath();
    if (!std::filesystem::exists(path))
        QFAIL(qPrintable(QString::fromStdString(path.string() + " is not there. packaging/setup/fetch-test-tokenizer "
                                                                "fetches it; it may not be redistributed.")));
    m_tokenizer = Tokenizer::load(path);
    m_golden = test::goldenJson("tokenizer/tokenizer_goldens.json");
}

void TestTokenizerGolden::rowsOf(const char *list)
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < m_golden.at(list).size(); ++i)
        QTest::addRow("%s %zu", list, i) << static_cast<int>(i);
}

const json &TestTokenizerGolden::row(const char *list) const
{
    QFETCH(int, index);
    return m_golden.at(list).at(static_cast<std::size_t>(index));
}

void TestTokenizerGolden::knownNumbers()
{
    QCOMPARE(m_tokenizer->vocabSize(), m_golden.at("vocab_size").get<std::int64_t>());
    QCOMPARE(m_tokenizer->idOf("<0x00>").value(), m_golden.at("byte_token_0").get<TokenId>());
    QVERIFY(m_golden.at("encode").size() > 100);
    QVERIFY(m_golden.at("decode").size() > 50);
}

void TestTokenizerGolden::encodes()
{
    const json &golden = row("encode");
    const auto text = golden.at("text").get<std::string>();
    const auto ids = golden.at("ids").get<Ids>();
    QCOMPARE(m_tokenizer->encode(text, SpecialTokens::Parse), ids);
    QCOMPARE(m_tokenizer->encode(text, SpecialTokens::PlainText), golden.value("ids_plain", ids));
}

void TestTokenizerGolden::spansCoverTheText()
{
    const auto text = row("encode").at("text").get<std::string>();
    for (const SpecialTokens mode : {SpecialTokens::Parse, SpecialTokens::PlainText}) {
        Ids ids;
        std::int64_t end = 0;
        for (const TokenSpan &span : m_tokenizer->encodeWithSpans(text, mode)) {
            QCOMPARE(span.begin, end);
            QVERIFY(span.end > span.begin);
            end = span.end;
            ids.push_back(span.id);
            const auto slice =
                text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(end - span.begin));
            if (slice.find("\u2581") == std::string::npos) // decodes to a space
                QCOMPARE(std::string(m_tokenizer->tokenBytes(span.id)), slice);
        }
        QCOMPARE(end, static_cast<std::int64_t>(text.size()));
        QCOMPARE(ids, m_tokenizer->encode(text, mode));
    }
}

void TestTokenizerGolden::decodesWhatItEncoded()
{
    const json &golden = row("encode");
    const auto ids = golden.at("ids").get<Ids>();
    const std::string text = golden.value("decoded", golden.at("text").get<std::string>());
    QCOMPARE(m_tokenizer->decode(ids, DecodeSpecial::Keep), text);
    QCOMPARE(m_tokenizer->decode(ids, DecodeSpecial::Skip), golden.value("decoded_skip_special", text));
}

void TestTokenizerGolden::decodes()
{
    const json &golden = row("decode");
    const auto ids = golden.at("ids").get<Ids>();
    const auto text = golden.at("text").get<std::string>();
    QCOMPARE(m_tokenizer->decode(ids, DecodeSpecial::Keep), text);
    QCOMPARE(m_tokenizer->decode(ids, DecodeSpecial::Skip), golden.value("text_skip_special", text));
}

void TestTokenizerGolden::streamsTheSameText()
{
    const json &golden = row("decode");
    for (const DecodeSpecial special : {DecodeSpecial::Keep, DecodeSpecial::Skip}) {
        TextStream stream(m_tokenizer, special);
        std::string text;
        for (const TokenId id : golden.at("ids").get<Ids>())
            text += stream.push({&id, 1});
        text += stream.finish();
        QCOMPARE(text, m_tokenizer->decode(golden.at("ids").get<Ids>(), special));
    }
}

QTEST_GUILESS_MAIN(TestTokenizerGolden)
#include "tst_tokenizer_golden.moc"
