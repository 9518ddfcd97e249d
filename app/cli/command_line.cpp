// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command_line.h"

#include "app/cli/command.h"
#include "app/cli/exit_status.h"
#include "app/cli/nearest_word.h"
#include "app/cli/studio_start.h"
#include "app/error_mapping.h"
#include "app/settings.h"
#include "app/version.h"
#include "engine/error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <spdlog/spdlog.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kDescription =
    "Palimpsest writes with block-diffusion language models: a canvas of words is written all at once in noise and "
    "rewritten until it settles. On a terminal you can watch it.";

constexpr std::string_view kExamples =
    "  palimpsest                                      the desktop studio; without a display: the browser studio\n"
    "  palimpsest letter.txt                           opens the file in the desktop studio\n"
    "  palimpsest proofread letter.txt                 the corrected text, its settling shown live\n"
    "  palimpsest proofread --in-place letter.txt      corrects the file itself\n"
    "  palimpsest generate \"Fix the spelling: teh cat\"  one prompt, one answer\n"
    "  palimpsest COMMAND --help                       what a command can do, with examples\n";

std::string modelHelp()
{
    return "The model is the first of these that is given:\n"
           "  --model DIR, the variable PALIMPSEST_MODEL, `model=DIR` in " +
           settingsFile().string() + ", the bundled demo model\n";
}

std::shared_ptr<HoldableSink> installLog(bool verbose)
{
    auto sink = std::make_shared<HoldableSink>();
    auto logger = std::make_shared<spdlog::logger>("palimpsest", sink);
    logger->set_pattern("palimpsest: %l: %v");
    logger->set_level(verbose ? spdlog::level::debug : spdlog::level::warn);
    spdlog::set_default_logger(std::move(logger));
    return sink;
}

/// The subcommand that was being parsed, or the program itself.
CLI::App *parsedCommand(CLI::App &program)
{
    const std::vector<CLI::App *> parsed = program.get_subcommands();
    return parsed.empty() ? &program : parsed.back();
}

std::vector<std::string> knownWords(CLI::App &command)
{
    std::vector<std::string> words;
    for (const CLI::Option *option : command.get_options()) {
        for (const std::string &name : option->get_lnames())
            words.push_back("--" + name);
    }
    for (const CLI::App *sub : command.get_subcommands(nullptr))
        words.push_back(sub->get_name());
    return words;
}

/// Explains a wrong command line, with the word that was probably meant.
std::string usageMessage(CLI::App &program, const CLI::ParseError &error)
{
    CLI::App *command = parsedCommand(program);
    const std::vector<std::string> unknown = program.remaining(true);
    const std::string name = command == &program ? "palimpsest" : "palimpsest " + command->get_name();
    std::string message = error.what();
    if (!unknown.empty()) {
        const std::string word = unknown.front().substr(0, unknown.front().find('='));
        const bool isOption = word.starts_with('-');
        message = "\"" + word + "\" is no " +
                  (isOption              ? "option"
                   : command == &program ? "file, and no command"
                                         : "argument") +
                  " of " + name;
        const std::vector<std::string> known = knownWords(*command);
        if (const auto nearest = nearestWord(word, known))
            message += "; did you mean " + *nearest + "?";
    }
    return message + "\nSee: " + name + " --help";
}

int runCommand(const std::function<ExitCode(CommandContext &)> &command, bool verbose)
{
    Interrupts interrupts;
    CommandContext context{
        .interrupts = interrupts,
        .log = installLog(verbose),
        .outputTerminal = terminalCapabilities(::isatty(STDOUT_FILENO) != 0, TerminalEnvironment::fromProcess()),
        .errorTerminal = terminalCapabilities(::isatty(STDERR_FILENO) != 0, TerminalEnvironment::fromProcess())};
    ExitCode code = ExitCode::Success;
    try {
        code = command(context);
    } catch (const Error &error) {
        if (interrupts.exitStatus() == 0)
            return reportFailure(error);
        code = ExitCode::Cancelled; // what failed was what the person stopped
    }
    if (code != ExitCode::Cancelled)
        return static_cast<int>(code);
    printNote("cancelled; nothing was written");
    return interrupts.exitStatus() != 0 ? interrupts.exitStatus() : static_cast<int>(ExitCode::Cancelled);
}

int parseAndRun(int argc, const char *const *argv)
{
    CLI::App program{std::string(kDescription), "palimpsest"};
    bool verbose = false;
    program.set_version_flag("--version", std::string("palimpsest ") + kVersion);
    program.add_flag("--verbose,-v", verbose, "Say on standard error what is being done");
    program.footer([] { return helpFooter(kExamples) + "\n" + modelHelp(); });
    program.require_subcommand(0, 1);
    program.fallthrough();
    const std::array commands{addProofreadCommand(program), addGenerateCommand(program), addEditCommand(program),
                              addFillCommand(program),      addTokensCommand(program),   addInspectCommand(program),
                              addBenchCommand(program),     addSynthCommand(program),    addServeCommand(program)};
    std::vector<std::string> words{argv + 1, argv + argc};
    if (!words.empty() && (words.front() == "--verbose" || words.front() == "-v")) {
        words.erase(words.begin()); // the one option that may stand before files
        verbose = true;
    }
    const auto files = filesToOpen(words, [&commands](std::string_view word) {
        return std::any_of(commands.begin(), commands.end(),
                           [word](const Command &command) { return command.app->get_name() == word; });
    });
    if (files)
        return runCommand([&](CommandContext &context) { return startStudio(*files, verbose, context); }, verbose);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success &request) { // --help or --version
        return program.exit(request);
    } catch (const CLI::ParseError &error) {
        printNote(usageMessage(program, error));
        return static_cast<int>(ExitCode::Usage);
    }
    const auto chosen =
        std::find_if(commands.begin(), commands.end(), [](const Command &command) { return command.app->parsed(); });
    if (chosen == commands.end()) // options alone
        return runCommand([verbose](CommandContext &context) { return startStudio({}, verbose, context); }, verbose);
    return runCommand(chosen->run, verbose);
}

} // namespace

int runCommandLine(int argc, const char *const *argv)
{
    return exitStatusOf([&] { return parseAndRun(argc, argv); });
}

} // namespace palimpsest::cli
