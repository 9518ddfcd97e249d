// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/byte_range.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace palimpsest::openai {

/// Bytes of the value that `path` (member names and indices) leads to in a valid JSON text; of the innermost one that
/// is there, if the path leads further.
[[nodiscard]] ByteRange placeOfValue(std::string_view jsonText, std::span<const std::string> path);

/// Levels of objects and lists in each other, as far as brackets outside of strings tell.
[[nodiscard]] std::size_t deepestNesting(std::string_view text);

/// One past the end of the object or list that begins at `begin`, as far as brackets outside of strings tell; nothing
/// if it does not end.
[[nodiscard]] std::optional<std::size_t> endOfBrackets(std::string_view text, std::size_t begin);

} // namespace palimpsest::openai
