// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/proofread_paragraphs.h"
#include "engine/proofreading.h"
#include "engine/text_boundaries.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <algorithm>

using namespace palimpsest;

namespace {

std::string sentenceOf(int words, const std::string &first = "Once")
{
    std::string text = first;
    for (int i = 1; i < words; ++i) {
        text += " word";
    }
    return text + ".";
}

/// Segments as "[...]" for prose and "{...}" for what is passed through, everything else as it is.
QByteArray marked(std::string_view text, const std::vector<ProofreadSegment> &segments)
{
    std::string result;
    std::int64_t done = 0;
    for (const ProofreadSegment &segment : segments) {
        const bool isProse = segment.kind == SegmentKind::Prose;
        result += ByteRange{done, segment.range.begin}.of(text);
        result += isProse ? '[' : '{';
        result += segment.range.of(text);
        result += isProse ? ']' : '}';
        done = segment.range.end;
    }
    return QByteArray::fromStdString(result + std::string(text.substr(static_cast<std::size_t>(done))));
}

std::vector<ProofreadReply> echoes(std::string_view text, const std::vector<ProofreadSegment> &segments)
{
    std::vector<ProofreadReply> replies;
    replies.reserve(segments.size());
    for (const ProofreadSegment &segment : segments)
        replies.push_back({.text = std::string(segment.range.of(text))});
    return replies;
}

} // namespace

class TestProofreading : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void findsSegments_data();
    void findsSegments();
    void groupsSentencesUpToTheLimit();
    void cutsAVeryLongSentenceBehindAClause();
    void refusesBadInput();
    void segmentsAndSeparatorsMakeUpRandomTexts();
    void promptIsInstructionBlankLineAndFlowingText();
    void mergesReplies_data();
    void mergesReplies();
    void everyByteOutsideChangedSegmentsStays();
    void repliesMustMatchSegments();
    void tellsCodeFromProse_data();
    void tellsCodeFromProse();
    void handlesAMegabyteOfOneWord();
};

void TestProofreading::findsSegments_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("expected");
    const std::string wrapped = "This line is long enough to have been wrapped by an editor,";
    const auto row = [](const char *name, const std::string &text, const std::string &expected) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray::fromStdString(expected);
    };
    row("empty", "", "");
    row("white space", " \r\n\t\n", " \r\n\t\n");
    row("one line", "Teh cat.", "[Teh cat.]");
    row("spaces around", "  Teh cat. \n", "  [Teh cat.] \n");
    row("byte-order mark", "\xEF\xBB\xBFTeh cat.\r\n", "\xEF\xBB\xBF[Teh cat.]\r\n");
    row("paragraphs", "One cat.\n\nTwo cats.\n", "[One cat.]\n\n[Two cats.]\n");
    row("CR LF", "One cat.\r\n\r\nTwo cats.", "[One cat.]\r\n\r\n[Two cats.]");
    row("short lines stay apart", "Dear Anna,\nhow are you?", "[Dear Anna,]\n[how are you?]");
    row("wrapped lines flow", wrapped + "\nand goes on.", "[" + wrapped + "\nand goes on.]");
    row("wrapped lines flow with CR LF", wrapped + "\r\nand goes on.", "[" + wrapped + "\r\nand goes on.]");
    row("list", "- Milk and eggs\n- Fresh bread\n", "- [Milk and eggs]\n- [Fresh bread]\n");
    row("list after a long line", wrapped + "\n1. First of all\n2) Second",
        "[" + wrapped + "]\n1. [First of all]\n2) [Second]");
    row("year at the beginning", "2024 was good", "[2024 was good]");
    row("heading", "## The title\nThe text.", "## [The title]\n[The text.]");
    row("fence", "Before.\n```c\nint a;\n\nint b;\n```\nAfter.", "[Before.]\n{```c\nint a;\n\nint b;\n```}\n[After.]");
    row("open fence", "Before.\n~~~\ncode", "[Before.]\n{~~~\ncode}");
    row("front matter", "---\ntitle: teh cat\n---\nTeh cat.", "{---\ntitle: teh cat\n---}\n[Teh cat.]");
    row("table", "| a | b |\nText.", "{| a | b |}\n[Text.]");
    row("quotation", "> His words\nMine.", "{> His words}\n[Mine.]");
    row("rule", "One.\n\n* * *\n\nTwo.", "[One.]\n\n* {* *}\n\n[Two.]");
    row("numbers only", "3.14 2.71", "{3.14 2.71}");
    row("program", "for (i = 0; i < n; ++i) { sum += a[i]; }", "{for (i = 0; i < n; ++i) { sum += a[i]; }}");
    row("huge word", std::string(150, 'x') + " and text", "{" + std::string(150, 'x') + " and text}");
}

