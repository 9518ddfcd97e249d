// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/canvas.h"
#include "engine/error.h"
#include "engine/utf8.h"
#include "tests/support/random_text.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

using namespace palimpsest;

namespace {

constexpr TokenId kPad = 0;
constexpr TokenId kEos = 1;
constexpr TokenId kTurnEnd = 6;

const std::string kFamily = "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7";

const std::shared_ptr<const Tokenizer> &demoTokenizer()
{
    static const std::shared_ptr<const Tokenizer> tokenizer =
        Tokenizer::load(std::filesystem::path(PALIMPSEST_SOURCE_DIR) / "resources/demo_model/tokenizer.json");
    return tokenizer;
}

/// A small model's sizes: canvases of 64, so that texts of a few sentences do not fit.
CanvasEditor editorWith(std::int64_t canvasLength = 64, std::int64_t maxPositions = 2048)
{
    ModelConfig model;
    model.vocabSize = demoTokenizer()->vocabSize();
    model.canvasLength = canvasLength;
    model.maxPositions = maxPositions;
    model.eosTokenIds = {kEos};
    GenerationDefaults defaults;
    defaults.padTokenId = kPad;
    defaults.eosTokenIds = {kEos, kTurnEnd};
    return {demoTokenizer(), ChatFormat(ChatDialect::PlainTurns), model, defaults};
}

EditRequest requestFor(const std::string &document, ByteRange selection)
{
    EditRequest request;
    request.document = document;
    request.selection = selection;
    return request;
}

ByteRange rangeOf(const std::string &document, const std::string &part)
{
    const auto begin = static_cast<std::int64_t>(document.find(part));
    return {begin, begin + static_cast<std::int64_t>(part.size())};
}

bool isBanned(const GenerationRequest &request, TokenId id)
{
    return std::any_of(request.logitBias.begin(), request.logitBias.end(), [id](const LogitBias &bias) {
        return bias.id == id && bias.bias == -std::numeric_limits<float>::infinity();
    });
}

/// What the loop commits if the model fills the free positions with `ids`, in turn.
GenerationResult resultWith(const EditCandidate &candidate, const std::vector<TokenId> &ids, float entropy = 0.0F)
{
    const CanvasStart &start = *candidate.request.firstCanvas;
    GenerationResult result;
    CanvasRecord record;
    std::size_t next = 0;
    for (std::size_t i = 0; i < start.ids.size(); ++i) {
        record.committed.push_back(start.frozen[i] != 0 ? start.ids[i] : ids[next++ % ids.size()]);
    }
    record.meanEntropyNats = entropy;
    result.canvases.push_back(std::move(record));
    return result;
}

std::vector<TokenId> idsOf(std::string_view text)
{
    return demoTokenizer()->encode(text, SpecialTokens::PlainText);
}

/// Runs an edit as if the model wrote `text` into a gap of just its length.
EditOutcome editWith(EditRequest request, const std::string &text)
{
    const CanvasEditor editor = editorWith();
    const std::vector<TokenId> ids = idsOf(text);
    request.gapLengths = {static_cast<std::int64_t>(ids.size())};
    const EditPlan plan = editor.plan(request);
    return editor.apply(plan, std::vector<GenerationResult>{resultWith(plan.candidates.front(), ids)});
}

GenerationResult answerWith(const std::string &text, FinishReason finish = FinishReason::EndOfTurn)
{
    GenerationResult result;
    result.text = text;
    result.rawText = text;
    result.finish = finish;
    result.canvases.emplace_back();
    return result;
}

std::string canvasText(const EditCandidate &candidate)
{
    std::string text;
    const CanvasStart &start = *candidate.request.firstCanvas;
    for (std::size_t i = 0; i < start.ids.size(); ++i) {
        text += start.frozen[i] != 0 ? demoTokenizer()->decode(std::span(start.ids).subspan(i, 1), DecodeSpecial::Keep)
                                     : "?";
    }
    return text;
}

std::string promptText(const EditCandidate &candidate)
{
    return demoTokenizer()->decode(candidate.request.prompt, DecodeSpecial::Keep);
}

} // namespace

