// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/strict_json.h"

#include <QTest>

#include <cstring>

using namespace palimpsest;

class TestStrictJson : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void badTextIsRefused_data();
    void badTextIsRefused();
    void manyValuesAreRefused();
    void goodTextIsRead();
    void descriptionsAreShortAndAscii();
    void controlCharacters();
};

void TestStrictJson::badTextIsRefused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("mention");
    QTest::newRow("empty") << QByteArray() << QByteArray("syntax error");
    QTest::newRow("cut") << QByteArray(R"({"a": [1, 2)") << QByteArray("syntax error");
    QTest::newRow("two values") << QByteArray("{} {}") << QByteArray("syntax error at byte 4");
    QTest::newRow("comment") << QByteArray("{} // note") << QByteArray("syntax error");
    QTest::newRow("NaN") << QByteArray(R"({"a": NaN})") << QByteArray("syntax error");
    QTest::newRow("not UTF-8") << QByteArray("{\"a\": \"\xff\"}") << QByteArray("wanted valid JSON in UTF-8");
    QTest::newRow("overlong UTF-8") << QByteArray("{\"\xc0\xaf\": 1}") << QByteArray("wanted valid JSON in UTF-8");
    QTest::newRow("lone surrogate") << QByteArray(R"(["\ud800"])") << QByteArray("syntax error");
    QTest::newRow("huge number") << QByteArray("[1e999]") << QByteArray("no double can hold");
    QTest::newRow("same key twice") << QByteArray(R"({"b": {"a": 1, "c": 2, "a": 1}})")
                                    << QByteArray("the key \"a\" appears twice");
    QTest::newRow("same key, escaped") << QByteArray(R"({"a": 1, "\u0061": 1})") << QByteArray("appears twice");
    QTest::newRow("deep lists") << QByteArray(1'000'000, '[') << QByteArray("nested more than 64 levels");
    QTest::newRow("deep objects") << QByteArray(R"({"a":)").repeated(100'000)
                                  << QByteArray("nested more than 64 levels");
}

void TestStrictJson::badTextIsRefused()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, mention);
    try {
        const auto value = parseStrictJson({text.constData(), static_cast<std::size_t>(text.size())}, "some.json");
        QFAIL("parsed");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidCheckpoint);
        QVERIFY2(std::strstr(error.what(), "some.json: ") == error.what(), error.what());
        QVERIFY2(std::strstr(error.what(), mention) != nullptr, error.what());
    }
}

void TestStrictJson::manyValuesAreRefused()
{
    const QByteArray text = "[" + QByteArray("0,").repeated(2'200'000) + "0]";
    QVERIFY_EXCEPTION_THROWN((void)parseStrictJson(text.toStdString(), "some.json"), Error);
}

void TestStrictJson::goodTextIsRead()
{
    // The same key in different objects, 64 levels, a byte order mark.
    const auto value =
        parseStrictJson("\xEF\xBB\xBF{\"a\": {\"a\": 1}, \"b\": [{\"a\": 2}, {\"a\": \"\\u00e9\"}]}", "x");
    QCOMPARE(value["a"]["a"].get<int>(), 1);
    QCOMPARE(value["b"][1]["a"].get<std::string>(), "é");
    const std::string deep = std::string(64, '[') + std::string(64, ']');
    QVERIFY(parseStrictJson(deep, "x").is_array());
}

void TestStrictJson::descriptionsAreShortAndAscii()
{
    QCOMPARE(describeJson(nlohmann::json(-5)), "-5");
    QCOMPARE(describeJson(nlohmann::json("\x1b[31mé")), "\"\\u001b[31m\\u00e9\"");
    QCOMPARE(describeJson(nlohmann::json(std::string(500, 'x'))), "a text of 500 bytes");
    QCOMPARE(describeJson(nlohmann::json::array({1, 2, 3})), "a list of 3");
    QCOMPARE(describeJson(nlohmann::json::object()), "an object");
    QCOMPARE(describeJson(nlohmann::json()), "null");
}

void TestStrictJson::controlCharacters()
{
    QVERIFY(!hasControlCharacters(""));
    QVERIFY(!hasControlCharacters("model.decoder é 田 \u3000"));
    QVERIFY(hasControlCharacters("a\nb"));
    QVERIFY(hasControlCharacters("\x1b[0m"));
    QVERIFY(hasControlCharacters("\x7f"));
    QVERIFY(hasControlCharacters("\u009b31m"));
    QVERIFY(hasControlCharacters(std::string_view("\0", 1)));
}

QTEST_APPLESS_MAIN(TestStrictJson)
#include "tst_strict_json.moc"
