// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/response_format.h"

#include "app/server/openai/json_places.h"
#include "app/server/openai/request_json.h"
#include "engine/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

ByteRange rangeOf(std::size_t begin, std::size_t end)
{
    return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
}

/// Where a member can be added to the object at `place`: in front of its closing bracket.
ByteRange placeForAMember(std::string_view text, ByteRange place)
{
    const std::string_view object = place.of(text);
    const std::size_t lastVisible = object.find_last_not_of(" \t\r\n", object.size() - 2);
    const auto position = static_cast<std::size_t>(place.begin) + lastVisible + 1;
    return rangeOf(position, position);
}

/// A syntax error spoils more than the byte where it is noticed: the word or sign there, and the one before.
ByteRange aroundByte(std::string_view text, std::size_t byte)
{
    constexpr std::string_view kSeparators = "{}[],:";
    const std::size_t position = std::min(byte, text.size());
    std::size_t begin = position == 0 ? std::string_view::npos : text.find_last_of(kSeparators, position - 1);
    begin = begin == std::string_view::npos ? 0 : begin;
    const std::size_t end = std::min(text.find_first_of(kSeparators, position), text.size());
    return rangeOf(begin, end);
}

ByteRange shifted(ByteRange range, std::int64_t by)
{
    return {range.begin + by, range.end + by};
}

} // namespace

ResponseFormat readResponseFormat(const json &value, const std::string &field)
{
    ResponseFormat format;
    format.field = field;
    RequestFields fields(value, field + ".");
    const std::string type = fields.requireText("type");
    if (type == "text")
        return format;
    if (type == "json_object") {
        format.kind = ResponseFormat::Kind::JsonObject;
        return format;
    }
    if (type != "json_schema")
        refuse(field, "the type " + shown(type) + " is not known; wanted text, json_object or json_schema");
    const json *holder = fields.object("json_schema");
    RequestFields inner(holder == nullptr ? value : *holder, field + (holder == nullptr ? "." : ".json_schema."));
    const json *schema = inner.object("schema");
    if (schema == nullptr)
        refuse(field, "a json_schema format needs a schema");
    format.kind = ResponseFormat::Kind::JsonSchema;
    format.schemaText = schema->dump();
    format.schema = std::make_shared<const JsonSchema>(*schema, field);
    return format;
}

std::string instructionFor(const ResponseFormat &format)
{
    switch (format.kind) {
    case ResponseFormat::Kind::Text:
        break;
    case ResponseFormat::Kind::JsonObject:
        return "Answer with one JSON object and nothing else.";
    case ResponseFormat::Kind::JsonSchema:
        return "Answer with one JSON value that fits this JSON Schema, and nothing else:\n" + format.schemaText;
    }
    return {};
}

ByteRange jsonPart(std::string_view text)
{
    const std::string_view trimmed = trimWhiteSpace(text);
    const auto offset = static_cast<std::size_t>(trimmed.data() - text.data());
    const ByteRange whole = rangeOf(offset, offset + trimmed.size());
    if (json::accept(trimmed))
        return whole;
    const std::size_t begin = text.find_first_of("{[");
    if (begin == std::string_view::npos)
        return whole;
    return rangeOf(begin, endOfBrackets(text, begin).value_or(offset + trimmed.size()));
}

std::optional<FormatProblem> checkFormat(const ResponseFormat &format, std::string_view text)
{
    if (!format.isJson())
        return std::nullopt;
    const ByteRange part = jsonPart(text);
    const std::string_view jsonText = part.of(text);
    constexpr std::size_t kDeepestValue = 100; // the validator recurses
    if (deepestNesting(jsonText) > kDeepestValue)
        return FormatProblem{part, "it is nested too deep"};
    json value;
    try {
        value = json::parse(jsonText);
    } catch (const json::parse_error &error) {
        return FormatProblem{shifted(aroundByte(jsonText, error.byte == 0 ? 0 : error.byte - 1), part.begin),
                             "it is not valid JSON"};
    } catch (const json::out_of_range &) {
        return FormatProblem{part, "it holds a number that is too large"};
    }
    if (format.kind == ResponseFormat::Kind::JsonObject) {
        if (value.is_object())
            return std::nullopt;
        return FormatProblem{part, "it is no JSON object"};
    }
    const std::optional<SchemaProblem> problem = format.schema->check(value);
    if (!problem)
        return std::nullopt;
    ByteRange place = placeOfValue(jsonText, problem->path);
    if (problem->message.starts_with("Missing required property") &&
        jsonText[static_cast<std::size_t>(place.begin)] == '{')
        place = placeForAMember(jsonText, place);
    return FormatProblem{shifted(place, part.begin), problem->message};
}

} // namespace palimpsest::openai
