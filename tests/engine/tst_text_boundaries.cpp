// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/text_boundaries.h"
#include "engine/utf8.h"
#include "tests/support/random_text.h"

#include <QTest>

using namespace palimpsest;

namespace {

const std::string kFamily = "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7";

QByteArray bytesOf(std::string_view text)
{
    return {text.data(), static_cast<qsizetype>(text.size())};
}

} // namespace

class TestTextBoundaries : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsTheFirstInvalidByte_data();
    void findsTheFirstInvalidByte();
    void namesTextAndOffsetOfInvalidUtf8();
    void snapsSelectionsToGraphemes_data();
    void snapsSelectionsToGraphemes();
    void refusesSelectionsOutsideTheText_data();
    void refusesSelectionsOutsideTheText();
    void cutsWords();
    void cutsSentences_data();
    void cutsSentences();
    void trimsWhiteSpace_data();
    void trimsWhiteSpace();
    void piecesCoverRandomTexts();
};

void TestTextBoundaries::findsTheFirstInvalidByte_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("offset"); // -1: valid
    QTest::newRow("empty") << QByteArray() << -1;
    QTest::newRow("ASCII with NUL") << QByteArray("a\0b", 3) << -1;
    QTest::newRow("four bytes") << bytesOf(kFamily) << -1;
    QTest::newRow("last code point") << QByteArray("\xF4\x8F\xBF\xBF") << -1;
    QTest::newRow("beyond it") << QByteArray("a\xF4\x90\x80\x80") << 1;
    QTest::newRow("lone continuation") << QByteArray("ab\x80") << 2;
    QTest::newRow("truncated") << QByteArray("ab\xE2\x82") << 2;
    QTest::newRow("overlong slash") << QByteArray("\xC0\xAF") << 0;
    QTest::newRow("overlong three") << QByteArray("x\xE0\x80\xAF") << 1;
    QTest::newRow("surrogate") << QByteArray("xy\xED\xA0\x80") << 2;
    QTest::newRow("Latin-1") << QByteArray("caf\xE9!") << 3;
}

void TestTextBoundaries::findsTheFirstInvalidByte()
{
    QFETCH(QByteArray, text);
    QFETCH(int, offset);
    const auto found = firstInvalidUtf8(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    QCOMPARE(found ? static_cast<int>(*found) : -1, offset);
}

void TestTextBoundaries::namesTextAndOffsetOfInvalidUtf8()
{
    try {
        requireValidUtf8("caf\xE9", "letter.txt");
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidInput);
        QCOMPARE(error.subject(), std::string("letter.txt"));
        QVERIFY(std::string(error.what()).find("byte 3 is 0xE9") != std::string::npos);
    }
}

void TestTextBoundaries::snapsSelectionsToGraphemes_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("begin");
    QTest::addColumn<int>("end");
    QTest::addColumn<int>("snappedBegin");
    QTest::addColumn<int>("snappedEnd");
    const QByteArray family = "ab" + bytesOf(kFamily) + "cd";
    QTest::newRow("whole characters stay") << QByteArray("hello") << 1 << 3 << 1 << 3;
    QTest::newRow("empty document") << QByteArray() << 0 << 0 << 0 << 0;
    QTest::newRow("second half of a family") << family << 9 << 20 << 2 << 20;
    QTest::newRow("inside one emoji's bytes") << family << 3 << 4 << 2 << 20;
    QTest::newRow("letter without its accent") << QByteArray("cafe\xCC\x81s") << 3 << 4 << 3 << 6;
    QTest::newRow("accent without its letter") << QByteArray("cafe\xCC\x81s") << 4 << 6 << 3 << 6;
    QTest::newRow("half a flag") << QByteArray("\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA") << 4 << 8 << 0 << 8;
    QTest::newRow("up to CR of CR LF") << QByteArray("a\r\nb") << 0 << 2 << 0 << 3;
    QTest::newRow("from LF of CR LF") << QByteArray("a\r\nb") << 2 << 4 << 1 << 4;
    QTest::newRow("caret inside CR LF") << QByteArray("a\r\nb") << 2 << 2 << 1 << 1;
    QTest::newRow("caret inside a family") << family << 9 << 9 << 2 << 2;
    QTest::newRow("caret inside a character") << QByteArray("a\xC3\xA9") << 2 << 2 << 1 << 1;
    QTest::newRow("caret at the end") << QByteArray("abc") << 3 << 3 << 3 << 3;
}

void TestTextBoundaries::snapsSelectionsToGraphemes()
{
    QFETCH(QByteArray, text);
    QFETCH(int, begin);
    QFETCH(int, end);
    const ByteRange snapped =
        snapToGraphemes(std::string_view(text.constData(), static_cast<std::size_t>(text.size())), {begin, end});
    QTEST(static_cast<int>(snapped.begin), "snappedBegin");
    QTEST(static_cast<int>(snapped.end), "snappedEnd");
}

