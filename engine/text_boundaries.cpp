// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/text_boundaries.h"

#include "engine/error.h"
#include "engine/utf8.h"

#include <spdlog/fmt/fmt.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include <limits>
#include <string>

namespace palimpsest {

namespace {

constexpr UChar32 kByteOrderMark = 0xFEFF;

/// A break iterator over a borrowed UTF-8 text; its offsets are bytes.
class Breaks
{
public:
    Breaks(UBreakIteratorType type, const char *locale, std::string_view text)
    {
        if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
            throw Error(ErrorKind::InvalidInput,
                        fmt::format("the text has {} bytes, more than the 2 GiB that can be edited", text.size()),
                        "text");
        }
        UErrorCode status = U_ZERO_ERROR;
        m_text.adoptInstead(utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &status));
        m_iterator.adoptInstead(ubrk_open(type, locale, nullptr, 0, &status));
        if (U_SUCCESS(status)) {
            ubrk_setUText(m_iterator.getAlias(), m_text.getAlias(), &status);
        }
        if (U_FAILURE(status)) {
            throw Error(ErrorKind::NotFound,
                        fmt::format("the Unicode library cannot find its tables of text boundaries ({}); is the ICU "
                                    "package installed completely?",
                                    u_errorName(status)),
                        "ICU");
        }
    }

    /// Calls `piece(range, ruleStatus)` for everything between two boundaries.
    template <typename Piece>
    void forEach(Piece piece)
    {
        std::int32_t begin = ubrk_first(m_iterator.getAlias());
        for (std::int32_t end = next(); end != UBRK_DONE; begin = end, end = next()) {
            piece(ByteRange{begin, end}, ubrk_getRuleStatus(m_iterator.getAlias()));
        }
    }

    [[nodiscard]] bool isBoundary(std::int64_t offset)
    {
        return ubrk_isBoundary(m_iterator.getAlias(), static_cast<std::int32_t>(offset)) != 0;
    }
    [[nodiscard]] std::int64_t preceding(std::int64_t offset)
    {
        return ubrk_preceding(m_iterator.getAlias(), static_cast<std::int32_t>(offset));
    }
    [[nodiscard]] std::int64_t following(std::int64_t offset)
    {
        return ubrk_following(m_iterator.getAlias(), static_cast<std::int32_t>(offset));
    }

private:
    [[nodiscard]] std::int32_t next() { return ubrk_next(m_iterator.getAlias()); }

    icu::LocalUTextPointer m_text;
    icu::LocalUBreakIteratorPointer m_iterator;
};

constexpr const char *kRootLocale = "";
// The suppressions of CLDR's English: no sentence ends behind "Mr." or "e.g.".
constexpr const char *kSentenceLocale = "en@ss=standard";

bool isContinuationByte(std::string_view text, std::int64_t offset)
{
    return offset < static_cast<std::int64_t>(text.size()) &&
           (static_cast<unsigned char>(text[static_cast<std::size_t>(offset)]) & 0xC0U) == 0x80U;
}

/// The character that begins at `offset` and, in `offset`, where the next one begins; -1 for an ill-formed one.
UChar32 nextCharacter(std::string_view text, std::int64_t &offset)
{
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
    const auto length = static_cast<std::int64_t>(text.size());
    UChar32 character = 0;
    U8_NEXT(bytes, offset, length, character);
    return character;
}

UChar32 firstCharacter(std::string_view text)
{
    std::int64_t offset = 0;
    return text.empty() ? -1 : nextCharacter(text, offset);
}

UChar32 lastCharacter(std::string_view text)
{
    if (text.empty()) {
        return -1;
    }
    auto offset = static_cast<std::int64_t>(text.size()) - 1;
    while (offset > 0 && isContinuationByte(text, offset)) {
        --offset;
    }
    return nextCharacter(text, offset);
}

bool isWhiteSpace(UChar32 character)
{
    return character == kByteOrderMark || (character >= 0 && u_isUWhiteSpace(character) != 0);
}

bool isAlphanumeric(UChar32 character)
{
    return character >= 0 && u_isalnum(character) != 0;
}

bool isAllWhiteSpace(std::string_view text)
{
    for (std::int64_t offset = 0; offset < static_cast<std::int64_t>(text.size());) {
        if (!isWhiteSpace(nextCharacter(text, offset))) {
            return false;
        }
    }
    return true;
}

} // namespace

void requireValidUtf8(std::string_view text, std::string_view subject)
{
    if (const auto offset = firstInvalidUtf8(text)) {
        throw Error(ErrorKind::InvalidInput,
                    fmt::format("{} is not UTF-8 text: byte {} is 0x{:02X}, which no character may hold there; convert "
                                "it to UTF-8 first",
                                subject, *offset, static_cast<unsigned char>(text[*offset])),
                    std::string(subject));
    }
}

