// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/options.h"

#include "app/settings.h"
#include "engine/error.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <random>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kModelGroup = "Model";
constexpr std::string_view kSamplerGroup = "Sampler (default: what the model asks for)";
constexpr std::string_view kOutputGroup = "Output";

template <typename Value>
void addTo(CLI::App &command, std::string_view group, const std::string &name, Value &value, const std::string &help)
{
    command.add_option(name, value, help)->group(std::string(group));
}

} // namespace

ProgressChoice OutputOptions::progress() const noexcept
{
    if (quiet)
        return ProgressChoice::Silent;
    if (noLive)
        return ProgressChoice::Lines;
    return live ? ProgressChoice::Live : ProgressChoice::Auto;
}

void addModelOptions(CLI::App &command, ModelOptions &options)
{
    command
        .add_option("--model", options.model,
                    "Model folder. Default: PALIMPSEST_MODEL, then `model` in the settings file, then the bundled demo")
        ->type_name("DIR")
        ->group(std::string(kModelGroup));
    command.add_option("--threads", options.threads, "CPU threads, 0 = one per core")
        ->type_name("N")
        ->check(CLI::Range(0, 1024))
        ->group(std::string(kModelGroup));
    command.add_option("--device", options.device, "Where to compute: cuda, cpu, or auto: CUDA where it can be used")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->type_name("NAME")
        ->capture_default_str()
        ->group(std::string(kModelGroup));
}

void addSamplerOptions(CLI::App &command, SamplerOptions &options)
{
    addTo(command, kSamplerGroup, "--steps", options.steps, "Denoising steps a canvas takes at most");
    addTo(command, kSamplerGroup, "--entropy-bound", options.entropyBound,
          "Words are accepted while their summed entropy is at most this (nats); higher = faster, rougher");
    addTo(command, kSamplerGroup, "--t-min", options.tMin, "Temperature towards the last step");
    addTo(command, kSamplerGroup, "--t-max", options.tMax, "Temperature of the first step");
    addTo(command, kSamplerGroup, "--confidence", options.confidence,
          "A canvas may end when its mean entropy is below this (nats)");
    addTo(command, kSamplerGroup, "--stability", options.stability,
          "... and its text was the same for this many steps");
    command.add_option("--seed", options.seed, "The same seed gives the same text")
        ->check(CLI::NonNegativeNumber) // CLI11 2.1 would wrap -1 around
        ->group(std::string(kSamplerGroup));
}

void addOutputOptions(CLI::App &command, OutputOptions &options)
{
    const std::string group(kOutputGroup);
    command.add_flag("--json", options.json, "The result as JSON on standard output, with timings and stop reasons")
        ->group(group);
    CLI::Option *live =
        command
            .add_flag("--live", options.live, "Show the canvas settling, also with NO_COLOR (default on a terminal)")
            ->group(group);
    CLI::Option *noLive = command.add_flag("--no-live", options.noLive, "Plain progress lines instead")->group(group);
    CLI::Option *quiet = command.add_flag("--quiet,-q", options.quiet, "No progress at all")->group(group);
    live->excludes(noLive)->excludes(quiet);
    noLive->excludes(quiet);
}

SamplerSettings samplerSettings(const SamplerOptions &options, const GenerationDefaults &defaults)
{
    SamplerSettings settings;
    settings.maxDenoisingSteps = options.steps.value_or(defaults.maxDenoisingSteps);
    settings.entropyBoundNats = options.entropyBound.value_or(defaults.entropyBoundNats);
    settings.tMin = options.tMin.value_or(defaults.tMin);
    settings.tMax = options.tMax.value_or(defaults.tMax);
    settings.confidenceThresholdNats = options.confidence.value_or(defaults.confidenceThresholdNats);
    settings.stabilityThreshold = options.stability.value_or(defaults.stabilityThreshold);
    validate(settings);
    return settings;
}

std::uint64_t seedOrRandom(const SamplerOptions &options)
{
    constexpr unsigned kJsonIntegerBits = 53;
    if (options.seed)
        return *options.seed;
    std::random_device device;
    const std::uint64_t bits = (std::uint64_t{device()} << 32U) | device();
    return bits >> (64U - kJsonIntegerBits);
}

ByteRange parseByteRange(std::string_view text, std::string_view option)
{
    ByteRange range;
    const char *const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, range.begin);
    const bool hasColon = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
    const auto second = hasColon ? std::from_chars(first.ptr + 1, end, range.end) : first;
    if (!hasColon || second.ec != std::errc() || second.ptr != end) {
        throw Error(ErrorKind::InvalidArgument,
                    std::string(option) + ": found \"" + std::string(text) +
                        "\", wanted BEGIN:END in bytes of the file, as in 120:184",
                    std::string(option));
    }
    return range;
}

} // namespace palimpsest::cli
