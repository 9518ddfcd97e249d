// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/page_layout.h"
#include "app/cli/styled_text.h"
#include "engine/events.h"
#include "engine/token.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace palimpsest::cli {

struct TerminalSize
{
    int columns = 80;
    int rows = 24;

    friend bool operator==(const TerminalSize &, const TerminalSize &) = default;
};

/// What the live view asks of a tokenizer.
struct TokenTexts
{
    std::function<std::string_view(TokenId)> bytes; ///< may be a part of a character
    std::function<bool(TokenId)> isSpecial;         ///< markers, shown as a dot
    std::function<bool(TokenId)> isEnd;             ///< end of turn and padding: nothing is shown behind the first
};

/// A part of a running canvas, shown as the text that would be committed now.
struct LiveCanvas
{
    std::shared_ptr<const StepEvent> event;
    std::int64_t begin = 0;          ///< first position
    std::optional<std::int64_t> end; ///< one past the last; absent = up to the end token
};

using LivePiece = std::variant<StyledText, LiveCanvas>;

/// Everything the live view shows at one moment.
struct LivePage
{
    std::vector<LivePiece> pieces;
    std::optional<std::size_t> focus; ///< piece that stays in view where the page is too long; absent = the end
    std::vector<std::string> status;  ///< parts of the status line, the most important first
};

struct Frame
{
    std::vector<Row> rows;
};

/// 0 = settled, up to kMaxUnsettledLevel from about 3.2 nats on, in equal stretches of entropy.
[[nodiscard]] std::uint8_t unsettledLevel(float entropyNats) noexcept;

/// The styled text of a canvas: settled, unsettled by entropy, or locked where frozen.
[[nodiscard]] std::vector<StyledText> canvasText(const LiveCanvas &canvas, const TokenTexts &tokens);

/// Lays a page out for a terminal. Pure: the same page and size give the same frame.
class LiveView
{
public:
    explicit LiveView(TokenTexts tokens) : m_tokens(std::move(tokens)) {}

    /// At most `size.rows - 1` rows (the last one is the status line), each at most `size.columns` wide.
    [[nodiscard]] Frame render(const LivePage &page, TerminalSize size) const;

private:
    TokenTexts m_tokens;
    CharacterWidths m_widths;
};

} // namespace palimpsest::cli
