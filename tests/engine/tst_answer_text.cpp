// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/answer_text.h"
#include "engine/text_stream.h"
#include "engine/utf8.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace palimpsest;
using palimpsest::test::demoTokenizer;

namespace {

using Ids = std::vector<TokenId>;
using Stops = std::vector<std::string>;

struct Streamed
{
    std::string pieces;
    std::string text;
    std::string rawText;
    Ids tokens;
    bool stopped = false;
};

Ids idsOf(std::string_view text)
{
    return demoTokenizer()->encode(text, SpecialTokens::Parse);
}

/// Byte tokens of a text's bytes, whatever pieces there are for it.
Ids byteIdsOf(std::string_view text)
{
    const TokenId first = demoTokenizer()->idOf("<0x00>").value();
    Ids ids;
    for (const char byte : text) {
        ids.push_back(first + static_cast<unsigned char>(byte));
    }
    return ids;
}

Ids joined(std::initializer_list<Ids> parts)
{
    Ids all;
    for (const Ids &part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

/// Feeds `ids` in chunks of `chunk`.
Streamed stream(const Ids &ids, std::size_t chunk, const Stops &stops = {},
                AnswerText::End end = AnswerText::End::Natural)
{
    AnswerText answer(demoTokenizer(), stops);
    Streamed result;
    for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
        result.pieces += answer.append(std::span(ids).subspan(begin, std::min(chunk, ids.size() - begin)));
    }
    result.pieces += answer.finish(end);
    result.text = answer.text();
    result.rawText = answer.rawText();
    result.tokens = answer.tokens();
    result.stopped = answer.stopped();
    return result;
}

} // namespace

class TestAnswerText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void piecesTextAndTokensAgreeOnRandomIds();
    void stopStringEndsTheText_data();
    void stopStringEndsTheText();
    void beginningsOfStopStringsAreHeldBack();
    void heldBackTextComesOutAtTheEnd();
    void aTokenThatAStopStringBeginsInIsKept();
    void bytesOfOneCharacterAreHeldBackAcrossCanvases();
    void aCutLeavesOutTheBeginningOfACharacter_data();
    void aCutLeavesOutTheBeginningOfACharacter();
    void unfinishedBytesOfTheModelBecomeReplacements();
    void specialTokensAreSkippedInTextAndKeptInRawText();
    void stopStringCutsTheRawTextAtTheSamePlace();
    void stopStringMadeOfByteTokens();
    void withoutATokenizerThereAreTokensAlone();
};

void TestAnswerText::piecesTextAndTokensAgreeOnRandomIds()
{
    std::mt19937 random(20261129);
    const auto vocab = static_cast<TokenId>(demoTokenizer()->vocabSize());
    const TokenId firstByte = demoTokenizer()->idOf("<0x00>").value();
    for (int round = 0; round < 300; ++round) {
        Ids ids;
        const auto count = static_cast<std::size_t>(random() % 60);
        while (ids.size() < count) {
            // Half of them byte tokens and special ones, which are the difficult ones.
            switch (random() % 4) {
            case 0:
                ids.push_back(static_cast<TokenId>(random() % 20));
                break;
            case 1:
                ids.push_back(firstByte + static_cast<TokenId>(random() % 256));
                break;
            default:
                ids.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(vocab)));
            }
        }
        const Streamed once = stream(ids, ids.size() + 1);
        QCOMPARE(once.text, demoTokenizer()->decode(ids, DecodeSpecial::Skip));
        QCOMPARE(once.rawText, demoTokenizer()->decode(ids, DecodeSpecial::Keep));
        QCOMPARE(once.tokens, ids);
        const Stops stops{once.text.substr(0, once.text.empty() ? 0 : 1) + "e", "th", " a", "ing"};
        const Streamed whole = stream(ids, ids.size() + 1, stops);
        for (const std::size_t chunk : {1, 2, 7}) {
            const Streamed parts = stream(ids, chunk);
            QCOMPARE(parts.pieces, once.text);
            QCOMPARE(parts.text, once.text);
            const Streamed stopped = stream(ids, chunk, stops);
            QCOMPARE(stopped.pieces, stopped.text);
            QCOMPARE(stopped.text, whole.text); // wherever canvases end
            QCOMPARE(stopped.tokens, whole.tokens);
            QCOMPARE(stopped.rawText, whole.rawText);
            const Streamed cut = stream(ids, chunk, {}, AnswerText::End::Cut);
            QCOMPARE(cut.pieces, cut.text);
            QVERIFY(!firstInvalidUtf8(cut.text));
            QVERIFY(cut.tokens.size() <= ids.size() && cut.tokens.size() + 6 > ids.size());
        }
    }
}

