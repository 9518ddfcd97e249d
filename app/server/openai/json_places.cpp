// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/json_places.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace palimpsest::openai {

namespace {

/// Steps through a valid JSON text without building it.
class Cursor
{
public:
    Cursor(std::string_view text, std::size_t position) : m_text(text), m_position(position) { skipBlanks(); }

    [[nodiscard]] std::size_t position() const noexcept { return m_position; }
    [[nodiscard]] char current() const { return m_position < m_text.size() ? m_text[m_position] : '\0'; }

    /// The bytes of the value here; behind it afterwards.
    std::string_view takeValue()
    {
        const std::size_t begin = m_position;
        if (current() == '"') {
            skipString();
        } else if (current() == '{' || current() == '[') {
            m_position = endOfBrackets(m_text, begin).value_or(m_text.size());
        } else {
            m_position = std::min(m_text.find_first_of(",]} \t\r\n", begin), m_text.size());
        }
        const std::string_view value = m_text.substr(begin, m_position - begin);
        skipBlanks();
        return value;
    }
    void skip() // one of { } [ ] , :
    {
        ++m_position;
        skipBlanks();
    }

private:
    void skipBlanks() { m_position = std::min(m_text.find_first_not_of(" \t\r\n", m_position), m_text.size()); }
    void skipString()
    {
        for (++m_position; m_position < m_text.size() && m_text[m_position] != '"'; ++m_position)
            m_position += m_text[m_position] == '\\' ? 1 : 0;
        m_position = std::min(m_position + 1, m_text.size());
    }

    std::string_view m_text;
    std::size_t m_position;
};

/// Where the member or element of that name begins in the object or list that begins at `begin`.
std::optional<std::size_t> stepInto(std::string_view text, std::size_t begin, const std::string &name)
{
    Cursor cursor(text, begin);
    const bool isObject = cursor.current() == '{';
    if (!isObject && cursor.current() != '[')
        return std::nullopt;
    cursor.skip();
    for (std::size_t index = 0; cursor.current() != '}' && cursor.current() != ']' && cursor.current() != '\0';
         ++index) {
        std::string found = std::to_string(index);
        if (isObject) {
            const auto key = nlohmann::json::parse(cursor.takeValue(), nullptr, false);
            found = key.is_string() ? key.get<std::string>() : std::string();
            cursor.skip();
        }
        if (found == name)
            return cursor.position();
        cursor.takeValue();
        if (cursor.current() == ',')
            cursor.skip();
    }
    return std::nullopt;
}

} // namespace

ByteRange placeOfValue(std::string_view jsonText, std::span<const std::string> path)
{
    std::size_t begin = Cursor(jsonText, 0).position();
    for (const std::string &name : path) {
        const auto inner = stepInto(jsonText, begin, name);
        if (!inner)
            break;
        begin = *inner;
    }
    const std::size_t size = Cursor(jsonText, begin).takeValue().size();
    return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(begin + size)};
}

std::size_t deepestNesting(std::string_view text)
{
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool inString = false;
    for (std::size_t position = 0; position < text.size(); ++position) {
        const char character = text[position];
        if (character == '"')
            inString = !inString;
        else if (inString)
            position += character == '\\' ? 1 : 0;
        else if (character == '{' || character == '[')
            deepest = std::max(deepest, ++depth);
        else if ((character == '}' || character == ']') && depth > 0)
            --depth;
    }
    return deepest;
}

std::optional<std::size_t> endOfBrackets(std::string_view text, std::size_t begin)
{
    std::size_t depth = 0;
    bool inString = false;
    for (std::size_t position = begin; position < text.size(); ++position) {
        const char character = text[position];
        if (inString) {
            position += character == '\\' ? 1 : 0;
            inString = character != '"';
        } else if (character == '"') {
            inString = true;
        } else if (character == '{' || character == '[') {
            ++depth;
        } else if ((character == '}' || character == ']') && --depth == 0) {
            return position + 1;
        }
    }
    return std::nullopt;
}

} // namespace palimpsest::openai
