// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/run_progress.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace palimpsest::cli {

TokenTexts tokenTexts(const std::shared_ptr<const Tokenizer> &tokenizer, std::vector<TokenId> endIds)
{
    return {.bytes = [tokenizer](TokenId id) { return tokenizer->tokenBytes(id); },
            .isSpecial = [tokenizer](TokenId id) { return tokenizer->isSpecial(id); },
            .isEnd =
                [ids = std::move(endIds)](TokenId id) {
                    return std::find(ids.begin(), ids.end(), id) != ids.end();
                }};
}

DisplayMode displayMode(ProgressChoice choice, const TerminalCapabilities &terminal) noexcept
{
    switch (choice) {
    case ProgressChoice::Silent:
        return DisplayMode::Silent;
    case ProgressChoice::Lines:
        return DisplayMode::Lines;
    case ProgressChoice::Live:
        return terminal.canRedraw ? DisplayMode::Live : DisplayMode::Lines;
    case ProgressChoice::Auto:
        return terminal.canRedraw && terminal.wantsColour ? DisplayMode::Live : DisplayMode::Lines;
    }
    return DisplayMode::Lines;
}

DisplayMode RunProgress::prepare(ProgressChoice choice, const CommandContext &context)
{
    const DisplayMode mode = displayMode(choice, context.errorTerminal);
    if (mode == DisplayMode::Live)
        blockDisplaySignals();
    return mode;
}

RunProgress::RunProgress(Setup setup, const CommandContext &context)
    : m_board(setup.slots, [this] {
          if (m_display)
              m_display->changed();
      })
{
    if (setup.mode == DisplayMode::Silent)
        return;
    ProgressSource source = setup.source(m_board);
    if (setup.mode == DisplayMode::Lines) {
        m_display = std::make_unique<LineDisplay>(STDERR_FILENO, std::move(source));
        return;
    }
    m_logHold.emplace(context.log);
    m_display = std::make_unique<LiveDisplay>(LiveDisplay::Output{STDERR_FILENO, context.errorTerminal},
                                              std::make_shared<LiveView>(std::move(setup.tokens)), std::move(source),
                                              context.interrupts);
    m_display->changed();
}

void RunProgress::finish(Ending ending)
{
    if (m_display)
        m_display->finish(ending);
    m_logHold.reset();
}

std::vector<std::string> statusOf(const SlotState &slot, double stepMs)
{
    if (!slot.event) {
        if (slot.promptTotal > slot.promptDone)
            return {fmt::format("reading the prompt: {} of {} tokens", slot.promptDone, slot.promptTotal)};
        return {fmt::format("canvas {}", slot.canvasesDone + 1)};
    }
    const StepEvent &event = *slot.event;
    return {fmt::format("canvas {}", event.canvas + 1), fmt::format("step {} of {}", event.step, event.maxSteps),
            fmt::format("mean entropy {:.2f} nats", event.meanEntropyNats), fmt::format("{:.0f} ms a step", stepMs)};
}

} // namespace palimpsest::cli
