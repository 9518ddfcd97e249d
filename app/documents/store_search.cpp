// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_store.h"
#include "app/documents/search_query.h"
#include "app/documents/store_state.h"

namespace palimpsest::documents {

namespace {

// Bytes that no UTF-8 text holds mark what matched, so no text can be mistaken for a mark.
constexpr char kMarkBegin = '\xFE';
constexpr char kMarkEnd = '\xFF';

/// A word in the title counts five times as much as one in the text.
constexpr const char *kRankedHits =
    ", CAST(snippet(document_search, 1, CAST(x'FE' AS TEXT), CAST(x'FF' AS TEXT), CAST(? AS TEXT), 24) AS BLOB)"
    " FROM document_search JOIN documents ON documents.number = document_search.rowid"
    " WHERE document_search MATCH CAST(? AS TEXT) AND binned_ms IS NULL"
    " ORDER BY bm25(document_search, 5.0, 1.0), modified_ms DESC LIMIT ?";

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

} // namespace

std::vector<SearchHit> DocumentStore::search(std::string_view query, std::int64_t mostHits) const
{
    const std::string expression = searchExpression(query);
    std::vector<SearchHit> hits;
    if (expression.empty())
        return hits;
    const std::string sql = std::string("SELECT ") + kSummaryColumns + kRankedHits;
    Statement row(*m_state->database, sql.c_str());
    row.bind(std::string_view("\xE2\x80\xA6")).bind(expression).bind(mostHits);
    while (row.next()) {
        SearchHit &hit = hits.emplace_back();
        hit.document = readSummary(row);
        takeMarks(row.bytes(kSummaryColumnCount), hit);
    }
    return hits;
}

} // namespace palimpsest::documents
