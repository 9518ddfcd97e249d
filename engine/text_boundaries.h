// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/byte_range.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace palimpsest {

// Where Unicode text may be cut. The rules and tables are ICU's, in its root locale, so they do not depend on the
// user's; sentence boundaries know the English abbreviations of CLDR ("Mr.", "e.g."). All functions are pure and may
// be called from any thread; all offsets are bytes.

/// Throws Error InvalidInput, naming `subject` and the offset, if `text` is not valid UTF-8.
void requireValidUtf8(std::string_view text, std::string_view subject);

/// Widens a range to whole grapheme clusters (an accent stays with its letter, a family emoji and a CR LF pair in one
/// piece). An empty range is a caret: it stays empty and moves in front of the cluster it was in. Throws Error
/// InvalidArgument if the range lies outside the text or is reversed; a cut inside a UTF-8 character is widened as
/// well.
[[nodiscard]] ByteRange snapToGraphemes(std::string_view document, ByteRange range);

/// One piece of a text that was cut at all word boundaries.
struct WordPiece
{
    ByteRange range;
    bool isWord = false;       ///< holds a letter, digit, kana or ideograph; else punctuation, symbols or white space
    bool isWhiteSpace = false; ///< white space only
};

/// Cuts a text at all its word boundaries (Unicode annex 29); the pieces are contiguous and cover the text.
[[nodiscard]] std::vector<WordPiece> splitIntoWords(std::string_view text);

[[nodiscard]] std::int64_t countWords(std::string_view text);

/// Cuts a text at all its sentence boundaries (Unicode annex 29); a sentence holds the white space behind it. A line
/// end ends a sentence. The ranges are contiguous and cover the text.
[[nodiscard]] std::vector<ByteRange> splitIntoSentences(std::string_view text);

/// `range` without the white space, line ends and byte-order marks at both its ends; empty at `range.begin` if there
/// is nothing else.
[[nodiscard]] ByteRange trimWhiteSpace(std::string_view text, ByteRange range);

/// The runs of visible characters between white space, ascending: words with their punctuation.
[[nodiscard]] std::vector<ByteRange> splitAtWhiteSpace(std::string_view text);

[[nodiscard]] bool startsWithWhiteSpace(std::string_view text) noexcept;
[[nodiscard]] bool endsWithWhiteSpace(std::string_view text) noexcept;
/// Whether the first (last) character is a letter or a digit.
[[nodiscard]] bool startsWithAlphanumeric(std::string_view text) noexcept;
[[nodiscard]] bool endsWithAlphanumeric(std::string_view text) noexcept;
/// Whether the first character is a full stop or the like, a closing bracket or a closing quote that says so.
[[nodiscard]] bool startsWithClosingPunctuation(std::string_view text) noexcept;

} // namespace palimpsest
