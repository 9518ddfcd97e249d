// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/chat_format_arguments.h"

#include "engine/chat_markers.h"
#include "engine/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace palimpsest::chat {

namespace {

using nlohmann::ordered_json;

constexpr int kMaxDepth = 100;

/// Recursive descent; every function returns nothing at the first place that cannot be understood.
class ArgumentParser
{
public:
    explicit ArgumentParser(std::string_view text) : m_text(text), m_rest(text) {}

    std::optional<ordered_json> object(int depth)
    {
        if (depth > kMaxDepth || !take("{"))
            return std::nullopt;
        ordered_json result = ordered_json::object();
        if (take("}"))
            return result;
        do {
            std::optional<std::string> name = key();
            if (!name || !take(":"))
                return std::nullopt;
            std::optional<ordered_json> member = value(depth + 1);
            if (!member)
                return std::nullopt;
            result[*std::move(name)] = *std::move(member);
        } while (take(","));
        return take("}") ? std::optional(std::move(result)) : std::nullopt;
    }

    [[nodiscard]] std::size_t consumed() const noexcept { return m_text.size() - m_rest.size(); }

private:
    /// Skips white space and then `word`, if it is there.
    bool take(std::string_view word)
    {
        skipSpace();
        if (!m_rest.starts_with(word))
            return false;
        m_rest.remove_prefix(word.size());
        return true;
    }

    void skipSpace()
    {
        const std::size_t space = m_rest.find_first_not_of(" \t\r\n");
        m_rest.remove_prefix(std::min(space, m_rest.size()));
    }

    std::optional<ordered_json> value(int depth)
    {
        skipSpace();
        if (m_rest.starts_with('{'))
            return object(depth);
        if (m_rest.starts_with('['))
            return list(depth);
        if (std::optional<std::string> text = quotedText())
            return ordered_json(*std::move(text));
        if (m_rest.starts_with(kQuote) || m_rest.starts_with('"'))
            return std::nullopt; // it does not end
        return bareValue();
    }

    std::optional<ordered_json> list(int depth)
    {
        if (depth > kMaxDepth || !take("["))
            return std::nullopt;
        ordered_json result = ordered_json::array();
        if (take("]"))
            return result;
        do {
            std::optional<ordered_json> element = value(depth + 1);
            if (!element)
                return std::nullopt;
            result.push_back(*std::move(element));
        } while (take(","));
        return take("]") ? std::optional(std::move(result)) : std::nullopt;
    }

    std::optional<std::string> key()
    {
        skipSpace();
        if (std::optional<std::string> text = quotedText())
            return text;
        const std::size_t end = m_rest.find_first_of(":,{}[]<");
        if (end == std::string_view::npos || end == 0)
            return std::nullopt;
        const std::string_view name = trimWhiteSpace(m_rest.substr(0, end));
        m_rest.remove_prefix(end);
        return std::string(name);
    }

    /// A text between quote markers, or a JSON string.
    std::optional<std::string> quotedText()
    {
        if (m_rest.starts_with(kQuote)) {
            const std::size_t end = m_rest.find(kQuote, kQuote.size());
            if (end == std::string_view::npos)
                return std::nullopt;
            const std::string_view text = m_rest.substr(kQuote.size(), end - kQuote.size());
            m_rest.remove_prefix(end + kQuote.size());
            return std::string(text);
        }
        if (!m_rest.starts_with('"'))
            return std::nullopt;
        std::size_t end = 1;
        while (end < m_rest.size() && m_rest[end] != '"')
            end += m_rest[end] == '\\' ? 2 : 1;
        if (end >= m_rest.size())
            return std::nullopt;
        const ordered_json text = ordered_json::parse(m_rest.substr(0, end + 1), nullptr, false);
        if (!text.is_string())
            return std::nullopt;
        m_rest.remove_prefix(end + 1);
        return text.get<std::string>();
    }

    /// true, false, null, a number, or a word that the model forgot to quote.
    std::optional<ordered_json> bareValue()
    {
        const std::size_t end = m_rest.find_first_of(",{}[]<");
        if (end == std::string_view::npos)
            return std::nullopt;
        const std::string_view word = trimWhiteSpace(m_rest.substr(0, end));
        m_rest.remove_prefix(end);
        if (word.empty())
            return std::nullopt;
        if (word == "true" || word == "True")
            return ordered_json(true);
        if (word == "false" || word == "False")
            return ordered_json(false);
        if (word == "null" || word == "None")
            return ordered_json(nullptr);
        ordered_json number = ordered_json::parse(word, nullptr, false);
        return number.is_number() ? number : ordered_json(word);
    }

    std::string_view m_text;
    std::string_view m_rest;
};

} // namespace

std::optional<ParsedArguments> parseArguments(std::string_view text)
{
    ArgumentParser parser(text);
    const std::optional<ordered_json> object = parser.object(1);
    if (!object)
        return std::nullopt;
    return ParsedArguments{.json = object->dump(-1, ' ', false, ordered_json::error_handler_t::replace),
                           .length = parser.consumed()};
}

} // namespace palimpsest::chat
