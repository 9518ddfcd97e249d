// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/chat_request.h"

#include "engine/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

/// Fields that would change the answer and that this server does not have; left out quietly, the client would get
/// something else than it asked for.
constexpr std::array<std::string_view, 12> kRefused = {
    "functions",       "function_call", "audio",        "web_search_options",
    "prompt_logprobs", "guided_json",   "guided_regex", "guided_choice",
    "guided_grammar",  "grammar",       "best_of",      "suffix",
};

void refuseUnsupported(RequestFields &fields)
{
    for (const std::string_view name : kRefused) {
        if (fields.find(name) != nullptr)
            refuse(fields.fullName(name), "this server does not support it here");
    }
    if (const json *modalities = fields.list("modalities");
        modalities != nullptr && *modalities != json::array({"text"}))
        refuse("modalities", "only text is generated here");
}

/// Parts as one text, in order, a line each.
std::string textOf(const std::vector<ContentPart> &parts, const std::string &field)
{
    std::string text;
    for (std::size_t index = 0; index < parts.size(); ++index) {
        if (parts[index].kind != ContentPart::Kind::Text) {
            refuse(field + ".content[" + std::to_string(index) + "]",
                   "this model reads text only; images, audio and files cannot be given to it");
        }
        text += (index == 0 ? "" : "\n") + parts[index].text;
    }
    return text;
}

void toText(ChatMessage &message, const std::string &field)
{
    if (!message.parts.empty()) {
        message.text = textOf(message.parts, field);
        message.parts.clear();
    }
    if (message.contentIsObject)
        refuse(field + ".content", "found an object, wanted a text or a list of parts");
}

bool isSystem(const ChatMessage &message)
{
    return message.role == ChatRole::System || message.role == ChatRole::Developer;
}

/// An assistant turn that has neither text nor calls says nothing to the model.
bool isEmptyAssistant(const ChatMessage &message)
{
    return message.role == ChatRole::Assistant && message.toolCalls.empty() && message.toolResponses.empty() &&
           message.text.value_or("").empty();
}

std::optional<int> readLogprobs(RequestFields &fields)
{
    const bool wanted = fields.boolean("logprobs").value_or(false);
    const auto count = fields.integer("top_logprobs", 0, kMostTopLogprobs);
    if (!wanted && count.value_or(0) > 0)
        refuse("top_logprobs", "it needs logprobs to be true");
    return wanted ? std::optional<int>(static_cast<int>(count.value_or(0))) : std::nullopt;
}

bool isEffort(const std::string &effort)
{
    return effort != "none" && effort != "minimal";
}

} // namespace

bool readThinking(RequestFields &fields)
{
    bool thinks = false;
    if (const auto effort = fields.text("reasoning_effort"))
        thinks |= isEffort(*effort);
    if (const json *reasoning = fields.object("reasoning")) {
        RequestFields inner(*reasoning, "reasoning.");
        thinks |= inner.text("effort") && isEffort(*inner.text("effort"));
        thinks |= inner.boolean("enabled").value_or(false);
    }
    if (const json *arguments = fields.object("chat_template_kwargs")) {
        RequestFields inner(*arguments, "chat_template_kwargs.");
        thinks |= inner.boolean("enable_thinking").value_or(false) || inner.boolean("thinking").value_or(false);
    }
    thinks |= fields.boolean("enable_thinking").value_or(false);
    if (const json *thinking = fields.find("thinking")) {
        if (thinking->is_object())
            thinks |= RequestFields(*thinking, "thinking.").text("type").value_or("") == "enabled";
        else
            thinks |= fields.boolean("thinking").value_or(false);
    }
    return thinks;
}

Delivery readDelivery(RequestFields &fields)
{
    Delivery delivery;
    delivery.stream = fields.boolean("stream").value_or(false);
    if (const json *options = fields.object("stream_options"))
        delivery.usageChunk = RequestFields(*options, "stream_options.").boolean("include_usage").value_or(false);
    return delivery;
}

void arrangeMessages(Conversation &conversation, std::vector<ChatMessage> messages, const std::string &field)
{
    if (messages.empty())
        refuse(field, "it is empty; at least one message is wanted");
    std::string system;
    std::vector<ChatMessage> rest;
    for (std::size_t index = 0; index < messages.size(); ++index) {
        ChatMessage &message = messages[index];
        const std::string here = field + "[" + std::to_string(index) + "]";
        if (message.role == ChatRole::Other && message.otherRole == "function")
            message.role = ChatRole::Tool;
        if (message.role == ChatRole::Other) {
            refuse(here + ".role",
                   "found " + shown(message.otherRole) + ", wanted system, developer, user, assistant or tool");
        }
        toText(message, here);
        if (isSystem(message))
            system += (system.empty() ? "" : "\n\n") + message.text.value_or("");
        else if (!isEmptyAssistant(message) || index + 1 < messages.size())
            rest.push_back(std::move(message));
    }
    if (!rest.empty() && rest.back().role == ChatRole::Assistant && rest.back().toolCalls.empty()) {
        conversation.beginning = rest.back().text.value_or("");
        rest.pop_back();
    }
    if (const std::string instruction = instructionFor(conversation.format); !instruction.empty())
        system += (system.empty() ? "" : "\n\n") + instruction;
    if (!system.empty()) {
        ChatMessage first;
        first.role = ChatRole::System;
        first.text = std::move(system);
        rest.insert(rest.begin(), std::move(first));
    }
    if (rest.empty())
        refuse(field, "there is nothing to answer");
    conversation.messages = std::move(rest);
}

Conversation readChatRequest(const json &body)
{
    RequestFields fields(body, "");
    Conversation conversation;
    conversation.model = fields.requireText("model");
    refuseUnsupported(fields);
    conversation.sampling = readSamplingFields(fields);
    conversation.sampling.maxTokens = readTokenLimit(fields, {"max_completion_tokens", "max_tokens"});
    conversation.topLogprobs = readLogprobs(fields);
    conversation.delivery = readDelivery(fields);
    conversation.wantsThoughts = readThinking(fields);
    std::vector<std::string> skippedTools;
    conversation.tools = readToolFields(fields, ToolShape::Nested, skippedTools);
    if (const json *format = fields.object("response_format"))
        conversation.format = readResponseFormat(*format, "response_format");
    if (conversation.topLogprobs && conversation.format.isJson())
        refuse("logprobs", "they are not given together with a response_format, whose answers may be repaired");
    const json *messages = fields.list("messages");
    if (messages == nullptr)
        refuse("messages", "it is missing; a list is wanted");
    arrangeMessages(conversation, chatMessagesFromJson(*messages), "messages");
    conversation.unknownFields = fields.unknown();
    conversation.unknownFields.insert(conversation.unknownFields.end(), skippedTools.begin(), skippedTools.end());
    return conversation;
}

} // namespace palimpsest::openai
