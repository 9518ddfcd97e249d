// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/chat_format_turns.h"

#include "engine/chat_format_tools.h"
#include "engine/chat_markers.h"
#include "engine/error.h"
#include "engine/utf8.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace palimpsest::chat {

namespace {

using nlohmann::json;

[[noreturn]] void invalid(const std::string &field, const std::string &problem)
{
    throw Error(ErrorKind::InvalidArgument, field + ": " + problem, field);
}

std::string fieldOf(std::size_t message, const char *name)
{
    return "messages[" + std::to_string(message) + "]." + name;
}

std::string roleName(const ChatMessage &message)
{
    switch (message.role) {
    case ChatRole::System:
        return "system";
    case ChatRole::Developer:
        return "developer";
    case ChatRole::User:
        return "user";
    case ChatRole::Assistant:
        return "model";
    case ChatRole::Tool:
        return "tool";
    case ChatRole::Other:
        break;
    }
    return message.otherRole;
}

/// Removes thoughts from an earlier answer: of each stretch up to a closing marker, what follows the first opening one.
std::string withoutThoughts(std::string_view text)
{
    std::string kept;
    while (true) {
        const std::size_t close = text.find(kChannelEnd);
        const std::string_view stretch = text.substr(0, close);
        kept += stretch.substr(0, stretch.find(kChannel));
        if (close == std::string_view::npos)
            break;
        text.remove_prefix(close + kChannelEnd.size());
    }
    return std::string(trimWhiteSpace(kept));
}

/// What closes a turn depends on what was written last in it.
enum class ToolState { None, Called, Answered };

/// One conversation in Gemma 4's format; made for one request.
class GemmaConversation
{
public:
    GemmaConversation(PromptWriter &out, const ChatRequest &request, ChatDialect dialect)
        : m_out(out),
          m_request(request),
          m_messages(request.messages),
          m_revision2(dialect == ChatDialect::Gemma4Revision2),
          m_tools(out, m_revision2 ? "null" : "None")
    {
    }

    void write()
    {
        m_out.marker(kBegin);
        writeSystemTurn();
        findLastUserMessage();
        const ChatMessage *before = nullptr;
        for (std::size_t i = m_first; i < m_messages.size(); ++i) {
            if (m_messages[i].role == ChatRole::Tool)
                continue; // written with the call that it answers
            writeMessage(i, before);
            before = &m_messages[i];
        }
        if (m_request.addGenerationPrompt)
            writeGenerationPrompt();
    }

private:
    void writeSystemTurn()
    {
        const ChatMessage &first = m_messages.front();
        const bool hasSystem = first.role == ChatRole::System || first.role == ChatRole::Developer;
        const bool hasTools = m_request.tools && !m_request.tools->empty();
        if (!m_request.enableThinking && !hasTools && !hasSystem)
            return;
        m_out.marker(kTurn);
        m_out.text("system\n");
        if (m_request.enableThinking) {
            m_out.marker(kThink);
            m_out.text("\n");
        }
        if (hasSystem) {
            m_first = 1;
            if (first.text)
                m_out.text(trimWhiteSpace(*first.text));
            for (const ContentPart &part : first.parts) {
                m_out.text(part.kind == ContentPart::Kind::Text ? trimWhiteSpace(part.text) : std::string_view());
                m_out.text(" ");
            }
        }
        if (hasTools)
            m_tools.declarations(*m_request.tools);
        endTurn();
    }

    void findLastUserMessage()
    {
        for (std::size_t i = m_first; i < m_messages.size(); ++i) {
            if (m_messages[i].role == ChatRole::User)
                m_lastUser = i;
        }
    }

    void writeMessage(std::size_t index, const ChatMessage *before)
    {
        const ChatMessage &message = m_messages[index];
        const bool byModel = message.role == ChatRole::Assistant;
        if (!byModel || before == nullptr || before->role != ChatRole::Assistant) {
            m_out.marker(kTurn);
            m_out.text(roleName(message) + "\n");
        }
        writeReasoning(index);
        m_state = ToolState::None;
        for (std::size_t call = 0; call < message.toolCalls.size(); ++call)
            writeCall(message.toolCalls[call],
                      fieldOf(index, "tool_calls[") + std::to_string(call) + "].function.arguments");
        writeResponses(index);
        const bool hasText = writeContent(message);
        closeMessage(index, hasText);
    }

    void writeReasoning(std::size_t index)
    {
        const ChatMessage &message = m_messages[index];
        const bool current = !m_lastUser || index > *m_lastUser;
        if (!message.reasoning || message.reasoning->empty() || !current || (message.toolCalls.empty() && !m_revision2))
            return;
        m_out.marker(kChannel);
        m_out.text(kThoughtLine);
        m_out.text(*message.reasoning);
        m_out.text("\n");
        m_out.marker(kChannelEnd);
    }

    void writeCall(const ToolCall &call, const std::string &field)
    {
        static const json kNoArguments = json::object();
        const json &arguments = call.arguments && !call.arguments->is_null() ? *call.arguments : kNoArguments;
        if (!arguments.is_object() && (m_revision2 || !arguments.is_string()))
            invalid(field, "arguments of a tool call must be an object");
        m_tools.call(call.name, arguments);
        m_state = ToolState::Called;
    }

