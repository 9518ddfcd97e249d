// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/chat_format_tools.h"

#include "engine/chat_markers.h"
#include "engine/error.h"
#include "engine/python_number.h"
#include "engine/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace palimpsest::chat {

namespace {

using nlohmann::json;

constexpr int kMaxDepth = 100; // of arguments and schemas; what a person writes stays far below

[[noreturn]] void invalid(const std::string &field, const std::string &wanted)
{
    throw Error(ErrorKind::InvalidArgument, field + ": wanted " + wanted, field);
}

char32_t lowerCase(char32_t c) noexcept
{
    const bool latin = (c >= U'A' && c <= U'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
    const bool greekOrCyrillic = (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F);
    if (latin || greekOrCyrillic)
        return c + 0x20;
    return c >= 0x400 && c <= 0x40F ? c + 0x50 : c;
}

std::u32string withoutCase(const std::string &text)
{
    std::u32string lowered;
    for (std::size_t position = 0; position < text.size();) {
        const Utf8Character character = readUtf8(text, position);
        lowered += lowerCase(character.codePoint);
        position += std::max<std::size_t>(character.length, 1);
    }
    return lowered;
}

struct Member
{
    std::u32string order;
    const std::string *key = nullptr;
    const json *value = nullptr;
};

/// The members of an object, sorted by key without regard to case.
std::vector<Member> sortedMembers(const json &object)
{
    std::vector<Member> members;
    for (auto member = object.begin(); member != object.end(); ++member)
        members.push_back({withoutCase(member.key()), &member.key(), &member.value()});
    std::ranges::stable_sort(members, {}, &Member::order);
    return members;
}

/// The member of that name, else null; so is everything in something that is not an object.
const json &memberOf(const json &object, const char *name)
{
    static const json kNull;
    if (!object.is_object())
        return kNull;
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
}

/// What a template's `if` thinks of a value.
bool isTrue(const json &value)
{
    if (value.is_boolean())
        return value.get<bool>();
    if (value.is_number())
        return value.get<double>() != 0.0;
    if (value.is_string())
        return !value.get_ref<const std::string &>().empty();
    return !value.empty();
}

std::string textOf(const json &value)
{
    return value.is_string() ? value.get<std::string>() : std::string();
}

std::string upperCase(std::string text)
{
    for (char &c : text)
        c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return text;
}

/// The type of a schema in upper case: "" if it has none, `['STRING', 'NULL']` for a list, which is what the template
/// makes of it.
std::string typeOf(const json &schema)
{
    const json &type = memberOf(schema, "type");
    if (!type.is_array())
        return upperCase(textOf(type));
    std::string names;
    for (const json &name : type)
        names += (names.empty() ? "'" : ", '") + upperCase(textOf(name)) + "'";
    return "[" + names + "]";
}

/// Writes a comma in front of every item but the first.
class Commas
{
public:
    explicit Commas(PromptWriter &out) : m_out(out) {}
    void next()
    {
        if (!m_first)
            m_out.text(",");
        m_first = false;
    }

private:
    PromptWriter &m_out;
    bool m_first = true;
};

} // namespace

void ToolWriter::checkDepth(int depth) const
{
    if (depth > kMaxDepth)
        invalid(m_field, "objects and lists nested at most " + std::to_string(kMaxDepth) + " deep");
}

void ToolWriter::quoted(std::string_view text)
{
    m_out.marker(kQuote);
    m_out.text(text);
    m_out.marker(kQuote);
}

void ToolWriter::quotedList(const json &names)
{
    m_out.text("[");
    Commas commas(m_out);
    for (const json &name : names) {
        commas.next();
        quoted(textOf(name));
    }
    m_out.text("]");
}

void ToolWriter::members(const json &object, Keys keys, int depth)
{
    Commas commas(m_out);
    for (const Member &member : sortedMembers(object)) {
        commas.next();
        if (keys == Keys::Quoted)
            quoted(*member.key);
        else
            m_out.text(*member.key);
        m_out.text(":");
        value(*member.value, keys, depth);
    }
}

void ToolWriter::value(const json &value, Keys keys, int depth)
{
    checkDepth(depth);
    if (value.is_null()) {
        m_out.text(m_nullWord);
    } else if (value.is_string()) {
        quoted(value.get_ref<const std::string &>());
    } else if (value.is_boolean()) {
        m_out.text(value.get<bool>() ? "true" : "false");
    } else if (value.is_object()) {
        m_out.text("{");
        members(value, keys, depth + 1);
        m_out.text("}");
    } else if (value.is_array()) {
        m_out.text("[");
        Commas commas(m_out);
        for (const json &element : value) {
            commas.next();
            this->value(element, keys, depth + 1);
        }
        m_out.text("]");
    } else if (value.is_number_float()) {
        m_out.text(pythonNumber(value.get<double>()));
    } else {
        m_out.text(value.dump());
    }
}

void ToolWriter::call(const std::string &name, const json &arguments)
{
    m_field = "tool_calls";
    m_out.marker(kToolCall);
    m_out.text("call:" + name + "{");
    if (arguments.is_string())
        m_out.text(arguments.get_ref<const std::string &>());
    else
        members(arguments, Keys::Bare, 1);
    m_out.text("}");
    m_out.marker(kToolCallEnd);
}

void ToolWriter::response(const std::string &name, const json &response)
{
    m_field = "tool_responses";
    m_out.marker(kToolResponse);
    m_out.text("response:" + name + "{");
    if (response.is_object()) {
        members(response, Keys::Bare, 1);
    } else {
        m_out.text("value:");
        value(response, Keys::Bare, 1);
    }
    m_out.text("}");
    m_out.marker(kToolResponseEnd);
}

void ToolWriter::declarations(const json &tools)
{
    m_field = "tools";
    if (!tools.is_array())
        invalid("tools", "a list");
    for (std::size_t i = 0; i < tools.size(); ++i) {
        const std::string field = "tools[" + std::to_string(i) + "]";
        const json &function = memberOf(tools[i], "function");
        if (!function.is_object())
            invalid(field + ".function", "an object");
        if (!isTrue(memberOf(function, "name")) || !memberOf(function, "name").is_string())
            invalid(field + ".function.name", "a name");
        const json &schema = memberOf(function, "parameters");
        if (!schema.is_null() && !schema.is_object())
            invalid(field + ".function.parameters", "an object");
        declaration(function);
    }
}

void ToolWriter::declaration(const json &function)
{
    m_out.marker(kTool);
    m_out.text("declaration:" + textOf(memberOf(function, "name")) + "{description:");
    quoted(textOf(memberOf(function, "description")));
    if (isTrue(memberOf(function, "parameters")))
        parameters(memberOf(function, "parameters"));
    if (function.contains("response")) {
        const json &schema = memberOf(function, "response");
        m_out.text(",response:{");
        if (isTrue(memberOf(schema, "description"))) {
            m_out.text("description:");
            quoted(textOf(memberOf(schema, "description")));
            m_out.text(",");
        }
        if (typeOf(schema) == "OBJECT") {
            m_out.text("type:");
            quoted("OBJECT");
        }
        m_out.text("}");
    }
    m_out.text("}");
    m_out.marker(kToolEnd);
}

void ToolWriter::parameters(const json &schema)
{
    m_out.text(",parameters:{");
    if (isTrue(memberOf(schema, "properties"))) {
        m_out.text("properties:");
        properties(memberOf(schema, "properties"), 1);
        m_out.text(",");
    }
    if (isTrue(memberOf(schema, "required"))) {
        m_out.text("required:");
        quotedList(memberOf(schema, "required"));
        m_out.text(",");
    }
    m_out.text("type:");
    quoted(typeOf(schema));
    m_out.text("}");
}

void ToolWriter::properties(const json &schemas, int depth)
{
    checkDepth(depth);
    m_out.text("{");
    if (schemas.is_object()) {
        Commas commas(m_out);
        for (const Member &member : sortedMembers(schemas)) {
            commas.next();
            m_out.text(*member.key + ":{");
            property(*member.value, depth);
            m_out.text("}");
        }
    }
    m_out.text("}");
}

void ToolWriter::property(const json &schema, int depth)
{
    const std::string type = typeOf(schema);
    if (isTrue(memberOf(schema, "description"))) {
        m_out.text("description:");
        quoted(textOf(memberOf(schema, "description")));
        m_out.text(",");
    }
    if (type == "STRING" && isTrue(memberOf(schema, "enum"))) {
        m_out.text("enum:");
        value(memberOf(schema, "enum"), Keys::Bare, depth);
        m_out.text(",");
    }
    if (type == "ARRAY" && memberOf(schema, "items").is_object() && isTrue(memberOf(schema, "items")))
        items(memberOf(schema, "items"), depth);
    if (isTrue(memberOf(schema, "nullable")))
        m_out.text("nullable:true,");
    if (type == "OBJECT")
        objectProperties(schema, depth);
    m_out.text("type:");
    quoted(type);
}

void ToolWriter::items(const json &schema, int depth)
{
    m_out.text("items:{");
    Commas commas(m_out);
    for (const Member &member : sortedMembers(schema)) {
        if (member.value->is_null())
            continue;
        commas.next();
        m_out.text(*member.key + ":");
        if (*member.key == "properties")
            properties(*member.value, depth + 1);
        else if (*member.key == "required")
            quotedList(*member.value);
        else if (*member.key == "type")
            itemsType(*member.value, depth);
        else
            value(*member.value, Keys::Quoted, depth);
    }
    m_out.text("},");
}

void ToolWriter::itemsType(const json &type, int depth)
{
    json upper = type;
    if (type.is_string())
        upper = upperCase(type.get<std::string>());
    else if (type.is_array())
        std::ranges::transform(type, upper.begin(), [](const json &name) { return json(upperCase(textOf(name))); });
    value(upper, Keys::Bare, depth);
}

void ToolWriter::objectProperties(const json &schema, int depth)
{
    constexpr std::array<std::string_view, 5> kStandard = {"description", "type", "properties", "required", "nullable"};
    m_out.text("properties:");
    if (memberOf(schema, "properties").is_object()) {
        properties(memberOf(schema, "properties"), depth + 1);
    } else {
        json others = json::object();
        for (auto member = schema.begin(); member != schema.end(); ++member) {
            if (std::ranges::find(kStandard, member.key()) == kStandard.end())
                others[member.key()] = member.value();
        }
        properties(others, depth + 1);
    }
    m_out.text(",");
    if (isTrue(memberOf(schema, "required"))) {
        m_out.text("required:");
        quotedList(memberOf(schema, "required"));
        m_out.text(",");
    }
}

} // namespace palimpsest::chat
