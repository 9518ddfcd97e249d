// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/input_text.h"
#include "engine/error.h"

#include <QTemporaryDir>
#include <QTest>

using namespace palimpsest;
using namespace palimpsest::cli;

class TestInputText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void badTextsAreRefused_data();
    void badTextsAreRefused();
    void goodTextsAreReadByteForByte_data();
    void goodTextsAreReadByteForByte();
    void filesThatCannotBeRead_data();
    void filesThatCannotBeRead();
};

void TestInputText::badTextsAreRefused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("part"); // of the message
    QTest::newRow("empty") << QByteArray() << QByteArray("empty");
    QTest::newRow("byte order mark alone") << QByteArray("\xEF\xBB\xBF") << QByteArray("empty");
    QTest::newRow("binary") << QByteArray("one\ntwo\0three", 13) << QByteArray("zero byte at byte 7 (line 2)");
    QTest::newRow("Latin-1") << QByteArray("na\xEFve") << QByteArray("0xef at byte 2 (line 1)");
    QTest::newRow("cut character") << QByteArray("a\n\nb\xE6\xBC") << QByteArray("0xe6 at byte 4 (line 3)");
    QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << QByteArray("0xed at byte 0");
    QTest::newRow("overlong") << QByteArray("\xC0\xAF") << QByteArray("0xc0 at byte 0");
    QTest::newRow("UTF-16") << QByteArray("\xFF\xFEh\0i\0", 6) << QByteArray("zero byte at byte 3");
    QTest::newRow("10 MB") << QByteArray(10'000'000, 'a') << QByteArray("10000000 bytes, wanted at most 8388608");
}

void TestInputText::badTextsAreRefused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, part);
    try {
        requireInputText(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())), "letter.txt");
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidInput);
        QCOMPARE(error.subject(), std::string("letter.txt"));
        QVERIFY2(QByteArray(error.what()).startsWith("letter.txt: "), error.what());
        QVERIFY2(QByteArray(error.what()).contains(part), error.what());
    }
}

void TestInputText::goodTextsAreReadByteForByte_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("plain") << QByteArray("one line");
    QTest::newRow("CRLF") << QByteArray("a\r\nb\r\n");
    QTest::newRow("byte order mark") << QByteArray("\xEF\xBB\xBFtext");
    QTest::newRow("mixed line ends, tabs, controls") << QByteArray("a\rb\n\tc\x07\r\n");
    QTest::newRow("as large as allowed") << QByteArray(8 << 20, 'a');
    QTest::newRow("many scripts") << QByteArray("naïve 漢字 👨\u200D👩\u200D👧 שלום");
}

void TestInputText::goodTextsAreReadByteForByte()
{
    QFETCH(QByteArray, bytes);
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("naïve 田 text.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
    file.close();
    const InputText input = readInputText(file.fileName().toStdString());
    QVERIFY(input.text == bytes.toStdString());
    QVERIFY(input.stamp.has_value());
    QCOMPARE(input.stamp->bytes, bytes.size());
}

void TestInputText::filesThatCannotBeRead_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("kind");
    QTest::newRow("missing") << "none.txt" << int(ErrorKind::NotFound);
    QTest::newRow("under a file") << "file.txt/none.txt" << int(ErrorKind::NotFound);
    QTest::newRow("folder") << "." << int(ErrorKind::InvalidInput);
    QTest::newRow("name too long") << QString(300, QLatin1Char('x')) << int(ErrorKind::Io);
}

void TestInputText::filesThatCannotBeRead()
{
    QFETCH(QString, path);
    QFETCH(int, kind);
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("file.txt")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    const std::string whole = folder.filePath(path).toStdString();
    try {
        (void)readInputText(whole);
        QFAIL("read");
    } catch (const Error &error) {
        QCOMPARE(int(error.kind()), kind);
        QVERIFY(std::string(error.what()).find(whole) != std::string::npos);
    }
}

QTEST_GUILESS_MAIN(TestInputText)
#include "tst_input_text.moc"
