// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/search_query.h"

#include "engine/text_boundaries.h"
#include "engine/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace palimpsest::documents {

namespace {

// FTS5 joins terms by a tree whose depth is limited, and nobody types more.
constexpr int kMostTerms = 32;
constexpr std::size_t kMostTermBytes = 1024;

enum class Match { Prefix, Whole };

/// Whether the script of a character is written without spaces between words.
bool isWithoutSpaces(char32_t character)
{
    struct Range
    {
        char32_t first;
        char32_t last;
    };
    static constexpr std::array kRanges{
        Range{0x0E00, 0x0EFF},   // Thai, Lao
        Range{0x1000, 0x109F},   // Myanmar
        Range{0x1780, 0x17FF},   // Khmer
        Range{0x3005, 0x3007},   // ideographic marks
        Range{0x3040, 0x30FF},   // kana
        Range{0x31F0, 0x31FF},   // more kana
        Range{0x3400, 0x4DBF},   // ideographs
        Range{0x4E00, 0x9FFF},   // ideographs
        Range{0xF900, 0xFAFF},   // ideographs
        Range{0xFF66, 0xFF9F},   // kana of half width
        Range{0x20000, 0x3FFFF}, // ideographs
    };
    return std::any_of(kRanges.begin(), kRanges.end(),
                       [character](Range range) { return character >= range.first && character <= range.last; });
}

/// Collects terms; drops those without a word, which would find nothing.
class TermList
{
public:
    void add(std::string &term, Match match)
    {
        const std::string_view trimmed = trimWhiteSpace(term);
        if (m_terms < kMostTerms && countWords(trimmed) > 0) {
            ++m_terms;
            if (hasCharacterWithoutSpaces(trimmed))
                m_query.pieces.emplace_back(trimmed);
            else
                addToExpression(trimmed, match);
        }
        term.clear();
    }
    [[nodiscard]] SearchQuery take() { return std::move(m_query); }

private:
    static bool hasCharacterWithoutSpaces(std::string_view term)
    {
        for (std::size_t position = 0; position < term.size();) {
            const Utf8Character character = readUtf8(term, position);
            if (isWithoutSpaces(character.codePoint))
                return true;
            position += std::max<std::size_t>(character.length, 1);
        }
        return false;
    }
    void addToExpression(std::string_view term, Match match)
    {
        std::string &text = m_query.expression;
        text += text.empty() ? "\"" : " \"";
        text += term; // holds no double quote: these end a term
        text += match == Match::Prefix ? "\"*" : "\"";
    }

    SearchQuery m_query;
    int m_terms = 0;
};

} // namespace

SearchQuery searchQuery(std::string_view query)
{
    TermList terms;
    std::string term;
    bool quoted = false;
    for (std::size_t position = 0; position < query.size();) {
        const Utf8Character character = readUtf8(query, position);
        const std::string_view bytes = query.substr(position, character.length == 0 ? 1 : character.length);
        position += bytes.size();
        if (bytes == "\"") {
            terms.add(term, quoted ? Match::Whole : Match::Prefix);
            quoted = !quoted;
        } else if (character.length == 0 || character.codePoint < 0x20 || trimWhiteSpace(bytes).empty()) {
            if (quoted)
                term += ' ';
            else
                terms.add(term, Match::Prefix);
        } else if (term.size() + bytes.size() <= kMostTermBytes) {
            term += bytes;
        }
    }
    terms.add(term, Match::Prefix); // in quotes that are not closed yet, the last word may still grow
    return terms.take();
}

} // namespace palimpsest::documents
