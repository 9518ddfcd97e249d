// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/tool_fields.h"

#include <algorithm>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

constexpr std::size_t kLongestName = 128;

bool isToolName(const std::string &name)
{
    return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](unsigned char character) {
        return std::isalnum(character) != 0 || character == '_' || character == '-' || character == '.' ||
               character == ':' || character == '/';
    });
}

/// The chat-style object of one function, or null for another kind of tool.
json readTool(const json &tool, const std::string &field, ToolShape shape, std::vector<std::string> &skipped)
{
    RequestFields fields(tool, field + ".");
    const std::string type = fields.requireText("type");
    if (type != "function") {
        skipped.push_back(field + " (" + shown(type) + ")");
        return nullptr;
    }
    const json *nested = shape == ToolShape::Nested ? fields.object("function") : &tool;
    if (nested == nullptr)
        refuse(field + ".function", "it is missing; an object is wanted");
    RequestFields inner(*nested, shape == ToolShape::Nested ? field + ".function." : field + ".");
    const std::string name = inner.requireText("name");
    if (!isToolName(name))
        refuse(inner.fullName("name"), "found " + shown(name) + ", wanted letters, digits, _ - . : / alone");
    json function{{"name", name}, {"description", inner.text("description").value_or("")}};
    const json *parameters = inner.object("parameters");
    function["parameters"] = parameters != nullptr && !parameters->empty()
                                 ? *parameters
                                 : json{{"type", "object"}, {"properties", json::object()}};
    return {{"type", "function"}, {"function", std::move(function)}};
}

void readChoice(const json &choice, ToolShape shape, ToolFields &result)
{
    if (choice == "auto" || choice == "none" || choice == "required") {
        result.choice = choice == "auto"   ? ToolFields::Choice::Auto
                        : choice == "none" ? ToolFields::Choice::None
                                           : ToolFields::Choice::Required;
        return;
    }
    if (!choice.is_object())
        refuse("tool_choice", "found " + shown(choice) + ", wanted auto, none, required, or a function by its name");
    RequestFields fields(choice, "tool_choice.");
    if (fields.requireText("type") != "function")
        refuse("tool_choice.type", "only a function can be chosen");
    const json *nested = shape == ToolShape::Nested ? fields.object("function") : &choice;
    if (nested == nullptr)
        refuse("tool_choice.function", "it is missing; an object with a name is wanted");
    result.choice = ToolFields::Choice::Named;
    result.name = RequestFields(*nested, "tool_choice.").requireText("name");
}

bool hasTool(const json &tools, const std::string &name)
{
    return std::ranges::any_of(tools, [&](const json &tool) { return tool["function"]["name"] == name; });
}

} // namespace

ToolFields readToolFields(RequestFields &fields, ToolShape shape, std::vector<std::string> &skipped)
{
    ToolFields result;
    json tools = json::array();
    if (const json *list = fields.list("tools")) {
        for (std::size_t index = 0; index < list->size(); ++index) {
            json tool = readTool((*list)[index], "tools[" + std::to_string(index) + "]", shape, skipped);
            if (!tool.is_null())
                tools.push_back(std::move(tool));
        }
    }
    if (const json *choice = fields.find("tool_choice"))
        readChoice(*choice, shape, result);
    result.parallelCalls = fields.boolean("parallel_tool_calls").value_or(true);
    if (result.mustCall() && tools.empty())
        refuse("tool_choice", "a call is wanted, but there are no tools");
    if (result.choice == ToolFields::Choice::Named && !hasTool(tools, result.name))
        refuse("tool_choice", "there is no tool of the name " + shown(result.name));
    if (!tools.empty())
        result.tools = std::make_shared<const json>(std::move(tools));
    return result;
}

} // namespace palimpsest::openai
