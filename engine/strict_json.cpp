// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/strict_json.h"

#include "engine/error.h"

#include <unordered_set>
#include <utility>

namespace palimpsest {

using nlohmann::json;

namespace {

// The deepest file of a real model (a tokenizer.json) has 8 levels.
constexpr int kMaxDepth = 64;
// Bounds the memory that a hostile file can ask for; the headers and indexes of the largest models have some 100,000.
constexpr std::int64_t kMaxValues = 1LL << 21U;

std::string rangeText(IntegerRange range)
{
    return "a whole number from " + std::to_string(range.min) + " to " + std::to_string(range.max);
}

std::string rangeText(NumberRange range)
{
    return "a number from " + json(range.min).dump() + " to " + json(range.max).dump();
}

} // namespace

json parseStrictJson(std::string_view text, const std::string &path)
{
    std::vector<std::unordered_set<std::string>> keys; // of the objects around the current value, outermost first
    std::int64_t valueCount = 0;
    const auto watch = [&](int depth, json::parse_event_t event, json &parsed) {
        if (++valueCount > kMaxValues)
            throw Error(ErrorKind::InvalidCheckpoint,
                        path + ": the JSON text has more than " + std::to_string(kMaxValues) + " values", path);
        if (depth > kMaxDepth)
            throw Error(ErrorKind::InvalidCheckpoint,
                        path + ": the JSON text is nested more than " + std::to_string(kMaxDepth) + " levels deep",
                        path);
        if (event == json::parse_event_t::object_start)
            keys.emplace_back();
        else if (event == json::parse_event_t::object_end)
            keys.pop_back();
        else if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
            throw Error(ErrorKind::InvalidCheckpoint,
                        path + ": the key " + describeJson(parsed) + " appears twice in one JSON object", path);
        return true;
    };
    try {
        return json::parse(text.begin(), text.end(), watch);
    } catch (const json::parse_error &error) {
        throw Error(ErrorKind::InvalidCheckpoint,
                    path + ": found a syntax error at byte " + std::to_string(error.byte) + " of the JSON text (" +
                        std::to_string(text.size()) + " bytes), wanted valid JSON in UTF-8",
                    path);
    } catch (const json::out_of_range &) { // a number such as 1e999
        throw Error(ErrorKind::InvalidCheckpoint, path + ": the JSON text has a number that no double can hold", path);
    }
}

bool hasControlCharacters(std::string_view text) noexcept
{
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
        const bool isC1 = byte == 0xC2 && next >= 0x80 && next <= 0x9F; // U+0080 to U+009F in UTF-8
        if (byte < 0x20 || byte == 0x7F || isC1)
            return true;
    }
    return false;
}

std::string describeJson(const json &value)
{
    constexpr std::size_t kLongest = 60;
    if (value.is_array())
        return "a list of " + std::to_string(value.size());
    if (value.is_object())
        return "an object";
    if (value.is_string() && value.get_ref<const std::string &>().size() > kLongest)
        return "a text of " + std::to_string(value.get_ref<const std::string &>().size()) + " bytes";
    return value.dump(-1, ' ', true, json::error_handler_t::replace);
}

JsonFields::JsonFields(const json &value, std::string path, std::string prefix)
    : m_value(&value), m_path(std::move(path)), m_prefix(std::move(prefix))
{
    if (value.is_object())
        return;
    const std::string field = m_prefix.empty() ? "" : "field " + m_prefix.substr(0, m_prefix.size() - 1) + ": ";
    throw Error(ErrorKind::InvalidCheckpoint,
                m_path + ": " + field + "found " + describeJson(value) + ", wanted a JSON object", m_path);
}

const json *JsonFields::find(std::string_view name) const
{
    const auto found = m_value->find(std::string(name)); // a plain string: older nlohmann has no lookup by view
    return found == m_value->end() || found->is_null() ? nullptr : &*found;
}

const json &JsonFields::require(std::string_view name, std::string_view wanted) const
{
    const json *value = find(name);
    if (value == nullptr)
        fail(name, "nothing", wanted);
    return *value;
}

std::string JsonFields::shownField(std::string_view name) const
{
    std::string field = fieldName(name);
    return hasControlCharacters(field) ? describeJson(field) : field;
}

void JsonFields::fail(std::string_view name, std::string_view found, std::string_view wanted) const
{
    const std::string field = shownField(name);
    throw Error(ErrorKind::InvalidCheckpoint,
                m_path + ": field " + field + ": found " + std::string(found) + ", wanted " + std::string(wanted),
                field);
}

void JsonFields::failUnsupported(std::string_view name, std::string_view found, std::string_view wanted) const
{
    const std::string field = shownField(name);
    throw Error(ErrorKind::Unsupported,
                m_path + ": field " + field + ": found " + std::string(found) + ", but this program supports only " +
                    std::string(wanted),
                field);
}

std::int64_t JsonFields::checkInteger(std::string_view name, const json &value, IntegerRange range) const
{
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (std::in_range<std::int64_t>(number) && static_cast<std::int64_t>(number) >= range.min &&
            static_cast<std::int64_t>(number) <= range.max)
            return static_cast<std::int64_t>(number);
    } else if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        if (number >= range.min && number <= range.max)
            return number;
    }
    fail(name, describeJson(value), rangeText(range));
}

std::int64_t JsonFields::integer(std::string_view name, IntegerRange range) const
{
    return checkInteger(name, require(name, rangeText(range)), range);
}

std::optional<std::int64_t> JsonFields::optionalInteger(std::string_view name, IntegerRange range) const
{
    const json *value = find(name);
    return value == nullptr ? std::nullopt : std::optional(checkInteger(name, *value, range));
}

double JsonFields::number(std::string_view name, NumberRange range) const
{
    const json &value = require(name, rangeText(range));
    const double number = value.is_number() ? value.get<double>() : 0.0;
    if (!value.is_number() || !(number >= range.min && number <= range.max))
        fail(name, describeJson(value), rangeText(range));
    return number;
}

std::optional<double> JsonFields::optionalNumber(std::string_view name, NumberRange range) const
{
    return has(name) ? std::optional(number(name, range)) : std::nullopt;
}

std::string JsonFields::string(std::string_view name) const
{
    const json &value = require(name, "a text");
    if (!value.is_string())
        fail(name, describeJson(value), "a text");
    return value.get<std::string>();
}

std::optional<std::string> JsonFields::optionalString(std::string_view name) const
{
    return has(name) ? std::optional(string(name)) : std::nullopt;
}

std::optional<bool> JsonFields::optionalBool(std::string_view name) const
{
    const json *value = find(name);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_boolean())
        fail(name, describeJson(*value), "true or false");
    return value->get<bool>();
}

JsonFields JsonFields::object(std::string_view name) const
{
    return {require(name, "an object"), m_path, fieldName(name) + "."};
}

std::vector<std::int64_t> JsonFields::integerList(std::string_view name, IntegerRange range) const
{
    std::vector<std::int64_t> numbers;
    const json *value = find(name);
    if (value == nullptr)
        return numbers;
    if (!value->is_array())
        return {checkInteger(name, *value, range)};
    for (const json &item : *value)
        numbers.push_back(checkInteger(name, item, range));
    return numbers;
}

} // namespace palimpsest
