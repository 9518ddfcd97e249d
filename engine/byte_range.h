// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace palimpsest {

/// Bytes [begin, end) of a UTF-8 document.
struct ByteRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;

    [[nodiscard]] constexpr std::int64_t length() const noexcept { return end - begin; }
    [[nodiscard]] constexpr bool empty() const noexcept { return begin == end; }
    /// The bytes themselves; the range must lie inside `text`.
    [[nodiscard]] constexpr std::string_view of(std::string_view text) const
    {
        return text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(length()));
    }

    friend bool operator==(const ByteRange &, const ByteRange &) = default;
};

} // namespace palimpsest
