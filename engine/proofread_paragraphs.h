// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/byte_range.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// Lines of a plain or Markdown text that belong together.
struct Paragraph
{
    ByteRange range;          ///< without indentation, list or heading marker, and white space at the ends; not empty
    bool passThrough = false; ///< fenced code, front matter, tables, quotations, rules, and what looks like source code
};

struct ParagraphSplit
{
    std::vector<Paragraph> paragraphs; ///< ascending, apart from each other
    /// The text with every line end inside a paragraph turned into spaces; same length, so that offsets agree.
    std::string flowing;
};

/// Finds the paragraphs of a text. A blank line ends one. So does a line end that no word wrap explains: a paragraph
/// goes on after a line of 40 to 120 characters, unless the next line is a list item, a heading, or the like.
[[nodiscard]] ParagraphSplit splitIntoParagraphs(std::string_view text);

/// Whether so much of a text is brackets, operators and the like that it is no prose.
[[nodiscard]] bool looksLikeCode(std::string_view text) noexcept;

} // namespace palimpsest
