// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/studio_start.h"

#include "app/cli/serve_run.h"
#include "engine/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

std::filesystem::path studioProgram()
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "palimpsest-studio";
}

[[noreturn]] void become(const std::filesystem::path &program, const std::vector<std::string> &files, bool verbose)
{
    std::vector<std::string> arguments{program.string()};
    if (verbose)
        arguments.emplace_back("--verbose");
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), files.begin(), files.end());
    std::vector<char *> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string &argument : arguments)
        pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    throw Error(ErrorKind::Io, program.string() + ": cannot be started: " + std::strerror(errno), program.string());
}

} // namespace

std::optional<std::vector<std::string>> filesToOpen(const std::vector<std::string> &arguments,
                                                    const std::function<bool(std::string_view)> &isCommand)
{
    if (!arguments.empty() && isCommand(arguments.front()))
        return std::nullopt;
    const bool allAreFiles = std::all_of(arguments.begin(), arguments.end(), [](const std::string &argument) {
        std::error_code none;
        return !argument.starts_with('-') && std::filesystem::is_regular_file(argument, none);
    });
    return allAreFiles ? std::optional(arguments) : std::nullopt;
}

bool hasDisplay()
{
    constexpr std::array kVariables{"WAYLAND_DISPLAY", "DISPLAY", "QT_QPA_PLATFORM"};
    return std::any_of(kVariables.begin(), kVariables.end(), [](const char *name) {
        const char *value = std::getenv(name);
        return value != nullptr && *value != '\0';
    });
}

ExitCode startStudio(const std::vector<std::string> &files, bool verbose, CommandContext &context)
{
    const std::filesystem::path program = studioProgram();
    const bool isThere = ::access(program.c_str(), X_OK) == 0;
    if (isThere && hasDisplay())
        become(program, files, verbose);
    const std::string reason = isThere ? "there is no display" : "the desktop studio was not built";
    if (!files.empty()) {
        throw Error(ErrorKind::InvalidArgument,
                    reason + ", so " + files.front() +
                        " cannot be opened; `palimpsest proofread` works in the terminal, `palimpsest serve` in a "
                        "browser",
                    files.front());
    }
    printNote(reason + "; serving the browser studio (see palimpsest --help)");
    ServeOptions options;
    options.port = "auto";
    return runServer(options, context);
}

} // namespace palimpsest::cli
