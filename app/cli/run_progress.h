// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/progress_display.h"
#include "app/cli/run_board.h"
#include "engine/model_config.h"
#include "engine/tokenizer.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::cli {

/// The live view's questions, answered by a tokenizer and the model's end tokens.
[[nodiscard]] TokenTexts tokenTexts(const std::shared_ptr<const Tokenizer> &tokenizer, std::vector<TokenId> endIds);

enum class DisplayMode : std::uint8_t { Live, Lines, Silent };

/// How a run is shown, for what was asked and what standard error can do.
[[nodiscard]] DisplayMode displayMode(ProgressChoice choice, const TerminalCapabilities &terminal) noexcept;

/// The board of one run and the display that shows it.
///
/// Made in two steps, because the display's signals must be blocked before the engine's threads start: prepare() first,
/// then the engine, then the object.
class RunProgress
{
public:
    [[nodiscard]] static DisplayMode prepare(ProgressChoice choice, const CommandContext &context);

    struct Setup
    {
        DisplayMode mode = DisplayMode::Silent;
        std::size_t slots = 1;
        TokenTexts tokens;
        /// Makes the display's questions about the board; called once.
        std::function<ProgressSource(const RunBoard &)> source;
    };

    RunProgress(Setup setup, const CommandContext &context);
    [[nodiscard]] RunBoard &board() noexcept { return m_board; }
    void finish(Ending ending); ///< ends the display; the log is let through again

private:
    RunBoard m_board;
    std::unique_ptr<ProgressDisplay> m_display; ///< null if silent; made before the run and kept until its end
    std::optional<LogHold> m_logHold;
};

/// The parts of the status line about one running request: canvas, step, entropy, milliseconds a step.
[[nodiscard]] std::vector<std::string> statusOf(const SlotState &slot, double stepMs);

} // namespace palimpsest::cli
