// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/page_layout.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace palimpsest::cli {

namespace {

bool isBlank(const Cell &cell) noexcept
{
    return cell.text == " " || cell.text == "\n";
}

void styleWord(std::span<Cell> word)
{
    std::uint8_t level = 0;
    for (const Cell &cell : word) {
        if (cell.style.ink == Ink::Unsettled)
            level = std::max(level, cell.style.level);
    }
    for (Cell &cell : word) {
        const bool takesPart = cell.style.ink == Ink::Unsettled || cell.style.ink == Ink::Settled;
        if (level > 0 && takesPart)
            cell.style = {Ink::Unsettled, level};
    }
}

/// Rows under construction.
class RowWriter
{
public:
    explicit RowWriter(int columns) : m_columns(columns), m_rows(1) {}

    void addWord(std::span<const Cell> word)
    {
        const int wordColumns =
            std::accumulate(word.begin(), word.end(), 0, [](int sum, const Cell &cell) { return sum + cell.columns; });
        if (m_used + wordColumns > m_columns && m_used > 0 && wordColumns <= m_columns)
            newRow();
        for (const Cell &cell : word) {
            if (m_used + cell.columns > m_columns)
                newRow();
            append(cell);
        }
    }

    void addBlank(const Cell &cell)
    {
        if (cell.text == "\n")
            newRow();
        else if (m_used < m_columns)
            append(cell);
        // A blank that does not fit any more is the line break itself.
    }

    [[nodiscard]] std::vector<Row> take() { return std::move(m_rows); }

private:
    void newRow()
    {
        m_rows.emplace_back();
        m_used = 0;
    }

    void append(const Cell &cell)
    {
        m_rows.back().push_back(cell);
        m_used += cell.columns;
    }

    int m_columns;
    int m_used = 0;
    std::vector<Row> m_rows;
};

} // namespace

int rowColumns(const Row &row) noexcept
{
    return std::accumulate(row.begin(), row.end(), 0, [](int sum, const Cell &cell) { return sum + cell.columns; });
}

void styleWholeWords(std::vector<Cell> &cells)
{
    for (auto begin = cells.begin(); begin != cells.end();) {
        const auto end = std::find_if(begin, cells.end(), isBlank);
        styleWord({begin, end});
        begin = end;
        for (; begin != cells.end() && isBlank(*begin); ++begin) {
            if (begin->style.ink == Ink::Unsettled)
                begin->style = {};
        }
    }
}

std::vector<Row> wrapCells(const std::vector<Cell> &cells, int columns)
{
    assert(columns >= 2);
    RowWriter writer(columns);
    for (auto begin = cells.begin(); begin != cells.end();) {
        if (isBlank(*begin)) {
            writer.addBlank(*begin++);
            continue;
        }
        const auto end = std::find_if(begin, cells.end(), isBlank);
        writer.addWord({begin, end});
        begin = end;
    }
    return writer.take();
}

} // namespace palimpsest::cli
