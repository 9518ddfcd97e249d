// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/model_lookup.h"

#include "engine/error.h"

#include <cstdlib>

namespace palimpsest {

namespace {

void requireFolder(const ModelLocation &location)
{
    std::error_code failure;
    const auto status = std::filesystem::status(location.directory, failure);
    const std::string name = location.directory.string();
    if (status.type() == std::filesystem::file_type::directory)
        return;
    if (failure == std::errc::permission_denied) {
        throw Error(ErrorKind::PermissionDenied,
                    name + ": this folder may not be entered (model from " + location.origin + ")", name);
    }
    if (!std::filesystem::exists(status))
        throw Error(ErrorKind::NotFound, name + ": no such folder (model from " + location.origin + ")", name);
    throw Error(
        ErrorKind::NotFound,
        name + ": not a folder; a model is a folder with config.json, tokenizer.json and *.safetensors (model from " +
            location.origin + ")",
        name);
}

ModelLocation firstNamed(const ModelSources &sources)
{
    if (sources.option)
        return {*sources.option, "the command line"};
    if (sources.environment && !sources.environment->empty())
        return {*sources.environment, "PALIMPSEST_MODEL"};
    if (sources.settings)
        return {*sources.settings, sources.settingsFile.string()};
    return {sources.bundled, "the bundled demo model"};
}

} // namespace

ModelLocation findModel(const ModelSources &sources)
{
    ModelLocation location = firstNamed(sources);
    requireFolder(location);
    return location;
}

ModelSources modelSources(const std::optional<std::string> &option, const Settings &settings)
{
    const char *environment = std::getenv("PALIMPSEST_MODEL");
    return {.option = option,
            .environment = environment == nullptr ? std::nullopt : std::optional<std::string>(environment),
            .settings = settings.model,
            .settingsFile = settingsFile(),
            .bundled = bundledModelDirectory()};
}

std::filesystem::path bundledModelDirectory()
{
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
    return (program.parent_path() / ".." / "share" / "palimpsest" / "demo_model").lexically_normal();
}

} // namespace palimpsest