void TestProofreading::findsSegments()
{
    QFETCH(QByteArray, text);
    const std::string document = text.toStdString();
    QTEST(marked(document, splitForProofreading(document)), "expected");
}

void TestProofreading::groupsSentencesUpToTheLimit()
{
    std::string text;
    for (int i = 0; i < 9; ++i) {
        text += sentenceOf(10) + " ";
    }
    const std::vector<ProofreadSegment> segments = splitForProofreading(text, {.wordsPerSegment = 60});
    QCOMPARE(segments.size(), std::size_t{2}); // 50 and 40, not 60 and 30
    QCOMPARE(segments[0].words, std::int64_t{50});
    QCOMPARE(segments[1].words, std::int64_t{40});

    for (std::int64_t limit = 1; limit <= 100; ++limit) {
        std::int64_t words = 0;
        for (const ProofreadSegment &segment : splitForProofreading(text, {.wordsPerSegment = limit})) {
            QVERIFY(segment.words <= std::max<std::int64_t>(limit, 2 * limit));
            QVERIFY(limit < 10 || segment.words <= limit);
            words += segment.words;
        }
        QCOMPARE(words, std::int64_t{90});
    }
}

void TestProofreading::cutsAVeryLongSentenceBehindAClause()
{
    std::string text = sentenceOf(50);
    text.back() = ',';
    text += " " + sentenceOf(100, "and");
    const std::vector<ProofreadSegment> segments = splitForProofreading(text);
    QCOMPARE(segments.size(), std::size_t{3});
    QCOMPARE(segments[0].words, std::int64_t{50});
    QVERIFY(segments[0].range.of(text).ends_with(','));
    QCOMPARE(segments[1].words, std::int64_t{60});
    QCOMPARE(segments[2].words, std::int64_t{40});
}

void TestProofreading::refusesBadInput()
{
    QVERIFY_THROWS_EXCEPTION(Error, (void)splitForProofreading("caf\xE9"));
    QVERIFY_THROWS_EXCEPTION(Error, (void)splitForProofreading("cafe", {.wordsPerSegment = 0}));
}

void TestProofreading::segmentsAndSeparatorsMakeUpRandomTexts()
{
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        test::RandomText random(seed);
        const std::string text = random.document(150);
        const std::int64_t limit = 1 + random.below(30);
        const std::vector<WordPiece> pieces = splitIntoWords(text);
        std::int64_t done = 0;
        std::string separators;
        for (const ProofreadSegment &segment : splitForProofreading(text, {.wordsPerSegment = limit})) {
            QVERIFY(segment.range.begin >= done && !segment.range.empty());
            separators += ByteRange{done, segment.range.begin}.of(text);
            QCOMPARE(trimWhiteSpace(text, segment.range), segment.range);
            QVERIFY(segment.kind == SegmentKind::Code || segment.words <= 2 * limit);
            for (const WordPiece &piece : pieces) {                       // never cut inside a word
                const ByteRange word = trimWhiteSpace(text, piece.range); // a byte-order mark may cling to a word
                const auto inside = [&word](std::int64_t offset) {
                    return word.begin < offset && offset < word.end;
                };
                QVERIFY(!piece.isWord || (!inside(segment.range.begin) && !inside(segment.range.end)));
            }
            done = segment.range.end;
        }
        separators += text.substr(static_cast<std::size_t>(done));
        // What no segment holds is white space and list or heading markers.
        for (const ByteRange &run : splitAtWhiteSpace(separators)) {
            const std::string_view marker = run.of(separators);
            QVERIFY2(marker == "-" || marker.find_first_not_of('#') == std::string_view::npos ||
                         marker.find_first_not_of("0123456789.)") == std::string_view::npos,
                     std::string(marker).c_str());
        }
    }
}