class TestCanvas : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void canvasShowsBothSidesOfTheGap();
    void promptsSayWhatToDo_data();
    void promptsSayWhatToDo();
    void aLongDocumentIsCutAroundTheGap();
    void aHugeDocumentIsWindowed();
    void splicesWithoutDoubledOrLostSpaces_data();
    void splicesWithoutDoubledOrLostSpaces();
    void gapNeverHoldsSpecialTokens();
    void triesSeveralLengthsAndAttempts();
    void lowestMeanEntropyWins();
    void locksAreHeldByteForByte_data();
    void locksAreHeldByteForByte();
    void locksKeepTheirPlaceInOtherLengths();
    void lightNoiseFreezesTheRest();
    void freshAnswersAreSpliced_data();
    void freshAnswersAreSpliced();
    void freshAnswerMayStartFromTheSelection();
    void unusableAnswersLeaveTheDocument_data();
    void unusableAnswersLeaveTheDocument();
    void continuationsMayEndTheirTurn();
    void refusesWhatCannotBeEdited_data();
    void refusesWhatCannotBeEdited();
    void tooLongSelectionsSayWhatFits();
    void outsideBytesNeverChange();
};

void TestCanvas::canvasShowsBothSidesOfTheGap()
{
    const std::string document = "The cat sat on the mat. It was glad.";
    EditRequest request = requestFor(document, rangeOf(document, "on the mat"));
    request.instruction = "Make it shorter";
    request.gapLengths = {3};
    const EditPlan plan = editorWith().plan(request);
    QCOMPARE(plan.kind, EditKind::Rewrite);
    QCOMPARE(plan.before + plan.replacedText + plan.after, document);
    QCOMPARE(plan.candidates.size(), std::size_t{1});
    const EditCandidate &candidate = plan.candidates.front();
    QCOMPARE(candidate.gapEnd - candidate.gapBegin, std::int64_t{3});
    QCOMPARE(QString::fromStdString(canvasText(candidate)),
             QStringLiteral("The cat sat???. It was glad.<turn|>") + QStringLiteral("<pad>").repeated(8));
    QCOMPARE(promptText(candidate), "<bos><|turn>user\nMake it shorter:\n\n" + document + "<turn|>\n<|turn>model\n");
    QVERIFY(candidate.request.singleCanvas);
    QCOMPARE(candidate.request.maxNewTokens, static_cast<std::int64_t>(candidate.request.firstCanvas->ids.size()));
    QCOMPARE(plan.visibleAfterBytes, static_cast<std::int64_t>(plan.after.size()));
}

void TestCanvas::promptsSayWhatToDo_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<int>("begin");
    QTest::addColumn<int>("end");
    QTest::addColumn<QByteArray>("instruction");
    QTest::addColumn<bool>("fresh");
    QTest::addColumn<QByteArray>("user");
    QTest::newRow("rewrite") << QByteArray("A b c.") << 2 << 3 << QByteArray(" Be bold. ") << false
                             << QByteArray("Be bold.\n\nA b c.");
    QTest::newRow("rewrite afresh") << QByteArray("A b c.") << 2 << 3 << QByteArray("Be bold") << true
                                    << QByteArray("Be bold:\n\nb");
    QTest::newRow("neutral rewrite is a fill")
        << QByteArray("A b c.") << 2 << 3 << QByteArray() << false << QByteArray("Fill in the gap:\n\nA ___ c.");
    QTest::newRow("fill") << QByteArray("A c.") << 2 << 2 << QByteArray() << false
                          << QByteArray("Fill in the gap:\n\nA ___ c.");
    QTest::newRow("fill behind a word") << QByteArray("A c.") << 1 << 1 << QByteArray("Add b") << true
                                        << QByteArray("Add b:\n\nA ___ c.");
    QTest::newRow("fill in front of a stop")
        << QByteArray("A c.") << 3 << 3 << QByteArray() << false << QByteArray("Fill in the gap:\n\nA c ___.");
    QTest::newRow("continue") << QByteArray("A c.\n") << 4 << 4 << QByteArray() << false
                              << QByteArray("Continue this text:\n\nA c.");
    QTest::newRow("empty document") << QByteArray() << 0 << 0 << QByteArray("Write a poem.") << true
                                    << QByteArray("Write a poem.");
    QTest::newRow("CR LF is shown as LF")
        << QByteArray("A\r\nb c.") << 3 << 4 << QByteArray("X") << false << QByteArray("X:\n\nA\nb c.");
}

