// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/responses_request.h"

#include <array>
#include <utility>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

/// Parts of a message in the words of chat messages.
json chatContent(const json &content, const std::string &field)
{
    if (!content.is_array())
        return content;
    json parts = json::array();
    for (std::size_t index = 0; index < content.size(); ++index) {
        const std::string here = field + "[" + std::to_string(index) + "]";
        RequestFields fields(content[index], here + ".");
        const std::string type = fields.requireText("type");
        if (type == "refusal") {
            parts.push_back({{"type", "text"}, {"text", fields.text("refusal").value_or("")}});
            continue;
        }
        if (type != "input_text" && type != "output_text" && type != "text")
            refuse(here, "found " + shown(type) + "; this model reads text only");
        const auto text = fields.text("text");
        if (!text)
            refuse(here + ".text", "it is missing; a text is wanted");
        parts.push_back({{"type", "text"}, {"text", *text}});
    }
    return parts;
}

/// An item of `input` as a chat message, or null for one that says nothing to the model.
json chatMessage(const json &item, const std::string &field)
{
    RequestFields fields(item, field + ".");
    const std::string type = fields.text("type").value_or("message");
    if (type == "message") {
        const json *content = fields.find("content");
        return {{"role", fields.requireText("role")},
                {"content", content == nullptr ? json(nullptr) : chatContent(*content, field + ".content")}};
    }
    if (type == "function_call") {
        const json function{{"name", fields.requireText("name")}, {"arguments", fields.text("arguments").value_or("")}};
        const json call{{"id", fields.requireText("call_id")}, {"type", "function"}, {"function", function}};
        return {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", json::array({call})}};
    }
    if (type == "function_call_output") {
        const json *output = fields.find("output");
        return {{"role", "tool"},
                {"tool_call_id", fields.requireText("call_id")},
                {"content", output == nullptr ? json("") : chatContent(*output, field + ".output")}};
    }
    if (type == "reasoning") // thoughts of an earlier turn are not put to the model again
        return nullptr;
    refuse(field + ".type",
           "found " + shown(type) + ", wanted message, function_call, function_call_output or reasoning");
}

/// Calls that follow one another are one assistant turn.
void append(json &messages, json message)
{
    const bool isCall = message.contains("tool_calls");
    if (isCall && !messages.empty() && messages.back().contains("tool_calls")) {
        messages.back()["tool_calls"].push_back(message["tool_calls"][0]);
        return;
    }
    messages.push_back(std::move(message));
}

json readInput(RequestFields &fields)
{
    json messages = json::array();
    if (const auto instructions = fields.text("instructions"); instructions && !instructions->empty())
        messages.push_back({{"role", "system"}, {"content", *instructions}});
    const json *input = fields.find("input");
    if (input == nullptr)
        refuse("input", "it is missing; a text or a list of items is wanted");
    if (input->is_string()) {
        messages.push_back({{"role", "user"}, {"content", *input}});
        return messages;
    }
    if (!input->is_array() || input->empty())
        refuse("input", "found " + shown(*input) + ", wanted a text or a list with at least one item");
    for (std::size_t index = 0; index < input->size(); ++index) {
        json message = chatMessage((*input)[index], "input[" + std::to_string(index) + "]");
        if (!message.is_null())
            append(messages, std::move(message));
    }
    return messages;
}

void refuseUnsupported(RequestFields &fields)
{
    for (const char *name : {"previous_response_id", "conversation", "prompt"}) {
        if (fields.find(name) != nullptr)
            refuse(name, "this server keeps no conversations; send the whole input");
    }
    if (fields.boolean("background").value_or(false))
        refuse("background", "answers are not kept here; leave it out");
}

ResponseFormat readTextFormat(RequestFields &fields)
{
    const json *text = fields.object("text");
    if (text == nullptr)
        return {};
    RequestFields inner(*text, "text.");
    const json *format = inner.object("format");
    return format == nullptr ? ResponseFormat{} : readResponseFormat(*format, "text.format");
}

Json orDefault(const json &body, const char *name, Json otherwise)
{
    const auto found = body.find(name);
    return found == body.end() || found->is_null() ? std::move(otherwise) : Json(*found);
}

Json echoOf(const json &body)
{
    Json echoed{{"instructions", orDefault(body, "instructions", nullptr)},
                {"max_output_tokens", orDefault(body, "max_output_tokens", nullptr)},
                {"metadata", orDefault(body, "metadata", Json::object())},
                {"parallel_tool_calls", orDefault(body, "parallel_tool_calls", true)},
                {"previous_response_id", nullptr},
                {"reasoning", orDefault(body, "reasoning", {{"effort", nullptr}, {"summary", nullptr}})},
                {"store", false},
                {"temperature", orDefault(body, "temperature", 1.0)},
                {"text", orDefault(body, "text", {{"format", {{"type", "text"}}}})},
                {"tool_choice", orDefault(body, "tool_choice", "auto")},
                {"tools", orDefault(body, "tools", Json::array())},
                {"top_p", orDefault(body, "top_p", 1.0)},
                {"truncation", "disabled"},
                {"user", orDefault(body, "user", nullptr)}};
    return echoed;
}

} // namespace

ResponsesRequest readResponsesRequest(const json &body)
{
    RequestFields fields(body, "");
    ResponsesRequest request;
    Conversation &conversation = request.conversation;
    conversation.model = fields.requireText("model");
    refuseUnsupported(fields);
    conversation.sampling = readSamplingFields(fields);
    if (conversation.sampling.choices > 1)
        refuse("n", "a response has one choice");
    conversation.sampling.maxTokens = readTokenLimit(fields, {"max_output_tokens"});
    conversation.delivery = readDelivery(fields);
    conversation.wantsThoughts = readThinking(fields);
    conversation.format = readTextFormat(fields);
    std::vector<std::string> skippedTools;
    conversation.tools = readToolFields(fields, ToolShape::Flat, skippedTools);
    arrangeMessages(conversation, chatMessagesFromJson(readInput(fields)), "input");
    fields.ignore({"metadata", "store", "user", "include", "truncation", "service_tier", "safety_identifier",
                   "prompt_cache_key"});
    conversation.unknownFields = fields.unknown();
    conversation.unknownFields.insert(conversation.unknownFields.end(), skippedTools.begin(), skippedTools.end());
    request.echoed = echoOf(body);
    return request;
}

} // namespace palimpsest::openai
