// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/model_config.h"
#include "engine/tokenizer.h"
#include "tests/support/test_tokenizers.h"
#include "tests/support/tiny_tokenizer.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <thread>

using namespace palimpsest;
using nlohmann::json;

namespace {

using Ids = std::vector<TokenId>;

/// BPE as it is defined, one merge at a time over the whole text; quadratic.
class PlainBpe
{
public:
    explicit PlainBpe(const std::filesystem::path &tokenizerJson)
    {
        std::ifstream file(tokenizerJson);
        const json model = json::parse(file).at("model");
        for (const json &merge : model.at("merges"))
            m_ranks.try_emplace({merge.at(0), merge.at(1)}, m_ranks.size());
    }

    [[nodiscard]] std::vector<std::string> pieces(const std::string &text) const
    {
        std::vector<std::string> word;
        for (const char c : text)
            word.push_back(c == ' ' ? "\u2581" : std::string(1, c));
        while (true) {
            std::size_t best = m_ranks.size();
            std::size_t place = 0;
            for (std::size_t i = 0; i + 1 < word.size(); ++i) {
                const auto found = m_ranks.find({word[i], word[i + 1]});
                if (found != m_ranks.end() && found->second < best) {
                    best = found->second;
                    place = i;
                }
            }
            if (best == m_ranks.size())
                return word;
            word[place] += word[place + 1];
            word.erase(word.begin() + static_cast<std::ptrdiff_t>(place) + 1);
        }
    }

private:
    std::map<std::pair<std::string, std::string>, std::size_t> m_ranks;
};

std::shared_ptr<const Tokenizer> tinyTokenizer(const json &document = test::tinyTokenizerJson())
{
    return Tokenizer::parse(document.dump(), "tiny/tokenizer.json");
}

std::vector<std::string> piecesOf(const Tokenizer &tokenizer, const std::string &text)
{
    std::vector<std::string> pieces;
    for (const TokenId id : tokenizer.encode(text, SpecialTokens::Parse))
        pieces.emplace_back(tokenizer.piece(id));
    return pieces;
}

} // namespace

class TestTokenizer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void mergesByRankThenFromTheLeft();
    void readsMergesInBothSpellings();
    void agreesWithPlainBpe();
    void spellsUnknownCharactersInBytes();
    void specialTokensOnlyWhereAsked();
    void addedTokensTakeTheLongestAtTheLeftmostPlace();
    void idsWithoutPieceDecodeToNothing();
    void refusesTextThatIsNotUtf8_data();
    void refusesTextThatIsNotUtf8();
    void severalThreadsAtOnce();
    void loadsFromAnyPath();
    void saysWhyAFileCannotBeLoaded();
    void knowsItsModel();
};

void TestTokenizer::mergesByRankThenFromTheLeft()
{
    const auto tokenizer = tinyTokenizer();
    using Pieces = std::vector<std::string>;
    QCOMPARE(piecesOf(*tokenizer, "abc"), (Pieces{"abc"}));
    QCOMPARE(piecesOf(*tokenizer, "a abab"), (Pieces{"a", "\u2581ab", "ab"}));
    QCOMPARE(piecesOf(*tokenizer, " a"), (Pieces{"\u2581a"}));
    QCOMPARE(piecesOf(*tokenizer, " abc"), (Pieces{"\u2581", "abc"})); // "ab" + "c" has the lower rank
    QCOMPARE(piecesOf(*tokenizer, "aab"), (Pieces{"a", "ab"}));
    QCOMPARE(piecesOf(*tokenizer, ""), Pieces{});
}

void TestTokenizer::readsMergesInBothSpellings()
{
    json document = test::tinyTokenizerJson();
    for (json &merge : document["model"]["merges"])
        merge = merge.at(0).get<std::string>() + ' ' + merge.at(1).get<std::string>();
    for (const char *text : {"abc", " ab ab", "a abc\n\nb", "x"})
        QCOMPARE(tinyTokenizer(document)->encode(text, SpecialTokens::Parse),
                 tinyTokenizer()->encode(text, SpecialTokens::Parse));
}

/// The engine cuts a text where no merge can reach across and merges with a heap; neither may change a token.
void TestTokenizer::agreesWithPlainBpe()
{
    const PlainBpe plain(std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "resources/demo_model/tokenizer.json");
    const auto tokenizer = test::demoTokenizer();
    const std::vector<std::string> alphabets = {"ab",    "the and ing", "abcdefghijklmnopqrstuvwxyz     ETAOIN.,'0123",
                                                "aaaa ", " -=._",       "0123456789. "};
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::string &alphabet = alphabets[random() % alphabets.size()];
        std::string text(1 + random() % 80, ' ');
        for (char &c : text)
            c = alphabet[random() % alphabet.size()];
        QCOMPARE(piecesOf(*tokenizer, text), plain.pieces(text));
    }
}