ByteRange snapToGraphemes(std::string_view document, ByteRange range)
{
    const auto size = static_cast<std::int64_t>(document.size());
    if (range.begin < 0 || range.end > size || range.begin > range.end) {
        throw Error(ErrorKind::InvalidArgument,
                    fmt::format("the selection {}:{} is not inside the text, which has {} bytes; wanted 0 <= begin <= "
                                "end <= {}",
                                range.begin, range.end, size, size),
                    "selection");
    }
    const bool isCaret = range.empty();
    while (range.begin > 0 && isContinuationByte(document, range.begin)) {
        --range.begin;
    }
    while (isContinuationByte(document, range.end)) {
        ++range.end;
    }
    Breaks clusters(UBRK_CHARACTER, kRootLocale, document);
    if (range.begin > 0 && !clusters.isBoundary(range.begin)) {
        range.begin = clusters.preceding(range.begin);
    }
    if (isCaret) {
        range.end = range.begin;
    } else if (range.end < size && !clusters.isBoundary(range.end)) {
        range.end = clusters.following(range.end);
    }
    return range;
}

std::vector<WordPiece> splitIntoWords(std::string_view text)
{
    std::vector<WordPiece> pieces;
    Breaks(UBRK_WORD, kRootLocale, text).forEach([&](ByteRange range, std::int32_t ruleStatus) {
        const bool isWord = ruleStatus >= UBRK_WORD_NONE_LIMIT;
        const bool isSpace = !isWord && isAllWhiteSpace(range.of(text));
        // ICU cuts between a space and a tab; for our purposes a run of white space is one piece.
        if (isSpace && !pieces.empty() && pieces.back().isWhiteSpace) {
            pieces.back().range.end = range.end;
        } else {
            pieces.push_back({.range = range, .isWord = isWord, .isWhiteSpace = isSpace});
        }
    });
    return pieces;
}

std::int64_t countWords(std::string_view text)
{
    std::int64_t count = 0;
    Breaks(UBRK_WORD, kRootLocale, text).forEach([&](ByteRange, std::int32_t ruleStatus) {
        count += ruleStatus >= UBRK_WORD_NONE_LIMIT ? 1 : 0;
    });
    return count;
}

std::vector<ByteRange> splitIntoSentences(std::string_view text)
{
    std::vector<ByteRange> sentences;
    Breaks(UBRK_SENTENCE, kSentenceLocale, text).forEach([&](ByteRange range, std::int32_t) {
        sentences.push_back(range);
    });
    return sentences;
}

ByteRange trimWhiteSpace(std::string_view text, ByteRange range)
{
    ByteRange trimmed = {range.begin, range.begin};
    bool sawVisible = false;
    for (std::int64_t offset = range.begin; offset < range.end;) {
        const std::int64_t begin = offset;
        const bool visible = !isWhiteSpace(nextCharacter(text, offset));
        if (visible) {
            trimmed = {sawVisible ? trimmed.begin : begin, offset};
            sawVisible = true;
        }
    }
    return trimmed;
}

std::vector<ByteRange> splitAtWhiteSpace(std::string_view text)
{
    std::vector<ByteRange> runs;
    bool inRun = false;
    for (std::int64_t offset = 0; offset < static_cast<std::int64_t>(text.size());) {
        const std::int64_t begin = offset;
        const bool visible = !isWhiteSpace(nextCharacter(text, offset));
        if (visible && !inRun) {
            runs.push_back({begin, offset});
        } else if (visible) {
            runs.back().end = offset;
        }
        inRun = visible;
    }
    return runs;
}

bool startsWithWhiteSpace(std::string_view text) noexcept
{
    return isWhiteSpace(firstCharacter(text));
}

bool endsWithWhiteSpace(std::string_view text) noexcept
{
    return isWhiteSpace(lastCharacter(text));
}

bool startsWithAlphanumeric(std::string_view text) noexcept
{
    return isAlphanumeric(firstCharacter(text));
}

bool endsWithAlphanumeric(std::string_view text) noexcept
{
    return isAlphanumeric(lastCharacter(text));
}

bool startsWithClosingPunctuation(std::string_view text) noexcept
{
    const UChar32 character = firstCharacter(text);
    if (character < 0) {
        return false;
    }
    const int category = u_charType(character);
    const bool isStop = u_hasBinaryProperty(character, UCHAR_TERMINAL_PUNCTUATION) != 0;
    return isStop || category == U_END_PUNCTUATION || category == U_FINAL_PUNCTUATION;
}

} // namespace palimpsest
