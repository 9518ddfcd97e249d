// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/canvas.h"
#include "tests/engine/canvas_bench.h"
#include "tests/support/random_text.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>

using namespace palimpsest;
using namespace palimpsest::test;

/// What stays as it is inside a selection that is written anew.
class TestCanvasFrozen : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void locksAreHeldByteForByte_data();
    void locksAreHeldByteForByte();
    void locksKeepTheirPlaceInOtherLengths();
    void lightNoiseFreezesTheRest();
};

void TestCanvasFrozen::locksAreHeldByteForByte_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<QByteArray>("lock");
    QTest::newRow("in the middle") << QByteArray("The deep cobalt sea is wide.") << QByteArray("cobalt");
    QTest::newRow("first") << QByteArray("Cobalt is deep and wide.") << QByteArray("Cobalt");
    QTest::newRow("last") << QByteArray("The sea is deep cobalt") << QByteArray("cobalt");
    QTest::newRow("part of a word") << QByteArray("An extraordinarily wide sea") << QByteArray("ordin");
    QTest::newRow("emoji of several tokens")
        << QByteArray("A happy ") + QByteArray::fromStdString(kFamily) + " here" << QByteArray::fromStdString(kFamily);
    QTest::newRow("half an emoji") << QByteArray("A happy ") + QByteArray::fromStdString(kFamily) + " here"
                                   << QByteArray::fromStdString(kFamily.substr(3, 5));
    QTest::newRow("over CR LF") << QByteArray("One line\r\nand another") << QByteArray("line\r\nand");
    QTest::newRow("accents in two spellings")
        << QByteArray("Un caf\xC3\xA9 et un cafe\xCC\x81 noir") << QByteArray("cafe\xCC\x81");
    QTest::newRow("right to left") << QByteArray("say \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D twice")
                                   << QByteArray("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D");
}

void TestCanvasFrozen::locksAreHeldByteForByte()
{
    QFETCH(QByteArray, document);
    QFETCH(QByteArray, lock);
    const std::string text = document.toStdString();
    EditRequest request = requestFor(text, {0, static_cast<std::int64_t>(text.size())});
    request.locks = {rangeOf(text, lock.toStdString())};
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    QCOMPARE(plan.locks.size(), std::size_t{1});
    const LockExtent extent = plan.locks.front();
    QCOMPARE(extent.asked, request.locks.front());
    QVERIFY(extent.held.begin <= extent.asked.begin && extent.held.end >= extent.asked.end);
    QVERIFY(extent.held.length() <= extent.asked.length() + static_cast<std::int64_t>(kFamily.size()));
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        test::RandomText random(seed);
        std::vector<TokenId> ids;
        for (int i = 0; i < 20; ++i) {
            ids.push_back(static_cast<TokenId>(32 + random.below(demoTokenizer()->vocabSize() - 32)));
        }
        std::vector<GenerationResult> results;
        for (const EditCandidate &candidate : plan.candidates) {
            results.push_back(resultWith(candidate, ids));
        }
        for (const std::string &alternative : editor.apply(plan, results).alternatives) {
            QVERIFY(alternative.find(extent.held.of(text)) != std::string::npos);
        }
    }
}

void TestCanvasFrozen::locksKeepTheirPlaceInOtherLengths()
{
    const std::string document = "one two three four five six seven eight";
    EditRequest request = requestFor(document, {0, static_cast<std::int64_t>(document.size())});
    request.locks = {rangeOf(document, "three"), rangeOf(document, "six")};
    request.gapLengths = {2, 5, 40};
    const EditPlan plan = editorWith().plan(request);
    for (std::size_t i = 0; i < 3; ++i) {
        const EditCandidate &candidate = plan.candidates[i];
        QCOMPARE(candidate.gapEnd - candidate.gapBegin, request.gapLengths[i]);
        std::string held;
        for (const HeldRun &run : candidate.held) {
            held += run.source.of(document);
            QVERIFY(run.canvasBegin >= candidate.gapBegin && run.canvasEnd <= candidate.gapEnd);
        }
        QCOMPARE(held, std::string(" three six"));
    }
    QVERIFY(plan.candidates[2].held.front().canvasBegin > 8);  // about two eighths of 40
    QCOMPARE(plan.locks[0].held, rangeOf(document, " three")); // Gemma's pieces carry the space in front
}

void TestCanvasFrozen::lightNoiseFreezesTheRest()
{
    std::string document;
    for (int i = 0; i < 12; ++i) {
        document += "Every word of this line may stay. ";
    }
    const std::int64_t end = static_cast<std::int64_t>(document.size()) - 1;
    EditRequest request = requestFor(document, {0, end});
    const CanvasEditor editor = editorWith(256);
    std::vector<double> shares;
    for (const NoiseAmount noise : {NoiseAmount::Light, NoiseAmount::Medium}) {
        request.noise = noise;
        const EditPlan plan = editor.plan(request);
        QCOMPARE(plan.candidates.size(), std::size_t{1});
        const EditCandidate &candidate = plan.candidates.front();
        const CanvasStart &canvas = *candidate.request.firstCanvas;
        const auto free = std::count(canvas.frozen.begin(), canvas.frozen.end(), std::uint8_t{0});
        shares.push_back(static_cast<double>(free) / static_cast<double>(candidate.gapEnd - candidate.gapBegin));
        // The same seed chooses the same words, another seed others.
        QCOMPARE(editor.plan(request).candidates.front().request.firstCanvas->frozen, canvas.frozen);
        EditRequest other = request;
        other.seed = 1;
        QVERIFY(editor.plan(other).candidates.front().request.firstCanvas->frozen != canvas.frozen);
        // What is not written anew comes out as it was, and the model's own words give the document back.
        const EditOutcome outcome = editor.apply(plan, std::vector{resultWith(candidate, idsOf(" zzz"))});
        std::vector<TokenId> original;
        const std::vector<TokenId> ids = idsOf(document.substr(0, static_cast<std::size_t>(end)));
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (canvas.frozen[i] == 0) {
                original.push_back(ids[i]);
            }
        }
        QVERIFY(outcome.document != document);
        QCOMPARE(editor.apply(plan, std::vector{resultWith(candidate, original)}).document, document);
    }
    QVERIFY2(shares[0] >= 0.25 && shares[0] < 0.3, qPrintable(QString::number(shares[0])));
    QVERIFY2(shares[1] >= 0.6 && shares[1] < 0.65, qPrintable(QString::number(shares[1])));
}

QTEST_APPLESS_MAIN(TestCanvasFrozen)
#include "tst_canvas_frozen.moc"
