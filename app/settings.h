// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace palimpsest {

/// What the person chose once and for all, from the settings file.
struct Settings
{
    std::optional<std::string> model; ///< `model`: a model folder; `~/` is the home folder
    std::optional<int> threads;       ///< `threads`: CPU threads, 0 = one per core
};

/// `palimpsest/settings.ini` in $XDG_CONFIG_HOME, by default in ~/.config.
[[nodiscard]] std::filesystem::path settingsFile();

/// Reads an INI file; a file that is not there gives empty settings. A relative model path counts from the file's
/// folder. Throws Error InvalidArgument (file, line or key, what was found and wanted) or PermissionDenied.
[[nodiscard]] Settings readSettings(const std::filesystem::path &file);

} // namespace palimpsest
