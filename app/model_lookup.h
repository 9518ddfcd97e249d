// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/settings.h"

#include <filesystem>
#include <optional>
#include <string>

namespace palimpsest {

/// A model folder and who named it ("the command line", "PALIMPSEST_MODEL", the settings file, "the bundled demo
/// model").
struct ModelLocation
{
    std::filesystem::path directory;
    std::string origin;
};

/// The places a model may come from, in the order in which they win.
struct ModelSources
{
    std::optional<std::string> option;      ///< --model
    std::optional<std::string> environment; ///< PALIMPSEST_MODEL; empty counts as not set
    std::optional<std::string> settings;
    std::filesystem::path settingsFile;
    std::filesystem::path bundled;
};

/// Throws Error NotFound (folder and who named it) if the first source that says something names no folder; later
/// sources are not tried then, because a silent fall-back would hide a typing mistake.
[[nodiscard]] ModelLocation findModel(const ModelSources &sources);

/// Where the demo model lies beside this program: `../share/palimpsest/demo_model`, the same in the build tree and
/// installed.
[[nodiscard]] std::filesystem::path bundledModelDirectory();

} // namespace palimpsest