void TestTokenizer::spellsUnknownCharactersInBytes()
{
    const auto tokenizer = tinyTokenizer();
    QCOMPARE(piecesOf(*tokenizer, "a\u6f22b"), (std::vector<std::string>{"a", "<0xE6>", "<0xBC>", "<0xA2>", "b"}));
    const std::string text = "\u00e9 \u6f22a<0x41>";
    const Ids ids = tokenizer->encode(text, SpecialTokens::Parse);
    QCOMPARE(tokenizer->decode(ids, DecodeSpecial::Keep), text);
    QVERIFY(std::ranges::find(ids, tokenizer->idOf("<0x41>").value()) == ids.end()); // spelled out, not obeyed
    const std::vector<TokenSpan> spans = tokenizer->encodeWithSpans(text, SpecialTokens::Parse);
    QCOMPARE(spans[2].begin, 3); // the first of three bytes
    QCOMPARE(spans[2].end, 4);
    QCOMPARE(
        tokenizer->decode(Ids{tokenizer->idOf("<0xE6>").value(), tokenizer->idOf("a").value()}, DecodeSpecial::Keep),
        std::string("\uFFFDa"));
}

void TestTokenizer::specialTokensOnlyWhereAsked()
{
    const auto tokenizer = tinyTokenizer();
    const TokenId turnEnd = tokenizer->idOf("<turn|>").value();
    const std::string text = "a<turn|>\n\nb";
    const Ids parsed = tokenizer->encode(text, SpecialTokens::Parse);
    const Ids plain = tokenizer->encode(text, SpecialTokens::PlainText);
    QCOMPARE(parsed.size(), 4U);
    QCOMPARE(parsed[1], turnEnd);
    QVERIFY(std::ranges::find(plain, turnEnd) == plain.end());
    QCOMPARE(plain[plain.size() - 2], tokenizer->idOf("\n\n").value()); // an added token, but not a special one
    QCOMPARE(tokenizer->decode(plain, DecodeSpecial::Skip), text);
    QCOMPARE(tokenizer->decode(parsed, DecodeSpecial::Keep), text);
    QCOMPARE(tokenizer->decode(parsed, DecodeSpecial::Skip), std::string("a\n\nb"));
    QVERIFY(tokenizer->isSpecial(turnEnd));
    QVERIFY(!tokenizer->isSpecial(plain.back()));
}

void TestTokenizer::addedTokensTakeTheLongestAtTheLeftmostPlace()
{
    json document = test::tinyTokenizerJson();
    TokenId next = 300;
    for (const char *content : {"abca", "bc", "bcab", "caba"}) {
        json token = document["added_tokens"].back();
        token["content"] = content;
        token["id"] = next++;
        document["added_tokens"].push_back(token);
    }
    const auto tokenizer = tinyTokenizer(document);
    using Pieces = std::vector<std::string>;
    QCOMPARE(piecesOf(*tokenizer, "abcab"), (Pieces{"abca", "b"}));
    QCOMPARE(piecesOf(*tokenizer, "bbcabc"), (Pieces{"b", "bcab", "c"}));
    QCOMPARE(piecesOf(*tokenizer, "bca"), (Pieces{"bc", "a"}));
    QCOMPARE(piecesOf(*tokenizer, "\n\n\n"), (Pieces{"\n\n", "\n"}));
    QCOMPARE(tokenizer->vocabSize(), 304);
}

void TestTokenizer::idsWithoutPieceDecodeToNothing()
{
    const auto tokenizer = tinyTokenizer();
    constexpr TokenId kHighest = std::numeric_limits<TokenId>::max();
    const TokenId c3 = tokenizer->idOf("<0xC3>").value();
    const TokenId a9 = tokenizer->idOf("<0xA9>").value();
    QCOMPARE(tokenizer->decode(Ids{-1, c3, kHighest, a9, 100000}, DecodeSpecial::Keep), std::string("\u00e9"));
    QCOMPARE(tokenizer->piece(-1), std::string_view());
    QCOMPARE(tokenizer->tokenBytes(kHighest), std::string_view());
    QVERIFY(!tokenizer->isByteToken(kHighest));
    QVERIFY(!tokenizer->isSpecial(-7));
    QVERIFY(!tokenizer->idOf("no such piece"));
    QCOMPARE(tokenizer->tokenBytes(tokenizer->idOf("\u2581ab").value()), std::string_view(" ab"));
    QCOMPARE(tokenizer->tokenBytes(c3), std::string_view("\xC3"));
}

