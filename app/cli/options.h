// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/progress_display.h"
#include "app/model_lookup.h"
#include "engine/byte_range.h"
#include "engine/model_config.h"
#include "engine/sampler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
} // namespace CLI

namespace palimpsest::cli {

/// Sampler values that were given; what was not given comes from the model.
struct SamplerOptions
{
    std::optional<int> steps;
    std::optional<double> entropyBound;
    std::optional<double> tMin;
    std::optional<double> tMax;
    std::optional<double> confidence;
    std::optional<int> stability;
    std::optional<std::uint64_t> seed;
};

enum class ProgressChoice : std::uint8_t {
    Auto, ///< live on a terminal that can, else lines
    Live, ///< live also with NO_COLOR (attributes only)
    Lines,
    Silent,
};

struct OutputOptions
{
    bool json = false;
    bool live = false;
    bool noLive = false;
    bool quiet = false;

    [[nodiscard]] ProgressChoice progress() const noexcept;
};

void addModelOptions(CLI::App &command, ModelOptions &options);
void addSamplerOptions(CLI::App &command, SamplerOptions &options);
void addOutputOptions(CLI::App &command, OutputOptions &options);

/// The model's defaults with the given values put in. Throws Error InvalidArgument naming the field.
[[nodiscard]] SamplerSettings samplerSettings(const SamplerOptions &options, const GenerationDefaults &defaults);

/// The given seed, or a fresh one: without a seed no two runs are alike, and the one used is always reported. Below
/// 2^53, so that every JSON reader keeps it.
[[nodiscard]] std::uint64_t seedOrRandom(const SamplerOptions &options);

/// Reads "BEGIN:END", bytes of a file. Throws Error InvalidArgument naming `option`.
[[nodiscard]] ByteRange parseByteRange(std::string_view text, std::string_view option);

} // namespace palimpsest::cli
