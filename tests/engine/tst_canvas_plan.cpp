// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/canvas.h"
#include "engine/error.h"
#include "tests/engine/canvas_bench.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <algorithm>
#include <functional>

using namespace palimpsest;
using namespace palimpsest::test;

namespace {

/// What makes a request one that cannot be met.
using Change = std::function<void(EditRequest &)>;

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

Q_DECLARE_METATYPE(Change)

/// What the model is given for an edit: prompt, canvas, gap; and which edits cannot be asked for.
class TestCanvasPlan : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void canvasShowsBothSidesOfTheGap();
    void promptsSayWhatToDo_data();
    void promptsSayWhatToDo();
    void aLongDocumentIsCutAroundTheGap();
    void aHugeDocumentIsWindowed();
    void gapNeverHoldsSpecialTokens();
    void triesSeveralLengthsAndAttempts();
    void refusesWhatCannotBeEdited_data();
    void refusesWhatCannotBeEdited();
    void tooLongSelectionsSayWhatFits();
};

void TestCanvasPlan::canvasShowsBothSidesOfTheGap()
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

void TestCanvasPlan::promptsSayWhatToDo_data()
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

void TestCanvasPlan::promptsSayWhatToDo()
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

void TestCanvasPlan::aLongDocumentIsCutAroundTheGap()
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

void TestCanvasPlan::aHugeDocumentIsWindowed()
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

void TestCanvasPlan::gapNeverHoldsSpecialTokens()
{
    const EditPlan plan = editorWith().plan(requestFor("The cat sat", {4, 7}));
    const GenerationRequest &request = plan.candidates.front().request;
    for (TokenId id = 0; id < static_cast<TokenId>(demoTokenizer()->vocabSize()); ++id) {
        QCOMPARE(isBanned(request, id), demoTokenizer()->isSpecial(id));
    }
    QVERIFY(isBanned(request, kPad) && isBanned(request, kEos) && isBanned(request, kTurnEnd));
}

void TestCanvasPlan::triesSeveralLengthsAndAttempts()
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

void TestCanvasPlan::refusesWhatCannotBeEdited_data()
{
    QTest::addColumn<Change>("change");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("subject");
    const auto row = [](const char *name, ErrorKind kind, const char *subject, const Change &change) {
        QTest::newRow(name) << change << static_cast<int>(kind) << QString::fromLatin1(subject);
    };
    row("selection outside", ErrorKind::InvalidArgument, "selection", [](EditRequest &edit) {
        edit.selection = {4, 18};
    });
    row("selection reversed", ErrorKind::InvalidArgument, "selection", [](EditRequest &edit) {
        edit.selection = {7, 4};
    });
    row("not UTF-8", ErrorKind::InvalidInput, "the document", [](EditRequest &edit) { edit.document[0] = '\xFF'; });
    row("instruction not UTF-8", ErrorKind::InvalidInput, "the instruction",
        [](EditRequest &edit) { edit.instruction = "caf\xE9"; });
    row("gap of nothing", ErrorKind::InvalidArgument, "gapLengths", [](EditRequest &edit) {
        edit.gapLengths = {3, 0};
    });
    row("gap too long", ErrorKind::InvalidArgument, "gapLengths", [](EditRequest &edit) { edit.gapLengths = {64}; });
    row("no attempts", ErrorKind::InvalidArgument, "attempts", [](EditRequest &edit) { edit.attempts = 0; });
    row("lock outside", ErrorKind::InvalidArgument, "locks", [](EditRequest &edit) { edit.locks = {{0, 3}}; });
    row("lock outside the text", ErrorKind::InvalidArgument, "locks", [](EditRequest &edit) {
        edit.locks = {{5, 500}};
    });
    row("lock of white space", ErrorKind::InvalidArgument, "locks", [](EditRequest &edit) { edit.locks = {{7, 8}}; });
    row("all locked", ErrorKind::InvalidArgument, "locks", [](EditRequest &edit) { edit.locks = {{4, 7}, {8, 11}}; });
    row("lock in a fresh answer", ErrorKind::InvalidArgument, "locks", [](EditRequest &edit) {
        edit.strategy = EditStrategy::FreshAnswer;
        edit.locks = {{4, 7}};
    });
    row("light noise with lengths", ErrorKind::InvalidArgument, "gapLengths", [](EditRequest &edit) {
        edit.noise = NoiseAmount::Light;
        edit.gapLengths = {2};
    });
}

void TestCanvasPlan::refusesWhatCannotBeEdited()
{
    QFETCH(Change, change);
    EditRequest request = requestFor("The cat sat down.", {4, 11});
    change(request);
    try {
        (void)editorWith().plan(request);
        QFAIL("accepted");
    } catch (const Error &error) {
        QTEST(static_cast<int>(error.kind()), "kind");
        QTEST(QString::fromStdString(error.subject()), "subject");
    }
}

void TestCanvasPlan::tooLongSelectionsSayWhatFits()
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

QTEST_APPLESS_MAIN(TestCanvasPlan)
#include "tst_canvas_plan.moc"