void TestTextBoundaries::refusesSelectionsOutsideTheText_data()
{
    QTest::addColumn<qint64>("begin");
    QTest::addColumn<qint64>("end");
    QTest::newRow("negative") << qint64{-1} << qint64{2};
    QTest::newRow("behind the end") << qint64{0} << qint64{6};
    QTest::newRow("far behind the end") << qint64{1} << (qint64{1} << 40);
    QTest::newRow("reversed") << qint64{3} << qint64{2};
}

void TestTextBoundaries::refusesSelectionsOutsideTheText()
{
    QFETCH(qint64, begin);
    QFETCH(qint64, end);
    try {
        (void)snapToGraphemes("hello", {begin, end});
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QVERIFY(std::string(error.what()).find("5 bytes") != std::string::npos);
    }
}

void TestTextBoundaries::cutsWords()
{
    const std::string text = "I can't, \t 3.14 caf\xC3\xA9!";
    QStringList words;
    for (const WordPiece &piece : splitIntoWords(text)) {
        if (piece.isWhiteSpace) {
            QVERIFY(!piece.isWord);
            words.append(QStringLiteral("_"));
        } else {
            words.append(QString::fromStdString(std::string(piece.range.of(text))));
        }
    }
    const QString expected = QStringLiteral("I|_|can't|,|_|3.14|_|caf\u00E9|!");
    QCOMPARE(words.join(u'|'), expected);
    QCOMPARE(countWords(text), std::int64_t{4});
    QCOMPARE(countWords(""), std::int64_t{0});
}

void TestTextBoundaries::cutsSentences_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("cut");
    QTest::newRow("plain") << QByteArray("One. Two! Three?") << QByteArray("One. |Two! |Three?");
    QTest::newRow("abbreviation") << QByteArray("Mr. Smith left. He ran.") << QByteArray("Mr. Smith left. |He ran.");
    QTest::newRow("number") << QByteArray("It is 3.5 m. Long.") << QByteArray("It is 3.5 m. |Long.");
    QTest::newRow("quotes") << QByteArray("\"Go.\" She went.") << QByteArray("\"Go.\" |She went.");
    QTest::newRow("empty") << QByteArray() << QByteArray();
}

void TestTextBoundaries::cutsSentences()
{
    QFETCH(QByteArray, text);
    const std::string document = text.toStdString();
    QByteArray cut;
    for (const ByteRange &sentence : splitIntoSentences(document)) {
        cut += (cut.isEmpty() ? "" : "|") + bytesOf(sentence.of(document));
    }
    QTEST(cut, "cut");
}

void TestTextBoundaries::trimsWhiteSpace_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("trimmed");
    QTest::newRow("nothing to trim") << QByteArray("a b") << QByteArray("a b");
    QTest::newRow("all kinds") << QByteArray("\xEF\xBB\xBF \t\r\n\xC2\xA0"
                                             "a b\xE3\x80\x80\n")
                               << QByteArray("a b");
    QTest::newRow("white space only") << QByteArray(" \n ") << QByteArray();
    QTest::newRow("empty") << QByteArray() << QByteArray();
}

void TestTextBoundaries::trimsWhiteSpace()
{
    QFETCH(QByteArray, text);
    const std::string document = text.toStdString();
    const ByteRange trimmed = trimWhiteSpace(document, {0, static_cast<std::int64_t>(document.size())});
    QTEST(bytesOf(trimmed.of(document)), "trimmed");
}

void TestTextBoundaries::piecesCoverRandomTexts()
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::RandomText random(seed);
        const std::string text = random.document(40);
        QVERIFY(!firstInvalidUtf8(text));
        std::string words;
        for (const WordPiece &piece : splitIntoWords(text)) {
            QVERIFY(!piece.range.empty());
            words += piece.range.of(text);
        }
        QCOMPARE(words, text);
        std::string sentences;
        for (const ByteRange &sentence : splitIntoSentences(text)) {
            sentences += sentence.of(text);
        }
        QCOMPARE(sentences, text);

        const auto size = static_cast<std::int64_t>(text.size());
        const std::int64_t begin = random.below(size + 1);
        const ByteRange asked = {begin, begin + random.below(size - begin + 1)};
        const ByteRange snapped = snapToGraphemes(text, asked);
        QVERIFY(snapped.begin <= asked.begin);
        QVERIFY(snapped.empty() == asked.empty());
        QVERIFY(asked.empty() || snapped.end >= asked.end);
        QCOMPARE(snapToGraphemes(text, snapped), snapped);
        QVERIFY(!firstInvalidUtf8(snapped.of(text)));
    }
}

QTEST_APPLESS_MAIN(TestTextBoundaries)
#include "tst_text_boundaries.moc"