void TestCanvas::promptsSayWhatToDo()
{
    QFETCH(QByteArray, document);
    QFETCH(int, begin);
    QFETCH(int, end);
    QFETCH(QByteArray, instruction);
    QFETCH(bool, fresh);
    QFETCH(QByteArray, user);
    EditRequest request = requestFor(document.toStdString(), {begin, end});
    request.instruction = instruction.toStdString();
    request.strategy = fresh ? EditStrategy::FreshAnswer : EditStrategy::FrozenCanvas;
    const EditPlan plan = editorWith().plan(request);
    QCOMPARE(QByteArray::fromStdString(promptText(plan.candidates.front())),
             "<bos><|turn>user\n" + user + "<turn|>\n<|turn>model\n");
}

void TestCanvas::aLongDocumentIsCutAroundTheGap()
{
    std::string document;
    for (int i = 0; i < 40; ++i) {
        document += "Sentence number " + std::to_string(i) + " is here.\n";
    }
    const ByteRange selection = rangeOf(document, "number 20");
    const EditPlan plan = editorWith().plan(requestFor(document, selection));
    QCOMPARE(plan.shown, (ByteRange{0, static_cast<std::int64_t>(document.size())}));
    QVERIFY(plan.visibleAfterBytes > 0 && plan.visibleAfterBytes < static_cast<std::int64_t>(plan.after.size()));
    for (const EditCandidate &candidate : plan.candidates) {
        const CanvasStart &canvas = *candidate.request.firstCanvas;
        QCOMPARE(canvas.ids.size(), std::size_t{64});
        QVERIFY(candidate.gapBegin > 10);
        QVERIFY(candidate.gapEnd < 54);
        QVERIFY(std::find(canvas.ids.begin(), canvas.ids.end(), kTurnEnd) == canvas.ids.end());
        // Prompt and canvas together repeat the text up to the gap.
        std::vector<TokenId> ids = candidate.request.prompt;
        ids.insert(ids.end(), canvas.ids.begin(), canvas.ids.begin() + candidate.gapBegin);
        const std::string text = demoTokenizer()->decode(ids, DecodeSpecial::Keep);
        QVERIFY(text.ends_with("<|turn>model\n" + plan.before.substr(0, plan.before.size() - 1)));
    }
}

void TestCanvas::aHugeDocumentIsWindowed()
{
    std::string document;
    while (document.size() < 3'000'000) {
        document += "A line of text that goes on and on.\r\n";
    }
    const std::int64_t middle = rangeOf(document.substr(1'500'000), "text").begin + 1'500'000;
    EditRequest request = requestFor(document, {middle, middle + 4});
    const EditPlan plan = editorWith(64, 512).plan(request);
    QVERIFY(plan.shown.begin > 1'400'000 && plan.shown.begin < middle);
    QVERIFY(plan.shown.end < 1'600'000 && plan.shown.end > middle);
    for (const EditCandidate &candidate : plan.candidates) {
        QVERIFY(candidate.request.prompt.size() + candidate.request.firstCanvas->ids.size() <= 512);
    }
    request.contextTokens = 20;
    const EditPlan narrow = editorWith(64, 512).plan(request);
    QVERIFY(idsOf(narrow.shown.of(document)).size() <= 24); // and a CR for each line end
    QVERIFY(plan.shown.length() > narrow.shown.length());
}