void TestAnswerText::stopStringEndsTheText_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("stops");
    QTest::addColumn<QString>("wanted");
    QTest::addColumn<bool>("stopped");
    const QString fox = QStringLiteral("the quick brown fox jumps");
    QTest::newRow("inside words") << fox << QStringList{"own fox"} << "the quick br" << true;
    QTest::newRow("at the beginning") << fox << QStringList{"the"} << "" << true;
    QTest::newRow("at the end") << fox << QStringList{"jumps"} << "the quick brown fox " << true;
    QTest::newRow("absent") << fox << QStringList{"cat"} << fox << false;
    QTest::newRow("only begun at the end") << fox << QStringList{"jumps over"} << fox << false;
    QTest::newRow("first of two") << fox << QStringList{"fox", "quick"} << "the " << true;
    QTest::newRow("first to be complete wins")
        << fox << QStringList{"quick brown fox", "own"} << "the quick br" << true;
    QTest::newRow("longer of two that end together") << fox << QStringList{"fox", "brown fox"} << "the quick " << true;
    QTest::newRow("beginning repeats") << QStringLiteral("aaab") << QStringList{"aab"} << "a" << true;
    QTest::newRow("several bytes a character")
        << QStringLiteral("naïve café") << QStringList{"é"} << "naïve caf" << true;
}

void TestAnswerText::stopStringEndsTheText()
{
    QFETCH(QString, text);
    QFETCH(QStringList, stops);
    QFETCH(QString, wanted);
    QFETCH(bool, stopped);
    Stops stopStrings;
    for (const QString &stop : stops) {
        stopStrings.push_back(stop.toStdString());
    }
    const Ids ids = idsOf(text.toStdString());
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{2}, std::size_t{3}, ids.size()}) {
        const Streamed result = stream(ids, chunk, stopStrings);
        QCOMPARE(QString::fromStdString(result.text), wanted);
        QCOMPARE(result.pieces, result.text);
        QCOMPARE(result.rawText, result.text);
        QCOMPARE(result.stopped, stopped);
        QVERIFY(demoTokenizer()->decode(result.tokens, DecodeSpecial::Skip).starts_with(result.text));
    }
}

void TestAnswerText::beginningsOfStopStringsAreHeldBack()
{
    AnswerText answer(demoTokenizer(), {"own fox"});
    QCOMPARE(answer.append(idsOf("quick brown")), std::string("quick br"));
    QCOMPARE(answer.append(idsOf(" f")), std::string());
    QCOMPARE(answer.append(idsOf("rog")), std::string("own frog"));
    QCOMPARE(answer.append(idsOf(" own")), std::string(" "));
    QCOMPARE(answer.append(idsOf(" fox and more")), std::string());
    QVERIFY(answer.stopped());
    QCOMPARE(answer.append(idsOf("ignored")), std::string());
    QCOMPARE(answer.finish(AnswerText::End::Natural), std::string());
    QCOMPARE(answer.text(), std::string("quick brown frog "));
}

void TestAnswerText::heldBackTextComesOutAtTheEnd()
{
    AnswerText answer(demoTokenizer(), {"own fox"});
    QCOMPARE(answer.append(idsOf("brown")), std::string("br"));
    QCOMPARE(answer.finish(AnswerText::End::Cut), std::string("own"));
    QVERIFY(!answer.stopped());
}

void TestAnswerText::aTokenThatAStopStringBeginsInIsKept()
{
    const Ids ids = idsOf(" the quick");
    QCOMPARE(ids.size(), std::size_t{2});
    const Streamed inside = stream(ids, 9, {"ick"});
    QCOMPARE(inside.text, std::string(" the qu"));
    QCOMPARE(inside.tokens, ids);
    const Streamed atBorder = stream(ids, 9, {" quick"});
    QCOMPARE(atBorder.text, std::string(" the"));
    QCOMPARE(atBorder.tokens, (Ids{ids[0]}));
}