void TestProofreading::promptIsInstructionBlankLineAndFlowingText()
{
    QCOMPARE(proofreadPrompt("Teh cat\r\nsat  on\n  it."),
             std::string("Fix the spelling and grammar mistakes:\n\nTeh cat sat  on it."));
}

void TestProofreading::mergesReplies_data()
{
    QTest::addColumn<QByteArray>("segment");
    QTest::addColumn<QByteArray>("reply");
    QTest::addColumn<bool>("finished");
    QTest::addColumn<int>("outcome");
    QTest::addColumn<QByteArray>("merged");
    const auto changed = [](const char *name, const char *segment, const char *reply, const char *merged) {
        QTest::newRow(name) << QByteArray(segment) << QByteArray(reply) << true
                            << static_cast<int>(SegmentOutcome::Changed) << QByteArray(merged);
    };
    const auto kept = [](const char *name, const char *segment, const QByteArray &reply, SegmentOutcome outcome,
                         bool finished = true) {
        QTest::newRow(name) << QByteArray(segment) << reply << finished << static_cast<int>(outcome)
                            << QByteArray(segment);
    };
    constexpr const char *kLine = "This line is long enough to have been wrapped by an editor,";
    const QByteArray line = kLine;
    changed("a word", "Teh cat.", "The cat.", "The cat.");
    changed("white space around the reply", "Teh cat.", "\n The cat. \n", "The cat.");
    changed("doubled space corrected", "The  cat sat", "The cat sat", "The cat sat");
    changed("no-break space and tab stay",
            "teh\xC2\xA0"
            "cat\tsat",
            "the cat sat",
            "the\xC2\xA0"
            "cat\tsat");
    changed("reply broke a line", "Teh cat sat.", "The cat\n\nsat.", "The cat sat.");
    changed("line end of a wrapped text", line + "\r\nteh end", line + " the end", line + "\r\nthe end");
    changed("joined words", line + "\nDow nload it", line + " Download it", line + "\nDownload it");
    changed("split word", line + "\nalot of it", line + " a lot of it", line + "\na lot of it");
    changed("dropped word at a line end", line + " teh\nthe cat", line + " the cat", line + "\nthe cat");
    changed("added word at a line end", line + "\ncat sat", line + " the cat sat", line + " the\ncat sat");
    kept("unchanged", "The cat.", "The cat.", SegmentOutcome::Unchanged);
    kept("unchanged but for its line ends", line + "\nand more", line + " and more", SegmentOutcome::Unchanged);
    kept("empty", "The cat.", "", SegmentOutcome::KeptEmpty);
    kept("blank", "The cat.", " \n", SegmentOutcome::KeptEmpty);
    kept("much longer", "The cat.", "The cat sat on the mat and looked.", SegmentOutcome::KeptLength);
    kept("much shorter", "The cat sat on the mat.", "The.", SegmentOutcome::KeptLength);
    kept("marker", "The cat.", "The cat.<turn|>", SegmentOutcome::KeptMarkers);
    kept("broken character", "The cat.", "The c\xEF\xBF\xBDt.", SegmentOutcome::KeptMarkers);
    kept("unrelated", "one two three four five six seven eight", "uno dos tres four cinco seis siete ocho",
         SegmentOutcome::KeptUnrelated);
    kept("cut", "Teh cat.", "The cat.", SegmentOutcome::KeptUnfinished, false);
    changed("marker of the writer's own", "Teh <|turn> marker is a single token for the models that know it",
            "The <|turn> marker is a single token for the models that know it",
            "The <|turn> marker is a single token for the models that know it");
}

