// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/command.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::cli {

/// The files to open, where a command line has no command: none at all, or nothing but files that are there. Nothing
/// for every other command line. `isCommand` wins over a file of the same name.
[[nodiscard]] std::optional<std::vector<std::string>>
filesToOpen(const std::vector<std::string> &arguments, const std::function<bool(std::string_view)> &isCommand);

/// Whether a window can be shown: the variables that say so are set (Wayland, X11, or Qt was told what to draw on).
[[nodiscard]] bool hasDisplay();

/// What `palimpsest` alone does: becomes the desktop studio, which lies beside this program. Without a display, or
/// where it was not built, the browser studio is served instead. `verbose` goes on to the studio. Throws Error: files,
/// and nowhere to show them.
[[nodiscard]] ExitCode startStudio(const std::vector<std::string> &files, bool verbose, CommandContext &context);

} // namespace palimpsest::cli