void TestCanvas::splicesWithoutDoubledOrLostSpaces_data()
{
    QTest::addColumn<QByteArray>("document"); // [ and ] mark the selection, | a caret
    QTest::addColumn<QByteArray>("written");
    QTest::addColumn<QByteArray>("expected");
    const auto row = [](const char *name, const std::string &document, const char *written,
                        const std::string &expected) {
        QTest::newRow(name) << QByteArray::fromStdString(document) << QByteArray(written)
                            << QByteArray::fromStdString(expected);
    };
    row("a word", "The [cat] sat", " dog", "The dog sat");
    row("a word, space not written", "The [cat] sat", "dog", "The dog sat");
    row("spaces on both sides written", "The [cat] sat", " dog ", "The dog sat");
    row("first word", "[The] cat", " A", "A cat");
    row("last word", "The [cat]", " dog ", "The dog");
    row("spaces selected, too", "The[ cat ]sat", " dog", "The dog sat");
    row("only white space selected", "The[ ]cat", " big", "The big cat");
    row("in front of a word", "The |cat", " big", "The big cat");
    row("behind a word", "The| cat", " big", "The big cat");
    row("at the beginning", "|cat", "Big", "Big cat");
    row("in front of a full stop", "The cat|.", " sat", "The cat sat.");
    row("between space and bracket", "The |(old) cat", " big", "The big (old) cat");
    row("inside brackets", "(|old) cat", "very", "(very old) cat");
    row("inside a word", "The c|at", "he", "The cheat");
    row("part of a word", "The c[a]t", "u", "The cut");
    row("new paragraph", "One.|\n", "\n\nTwo.", "One.\n\nTwo.\n");
    row("CR LF", "One.|\r\n", "\n\nTwo.", "One.\r\n\r\nTwo.\r\n");
    row("CR LF selected", "One.[\r\nTwo]\r\n", " Three\n", "One.\r\nThree\r\n");
    row("two spaces", "One.  [Two]", "Three", "One.  Three");
    row("half a family", kFamily.substr(0, 7) + "[" + kFamily.substr(7) + "] x", "y", "y x");
    row("inside CR LF", "a\r[\nb]", "c", "a\r\nc");
    row("whole document", "[\xEF\xBB\xBFThe cat.\r\n]", "A dog.",
        "\xEF\xBB\xBF"
        "A dog.\r\n");
    row("empty document", "|", "Words", "Words");
    row("rewrite begins where the selection did", "Anna, [I go] now", "\n\nI went\n", "Anna, I went now");
    row("repeats the words behind", "The [cat] sat on it.", " dog sat on", "The dog sat on it.");
    row("repeats all of it", "He [goes] home.", " went home.", "He went home.");
    row("repeats over a full stop", "He [goes]. We stay.", " went. We", "He went. We stay.");
    row("repeats in front of a word", "The |cat sat.", " big cat", "The big cat sat.");
    row("ends like the word behind", "The |cat sat.", " tomcat", "The tomcat cat sat.");
    row("only a full stop repeated", "He [goes].", " went.", "He went.");
    row("repeats and nothing else", "The [cat] sat.", " sat.", "The sat. sat.");
    row("to nothing", "The [cat] sat", " ", "The  sat");
}