void TestProofreading::mergesReplies()
{
    QFETCH(QByteArray, segment);
    QFETCH(QByteArray, reply);
    QFETCH(bool, finished);
    const std::string before = "\xEF\xBB\xBF\r\n  ";
    const std::string after = "\r\n\r\n\tThe rest.\n";
    const std::string text = before + segment.toStdString() + after;
    const std::vector<ProofreadSegment> segments = splitForProofreading(text);
    QCOMPARE(segments.size(), std::size_t{2});
    const ProofreadMerge merge = mergeProofread(
        text, segments,
        std::vector<ProofreadReply>{{.text = reply.toStdString(), .finished = finished}, {.text = "The rest."}});
    QTEST(static_cast<int>(merge.outcomes[0]), "outcome");
    QCOMPARE(merge.outcomes[1], SegmentOutcome::Unchanged);
    QVERIFY(merge.text.starts_with(before) && merge.text.ends_with(after));
    QTEST(QByteArray::fromStdString(merge.text.substr(before.size(), merge.text.size() - before.size() - after.size())),
          "merged");
    QCOMPARE(merge.changes.empty(), merge.outcomes[0] != SegmentOutcome::Changed);
}

void TestProofreading::everyByteOutsideChangedSegmentsStays()
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        test::RandomText random(seed);
        const std::string text = random.document(120);
        const std::vector<ProofreadSegment> segments =
            splitForProofreading(text, {.wordsPerSegment = 1 + random.below(20)});
        std::vector<ProofreadReply> replies = echoes(text, segments);
        QCOMPARE(mergeProofread(text, segments, replies).text, text);

        for (ProofreadReply &reply : replies) {
            if (random.below(2) == 0) {
                reply.text = random.document(20);
            } else if (random.below(2) == 0) {
                reply.text += " more";
            }
        }
        const ProofreadMerge merge = mergeProofread(text, segments, replies);
        QCOMPARE(merge.outcomes.size(), segments.size());
        std::int64_t done = 0;
        std::int64_t mergedDone = 0;
        std::size_t segment = 0;
        for (const TextChange &change : merge.changes) {
            QCOMPARE((ByteRange{done, change.original.begin}.of(text)),
                     (ByteRange{mergedDone, change.revised.begin}.of(merge.text)));
            while (segments[segment].range.end < change.original.end) {
                ++segment;
            }
            QVERIFY(segments[segment].range.begin <= change.original.begin);
            QCOMPARE(merge.outcomes[segment], SegmentOutcome::Changed);
            done = change.original.end;
            mergedDone = change.revised.end;
        }
        QCOMPARE(text.substr(static_cast<std::size_t>(done)), merge.text.substr(static_cast<std::size_t>(mergedDone)));
    }
}

void TestProofreading::repliesMustMatchSegments()
{
    const std::string text = "One.\n\nTwo.";
    QVERIFY_THROWS_EXCEPTION(Error, (void)mergeProofread(text, splitForProofreading(text), {}));
}

void TestProofreading::tellsCodeFromProse_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("code");
    QTest::newRow("prose") << QByteArray("He said: \"Go (now), it's late - or don't!\"") << false;
    QTest::newRow("prose with an address") << QByteArray("Write to me at anna@example.org about the boat.") << false;
    QTest::newRow("Markdown emphasis") << QByteArray("This is *very* important, and `code` is, too.") << false;
    QTest::newRow("Hebrew") << QByteArray("\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D") << false;
    QTest::newRow("C") << QByteArray("int main(void) { return a[0]; }") << true;
    QTest::newRow("JSON") << QByteArray("{\"name\": [1, 2], \"x\": {}}") << true;
    QTest::newRow("shell") << QByteArray("ls -l | grep $HOME > /tmp/out") << true;
    QTest::newRow("rule") << QByteArray("----------") << true;
}

void TestProofreading::tellsCodeFromProse()
{
    QFETCH(QByteArray, text);
    QTEST(looksLikeCode(text.toStdString()), "code");
}

void TestProofreading::handlesAMegabyteOfOneWord()
{
    const std::string text(1 << 20U, 'x');
    const std::vector<ProofreadSegment> segments = splitForProofreading(text);
    QCOMPARE(segments.size(), std::size_t{1});
    QCOMPARE(segments[0].kind, SegmentKind::Code);
}

QTEST_APPLESS_MAIN(TestProofreading)
#include "tst_proofreading.moc"
