// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_store.h"
#include "app/engine_host.h"

#include <string>
#include <variant>
#include <vector>

namespace palimpsest::studio {

/// What the command line of `palimpsest-studio` says.
struct StudioOptions
{
    std::vector<std::string> files; ///< texts to open
    EngineChoice engine;
    documents::StoreOptions store;
    bool verbose = false;
};

/// The options, or the exit code of a program that has said all it was to say (--help, --version, a wrong option).
/// Needs no application, so that these answer at once and without a display. Throws Error.
[[nodiscard]] std::variant<StudioOptions, int> parseStudioOptions(int argc, const char *const *argv);

} // namespace palimpsest::studio
