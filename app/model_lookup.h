// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/settings.h"

#include <filesystem>
#include <optional>
#include <string>

namespace palimpsest {

/// Which model to open and where to compute it; what is not given comes from the environment and the settings file.
struct ModelOptions
{
    std::optional<std::string> model; ///< a folder
    std::optional<int> threads;
    std::string device = "auto"; ///< "auto", "cpu", "cuda"
};

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

/// Where a model may come from, for the given --model.
[[nodiscard]] ModelSources modelSources(const std::optional<std::string> &option, const Settings &settings);

/// Where the demo model lies beside this program: `../share/palimpsest/demo_model`, the same in the build tree and
/// installed.
[[nodiscard]] std::filesystem::path bundledModelDirectory();

} // namespace palimpsest
