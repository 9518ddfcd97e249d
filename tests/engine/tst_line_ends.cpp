// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/line_ends.h"
#include "tests/support/random_text.h"

#include <QTest>

using namespace palimpsest;

class TestLineEnds : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void offsetsCorrespond();
    void tellsTheKindOfATextsLineEnds_data();
    void tellsTheKindOfATextsLineEnds();
    void restoresCrLf();
};

void TestLineEnds::offsetsCorrespond()
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        test::RandomText random(seed);
        const std::string text = random.document(30);
        const LineEndView view(text);
        for (std::int64_t offset = 0; offset <= static_cast<std::int64_t>(view.text().size()); ++offset) {
            QCOMPARE(view.toView(view.toOriginal(offset)), offset);
        }
        const auto size = static_cast<std::int64_t>(text.size());
        for (std::int64_t offset = 0; offset < size; ++offset) {
            const char original = text[static_cast<std::size_t>(offset)];
            const char inView = view.text()[static_cast<std::size_t>(view.toView(offset))];
            QVERIFY(inView == original || (original == '\r' && inView == '\n'));
        }
        QCOMPARE(view.toView(size), static_cast<std::int64_t>(view.text().size()));
        QCOMPARE(view.toOriginal(static_cast<std::int64_t>(view.text().size())), size);
    }
}

void TestLineEnds::tellsTheKindOfATextsLineEnds_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("crLf");
    QTest::newRow("empty") << QByteArray() << false;
    QTest::newRow("none") << QByteArray("a\rb") << false;
    QTest::newRow("Unix") << QByteArray("a\nb\n") << false;
    QTest::newRow("Windows") << QByteArray("a\r\nb\r\n") << true;
    QTest::newRow("mostly Windows") << QByteArray("a\r\nb\r\nc\n") << true;
    QTest::newRow("mostly Unix") << QByteArray("a\r\nb\nc\n") << false;
}

void TestLineEnds::tellsTheKindOfATextsLineEnds()
{
    QFETCH(QByteArray, text);
    QTEST(mostlyCrLf(text.toStdString()), "crLf");
}

void TestLineEnds::restoresCrLf()
{
    QCOMPARE(withCrLf("\na\nb\r\nc\rd\n"), std::string("\r\na\r\nb\r\nc\rd\r\n"));
    QCOMPARE(LineEndView("a\r\nb").text(), std::string("a\nb"));
}

QTEST_APPLESS_MAIN(TestLineEnds)
#include "tst_line_ends.moc"
