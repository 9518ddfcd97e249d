// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/utf8.h"

#include <QString>
#include <QTest>

using namespace palimpsest;

class TestUtf8 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsEveryCodePoint();
    void findsTheFirstInvalidByte_data();
    void findsTheFirstInvalidByte();
    void trimsWhiteSpaceOnly();
};

void TestUtf8::readsEveryCodePoint()
{
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        const std::string text = QStringView(QChar::fromUcs4(c)).toUtf8().toStdString();
        const Utf8Character character = readUtf8(text, 0);
        if (character.codePoint != c || character.length != text.size())
            QFAIL(qPrintable(QStringLiteral("U+%1").arg(static_cast<uint>(c), 0, 16)));
        for (std::size_t length = 1; length < text.size(); ++length)
            QVERIFY(readUtf8(std::string_view(text).substr(0, length), 0).length == 0);
    }
}

void TestUtf8::findsTheFirstInvalidByte_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("position"); // -1 = valid
    QTest::newRow("empty") << QByteArray() << -1;
    QTest::newRow("valid") << QByteArray("a\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80") << -1;
    QTest::newRow("zero byte") << QByteArray("a\0b", 3) << -1;
    QTest::newRow("last code point") << QByteArray("\xF4\x8F\xBF\xBF") << -1;
    QTest::newRow("beyond the last") << QByteArray("\xF4\x90\x80\x80") << 0;
    QTest::newRow("lone continuation") << QByteArray("ab\xBF") << 2;
    QTest::newRow("two lead bytes") << QByteArray("\xC3\xC3\xA9") << 0;
    QTest::newRow("cut in four") << QByteArray("x\xF0\x9F\x98") << 1;
    QTest::newRow("overlong, two bytes") << QByteArray("\xC1\xBF") << 0;
    QTest::newRow("overlong, three bytes") << QByteArray("\xE0\x9F\xBF") << 0;
    QTest::newRow("overlong, four bytes") << QByteArray("\xF0\x8F\xBF\xBF") << 0;
    QTest::newRow("surrogate") << QByteArray("\xED\xBF\xBF") << 0;
    QTest::newRow("impossible byte") << QByteArray("a\xFF") << 1;
}

void TestUtf8::findsTheFirstInvalidByte()
{
    QFETCH(QByteArray, text);
    QFETCH(int, position);
    const std::optional<std::size_t> found = firstInvalidUtf8(text.toStdString());
    QCOMPARE(found ? static_cast<int>(*found) : -1, position);
}

void TestUtf8::trimsWhiteSpaceOnly()
{
    const std::string space =
        "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000";
    QCOMPARE(trimWhiteSpace(space), std::string_view());
    for (const char *kept : {"", "a", "\u200b", "\ufeff", "\u180e", "\x01", "\u2800", "\u6f22"})
        QCOMPARE(trimWhiteSpace(kept), std::string_view(kept));
    QCOMPARE(trimWhiteSpace(" \xA0 "), std::string_view("\xA0")); // a broken character is not white space
    QCOMPARE(trimWhiteSpace(" \xC2 "), std::string_view("\xC2"));
}

QTEST_GUILESS_MAIN(TestUtf8)
#include "tst_utf8.moc"
