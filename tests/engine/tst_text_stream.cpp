// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/text_stream.h"
#include "engine/utf8.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <random>

using namespace palimpsest;

using Ids = std::vector<TokenId>;

class TestTextStream : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void holdsBytesBackUntilTheirRunEnds();
    void isEmptyAfterFinish();
    void anySplitGivesTheDecodedText();
};

namespace {

TokenId byteId(unsigned byte)
{
    const QByteArray hex = QByteArray::number(byte, 16).rightJustified(2, '0').toUpper();
    return test::demoTokenizer()->idOf("<0x" + hex.toStdString() + ">").value();
}

/// Ids as a canvas may hold them: words, bytes of whole, cut and damaged characters, special tokens, ids without piece.
Ids randomIds(std::mt19937 &random)
{
    const auto tokenizer = test::demoTokenizer();
    const std::vector<std::string> characters = {"\u00fc", "\u6f22", "\U0001F389", "A"};
    Ids ids;
    const std::size_t count = random() % 12;
    for (std::size_t i = 0; i < count; ++i) {
        switch (random() % 6) {
        case 0:
            ids.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(tokenizer->vocabSize())));
            break;
        case 1:
            ids.push_back(static_cast<TokenId>(random() % 20)); // a special token
            break;
        case 2:
            ids.push_back(random() % 2 == 0 ? -1 : 1000000);
            break;
        case 3:
            ids.push_back(byteId(random() % 256));
            break;
        default:
            const std::string &character = characters[random() % characters.size()];
            const std::size_t length = random() % 4 == 0 ? 1 + random() % character.size() : character.size();
            for (std::size_t k = 0; k < length; ++k)
                ids.push_back(byteId(static_cast<unsigned char>(character[k])));
        }
    }
    return ids;
}

} // namespace

void TestTextStream::holdsBytesBackUntilTheirRunEnds()
{
    const auto tokenizer = test::demoTokenizer();
    const Ids word = tokenizer->encode(" word", SpecialTokens::PlainText);
    TextStream stream(tokenizer, DecodeSpecial::Skip);
    QCOMPARE(stream.push(Ids{byteId(0xC3)}), std::string());
    QCOMPARE(stream.push(Ids{byteId(0xA9)}), std::string()); // a bad byte behind it would still undo it
    QCOMPARE(stream.push(Ids{tokenizer->idOf("<bos>").value()}), std::string());
    QCOMPARE(stream.push(word), std::string("\u00e9 word"));
    QCOMPARE(stream.push(Ids{byteId(0xE6), byteId(0xBC)}), std::string());
    QCOMPARE(stream.push(word), std::string("\uFFFD\uFFFD word"));
    QCOMPARE(stream.push(Ids{}), std::string());
    QCOMPARE(stream.finish(), std::string());
}

void TestTextStream::isEmptyAfterFinish()
{
    TextStream stream(test::demoTokenizer(), DecodeSpecial::Keep);
    QCOMPARE(stream.push(Ids{byteId(0xC3)}), std::string());
    QCOMPARE(stream.finish(), std::string("\uFFFD"));
    QCOMPARE(stream.push(Ids{byteId(0xA9)}), std::string());
    QCOMPARE(stream.finish(), std::string("\uFFFD")); // the first half is gone
    QCOMPARE(stream.finish(), std::string());
}

void TestTextStream::anySplitGivesTheDecodedText()
{
    const auto tokenizer = test::demoTokenizer();
    std::mt19937 random(5);
    for (int round = 0; round < 3000; ++round) {
        const Ids ids = randomIds(random);
        for (const DecodeSpecial special : {DecodeSpecial::Keep, DecodeSpecial::Skip}) {
            TextStream stream(tokenizer, special);
            std::string text;
            for (std::span<const TokenId> rest(ids); !rest.empty();) {
                const std::size_t length = 1 + random() % rest.size();
                const std::string part = stream.push(rest.first(length));
                QVERIFY(!firstInvalidUtf8(part));
                text += part;
                rest = rest.subspan(length);
            }
            text += stream.finish();
            QCOMPARE(text, tokenizer->decode(ids, special));
        }
    }
}

QTEST_GUILESS_MAIN(TestTextStream)
#include "tst_text_stream.moc"
