// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/utf8.h"

#include <cstdint>

namespace palimpsest {

namespace {

constexpr std::uint8_t byteAt(std::string_view text, std::size_t position) noexcept
{
    return static_cast<std::uint8_t>(text[position]);
}

constexpr bool isContinuation(std::uint8_t byte) noexcept
{
    return (byte & 0xC0U) == 0x80U;
}

bool isWhiteSpace(char32_t c) noexcept
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

} // namespace

Utf8Character readUtf8(std::string_view text, std::size_t position) noexcept
{
    const std::uint8_t lead = byteAt(text, position);
    if (lead < 0x80U)
        return {lead, 1};
    const std::size_t length = lead < 0xC2U ? 0 : lead < 0xE0U ? 2 : lead < 0xF0U ? 3 : lead < 0xF5U ? 4 : 0;
    if (length == 0 || text.size() - position < length)
        return {};
    char32_t codePoint = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint8_t byte = byteAt(text, position + i);
        if (!isContinuation(byte))
            return {};
        codePoint = (codePoint << 6U) | (byte & 0x3FU);
    }
    const bool overlong = (length == 3 && codePoint < 0x800) || (length == 4 && codePoint < 0x10000);
    const bool surrogate = codePoint >= 0xD800 && codePoint <= 0xDFFF;
    if (overlong || surrogate || codePoint > 0x10FFFF)
        return {};
    return {codePoint, length};
}

std::optional<std::size_t> firstInvalidUtf8(std::string_view text) noexcept
{
    for (std::size_t position = 0; position < text.size();) {
        const std::size_t length = readUtf8(text, position).length;
        if (length == 0)
            return position;
        position += length;
    }
    return std::nullopt;
}

std::string_view trimWhiteSpace(std::string_view text) noexcept
{
    while (!text.empty()) {
        const Utf8Character first = readUtf8(text, 0);
        if (first.length == 0 || !isWhiteSpace(first.codePoint))
            break;
        text.remove_prefix(first.length);
    }
    while (!text.empty()) {
        std::size_t begin = text.size() - 1;
        while (begin > 0 && text.size() - begin < 4 && isContinuation(byteAt(text, begin)))
            --begin;
        const Utf8Character last = readUtf8(text, begin);
        if (begin + last.length != text.size() || !isWhiteSpace(last.codePoint))
            break;
        text.remove_suffix(last.length);
    }
    return text;
}

} // namespace palimpsest
