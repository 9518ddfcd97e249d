// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/cpu_agreement.h"

#include "engine/backend_loader.h"
#include "engine/error.h"

#include <filesystem>

namespace palimpsest::studio {

namespace {

std::int64_t weightBytesIn(const std::filesystem::path &directory)
{
    std::int64_t bytes = 0;
    std::error_code failure; // what cannot be read is told by whoever loads it
    for (const auto &entry : std::filesystem::directory_iterator(directory, failure)) {
        if (entry.path().extension() == ".safetensors")
            bytes += static_cast<std::int64_t>(entry.file_size(failure));
    }
    return bytes;
}

} // namespace

void requireAgreement(const ModelOptions &options, const std::string &agreedFolder)
{
    if (deviceChoiceFromName(options.device) != DeviceChoice::Auto)
        return;
    const std::filesystem::path directory =
        findModel(modelSources(options.model, readSettings(settingsFile()))).directory;
    if (directory == agreedFolder || weightBytesIn(directory) < kLargeModelBytes)
        return;
    const auto whyNot = whyNotCuda(defaultModuleFolders());
    if (!whyNot)
        return;
    throw Error(
        ErrorKind::Unsupported,
        directory.string() + ": a large model, and no graphics card can be used for it (" + *whyNot +
            "). On the CPU a canvas would take minutes, so it was not loaded. Choose it again if you want that, "
            "or use the demo model",
        directory.string());
}

} // namespace palimpsest::studio
