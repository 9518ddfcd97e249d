// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/request_json.h"

#include "engine/error.h"
#include "engine/utf8.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 100;
// Bounds the memory that a body of many tiny values asks for; a long conversation with tools has some thousands.
constexpr std::int64_t kMaxValues = 1LL << 20U;

/// Watches a parser on its way through a body: where it is, and what it must not find.
class BodyWatch
{
public:
    bool operator()(int depth, json::parse_event_t event, const json &parsed)
    {
        if (++m_values > kMaxValues)
            throw Error(ErrorKind::InvalidArgument, "The request's body has more than a million values");
        if (depth > kMaxDepth) {
            throw Error(ErrorKind::InvalidArgument,
                        "The request's body is nested more than " + std::to_string(kMaxDepth) + " levels deep",
                        field());
        }
        switch (event) {
        case json::parse_event_t::object_start:
            m_objects.emplace_back();
            break;
        case json::parse_event_t::object_end:
            m_objects.pop_back();
            break;
        case json::parse_event_t::key:
            m_objects.back().current = parsed.get<std::string>();
            if (!m_objects.back().keys.insert(m_objects.back().current).second)
                refuse(field(), "it is there twice in one object; which of the two counts would be a guess");
            break;
        default:
            break;
        }
        return true;
    }

    /// Name of the field that is being read: "stream_options.include_usage".
    [[nodiscard]] std::string field() const
    {
        std::string name;
        for (const Object &object : m_objects)
            name += (name.empty() ? "" : ".") + object.current;
        return firstInvalidUtf8(name) ? std::string() : name;
    }

private:
    struct Object
    {
        std::unordered_set<std::string> keys;
        std::string current;
    };
    std::vector<Object> m_objects;
    std::int64_t m_values = 0;
};

} // namespace

void refuse(const std::string &field, const std::string &problem)
{
    throw Error(ErrorKind::InvalidArgument, field.empty() ? problem : field + ": " + problem, field);
}

std::string shown(const json &value)
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

json parseRequestBody(std::string_view body)
{
    if (body.empty())
        throw Error(ErrorKind::InvalidArgument, "The request has no body; a JSON object is wanted");
    if (body.starts_with("\xEF\xBB\xBF"))
        throw Error(ErrorKind::InvalidArgument,
                    "The request's body begins with a byte-order mark; plain JSON is wanted");
    BodyWatch watch;
    const auto callback = [&watch](int depth, json::parse_event_t event, json &parsed) {
        return watch(depth, event, parsed);
    };
    json parsed;
    try {
        parsed = json::parse(body.begin(), body.end(), callback);
    } catch (const json::parse_error &error) {
        const bool endsEarly = error.byte > body.size();
        throw Error(ErrorKind::InvalidArgument,
                    "The request's body is not valid JSON: " +
                        (endsEarly ? "it ends too early" : "byte " + std::to_string(error.byte) + " does not fit"),
                    endsEarly ? std::string() : watch.field());
    } catch (const json::out_of_range &) { // a number such as 1e999
        refuse(watch.field(), "the number is larger than any computer's double can hold");
    }
    if (!parsed.is_object())
        throw Error(ErrorKind::InvalidArgument, "The request's body is " + shown(parsed) + "; a JSON object is wanted");
    return parsed;
}

RequestFields::RequestFields(const json &object, std::string prefix) : m_object(object), m_prefix(std::move(prefix))
{
    if (!object.is_object()) {
        const std::string field = m_prefix.empty() ? "" : m_prefix.substr(0, m_prefix.size() - 1);
        refuse(field, "found " + shown(object) + ", wanted an object");
    }
}

void RequestFields::wanted(std::string_view name, const json &found, const std::string &what) const
{
    refuse(fullName(name), "found " + shown(found) + ", wanted " + what);
}

const json *RequestFields::find(std::string_view name)
{
    std::string key(name);
    const auto found = m_object.find(key);
    m_known.push_back(std::move(key));
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<double> RequestFields::number(std::string_view name, double lowest, double highest)
{
    const json *value = find(name);
    if (value == nullptr)
        return std::nullopt;
    const double found = value->is_number() ? value->get<double>() : lowest - 1.0;
    if (!std::isfinite(found) || found < lowest || found > highest)
        wanted(name, *value, "a number from " + json(lowest).dump() + " to " + json(highest).dump());
    return found;
}

std::optional<std::int64_t> RequestFields::integer(std::string_view name, std::int64_t lowest, std::int64_t highest)
{
    const json *value = find(name);
    if (value == nullptr)
        return std::nullopt;
    bool fits = false;
    std::int64_t found = 0;
    if (value->is_number_unsigned()) {
        const auto unsignedValue = value->get<std::uint64_t>();
        fits = std::in_range<std::int64_t>(unsignedValue);
        found = fits ? static_cast<std::int64_t>(unsignedValue) : 0;
    } else if (value->is_number_integer()) {
        fits = true;
        found = value->get<std::int64_t>();
    } else if (value->is_number_float()) { // 8.0 is what some languages make of 8
        const double number = value->get<double>();
        constexpr double kExact = 9007199254740992.0; // 2^53
        fits = std::isfinite(number) && std::floor(number) == number && std::abs(number) <= kExact;
        found = fits ? static_cast<std::int64_t>(number) : 0;
    }
    if (!fits || found < lowest || found > highest)
        wanted(name, *value, "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest));
    return found;
}

std::optional<bool> RequestFields::boolean(std::string_view name)
{
    const json *value = find(name);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_boolean())
        wanted(name, *value, "true or false");
    return value->get<bool>();
}

std::optional<std::string> RequestFields::text(std::string_view name)
{
    const json *value = find(name);
    if (value == nullptr)
        return std::nullopt;
    if (!value->is_string())
        wanted(name, *value, "a text");
    return value->get<std::string>();
}

std::string RequestFields::requireText(std::string_view name)
{
    std::optional<std::string> value = text(name);
    if (!value || value->empty())
        refuse(fullName(name), "it is missing; a text is wanted");
    return *std::move(value);
}

const json *RequestFields::list(std::string_view name)
{
    const json *value = find(name);
    if (value != nullptr && !value->is_array())
        wanted(name, *value, "a list");
    return value;
}

const json *RequestFields::object(std::string_view name)
{
    const json *value = find(name);
    if (value != nullptr && !value->is_object())
        wanted(name, *value, "an object");
    return value;
}

void RequestFields::ignore(std::initializer_list<std::string_view> names)
{
    m_known.insert(m_known.end(), names.begin(), names.end());
}

std::vector<std::string> RequestFields::unknown() const
{
    std::vector<std::string> names;
    for (auto member = m_object.begin(); member != m_object.end(); ++member) {
        if (std::ranges::find(m_known, member.key()) == m_known.end())
            names.push_back(m_prefix + member.key());
    }
    return names;
}

} // namespace palimpsest::openai
