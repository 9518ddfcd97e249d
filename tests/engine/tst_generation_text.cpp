// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "tests/support/generation_driver.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

#include <string>

using namespace palimpsest;
using namespace palimpsest::test;

class TestGenerationText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void stopStringAcrossCanvases();
    void charactersAcrossCanvases();
    void budgetEndsOnAWholeCharacter();
    void cancelTellsTheHeldBackText();
    void rawPiecesAreTheRawText_data();
    void rawPiecesAreTheRawText();
};

void TestGenerationText::rawPiecesAreTheRawText_data()
{
    QTest::addColumn<QString>("stop");
    QTest::addColumn<QString>("raw");
    QTest::newRow("no stop string") << ""
                                    << "<|channel>thought\none two<channel|>three 漢 four";
    QTest::newRow("in the answer") << "ee 漢"
                                   << "<|channel>thought\none two<channel|>thr";
    QTest::newRow("right behind a marker") << "thr"
                                           << "<|channel>thought\none two<channel|>";
    QTest::newRow("in front of a marker") << "two"
                                          << "<|channel>thought\none ";
    QTest::newRow("across a marker") << "othree"
                                     << "<|channel>thought\none tw";
    QTest::newRow("at the beginning") << "thought"
                                      << "<|channel>";
}

void TestGenerationText::rawPiecesAreTheRawText()
{
    QFETCH(QString, stop);
    QFETCH(QString, raw);
    const auto tokenizer = demoTokenizer();
    const Ids script = tokenizer->encode("<|channel>thought\none two<channel|>three 漢 four", SpecialTokens::Parse);
    for (const std::int64_t length : {1, 2, 3, 64}) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        if (!stop.isEmpty()) {
            request.stopStrings = {stop.toStdString()};
        }
        Driver driver(request, certainModel(inCanvases(script, static_cast<std::size_t>(length))),
                      {.vocabSize = 8192, .canvasLength = length}, tokenizer);
        const GenerationResult result = driver.finish();
        QCOMPARE(QString::fromStdString(result.rawText), raw);
        QCOMPARE(QString::fromStdString(settledRawText(driver.canvases)), raw);
        QCOMPARE(driver.canvases.back().settledTokens, static_cast<std::int64_t>(result.tokens.size()));
        std::string soFar;
        for (const CanvasEvent &canvas : driver.canvases) {
            soFar += canvas.settledRawText;
            QVERIFY(raw.startsWith(QString::fromStdString(soFar)));
        }
    }
}

void TestGenerationText::stopStringAcrossCanvases()
{
    const auto tokenizer = demoTokenizer();
    const Ids script = tokenizer->encode("the quick brown fox jumps over it", SpecialTokens::Parse);
    for (const std::int64_t length : {1, 2, 3, 5, 64}) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        request.stopStrings = {"own fox"};
        Driver driver(request, certainModel(inCanvases(script, static_cast<std::size_t>(length))),
                      {.vocabSize = 8192, .canvasLength = length}, tokenizer);
        const GenerationResult result = driver.finish();
        QCOMPARE(result.text, std::string("the quick br"));
        QCOMPARE(result.rawText, result.text);
        QCOMPARE(settledText(driver.canvases), result.text);
        QCOMPARE(result.finish, FinishReason::StopString);
        QVERIFY(tokenizer->decode(result.tokens, DecodeSpecial::Skip).starts_with(result.text));
        QVERIFY(result.tokens.size() < script.size());
    }
}

void TestGenerationText::charactersAcrossCanvases()
{
    const auto tokenizer = demoTokenizer();
    const std::string text = "é, 漢字, 👩‍👩‍👧, नमस्ते and more";
    const Ids script = tokenizer->encode(text, SpecialTokens::PlainText);
    for (const std::int64_t length : {1, 2, 7}) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        Driver driver(request, certainModel(inCanvases(script, static_cast<std::size_t>(length))),
                      {.vocabSize = 8192, .canvasLength = length}, tokenizer);
        const GenerationResult result = driver.finish();
        QCOMPARE(result.text, text);
        QCOMPARE(settledText(driver.canvases), text);
        for (const CanvasEvent &canvas : driver.canvases) {
            QVERIFY(canvas.settledText.find("\uFFFD") == std::string::npos);
        }
    }
}

void TestGenerationText::budgetEndsOnAWholeCharacter()
{
    const auto tokenizer = demoTokenizer();
    const std::string text = "a漢字👩b";
    const Ids script = tokenizer->encode(text, SpecialTokens::PlainText);
    for (std::size_t budget = 1; budget <= script.size(); ++budget) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(budget);
        Driver driver(request, certainModel(inCanvases(script, 3)), {.vocabSize = 8192, .canvasLength = 3}, tokenizer);
        const GenerationResult result = driver.finish();
        QVERIFY(result.tokens.size() <= budget && result.tokens.size() + 3 >= budget);
        QVERIFY2(text.starts_with(result.text), result.text.c_str());
        QCOMPARE(settledText(driver.canvases), result.text);
        QCOMPARE(result.finish, FinishReason::Budget);
    }
}

void TestGenerationText::cancelTellsTheHeldBackText()
{
    const auto tokenizer = demoTokenizer();
    const Ids script = tokenizer->encode("the quick brown fox", SpecialTokens::Parse);
    for (std::size_t canvases = 0; canvases < script.size(); ++canvases) {
        GenerationRequest request = basicRequest();
        request.maxNewTokens = static_cast<std::int64_t>(script.size());
        request.stopStrings = {"own fox jumps"};
        Driver driver(request, certainModel(inCanvases(script, 1)), {.vocabSize = 8192, .canvasLength = 1}, tokenizer);
        while (driver.canvases.size() < canvases) {
            driver.step();
        }
        driver.canvases.push_back(driver.generation.cancel().value());
        const GenerationResult result = driver.finish();
        QCOMPARE(settledText(driver.canvases), result.text);
        QCOMPARE(result.text, tokenizer->decode(std::span(script).first(canvases), DecodeSpecial::Skip));
    }
}

QTEST_GUILESS_MAIN(TestGenerationText)
#include "tst_generation_text.moc"