void TestCanvas::splicesWithoutDoubledOrLostSpaces()
{
    QFETCH(QByteArray, document);
    QFETCH(QByteArray, written);
    ByteRange selection = {document.indexOf('['), document.indexOf(']') - 1};
    if (document.contains('|')) {
        selection = {document.indexOf('|'), document.indexOf('|')};
    }
    document.replace("[", "").replace("]", "").replace("|", "");
    const EditOutcome outcome = editWith(requestFor(document.toStdString(), selection), written.toStdString());
    QTEST(QByteArray::fromStdString(outcome.document), "expected");
    QCOMPARE(std::string(outcome.replaced.of(outcome.document)), outcome.alternatives.front());
    QVERIFY(outcome.problem.empty());
}

void TestCanvas::gapNeverHoldsSpecialTokens()
{
    const EditPlan plan = editorWith().plan(requestFor("The cat sat", {4, 7}));
    const GenerationRequest &request = plan.candidates.front().request;
    for (TokenId id = 0; id < static_cast<TokenId>(demoTokenizer()->vocabSize()); ++id) {
        QCOMPARE(isBanned(request, id), demoTokenizer()->isSpecial(id));
    }
    QVERIFY(isBanned(request, kPad) && isBanned(request, kEos) && isBanned(request, kTurnEnd));
}

void TestCanvas::triesSeveralLengthsAndAttempts()
{
    EditRequest request = requestFor("One two three four five six seven eight nine ten eleven", {0, 47});
    request.attempts = 2;
    request.seed = 7;
    const EditPlan plan = editorWith().plan(request);
    QCOMPARE(plan.candidates.size(), std::size_t{8});
    QCOMPARE(plan.candidates[0].request.seed, std::uint64_t{7});
    QCOMPARE(plan.candidates[1].request.seed, std::uint64_t{8});
    std::vector<std::int64_t> lengths;
    for (const EditCandidate &candidate : plan.candidates) {
        lengths.push_back(candidate.gapEnd - candidate.gapBegin);
    }
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    QCOMPARE(lengths.size(), std::size_t{4});

    request.gapLengths = {3, 5};
    request.attempts = 1;
    QCOMPARE(editorWith().plan(request).candidates.size(), std::size_t{2});
    QCOMPARE(editorWith().plan(requestFor("a b", {2, 2})).candidates.size(), std::size_t{4});
}

void TestCanvas::lowestMeanEntropyWins()
{
    EditRequest request = requestFor("The cat sat", {4, 7});
    request.gapLengths = {1, 2, 3};
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    const std::vector<TokenId> ids = idsOf(" big red dog");
    const std::vector<GenerationResult> results = {resultWith(plan.candidates[0], ids, 0.5F),
                                                   resultWith(plan.candidates[1], ids, 0.25F), GenerationResult{}};
    const EditOutcome outcome = editor.apply(plan, results);
    QCOMPARE(outcome.candidate, std::size_t{1});
    QCOMPARE(outcome.document, std::string("The big red sat"));
    QCOMPARE(outcome.alternatives, (std::vector<std::string>{"big", "big red", ""}));
    QVERIFY(std::isinf(outcome.meanEntropyNats[2])); // cancelled
    QCOMPARE(CanvasEditor::splice(plan, outcome.alternatives[0]), std::string("The big sat"));
}

void TestCanvas::locksAreHeldByteForByte_data()
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

void TestCanvas::locksAreHeldByteForByte()
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

void TestCanvas::locksKeepTheirPlaceInOtherLengths()
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

void TestCanvas::lightNoiseFreezesTheRest()
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

