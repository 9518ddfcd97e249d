// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/tokenizer.h"
#include "tests/support/tiny_tokenizer.h"

#include <QTest>

#include <functional>

using namespace palimpsest;
using nlohmann::json;

/// Damaged, foreign and absurd tokenizer files: each is refused with the file, the field, what was found and wanted.
class TestTokenizerJson : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void refuses_data();
    void refuses();
    void everyCutIsRefused();
};

namespace {

using Damage = std::function<void(json &)>;

void damagedRow(const char *name, ErrorKind kind, const char *words, const Damage &damage)
{
    json document = test::tinyTokenizerJson();
    damage(document);
    QTest::newRow(name) << QByteArray::fromStdString(document.dump()) << static_cast<int>(kind) << QByteArray(words);
}

/// A row whose document could not be written with a JSON library: `from` is replaced in the text.
void editedRow(const char *name, ErrorKind kind, const char *words, const char *from, const QByteArray &to)
{
    QByteArray text = QByteArray::fromStdString(test::tinyTokenizerJson().dump());
    QVERIFY(text.count(from) == 1);
    QTest::newRow(name) << text.replace(from, to) << static_cast<int>(kind) << QByteArray(words);
}

void rowsOfText()
{
    constexpr int kInvalid = static_cast<int>(ErrorKind::InvalidCheckpoint);
    QTest::newRow("empty") << QByteArray() << kInvalid << QByteArray("not valid JSON");
    QTest::newRow("not JSON") << QByteArray("<html>") << kInvalid << QByteArray("not valid JSON");
    QTest::newRow("zeros") << QByteArray(64, '\0') << kInvalid << QByteArray("not valid JSON");
    QTest::newRow("invalid UTF-8") << QByteArray("{\"a\":\"\xC3(\"}") << kInvalid << QByteArray("not valid JSON");
    QTest::newRow("a list") << QByteArray("[1,2]") << kInvalid << QByteArray("wanted an object");
    QTest::newRow("null") << QByteArray("null") << kInvalid << QByteArray("wanted an object");
    QTest::newRow("empty object") << QByteArray("{}") << kInvalid << QByteArray("model");
    QTest::newRow("LFS pointer") << QByteArray("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n")
                                 << kInvalid << QByteArray("git lfs pull");
    QTest::newRow("deep lists") << QByteArray(500000, '[') << kInvalid << QByteArray("nested deeper");
    QTest::newRow("deep objects") << QByteArray("{\"a\":").repeated(200000) << kInvalid << QByteArray("nested deeper");
}

void rowsOfModels()
{
    const auto model = [](const char *field, const json &value) {
        return [field, value](json &document) {
            document["model"][field] = value;
        };
    };
    constexpr ErrorKind kUnsupported = ErrorKind::Unsupported;
    constexpr ErrorKind kInvalid = ErrorKind::InvalidCheckpoint;
    damagedRow("no model", kInvalid, "model is null", [](json &d) { d.erase("model"); });
    damagedRow("model is a list", kInvalid, "model is [", [](json &d) { d["model"] = json::array({json::object()}); });
    damagedRow("WordPiece", kUnsupported, "model.type is \"WordPiece\"", model("type", "WordPiece"));
    damagedRow("Unigram", kUnsupported, "\"Unigram\"", [](json &d) {
        d["model"] = {{"type", "Unigram"}, {"vocab", json::array({json::array({"a", -1.5})})}};
    });
    damagedRow("no byte fallback", kUnsupported, "model.byte_fallback is false", model("byte_fallback", false));
    damagedRow("ignore merges", kUnsupported, "model.ignore_merges is true", model("ignore_merges", true));
    damagedRow("dropout", kUnsupported, "model.dropout is 0.1", model("dropout", 0.1));
    damagedRow("subword prefix", kUnsupported, "continuing_subword_prefix", model("continuing_subword_prefix", "##"));
    damagedRow("word suffix", kUnsupported, "end_of_word_suffix", model("end_of_word_suffix", "</w>"));
    damagedRow("no vocabulary", kInvalid, "model.vocab", [](json &d) { d["model"].erase("vocab"); });
    damagedRow("vocabulary is a list", kInvalid, "model.vocab", model("vocab", json::array({"a"})));
    damagedRow("empty vocabulary", kInvalid, "model.vocab is empty", model("vocab", json::object()));
    damagedRow("no merges", kInvalid, "model.merges", [](json &d) { d["model"].erase("merges"); });
    damagedRow("merges are an object", kInvalid, "model.merges", model("merges", {{"a", "b"}}));
}

void rowsOfIds()
{
    constexpr ErrorKind kInvalid = ErrorKind::InvalidCheckpoint;
    const auto id = [](const json &value) {
        return [value](json &d) {
            d["model"]["vocab"]["a"] = value;
        };
    };
    damagedRow("negative id", kInvalid, "model.vocab[\"a\"] is -1", id(-1));
    damagedRow("id with a fraction", kInvalid, "model.vocab[\"a\"] is 1.5", id(1.5));
    damagedRow("id of 2^31", kInvalid, "model.vocab[\"a\"] is 2147483648", id(2147483648));
    damagedRow("id of 2^22", kInvalid, "from 0 to 4194303", id(4194304));
    damagedRow("id is a text", kInvalid, "model.vocab[\"a\"] is \"7\"", id("7"));
    damagedRow("id is null", kInvalid, "model.vocab[\"a\"] is null", id(nullptr));
    damagedRow("id is a list", kInvalid, "model.vocab[\"a\"] is []", id({1, 2}));
    damagedRow("id is an object", kInvalid, "model.vocab[\"a\"] is {}", id(json::object()));
    damagedRow("id given twice", kInvalid, "id 2 to", id(2));
    editedRow("id of 10^30", kInvalid, "model.vocab[\"abc\"]", "\"abc\":267",
              "\"abc\":1000000000000000000000000000000");
    editedRow("piece twice", kInvalid, "\"abc\" twice", "\"abc\":267", "\"abc\":267,\"abc\":900");
    damagedRow("empty piece", kInvalid, "empty piece", [](json &d) { d["model"]["vocab"][""] = 900; });
    damagedRow("no piece for a byte", kInvalid, "no piece <0x7F>",
               [](json &d) { d["model"]["vocab"].erase("<0x7F>"); });
    damagedRow("no piece for a space", kInvalid, "stands for a space", [](json &d) {
        d["model"]["vocab"].erase("\u2581");
        d["model"]["merges"] = json::array();
    });
}

void rowsOfMerges()
{
    constexpr ErrorKind kInvalid = ErrorKind::InvalidCheckpoint;
    const auto merge = [](const json &value) {
        return [value](json &d) {
            d["model"]["merges"][1] = value;
        };
    };
    const char *pair = "model.merges[1] is not a pair";
    damagedRow("merge of one", kInvalid, pair, merge(json::array({"a"})));
    damagedRow("merge of three", kInvalid, pair, merge(json::array({"a", "b", "c"})));
    damagedRow("merge of numbers", kInvalid, pair, merge(json::array({1, 2})));
    damagedRow("merge of lists", kInvalid, pair, merge(json::array({json::array({"a"}), json::array({"b"})})));
    damagedRow("merge with an empty side", kInvalid, pair, merge(json::array({"", "a"})));
    damagedRow("merge without a space", kInvalid, pair, merge("ab"));
    damagedRow("merge with two spaces", kInvalid, pair, merge("a b c"));
    damagedRow("merge with a space at the end", kInvalid, pair, merge("a "));
    damagedRow("merge is an object", kInvalid, pair, merge({{"a", "b"}}));
    damagedRow("merge of an unknown piece", kInvalid, "\"zz\" is not in model.vocab", merge(json::array({"a", "zz"})));
    damagedRow("merge into an unknown piece", kInvalid, "\"cb\" is not in model.vocab", merge(json::array({"c", "b"})));
    damagedRow("merge of bytes", kInvalid, "\"<0x00>\" is a byte token", merge(json::array({"<0x00>", "a"})));
}

void rowsOfRules()
{
    constexpr ErrorKind kUnsupported = ErrorKind::Unsupported;
    damagedRow("other normalizer", kUnsupported, "normalizer is {\"type\":\"NFC\"}", [](json &d) {
        d["normalizer"] = {{"type", "NFC"}};
    });
    damagedRow("no normalizer", kUnsupported, "normalizer is null", [](json &d) { d.erase("normalizer"); });
    damagedRow("other pre-tokenizer", kUnsupported, "\"ByteLevel\"", [](json &d) {
        d["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    });
    damagedRow("other split", kUnsupported, "pre_tokenizer is",
               [](json &d) { d["pre_tokenizer"]["behavior"] = "Isolated"; });
    damagedRow("other decoder", kUnsupported, "decoder is {\"type\":\"WordPiece\"}", [](json &d) {
        d["decoder"] = {{"type", "WordPiece"}};
    });
    damagedRow("a decoder more", kUnsupported, "decoder is", [](json &d) {
        d["decoder"]["decoders"].push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    });
}

void rowsOfAddedTokens()
{
    constexpr ErrorKind kInvalid = ErrorKind::InvalidCheckpoint;
    const auto token = [](const char *field, const json &value) {
        return [field, value](json &d) {
            d["added_tokens"][1][field] = value;
        };
    };
    damagedRow("no added tokens", kInvalid, "added_tokens is null", [](json &d) { d.erase("added_tokens"); });
    damagedRow("added token is a text", kInvalid, "added_tokens[1] is \"x\"",
               [](json &d) { d["added_tokens"][1] = "x"; });
    damagedRow("added id negative", kInvalid, "added_tokens[1].id is -4", token("id", -4));
    damagedRow("added id absurd", kInvalid, "added_tokens[1].id is 4000000000", token("id", 4000000000));
    damagedRow("added id contradicts", kInvalid, "\"<eos>\" id 900, but its id is 1", token("id", 900));
    damagedRow("added id taken", kInvalid, "that is the id of \"<eos>\"", token("content", "<new>"));
    damagedRow("added content empty", kInvalid, "added_tokens[1].content is \"\"", token("content", ""));
    damagedRow("added content absent", kInvalid, "added_tokens[1].content is null",
               [](json &d) { d["added_tokens"][1].erase("content"); });
    damagedRow("special is a text", kInvalid, "added_tokens[1].special is \"yes\"", token("special", "yes"));
    damagedRow("lstrip", ErrorKind::Unsupported, "added_tokens[1].lstrip is true", token("lstrip", true));
    damagedRow("normalized", ErrorKind::Unsupported, "added_tokens[1].normalized is true", token("normalized", true));
}

} // namespace

void TestTokenizerJson::refuses_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QByteArray>("words");
    rowsOfText();
    rowsOfModels();
    rowsOfIds();
    rowsOfMerges();
    rowsOfRules();
    rowsOfAddedTokens();
}

void TestTokenizerJson::refuses()
{
    QFETCH(QByteArray, text);
    QFETCH(int, kind);
    QFETCH(QByteArray, words);
    try {
        (void)Tokenizer::parse(text.toStdString(), "some model/tokenizer.json");
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(static_cast<int>(error.kind()), kind);
        QVERIFY2(QByteArray(error.what()).startsWith("some model/tokenizer.json: "), error.what());
        QVERIFY2(QByteArray(error.what()).contains(words), error.what());
        QVERIFY2(QByteArray(error.what()).size() < 500, error.what());
        QCOMPARE(error.subject(), std::string("some model/tokenizer.json"));
    }
}

void TestTokenizerJson::everyCutIsRefused()
{
    const std::string text = test::tinyTokenizerJson().dump();
    for (std::size_t length = 0; length < text.size(); ++length)
        QVERIFY_EXCEPTION_THROWN((void)Tokenizer::parse(std::string_view(text).substr(0, length), "cut"), Error);
    QVERIFY(Tokenizer::parse(text, "whole")->vocabSize() > 256);
}

QTEST_GUILESS_MAIN(TestTokenizerJson)
#include "tst_tokenizer_json.moc"
