// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/search_query.h"

#include "engine/text_boundaries.h"
#include "engine/utf8.h"

#include <cstddef>

namespace palimpsest::documents {

namespace {

// FTS5 joins terms by a tree whose depth is limited, and nobody types more.
constexpr int kMostTerms = 32;
constexpr std::size_t kMostTermBytes = 1024;

enum class Match { Prefix, Whole };

/// Collects terms; drops those without a word, which would find nothing.
class Expression
{
public:
    void add(std::string &term, Match match)
    {
        if (m_terms < kMostTerms && countWords(term) > 0) {
            m_text += m_text.empty() ? "\"" : " \"";
            m_text += term; // holds no double quote: these end a term
            m_text += match == Match::Prefix ? "\"*" : "\"";
            ++m_terms;
        }
        term.clear();
    }
    [[nodiscard]] std::string take() { return std::move(m_text); }

private:
    std::string m_text;
    int m_terms = 0;
};

} // namespace

std::string searchExpression(std::string_view query)
{
    Expression expression;
    std::string term;
    bool quoted = false;
    for (std::size_t position = 0; position < query.size();) {
        const Utf8Character character = readUtf8(query, position);
        const std::string_view bytes = query.substr(position, character.length == 0 ? 1 : character.length);
        position += bytes.size();
        if (bytes == "\"") {
            expression.add(term, quoted ? Match::Whole : Match::Prefix);
            quoted = !quoted;
        } else if (character.length == 0 || character.codePoint < 0x20 || trimWhiteSpace(bytes).empty()) {
            if (quoted)
                term += ' ';
            else
                expression.add(term, Match::Prefix);
        } else if (term.size() + bytes.size() <= kMostTermBytes) {
            term += bytes;
        }
    }
    expression.add(term, Match::Prefix); // in quotes that are not closed yet, the last word may still grow
    return expression.take();
}

} // namespace palimpsest::documents
