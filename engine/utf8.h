// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace palimpsest {

/// One character read from UTF-8.
struct Utf8Character
{
    char32_t codePoint = 0;
    std::size_t length = 0; ///< bytes, 1 to 4; 0 = no valid character begins there
};

/// Reads the character that begins at byte `position` (< text.size()). Strict: overlong forms, surrogates, values above
/// U+10FFFF and cut sequences are not characters.
[[nodiscard]] Utf8Character readUtf8(std::string_view text, std::size_t position) noexcept;

/// First byte that does not belong to a valid character; nothing if the whole text is valid UTF-8.
[[nodiscard]] std::optional<std::size_t> firstInvalidUtf8(std::string_view text) noexcept;

/// `text` without the white space at both ends, as Python's `str.strip()` defines it (Unicode's, and U+001C to U+001F).
/// Bytes that are not UTF-8 are no white space.
[[nodiscard]] std::string_view trimWhiteSpace(std::string_view text) noexcept;

} // namespace palimpsest
