// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"
#include "engine/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Which of the known chat templates a checkpoint carries.
enum class ChatDialect {
    Gemma4,          ///< as released in June 2026 (r1)
    Gemma4Revision2, ///< the correction of 15 July 2026 (r2); told by `continues_into_next` in the template
    PlainTurns,      ///< turns only: no thinking channel, no tools (the demo model)
};

enum class ChatRole { System, Developer, User, Assistant, Tool, Other };

struct ContentPart
{
    enum class Kind { Text, Image, Audio, Video, Other };
    Kind kind = Kind::Text;
    std::string text;
};

struct ToolCall
{
    std::string id;
    std::string name;
    std::shared_ptr<const nlohmann::json> arguments; ///< an object; a string is copied between the braces (r1 only)
};

struct ToolResponse // the older `tool_responses` list on an assistant message
{
    std::string name;
    std::shared_ptr<const nlohmann::json> response;
};

struct ChatMessage
{
    ChatRole role = ChatRole::User;
    std::string otherRole; ///< the role string when role is Other; written as it is
    /// Content as one string (trimmed as such) or as parts; both empty means null.
    std::optional<std::string> text;
    std::vector<ContentPart> parts;
    std::optional<std::string> reasoning;
    std::vector<ToolCall> toolCalls;
    std::vector<ToolResponse> toolResponses;
    std::string toolCallId;       ///< of a tool message
    std::string name;             ///< of a tool message without a matching call
    bool contentIsObject = false; ///< a tool message whose content was an object: refused by both templates
};

struct ChatRequest
{
    std::vector<ChatMessage> messages;
    std::shared_ptr<const nlohmann::json> tools; ///< list of OpenAI tool objects, or null
    bool enableThinking = false;
    bool addGenerationPrompt = true;
};

/// A rendered prompt: markers that the format wrote itself, each one token and a piece of its own (mode Parse), and the
/// text between them, its own and people's, in which a marker's spelling stays text (mode PlainText). Their
/// concatenation is the string that the checkpoint's own template would give.
struct PromptPiece
{
    std::string text;
    SpecialTokens mode = SpecialTokens::Parse;
};

/// Where in the format a reply begins, which depends on how the prompt ended.
enum class ReplyStart {
    Answer,
    Thought, ///< the prompt has opened a thought (revision 2, thinking on, behind a tool's response)
};

/// What a model's reply holds.
struct ParsedReply
{
    std::string thoughts; ///< without markers; several thoughts joined by a newline
    std::string text;     ///< the answer, trimmed of markers, otherwise unchanged
    struct Call
    {
        std::string name;
        std::string argumentsJson; ///< a JSON object
    };
    std::vector<Call> toolCalls;
    bool thoughtUnfinished = false; ///< the reply ended inside a thought
};

/// The chat format of DiffusionGemma (Gemma 4), native: no template engine. Pure.
class ChatFormat
{
public:
    explicit ChatFormat(ChatDialect dialect) : m_dialect(dialect) {}

    /// Tells the dialect from the text of `chat_template.jinja`. Throws Error Unsupported if it is none of the three.
    [[nodiscard]] static ChatDialect detect(std::string_view templateText, const std::string &path);

    [[nodiscard]] ChatDialect dialect() const noexcept { return m_dialect; }

    /// Throws Error InvalidArgument (subject: the field) for what the template refuses: no messages, an object as a
    /// tool message's content, arguments that are not an object; and for what the dialect cannot say: PlainTurns has
    /// neither tools nor thinking, and ignoring them would answer another question than the one asked.
    [[nodiscard]] std::vector<PromptPiece> render(const ChatRequest &request) const;
    [[nodiscard]] std::string renderText(const ChatRequest &request) const;
    /// Markers become special tokens, people's text does not. Throws as render, and Error Unsupported if the tokenizer
    /// lacks a marker.
    [[nodiscard]] std::vector<TokenId> encode(const ChatRequest &request, const Tokenizer &tokenizer) const;

    /// How a reply to this prompt begins, for parseReply.
    [[nodiscard]] ReplyStart replyStart(const ChatRequest &request) const;
    /// The way back: `reply` is decoded with special tokens kept. Never throws: a call that is cut off or cannot be
    /// read is left out, and no marker reaches thoughts or text.
    [[nodiscard]] ParsedReply parseReply(std::string_view reply, ReplyStart start = ReplyStart::Answer) const;

private:
    ChatDialect m_dialect;
};

/// What `arguments` of a tool call is if it is a text.
enum class ToolArgumentText {
    Json,      ///< a JSON object, as OpenAI's clients send it; "" is an empty one
    AsWritten, ///< left as it is, for the template to copy or to refuse (the fixtures)
};

/// Reads OpenAI-style message objects (`role`, `content`, `tool_calls`, `tool_call_id`, `reasoning`, ...); used by the
/// fixtures and the endpoint. Throws Error InvalidArgument naming the field.
[[nodiscard]] std::vector<ChatMessage> chatMessagesFromJson(const nlohmann::json &messages,
                                                            ToolArgumentText textMeans = ToolArgumentText::Json);

} // namespace palimpsest
