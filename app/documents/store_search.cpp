// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"
#include "app/documents/search_query.h"
#include "app/documents/store_state.h"

#include <algorithm>

namespace palimpsest::documents {

namespace {

// Bytes that no UTF-8 text holds mark what matched, so no text can be mistaken for a mark.
constexpr char kMarkBegin = '\xFE';
constexpr char kMarkEnd = '\xFF';

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

constexpr const char *kIndexSnippet =
    ", CAST(snippet(document_search, 1, CAST(x'FE' AS TEXT), CAST(x'FF' AS TEXT), CAST(? AS TEXT), 24) AS BLOB)"
    " FROM document_search JOIN documents ON documents.number = document_search.rowid"
    " WHERE document_search MATCH CAST(? AS TEXT) AND binned_ms IS NULL";
constexpr const char *kWholeText = ", documents.text FROM documents WHERE binned_ms IS NULL";
constexpr const char *kHasPiece = " AND (instr(documents.title, ?) > 0 OR instr(documents.text, ?) > 0)";
/// A word in the title counts five times as much as one in the text.
constexpr const char *kByRank = " ORDER BY bm25(document_search, 5.0, 1.0), modified_ms DESC LIMIT ?";
constexpr const char *kByTime = " ORDER BY modified_ms DESC LIMIT ?";

void takeMarks(std::string_view marked, SearchHit &hit)
{
    std::int64_t begin = 0;
    for (const char byte : marked) {
        const auto position = static_cast<std::int64_t>(hit.snippet.size());
        if (byte == kMarkBegin)
            begin = position;
        else if (byte == kMarkEnd)
            hit.marks.push_back({.begin = begin, .end = position});
        else
            hit.snippet.push_back(byte);
    }
}

bool continuesCharacter(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The text around a piece of it, cut at characters, as FTS5 makes it for words.
void cutSnippet(std::string_view text, std::string_view piece, SearchHit &hit)
{
    constexpr std::size_t kBytesBefore = 60;
    constexpr std::size_t kBytesBehind = 180;
    const std::size_t found = text.find(piece);
    const std::size_t middle = found == std::string_view::npos ? 0 : found; // it is in the title then
    std::size_t begin = middle - std::min(middle, kBytesBefore);
    while (begin > 0 && continuesCharacter(text[begin]))
        --begin;
    std::size_t end = std::min(text.size(), middle + kBytesBehind);
    while (end < text.size() && continuesCharacter(text[end]))
        ++end;
    if (begin > 0)
        hit.snippet = kEllipsis;
    if (found != std::string_view::npos) {
        const auto mark = static_cast<std::int64_t>(hit.snippet.size() + found - begin);
        end = std::max(end, found + piece.size());
        hit.marks.push_back({.begin = mark, .end = mark + static_cast<std::int64_t>(piece.size())});
    }
    hit.snippet += text.substr(begin, end - begin);
    if (end < text.size())
        hit.snippet += kEllipsis;
}

} // namespace

std::vector<SearchHit> DocumentStore::search(std::string_view query, std::int64_t mostHits) const
{
    const SearchQuery wanted = searchQuery(query);
    const bool usesIndex = !wanted.expression.empty();
    std::vector<SearchHit> hits;
    if (!usesIndex && wanted.pieces.empty())
        return hits;
    std::string sql = std::string("SELECT ") + kSummaryColumns + (usesIndex ? kIndexSnippet : kWholeText);
    for (std::size_t count = wanted.pieces.size(); count > 0; --count)
        sql += kHasPiece;
    sql += usesIndex ? kByRank : kByTime;
    Statement row(*m_state->database, sql.c_str());
    if (usesIndex)
        row.bind(kEllipsis).bind(wanted.expression);
    for (const std::string &piece : wanted.pieces)
        row.bind(piece).bind(piece);
    row.bind(mostHits);
    while (row.next()) {
        SearchHit &hit = hits.emplace_back();
        hit.document = readSummary(row);
        if (usesIndex)
            takeMarks(row.bytes(kSummaryColumnCount), hit);
        else
            cutSnippet(row.bytes(kSummaryColumnCount), wanted.pieces.front(), hit);
    }
    return hits;
}

} // namespace palimpsest::documents