void TestAnswerText::bytesOfOneCharacterAreHeldBackAcrossCanvases()
{
    const Ids bytes = byteIdsOf("漢字");
    AnswerText answer(demoTokenizer(), {});
    QCOMPARE(answer.append(std::span(bytes).first(2)), std::string());
    QCOMPARE(answer.append(std::span(bytes).subspan(2, 2)), std::string());
    QCOMPARE(answer.append(std::span(bytes).subspan(4)), std::string());
    QCOMPARE(answer.append(idsOf("!")), std::string("漢字!"));
}

void TestAnswerText::aCutLeavesOutTheBeginningOfACharacter_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("kept");
    QTest::newRow("whole character") << QByteArray("\xE6\xBC\xA2") << 3;
    QTest::newRow("one byte of three") << QByteArray("\xE6") << 0;
    QTest::newRow("two bytes of three") << QByteArray("\xE6\xBC") << 0;
    QTest::newRow("second character begun") << QByteArray("\xE6\xBC\xA2\xE5\xAD") << 3;
    QTest::newRow("three bytes of four") << QByteArray("a\xF0\x9F\x91") << 1;
    QTest::newRow("four of four") << QByteArray("\xF0\x9F\x91\xA9") << 4;
    QTest::newRow("a continuation alone is no beginning") << QByteArray("\xA2") << 1;
    QTest::newRow("a byte that begins nothing") << QByteArray("\xFF") << 1;
}

void TestAnswerText::aCutLeavesOutTheBeginningOfACharacter()
{
    QFETCH(QByteArray, bytes);
    QFETCH(int, kept);
    const Ids ids = joined({idsOf("x"), byteIdsOf(bytes.toStdString())});
    for (const std::size_t chunk : {1, 2, 16}) {
        const Streamed result = stream(ids, chunk, {}, AnswerText::End::Cut);
        QCOMPARE(result.tokens, Ids(ids.begin(), ids.begin() + 1 + kept));
        QCOMPARE(result.text, demoTokenizer()->decode(result.tokens, DecodeSpecial::Skip));
        QCOMPARE(result.pieces, result.text);
    }
}

void TestAnswerText::unfinishedBytesOfTheModelBecomeReplacements()
{
    const Ids ids = joined({idsOf("x"), byteIdsOf("\xE6\xBC")});
    const Streamed result = stream(ids, 1);
    QCOMPARE(result.text, std::string("x\uFFFD\uFFFD"));
    QCOMPARE(result.tokens, ids);
}

void TestAnswerText::specialTokensAreSkippedInTextAndKeptInRawText()
{
    const Streamed result = stream(idsOf("<|channel>thought\nhm<channel|>yes"), 2);
    QCOMPARE(result.text, std::string("thought\nhmyes"));
    QCOMPARE(result.rawText, std::string("<|channel>thought\nhm<channel|>yes"));
}

void TestAnswerText::stopStringCutsTheRawTextAtTheSamePlace()
{
    const Streamed result = stream(idsOf("<|channel>thought\nhm<channel|>one two five six"), 3, {"ve s"});
    QCOMPARE(result.text, std::string("thought\nhmone two fi"));
    QCOMPARE(result.rawText, std::string("<|channel>thought\nhm<channel|>one two fi"));
}

void TestAnswerText::stopStringMadeOfByteTokens()
{
    const Ids ids = joined({idsOf("a"), byteIdsOf("漢字"), idsOf("b")});
    for (const std::size_t chunk : {1, 3, 16}) {
        const Streamed result = stream(ids, chunk, {"字"});
        QCOMPARE(result.text, std::string("a漢"));
        QCOMPARE(result.rawText, std::string("a漢"));
        QCOMPARE(result.tokens, Ids(ids.begin(), ids.begin() + 4));
        QCOMPARE(result.pieces, result.text);
    }
    const Streamed atTheEnd = stream(joined({idsOf("a"), byteIdsOf("漢")}), 1, {"漢"});
    QVERIFY(atTheEnd.stopped);
    QCOMPARE(atTheEnd.text, std::string("a"));
}

void TestAnswerText::withoutATokenizerThereAreTokensAlone()
{
    AnswerText answer(nullptr, {});
    QCOMPARE(answer.append(Ids{3, 4}), std::string());
    QCOMPARE(answer.finish(AnswerText::End::Cut), std::string());
    QCOMPARE(answer.tokens(), (Ids{3, 4}));
    QCOMPARE(answer.text(), std::string());
    QCOMPARE(answer.rawText(), std::string());
}

QTEST_GUILESS_MAIN(TestAnswerText)
#include "tst_answer_text.moc"
