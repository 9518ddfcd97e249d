// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/chat_format.h"

#include "engine/chat_format_turns.h"
#include "engine/chat_markers.h"
#include "engine/error.h"

namespace palimpsest {

ChatDialect ChatFormat::detect(std::string_view templateText, const std::string &path)
{
    const auto has = [templateText](std::string_view words) {
        return templateText.find(words) != std::string_view::npos;
    };
    if (has(chat::kTurn) && has(chat::kTurnEnd)) {
        if (has(chat::kChannel) && has(chat::kToolCall))
            return has("continues_into_next") ? ChatDialect::Gemma4Revision2 : ChatDialect::Gemma4;
        if (!has(chat::kChannel) && !has(chat::kTool) && !has(chat::kToolCall))
            return ChatDialect::PlainTurns;
    }
    throw Error(ErrorKind::Unsupported,
                path + ": this chat template is not known; supported are Gemma 4's, as released and as corrected, and "
                       "plain <|turn> ... <turn|> turns",
                path);
}

std::vector<PromptPiece> ChatFormat::render(const ChatRequest &request) const
{
    if (request.messages.empty())
        throw Error(ErrorKind::InvalidArgument, "messages: the list is empty, wanted at least one message", "messages");
    PromptWriter writer;
    if (m_dialect == ChatDialect::PlainTurns)
        chat::writePlainTurns(writer, request);
    else
        chat::writeGemmaConversation(writer, request, m_dialect);
    return writer.take();
}

std::string ChatFormat::renderText(const ChatRequest &request) const
{
    std::string text;
    for (const PromptPiece &piece : render(request))
        text += piece.text;
    return text;
}

std::vector<TokenId> ChatFormat::encode(const ChatRequest &request, const Tokenizer &tokenizer) const
{
    std::vector<TokenId> ids;
    for (const PromptPiece &piece : render(request)) {
        if (piece.mode == SpecialTokens::PlainText) {
            const std::vector<TokenId> text = tokenizer.encode(piece.text, SpecialTokens::PlainText);
            ids.insert(ids.end(), text.begin(), text.end());
            continue;
        }
        const std::optional<TokenId> marker = tokenizer.idOf(piece.text);
        if (!marker)
            throw Error(ErrorKind::Unsupported,
                        "the tokenizer has no token " + piece.text + ", which this prompt needs", piece.text);
        ids.push_back(*marker);
    }
    return ids;
}

ReplyStart ChatFormat::replyStart(const ChatRequest &request) const
{
    const std::string prompt = renderText(request);
    return prompt.ends_with(std::string(chat::kChannel) + std::string(chat::kThoughtLine)) ? ReplyStart::Thought
                                                                                           : ReplyStart::Answer;
}

} // namespace palimpsest
