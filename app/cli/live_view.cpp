// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/live_view.h"

#include <algorithm>
#include <cmath>

namespace palimpsest::cli {

namespace {

constexpr float kSettledBelowNats = 0.05F;
constexpr float kLevelStretchNats = 0.8F; // the studio's entropy ramp: 4 nats in five stretches
/// An end token is believed from here down: a wavering one would make the page jump.
constexpr float kEndCertainNats = 1.0F;
/// Longer lines are hard to read.
constexpr int kMaxTextColumns = 96;
constexpr int kMinColumns = 2;
constexpr std::string_view kMarkerDot = "\xC2\xB7";
constexpr std::string_view kStatusSeparator = " \xC2\xB7 ";

bool isFrozen(const StepEvent &event, std::size_t position)
{
    return position < event.frozen.size() && event.frozen[position] != 0;
}

std::size_t shownEnd(const LiveCanvas &canvas, const TokenTexts &tokens)
{
    const StepEvent &event = *canvas.event;
    const std::size_t size = event.argmax.size();
    if (canvas.end)
        return std::min(size, static_cast<std::size_t>(*canvas.end));
    std::size_t end = static_cast<std::size_t>(canvas.begin);
    for (std::size_t position = end; position < size; ++position) {
        if (!tokens.isEnd(event.argmax[position]))
            end = position + 1; // trailing end tokens are never shown, however open they are
        else if (event.positions[position].entropyNats < kEndCertainNats)
            break;
    }
    return end;
}

Style styleOf(const StepEvent &event, std::size_t position)
{
    if (isFrozen(event, position))
        return {Ink::Locked, 0};
    const std::uint8_t level = unsettledLevel(event.positions[position].entropyNats);
    return {level == 0 ? Ink::Settled : Ink::Unsettled, level};
}

void appendPiece(std::vector<StyledText> &texts, const LivePiece &piece, const TokenTexts &tokens)
{
    if (const auto *text = std::get_if<StyledText>(&piece)) {
        texts.push_back(*text);
        return;
    }
    const std::vector<StyledText> canvas = canvasText(std::get<LiveCanvas>(piece), tokens);
    texts.insert(texts.end(), canvas.begin(), canvas.end());
}

std::size_t cellCount(const std::vector<StyledText> &texts, const CharacterWidths &widths)
{
    return toCells(texts, widths).size();
}

/// The row in which the cell with that number lies. Blanks dropped at line breaks are not in the rows, so the count is
/// a lower bound, which is all that choosing a window needs.
std::size_t rowOfCell(const std::vector<Row> &rows, std::size_t cell)
{
    std::size_t seen = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        seen += rows[row].size() + 1;
        if (seen > cell)
            return row;
    }
    return rows.empty() ? 0 : rows.size() - 1;
}

std::vector<Row> windowOf(std::vector<Row> rows, std::size_t focusRow, std::size_t height)
{
    if (rows.size() <= height)
        return rows;
    // A third of the window shows what was done before the focus.
    const std::size_t wanted = focusRow - std::min(focusRow, height / 3);
    const std::size_t first = std::min(wanted, rows.size() - height);
    return {rows.begin() + static_cast<std::ptrdiff_t>(first),
            rows.begin() + static_cast<std::ptrdiff_t>(first + height)};
}

Row statusRow(const std::vector<std::string> &parts, const CharacterWidths &widths, int columns)
{
    Row row;
    for (const std::string &part : parts) {
        const std::string text = row.empty() ? part : std::string(kStatusSeparator) + part;
        const StyledText piece{text, {Ink::Status, 0}};
        std::vector<Cell> cells = toCells({&piece, 1}, widths);
        if (rowColumns(row) + rowColumns(cells) > columns)
            break;
        row.insert(row.end(), cells.begin(), cells.end());
    }
    return row;
}

} // namespace

std::uint8_t unsettledLevel(float entropyNats) noexcept
{
    if (!(entropyNats >= kSettledBelowNats))
        return 0;
    const float stretch = std::floor(entropyNats / kLevelStretchNats);
    return static_cast<std::uint8_t>(std::min(stretch + 1.0F, static_cast<float>(kMaxUnsettledLevel)));
}

std::vector<StyledText> canvasText(const LiveCanvas &canvas, const TokenTexts &tokens)
{
    std::vector<StyledText> texts;
    const StepEvent &event = *canvas.event;
    const std::size_t end = shownEnd(canvas, tokens);
    for (auto position = static_cast<std::size_t>(canvas.begin); position < end; ++position) {
        const TokenId id = event.argmax[position];
        const bool isMarker = tokens.isSpecial(id) || tokens.isEnd(id);
        texts.push_back({std::string(isMarker ? kMarkerDot : tokens.bytes(id)), styleOf(event, position)});
    }
    return texts;
}

Frame LiveView::render(const LivePage &page, TerminalSize size) const
{
    const int columns = std::max(size.columns, kMinColumns);
    std::vector<StyledText> texts;
    std::size_t focusCell = 0;
    for (std::size_t piece = 0; piece < page.pieces.size(); ++piece) {
        if (page.focus == piece)
            focusCell = cellCount(texts, m_widths);
        appendPiece(texts, page.pieces[piece], m_tokens);
    }
    std::vector<Cell> cells = toCells(texts, m_widths);
    styleWholeWords(cells);
    std::vector<Row> rows = cells.empty() ? std::vector<Row>() : wrapCells(cells, std::min(columns, kMaxTextColumns));
    const std::size_t height = size.rows > 2 ? static_cast<std::size_t>(size.rows) - 2 : 0;
    const std::size_t focusRow = page.focus ? rowOfCell(rows, focusCell) : rows.size();
    Frame frame{windowOf(std::move(rows), focusRow, height)};
    frame.rows.push_back(statusRow(page.status, m_widths, columns));
    return frame;
}

} // namespace palimpsest::cli