void TestCanvas::freshAnswersAreSpliced_data()
{
    QTest::addColumn<QByteArray>("document");
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("rewrite") << QByteArray("Say [helo ]you") << QByteArray("hello") << QByteArray("Say hello you");
    QTest::newRow("rewrite with white space")
        << QByteArray("Say [helo] you") << QByteArray("\n hello\n") << QByteArray("Say hello you");
    QTest::newRow("rewrite with CR LF") << QByteArray("a\r\n[b]\r\n") << QByteArray("- c\n- d")
                                        << QByteArray("a\r\n- c\r\n- d\r\n");
    QTest::newRow("fill") << QByteArray("The | sat down.") << QByteArray("The old cat sat down.")
                          << QByteArray("The old cat sat down.");
    QTest::newRow("fill at the beginning")
        << QByteArray("|sat down.") << QByteArray("The cat sat down.") << QByteArray("The cat sat down.");
    QTest::newRow("fill with nothing") << QByteArray("The |cat sat.") << QByteArray("The cat sat.")
                                       << QByteArray("The cat sat.");
    QTest::newRow("fill, other words changed")
        << QByteArray("Yestreday the |cat sat down.") << QByteArray("Yesterday the old cat sat up.")
        << QByteArray("Yestreday the old cat sat down.");
    QTest::newRow("continue") << QByteArray("The cat sat.|") << QByteArray("It slept.")
                              << QByteArray("The cat sat. It slept.");
    QTest::newRow("continue on a new line")
        << QByteArray("The cat sat.\n|") << QByteArray("It slept.") << QByteArray("The cat sat.\nIt slept.");
    QTest::newRow("continue with a comma")
        << QByteArray("The cat sat|\n") << QByteArray(", then slept.") << QByteArray("The cat sat, then slept.\n");
}

void TestCanvas::freshAnswersAreSpliced()
{
    QFETCH(QByteArray, document);
    QFETCH(QByteArray, answer);
    ByteRange selection = {document.indexOf('['), document.indexOf(']') - 1};
    if (document.contains('|')) {
        selection = {document.indexOf('|'), document.indexOf('|')};
    }
    document.replace("[", "").replace("]", "").replace("|", "");
    EditRequest request = requestFor(document.toStdString(), selection);
    request.strategy = EditStrategy::FreshAnswer;
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    QVERIFY(!plan.candidates.front().request.firstCanvas);
    const EditOutcome outcome = editor.apply(plan, std::vector{answerWith(answer.toStdString())});
    QTEST(QByteArray::fromStdString(outcome.document), "expected");
}

void TestCanvas::freshAnswerMayStartFromTheSelection()
{
    const std::string document = "one two three four five six seven eight";
    EditRequest request = requestFor(document, {0, static_cast<std::int64_t>(document.size())});
    request.strategy = EditStrategy::FreshAnswer;
    request.noise = NoiseAmount::Light;
    const EditPlan plan = editorWith().plan(request);
    const CanvasStart &start = *plan.candidates.front().request.firstCanvas;
    const std::vector<TokenId> ids = idsOf(document);
    QCOMPARE(start.ids.size(), std::size_t{64});
    QVERIFY(std::equal(ids.begin(), ids.end(), start.ids.begin()));
    QCOMPARE(start.ids[ids.size()], kTurnEnd);
    QVERIFY(std::all_of(start.frozen.begin(), start.frozen.end(), [](std::uint8_t flag) { return flag == 0; }));
    const auto anew = std::count(start.keepAtStart.begin(), start.keepAtStart.end(), std::uint8_t{0});
    QVERIFY(anew >= 2 && anew <= 5);
}

void TestCanvas::unusableAnswersLeaveTheDocument_data()
{
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<int>("finish");
    QTest::addColumn<bool>("fill");
    QTest::newRow("empty") << QByteArray(" \n") << static_cast<int>(FinishReason::EndOfTurn) << false;
    QTest::newRow("cut") << QByteArray("a dog") << static_cast<int>(FinishReason::Budget) << false;
    QTest::newRow("cancelled") << QByteArray("a dog") << static_cast<int>(FinishReason::Cancelled) << false;
    QTest::newRow("another text") << QByteArray("Well, hello.") << static_cast<int>(FinishReason::EndOfTurn) << true;
    QTest::newRow("text without its end") << QByteArray("The big") << static_cast<int>(FinishReason::EndOfTurn) << true;
}

