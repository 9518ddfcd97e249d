// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace palimpsest::chat {

struct ParsedArguments
{
    std::string json;       ///< an object
    std::size_t length = 0; ///< bytes of the notation, both braces included
};

/// Reads the arguments of a tool call as a model writes them, `{key:VALUE,...}` at the beginning of `text` (ToolWriter
/// has the notation; the keys' order is kept). Forgiving where the meaning is plain: spaces, quoted keys, JSON strings,
/// words without quotes, or JSON altogether. Nothing if the braces do not close or a value is missing.
[[nodiscard]] std::optional<ParsedArguments> parseArguments(std::string_view text);

} // namespace palimpsest::chat