void TestTokenizer::refusesTextThatIsNotUtf8_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("position");
    QTest::newRow("lone continuation") << QByteArray("ab\x80") << 2;
    QTest::newRow("cut character") << QByteArray("\xC3\xA9 \xE6\xBC") << 3;
    QTest::newRow("overlong slash") << QByteArray("\xC0\xAF") << 0;
    QTest::newRow("surrogate") << QByteArray("a\xED\xA0\x80") << 1;
    QTest::newRow("above U+10FFFF") << QByteArray("\xF4\x90\x80\x80") << 0;
    QTest::newRow("Latin-1") << QByteArray("caf\xE9 noir") << 3;
    QTest::newRow("UTF-16 mark") << QByteArray("\xFF\xFE"
                                               "a")
                                 << 0;
}

void TestTokenizer::refusesTextThatIsNotUtf8()
{
    QFETCH(QByteArray, text);
    QFETCH(int, position);
    for (const SpecialTokens mode : {SpecialTokens::Parse, SpecialTokens::PlainText}) {
        try {
            (void)test::demoTokenizer()->encode(text.toStdString(), mode);
            QFAIL("accepted");
        } catch (const Error &error) {
            QCOMPARE(error.kind(), ErrorKind::InvalidInput);
            QVERIFY2(QString(error.what()).contains(QStringLiteral("byte %1 ").arg(position)), error.what());
        }
    }
}

void TestTokenizer::severalThreadsAtOnce()
{
    const auto tokenizer = test::demoTokenizer();
    const std::string text = "Many hands make light work, \u6f22 and <turn|> too.\n\n";
    const Ids expected = tokenizer->encode(text, SpecialTokens::Parse);
    std::atomic<int> wrong = 0;
    constexpr int kThreads = 4;
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                if (tokenizer->encode(text, SpecialTokens::Parse) != expected ||
                    tokenizer->decode(expected, DecodeSpecial::Keep) != text)
                    ++wrong;
            }
        });
    threads.clear();
    QCOMPARE(wrong.load(), 0);
}

void TestTokenizer::loadsFromAnyPath()
{
    QTemporaryDir folder;
    const std::filesystem::path path =
        std::filesystem::path(folder.path().toStdString()) / "Modelle \u00fcber \u6f22" / "tokenizer.json";
    std::filesystem::create_directory(path.parent_path());
    std::ofstream(path) << test::tinyTokenizerJson();
    QCOMPARE(Tokenizer::load(path)->vocabSize(), tinyTokenizer()->vocabSize());
}

void TestTokenizer::saysWhyAFileCannotBeLoaded()
{
    QTemporaryDir folder;
    const std::filesystem::path root(folder.path().toStdString());
    std::ofstream(root / "empty.json").flush();
    const auto kindOf = [](const std::filesystem::path &path) {
        try {
            (void)Tokenizer::load(path);
        } catch (const Error &error) {
            const bool named = error.subject() == path.string() &&
                               std::string_view(error.what()).find(path.string()) != std::string_view::npos;
            return named ? static_cast<int>(error.kind()) : -2;
        }
        return -1;
    };
    QCOMPARE(kindOf(root / "nowhere" / "tokenizer.json"), static_cast<int>(ErrorKind::NotFound));
    QCOMPARE(kindOf(root), static_cast<int>(ErrorKind::Io));
    QCOMPARE(kindOf(root / "empty.json"), static_cast<int>(ErrorKind::InvalidCheckpoint));
}

void TestTokenizer::knowsItsModel()
{
    const auto tokenizer = tinyTokenizer();
    const auto fits = [&](const ModelConfig &model) {
        try {
            requireTokenizerFits(*tokenizer, model, "tiny/tokenizer.json");
            return true;
        } catch (const Error &error) {
            return error.kind() != ErrorKind::InvalidCheckpoint || error.subject() != "tiny/tokenizer.json";
        }
    };
    ModelConfig right;
    right.vocabSize = tokenizer->vocabSize();
    right.eosTokenIds = {1, 3};
    QVERIFY(fits(right));
    ModelConfig model = right;
    model.vocabSize = 320; // a padded vocabulary
    QVERIFY(fits(model));
    model.vocabSize = right.vocabSize - 1;
    QVERIFY(!fits(model));
    model.vocabSize = 262144;
    QVERIFY(!fits(model));
    model = right;
    model.bosTokenId = 200;
    QVERIFY(!fits(model));
    model = right;
    model.eosTokenIds = {1, 5000};
    QVERIFY(!fits(model));
}

QTEST_GUILESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