    void writeResponses(std::size_t index)
    {
        const ChatMessage &message = m_messages[index];
        for (const ToolResponse &response : message.toolResponses) {
            static const json kNull;
            m_tools.response(response.name.empty() ? "unknown" : response.name,
                             response.response ? *response.response : kNull);
            m_state = ToolState::Answered;
        }
        if (!message.toolResponses.empty() || message.toolCalls.empty())
            return;
        for (std::size_t i = index + 1; i < m_messages.size() && m_messages[i].role == ChatRole::Tool; ++i) {
            writeToolMessage(i, message.toolCalls);
            m_state = ToolState::Answered;
        }
    }

    void writeToolMessage(std::size_t index, const std::vector<ToolCall> &calls)
    {
        const ChatMessage &message = m_messages[index];
        if (message.contentIsObject)
            invalid(fieldOf(index, "content"), "the content of a tool message must be a text or a list of parts");
        std::string name = message.name.empty() ? "unknown" : message.name;
        for (const ToolCall &call : calls) {
            if (call.id == message.toolCallId)
                name = call.name;
        }
        json content = message.text ? json(*message.text) : json();
        if (!message.parts.empty()) {
            std::string texts;
            for (const ContentPart &part : message.parts)
                texts += part.kind == ContentPart::Kind::Text ? part.text : std::string();
            content = texts;
        }
        m_tools.response(name, content);
        for (const ContentPart &part : message.parts) {
            if (m_revision2 && part.kind == ContentPart::Kind::Image)
                writeMedia(m_out, part.kind);
        }
    }

    /// Returns whether anything was written.
    bool writeContent(const ChatMessage &message)
    {
        bool written = false;
        const auto writeText = [&](const std::string &text) {
            const std::string kept =
                message.role == ChatRole::Assistant ? withoutThoughts(text) : std::string(trimWhiteSpace(text));
            m_out.text(kept);
            written = written || !kept.empty();
        };
        if (message.text)
            writeText(*message.text);
        for (const ContentPart &part : message.parts) {
            if (part.kind == ContentPart::Kind::Text)
                writeText(part.text);
            else
                writeMedia(m_out, part.kind);
            written = written || (part.kind != ContentPart::Kind::Text && part.kind != ContentPart::Kind::Other);
        }
        return written;
    }

    void closeMessage(std::size_t index, bool hasText)
    {
        const ChatMessage *after = nullptr;
        for (std::size_t i = index + 1; i < m_messages.size() && after == nullptr; ++i) {
            if (m_messages[i].role != ChatRole::Tool)
                after = &m_messages[i];
        }
        const bool answered = m_state == ToolState::Answered;
        if (m_state == ToolState::Called) { // the model waits for an answer
            m_out.marker(kToolResponse);
            return;
        }
        const bool continues = m_revision2 && m_messages[index].role == ChatRole::Assistant && after != nullptr &&
                               after->role == ChatRole::Assistant && (m_messages[index].toolCalls.empty() || answered);
        const bool staysOpen = answered && !hasText && !(m_revision2 && after != nullptr);
        if (!continues && !staysOpen)
            endTurn();
    }

    void writeGenerationPrompt()
    {
        if (m_state == ToolState::None) {
            m_out.marker(kTurn);
            m_out.text("model\n");
            if (!m_request.enableThinking) { // a thought that is over already
                m_out.marker(kChannel);
                m_out.text(kThoughtLine);
                m_out.marker(kChannelEnd);
            }
        } else if (m_state == ToolState::Answered && m_request.enableThinking && m_revision2) {
            m_out.marker(kChannel);
            m_out.text(kThoughtLine);
        }
    }

    void endTurn()
    {
        m_out.marker(kTurnEnd);
        m_out.text("\n");
    }

    PromptWriter &m_out;
    const ChatRequest &m_request;
    const std::vector<ChatMessage> &m_messages;
    bool m_revision2;
    ToolWriter m_tools;
    std::size_t m_first = 0; // 1 if the first message went into the system turn
    std::optional<std::size_t> m_lastUser;
    ToolState m_state = ToolState::None;
};

} // namespace

void writeMedia(PromptWriter &out, ContentPart::Kind kind)
{
    if (kind == ContentPart::Kind::Image)
        out.marker(kImage);
    else if (kind == ContentPart::Kind::Audio)
        out.marker(kAudio);
    else if (kind == ContentPart::Kind::Video)
        out.marker(kVideo);
}

void writeGemmaConversation(PromptWriter &out, const ChatRequest &request, ChatDialect dialect)
{
    GemmaConversation(out, request, dialect).write();
}

void writePlainTurns(PromptWriter &out, const ChatRequest &request)
{
    if (request.tools && !request.tools->empty())
        invalid("tools", "this model's chat format has no tools");
    if (request.enableThinking)
        invalid("enable_thinking", "this model's chat format has no thoughts");
    out.marker(kBegin);
    for (const ChatMessage &message : request.messages) {
        out.marker(kTurn);
        out.text(roleName(message) + "\n");
        if (message.text)
            out.text(trimWhiteSpace(*message.text));
        for (const ContentPart &part : message.parts) {
            if (part.kind == ContentPart::Kind::Text)
                out.text(trimWhiteSpace(part.text));
        }
        out.marker(kTurnEnd);
        out.text("\n");
    }
    if (request.addGenerationPrompt) {
        out.marker(kTurn);
        out.text("model\n");
    }
}

} // namespace palimpsest::chat
