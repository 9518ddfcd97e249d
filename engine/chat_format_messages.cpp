// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/chat_format.h"
#include "engine/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace palimpsest {

namespace {

using nlohmann::json;

[[noreturn]] void wanted(const std::string &field, const json &found, const std::string &what)
{
    throw Error(ErrorKind::InvalidArgument, field + ": found " + found.type_name() + ", wanted " + what, field);
}

const json &memberOf(const json &object, const char *name)
{
    static const json kNull;
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
}

/// A text that may be absent or null.
std::optional<std::string> optionalText(const json &object, const char *name, const std::string &parent)
{
    const json &found = memberOf(object, name);
    if (found.is_null())
        return std::nullopt;
    if (!found.is_string())
        wanted(parent + '.' + name, found, "a text or null");
    return found.get<std::string>();
}

/// The elements of a list that may be absent or null.
const json &optionalList(const json &object, const char *name, const std::string &parent)
{
    static const json kEmpty = json::array();
    const json &found = memberOf(object, name);
    if (found.is_null())
        return kEmpty;
    if (!found.is_array())
        wanted(parent + '.' + name, found, "a list or null");
    return found;
}

std::string indexed(const std::string &field, std::size_t index)
{
    return field + '[' + std::to_string(index) + ']';
}

void readRole(const json &message, const std::string &field, ChatMessage &result)
{
    static const std::map<std::string, ChatRole, std::less<>> kRoles = {
        {"system", ChatRole::System},       {"developer", ChatRole::Developer}, {"user", ChatRole::User},
        {"assistant", ChatRole::Assistant}, {"tool", ChatRole::Tool},
    };
    const json &role = memberOf(message, "role");
    if (!role.is_string())
        wanted(field + ".role", role, "a text");
    const auto known = kRoles.find(role.get_ref<const std::string &>());
    result.role = known == kRoles.end() ? ChatRole::Other : known->second;
    if (known == kRoles.end())
        result.otherRole = role.get<std::string>();
}

ContentPart readPart(const json &part, const std::string &field)
{
    static const std::map<std::string, ContentPart::Kind, std::less<>> kKinds = {
        {"text", ContentPart::Kind::Text},         {"image", ContentPart::Kind::Image},
        {"image_url", ContentPart::Kind::Image},   {"audio", ContentPart::Kind::Audio},
        {"input_audio", ContentPart::Kind::Audio}, {"video", ContentPart::Kind::Video},
        {"video_url", ContentPart::Kind::Video},
    };
    if (!part.is_object())
        wanted(field, part, "an object");
    const json &type = memberOf(part, "type");
    if (!type.is_string())
        wanted(field + ".type", type, "a text");
    const auto known = kKinds.find(type.get_ref<const std::string &>());
    ContentPart result{.kind = known == kKinds.end() ? ContentPart::Kind::Other : known->second, .text = {}};
    if (result.kind == ContentPart::Kind::Text) {
        const json &text = memberOf(part, "text");
        if (!text.is_string())
            wanted(field + ".text", text, "a text");
        result.text = text.get<std::string>();
    }
    return result;
}

void readContent(const json &message, const std::string &field, ChatMessage &result)
{
    const json &content = memberOf(message, "content");
    if (content.is_string()) {
        result.text = content.get<std::string>();
    } else if (content.is_array()) {
        for (std::size_t i = 0; i < content.size(); ++i)
            result.parts.push_back(readPart(content[i], indexed(field + ".content", i)));
        if (content.empty())
            result.text = ""; // an empty list is an empty text, not null
    } else if (content.is_object() && result.role == ChatRole::Tool) {
        result.contentIsObject = true; // refused only if the template would come to it
    } else if (!content.is_null()) {
        wanted(field + ".content", content, "a text, a list of parts or null");
    }
}

bool isDeeperThan(const json &value, int depth)
{
    if (!value.is_structured())
        return false;
    return depth == 0 ||
           std::ranges::any_of(value, [depth](const json &element) { return isDeeperThan(element, depth - 1); });
}

/// A copy of a value that a client sent. Copying recurses, so what is nested too deep is refused first.
std::shared_ptr<const json> copyOf(const json &value, const std::string &field)
{
    constexpr int kMaxDepth = 100;
    if (isDeeperThan(value, kMaxDepth))
        throw Error(ErrorKind::InvalidArgument,
                    field + ": is nested deeper than " + std::to_string(kMaxDepth) + " levels", field);
    return std::make_shared<const json>(value);
}

std::shared_ptr<const json> readArguments(const json &arguments, const std::string &field, ToolArgumentText textMeans)
{
    if (!arguments.is_string() || textMeans == ToolArgumentText::AsWritten)
        return copyOf(arguments, field);
    const std::string &text = arguments.get_ref<const std::string &>();
    if (text.empty())
        return std::make_shared<const json>(json::object());
    json parsed = json::parse(text, nullptr, false);
    if (!parsed.is_object())
        throw Error(ErrorKind::InvalidArgument, field + ": the text is not a JSON object", field);
    return std::make_shared<const json>(std::move(parsed));
}

ToolCall readToolCall(const json &call, const std::string &field, ToolArgumentText textMeans)
{
    if (!call.is_object())
        wanted(field, call, "an object");
    const json &function = memberOf(call, "function");
    if (!function.is_object())
        wanted(field + ".function", function, "an object");
    const json &name = memberOf(function, "name");
    if (!name.is_string())
        wanted(field + ".function.name", name, "a text");
    return {.id = optionalText(call, "id", field).value_or(""),
            .name = name.get<std::string>(),
            .arguments = readArguments(memberOf(function, "arguments"), field + ".function.arguments", textMeans)};
}

ChatMessage readMessage(const json &message, const std::string &field, ToolArgumentText textMeans)
{
    if (!message.is_object())
        wanted(field, message, "an object");
    ChatMessage result;
    readRole(message, field, result);
    readContent(message, field, result);
    result.reasoning = optionalText(message, "reasoning", field);
    if (result.reasoning.value_or("").empty())
        result.reasoning = optionalText(message, "reasoning_content", field);
    const json &calls = optionalList(message, "tool_calls", field);
    for (std::size_t i = 0; i < calls.size(); ++i)
        result.toolCalls.push_back(readToolCall(calls[i], indexed(field + ".tool_calls", i), textMeans));
    const json &responses = optionalList(message, "tool_responses", field);
    for (std::size_t i = 0; i < responses.size(); ++i) {
        const std::string item = indexed(field + ".tool_responses", i);
        if (!responses[i].is_object())
            wanted(item, responses[i], "an object");
        result.toolResponses.push_back({.name = optionalText(responses[i], "name", item).value_or(""),
                                        .response = copyOf(memberOf(responses[i], "response"), item + ".response")});
    }
    result.toolCallId = optionalText(message, "tool_call_id", field).value_or("");
    result.name = optionalText(message, "name", field).value_or("");
    return result;
}

} // namespace

std::vector<ChatMessage> chatMessagesFromJson(const json &messages, ToolArgumentText textMeans)
{
    if (!messages.is_array())
        wanted("messages", messages, "a list");
    std::vector<ChatMessage> result;
    result.reserve(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i)
        result.push_back(readMessage(messages[i], indexed("messages", i), textMeans));
    return result;
}

} // namespace palimpsest
