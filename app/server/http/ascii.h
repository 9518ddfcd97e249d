// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <string>
#include <string_view>

/// HTTP's letters and digits: never the locale's.
namespace palimpsest::http {

[[nodiscard]] constexpr char lowerCase(char c) noexcept
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

[[nodiscard]] constexpr bool isDigit(char c) noexcept
{
    return c >= '0' && c <= '9';
}

/// The value of a hexadecimal digit, -1 for anything else.
[[nodiscard]] constexpr int hexValue(char c) noexcept
{
    if (isDigit(c))
        return c - '0';
    const char lower = lowerCase(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

[[nodiscard]] constexpr bool equalsIgnoringCase(std::string_view a, std::string_view b) noexcept
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (lowerCase(a[i]) != lowerCase(b[i]))
            return false;
    }
    return true;
}

[[nodiscard]] inline std::string lowerCased(std::string_view text)
{
    std::string result(text);
    for (char &c : result)
        c = lowerCase(c);
    return result;
}

/// Without SP and HTAB at its ends, and nothing else: a vertical tab is no blank in HTTP.
[[nodiscard]] constexpr std::string_view stripBlanks(std::string_view text) noexcept
{
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace palimpsest::http