void TestCanvas::unusableAnswersLeaveTheDocument()
{
    QFETCH(QByteArray, answer);
    QFETCH(int, finish);
    QFETCH(bool, fill);
    const std::string document = "The cat sat";
    EditRequest request = requestFor(document, {4, fill ? 4 : 7});
    request.strategy = EditStrategy::FreshAnswer;
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(request);
    const EditOutcome outcome =
        editor.apply(plan, std::vector{answerWith(answer.toStdString(), static_cast<FinishReason>(finish))});
    QCOMPARE(outcome.document, document);
    QCOMPARE(outcome.replaced, plan.replaced);
    QVERIFY(!outcome.problem.empty());
}

void TestCanvas::continuationsMayEndTheirTurn()
{
    const std::string document = "The cat sat. ";
    const CanvasEditor editor = editorWith();
    const EditPlan plan = editor.plan(requestFor(document, {13, 13}));
    QCOMPARE(plan.kind, EditKind::Continue);
    const EditCandidate &candidate = plan.candidates.front();
    QCOMPARE(candidate.gapEnd, std::int64_t{64});
    QVERIFY(!isBanned(candidate.request, kTurnEnd) && !isBanned(candidate.request, kEos));
    QVERIFY(!isBanned(candidate.request, kPad) && isBanned(candidate.request, 5));
    std::vector<TokenId> ids = idsOf(" It slept.");
    ids.push_back(kTurnEnd);
    ids.resize(64, kPad);
    QCOMPARE(editor.apply(plan, std::vector{resultWith(candidate, ids)}).document,
             std::string("The cat sat. It slept."));
}

void TestCanvas::refusesWhatCannotBeEdited_data()
{
    QTest::addColumn<QString>("subject");
    QTest::addColumn<int>("kind");
    const auto row = [](const char *name, ErrorKind kind, const char *subject) {
        QTest::newRow(name) << QString::fromLatin1(subject) << static_cast<int>(kind);
    };
    row("selection outside", ErrorKind::InvalidArgument, "selection");
    row("selection reversed", ErrorKind::InvalidArgument, "selection");
    row("not UTF-8", ErrorKind::InvalidInput, "the document");
    row("instruction not UTF-8", ErrorKind::InvalidInput, "the instruction");
    row("gap of nothing", ErrorKind::InvalidArgument, "gapLengths");
    row("gap too long", ErrorKind::InvalidArgument, "gapLengths");
    row("no attempts", ErrorKind::InvalidArgument, "attempts");
    row("lock outside", ErrorKind::InvalidArgument, "locks");
    row("lock outside the text", ErrorKind::InvalidArgument, "locks");
    row("lock of white space", ErrorKind::InvalidArgument, "locks");
    row("all locked", ErrorKind::InvalidArgument, "locks");
    row("lock in a fresh answer", ErrorKind::InvalidArgument, "locks");
    row("light noise with lengths", ErrorKind::InvalidArgument, "gapLengths");
}

void TestCanvas::refusesWhatCannotBeEdited()
{
    EditRequest request = requestFor("The cat sat down.", {4, 11});
    const std::string row = QTest::currentDataTag();
    if (row == "selection outside") {
        request.selection = {4, 18};
    } else if (row == "selection reversed") {
        request.selection = {7, 4};
    } else if (row == "not UTF-8") {
        request.document[0] = '\xFF';
    } else if (row == "instruction not UTF-8") {
        request.instruction = "caf\xE9";
    } else if (row == "gap of nothing") {
        request.gapLengths = {3, 0};
    } else if (row == "gap too long") {
        request.gapLengths = {64};
    } else if (row == "no attempts") {
        request.attempts = 0;
    } else if (row == "lock outside") {
        request.locks = {{0, 3}};
    } else if (row == "lock outside the text") {
        request.locks = {{5, 500}};
    } else if (row == "lock of white space") {
        request.locks = {{7, 8}};
    } else if (row == "all locked") {
        request.locks = {{4, 7}, {8, 11}};
    } else if (row == "lock in a fresh answer") {
        request.strategy = EditStrategy::FreshAnswer;
        request.locks = {{4, 7}};
    } else if (row == "light noise with lengths") {
        request.noise = NoiseAmount::Light;
        request.gapLengths = {2};
    }
    try {
        (void)editorWith().plan(request);
        QFAIL("accepted");
    } catch (const Error &error) {
        QTEST(static_cast<int>(error.kind()), "kind");
        QTEST(QString::fromStdString(error.subject()), "subject");
    }
}

