// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/interrupts.h"
#include "app/cli/log_sink.h"
#include "app/cli/terminal.h"
#include "app/error_mapping.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace CLI {
class App;
} // namespace CLI

namespace palimpsest::cli {

/// What the surroundings of a command are: collaborators come in here, so that none is global.
struct CommandContext
{
    Interrupts &interrupts;
    std::shared_ptr<HoldableSink> log;
    TerminalCapabilities outputTerminal; ///< standard output
    TerminalCapabilities errorTerminal;  ///< standard error, where progress is shown
};

/// A subcommand as the command line knows it.
struct Command
{
    CLI::App *app = nullptr;
    /// Runs with the options that were parsed. Throws Error.
    std::function<ExitCode(CommandContext &)> run;
};

[[nodiscard]] Command addBenchCommand(CLI::App &program);
[[nodiscard]] Command addEditCommand(CLI::App &program);
[[nodiscard]] Command addFillCommand(CLI::App &program);
[[nodiscard]] Command addGenerateCommand(CLI::App &program);
[[nodiscard]] Command addProofreadCommand(CLI::App &program);
[[nodiscard]] Command addServeCommand(CLI::App &program);
[[nodiscard]] Command addSynthCommand(CLI::App &program);
[[nodiscard]] Command addTokensCommand(CLI::App &program);
[[nodiscard]] Command addInspectCommand(CLI::App &program);

/// The end of a command's help: examples, and the exit codes.
[[nodiscard]] std::string helpFooter(std::string_view examples);

/// Writes a command's result to standard output. Throws Error Io if it cannot be written (a full disk).
void printResult(std::string_view text);
/// Writes a text that a model wrote. On a terminal, what could move its cursor or change its state is left out, and the
/// prompt that follows begins on a line of its own.
void printText(std::string_view text, const CommandContext &context);
/// Writes a remark to standard error.
void printNote(std::string_view text);

} // namespace palimpsest::cli
