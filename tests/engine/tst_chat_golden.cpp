// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/chat_format.h"
#include "engine/error.h"
#include "tests/support/golden.h"
#include "tests/support/test_tokenizers.h"

#include <QTest>

using namespace palimpsest;
using nlohmann::json;

/// The chat fixtures: conversations and the prompts that both revisions of the released template make of them.
class TestChatGolden : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void rendersLikeTheTemplate_data() { rows(); }
    void rendersLikeTheTemplate();
    void encodesLikeTheRenderedText_data() { rows(); }
    void encodesLikeTheRenderedText();

private:
    void rows();
    [[nodiscard]] static ChatRequest requestOf(const json &golden);

    json m_cases;
};

void TestChatGolden::initTestCase()
{
    m_cases = test::goldenJson("chat/chat_goldens.json").at("cases");
    QVERIFY(m_cases.size() > 50);
}

void TestChatGolden::rows()
{
    QTest::addColumn<int>("index");
    QTest::addColumn<bool>("revision2");
    for (std::size_t i = 0; i < m_cases.size(); ++i) {
        const auto name = m_cases.at(i).at("name").get<std::string>();
        QTest::addRow("%s, r1", name.c_str()) << static_cast<int>(i) << false;
        QTest::addRow("%s, r2", name.c_str()) << static_cast<int>(i) << true;
    }
}

ChatRequest TestChatGolden::requestOf(const json &golden)
{
    ChatRequest request;
    request.messages = chatMessagesFromJson(golden.at("messages"), ToolArgumentText::AsWritten);
    if (golden.contains("tools") && !golden.at("tools").is_null())
        request.tools = std::make_shared<const json>(golden.at("tools"));
    request.enableThinking = golden.value("enable_thinking", false);
    request.addGenerationPrompt = golden.value("add_generation_prompt", true);
    return request;
}

void TestChatGolden::rendersLikeTheTemplate()
{
    QFETCH(int, index);
    QFETCH(bool, revision2);
    const json &golden = m_cases.at(static_cast<std::size_t>(index));
    const bool differs = golden.contains("prompt_r2") || golden.contains("error_r2");
    const std::string suffix = revision2 && differs ? "_r2" : "";
    const ChatFormat format(revision2 ? ChatDialect::Gemma4Revision2 : ChatDialect::Gemma4);
    const ChatRequest request = requestOf(golden);
    if (golden.contains("prompt" + suffix)) {
        QCOMPARE(QString::fromStdString(format.renderText(request)),
                 QString::fromStdString(golden.at("prompt" + suffix).get<std::string>()));
        return;
    }
    QVERIFY(golden.contains("error" + suffix));
    try {
        const std::string prompt = format.renderText(request);
        QFAIL(qPrintable("rendered: " + QString::fromStdString(prompt)));
    } catch (const Error &error) {
        QCOMPARE(error.kind(), ErrorKind::InvalidArgument);
        QVERIFY(error.subject().starts_with("messages["));
        QVERIFY(std::string(error.what()).find(error.subject()) != std::string::npos);
    }
}

void TestChatGolden::encodesLikeTheRenderedText()
{
    QFETCH(int, index);
    QFETCH(bool, revision2);
    const json &golden = m_cases.at(static_cast<std::size_t>(index));
    const ChatFormat format(revision2 ? ChatDialect::Gemma4Revision2 : ChatDialect::Gemma4);
    const auto tokenizer = test::demoTokenizer();
    const auto isSpecial = [&](TokenId id) {
        return tokenizer->isSpecial(id);
    };
    try {
        const ChatRequest request = requestOf(golden);
        const std::vector<PromptPiece> pieces = format.render(request);
        // Whoever writes a marker's spelling must not get the marker; such cases differ from the rendered text.
        const bool lookAlike = std::ranges::any_of(pieces, [&](const PromptPiece &piece) {
            return piece.mode == SpecialTokens::PlainText &&
                   std::ranges::any_of(tokenizer->encode(piece.text, SpecialTokens::Parse), isSpecial);
        });
        const std::string text = format.renderText(request);
        const bool markerMissing = std::ranges::any_of(pieces, [&](const PromptPiece &piece) {
            return piece.mode == SpecialTokens::Parse && !tokenizer->idOf(piece.text);
        });
        if (markerMissing) { // the demo vocabulary has neither audio nor video
            QVERIFY(text.find("<|audio|>") != std::string::npos || text.find("<|video|>") != std::string::npos);
            QVERIFY_EXCEPTION_THROWN((void)format.encode(request, *tokenizer), Error);
            return;
        }
        const std::vector<TokenId> ids = format.encode(request, *tokenizer);
        if (!lookAlike)
            QCOMPARE(ids, tokenizer->encode(text, SpecialTokens::Parse));
        const auto markers = std::ranges::count(pieces, SpecialTokens::Parse, &PromptPiece::mode);
        QCOMPARE(std::ranges::count_if(ids, isSpecial), markers);
        QCOMPARE(tokenizer->decode(ids, DecodeSpecial::Keep), text);
    } catch (const Error &) {
        QVERIFY(golden.contains("error") || golden.contains("error_r2"));
    }
}

QTEST_GUILESS_MAIN(TestChatGolden)
#include "tst_chat_golden.moc"
