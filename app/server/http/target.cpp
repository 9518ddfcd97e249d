// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/target.h"

#include "app/server/http/ascii.h"
#include "engine/utf8.h"

#include <algorithm>

namespace palimpsest::http {

namespace {

bool isUnreserved(char c)
{
    return isDigit(c) || (lowerCase(c) >= 'a' && lowerCase(c) <= 'z') ||
           std::string_view("-._~").find(c) != std::string_view::npos;
}

void appendEncoded(std::string &out, char c)
{
    static constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

std::optional<std::string> normalised(std::string_view path)
{
    std::string result;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] == '/') {
            result += '/';
            continue;
        }
        char c = path[i];
        if (c == '%') {
            if (i + 2 >= path.size() || hexValue(path[i + 1]) < 0 || hexValue(path[i + 2]) < 0)
                return std::nullopt;
            c = static_cast<char>(hexValue(path[i + 1]) * 16 + hexValue(path[i + 2]));
            i += 2;
        }
        if (isUnreserved(c))
            result += c;
        else
            appendEncoded(result, c);
    }
    return result;
}

bool hasDotSegment(std::string_view path)
{
    while (!path.empty()) {
        path.remove_prefix(1); // the slash
        const std::string_view segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..")
            return true;
        path.remove_prefix(segment.size());
    }
    return false;
}

bool isCleanText(std::string_view text)
{
    return !firstInvalidUtf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
}

std::optional<std::vector<std::pair<std::string, std::string>>> parseQuery(std::string_view text)
{
    std::vector<std::pair<std::string, std::string>> query;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        if (part.empty())
            continue;
        std::string blanks(part);
        std::replace(blanks.begin(), blanks.end(), '+', ' ');
        const std::size_t equals = std::min(blanks.find('='), blanks.size());
        auto name = percentDecoded(std::string_view(blanks).substr(0, equals));
        auto value = percentDecoded(std::string_view(blanks).substr(std::min(equals + 1, blanks.size())));
        if (!name || !value || firstInvalidUtf8(*name) || firstInvalidUtf8(*value))
            return std::nullopt;
        query.emplace_back(std::move(*name), std::move(*value));
    }
    return query;
}

} // namespace

std::optional<std::string> percentDecoded(std::string_view text)
{
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            result += text[i];
            continue;
        }
        if (i + 2 >= text.size() || hexValue(text[i + 1]) < 0 || hexValue(text[i + 2]) < 0)
            return std::nullopt;
        result += static_cast<char>(hexValue(text[i + 1]) * 16 + hexValue(text[i + 2]));
        i += 2;
    }
    return result;
}

std::optional<Target> parseTarget(std::string_view text)
{
    if (!text.starts_with('/') || text.starts_with("//") || text.find('#') != std::string_view::npos)
        return std::nullopt;
    const std::size_t mark = std::min(text.find('?'), text.size());
    auto encoded = normalised(text.substr(0, mark));
    auto query = parseQuery(text.substr(std::min(mark + 1, text.size())));
    if (!encoded || !query || hasDotSegment(*encoded))
        return std::nullopt;
    auto path = percentDecoded(*encoded);
    if (!path || !isCleanText(*path))
        return std::nullopt;
    return Target{.encodedPath = std::move(*encoded), .path = std::move(*path), .query = std::move(*query)};
}

} // namespace palimpsest::http
