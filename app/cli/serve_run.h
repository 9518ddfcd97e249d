// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/command.h"
#include "app/model_lookup.h"
#include "app/request_desk.h"
#include "app/server/server.h"

#include <optional>
#include <string>
#include <vector>

namespace palimpsest::cli {

struct ServeOptions
{
    std::string host = server::ServerSettings{}.host;
    std::string port = std::to_string(server::ServerSettings::kDefaultPort); ///< or auto
    std::optional<std::string> apiKey;
    std::optional<std::string> apiKeyFile;
    std::vector<std::string> origins;
    std::vector<std::string> hosts;
    std::optional<std::string> modelName;
    bool anyModelName = false;
    int queue = DeskSettings{}.queueCapacity;
    std::optional<std::string> dataDirectory;
    ModelOptions model;
};

/// What the options say of the server's reach. Throws Error.
[[nodiscard]] server::ServerSettings serverSettings(const ServeOptions &options);

/// Serves until a signal comes, which is the orderly end and a success. The addresses are printed at once, the model is
/// loaded meanwhile; one that cannot be loaded ends the program with its error.
[[nodiscard]] ExitCode runServer(const ServeOptions &options, CommandContext &context);

} // namespace palimpsest::cli