void TestCanvas::tooLongSelectionsSayWhatFits()
{
    std::string document = "Start. ";
    for (int i = 0; i < 100; ++i) {
        document += "word ";
    }
    document += "End of it all, with a little more text behind it.";
    EditRequest request = requestFor(document, {7, 507});
    try {
        (void)editorWith().plan(request);
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QVERIFY2(std::string(error.what()).find("100 tokens") != std::string::npos, error.what());
        QVERIFY2(std::string(error.what()).find("at most 56") != std::string::npos, error.what());
    }
    request.strategy = EditStrategy::FreshAnswer; // spans canvases
    QCOMPARE(editorWith().plan(request).candidates.front().request.maxNewTokens, std::int64_t{256});
    try {
        (void)editorWith(64, 128).plan(request);
        QFAIL("accepted");
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::ContextLength);
    }
}

void TestCanvas::outsideBytesNeverChange()
{
    const CanvasEditor editor = editorWith();
    int edited = 0;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        test::RandomText random(seed);
        EditRequest request;
        request.document = random.document(40);
        const auto size = static_cast<std::int64_t>(request.document.size());
        const std::int64_t begin = random.below(size + 1);
        request.selection = {begin, begin + random.below(std::min<std::int64_t>(size - begin, 60) + 1)};
        request.seed = seed;
        request.strategy = random.below(4) == 0 ? EditStrategy::FreshAnswer : EditStrategy::FrozenCanvas;
        request.noise = static_cast<NoiseAmount>(random.below(3));
        const ByteRange snapped = snapToGraphemes(request.document, request.selection);
        EditPlan plan;
        try {
            plan = editor.plan(request);
        } catch (const Error &error) { // many byte tokens: too long for the small canvas
            QCOMPARE(error.subject(), std::string("selection"));
            continue;
        }
        ++edited;
        QCOMPARE(plan.before + plan.replacedText + plan.after, request.document);
        QCOMPARE(plan.selection, snapped);
        QVERIFY(plan.replaced.begin >= snapped.begin && plan.replaced.end <= snapped.end);
        std::vector<TokenId> ids;
        for (int i = 0; i < 20; ++i) {
            ids.push_back(static_cast<TokenId>(32 + random.below(demoTokenizer()->vocabSize() - 32)));
        }
        std::vector<GenerationResult> results;
        for (const EditCandidate &candidate : plan.candidates) {
            results.push_back(request.strategy == EditStrategy::FrozenCanvas ? resultWith(candidate, ids)
                                                                             : answerWith(random.document(9)));
        }
        const EditOutcome outcome = editor.apply(plan, results);
        QVERIFY(outcome.document.starts_with(ByteRange{0, snapped.begin}.of(request.document)));
        QVERIFY(outcome.document.ends_with(ByteRange{snapped.end, size}.of(request.document)));
        QVERIFY(static_cast<std::int64_t>(outcome.document.size()) >= snapped.begin + size - snapped.end);
        QVERIFY(!firstInvalidUtf8(outcome.document));
        for (const std::string &alternative : outcome.alternatives) {
            QCOMPARE(CanvasEditor::splice(plan, alternative), plan.before + alternative + plan.after);
        }
    }
    QVERIFY(edited > 400);
}

QTEST_APPLESS_MAIN(TestCanvas)
#include "tst_canvas.moc"
