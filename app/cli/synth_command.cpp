// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"
#include "engine/error.h"
#include "engine/synthetic_checkpoint.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <memory>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples = "  palimpsest synth --shape 26b model-26b        15 GiB of random weights\n"
                                       "  palimpsest bench --model model-26b --device cuda\n";

struct SynthOptions
{
    std::string shape = "26b";
    std::string directory;
    std::uint64_t seed = 1;
};

ExitCode run(const SynthOptions &options, CommandContext &context)
{
    using Clock = std::chrono::steady_clock;
    const SyntheticShape shape = syntheticShape(options.shape).value(); // the parser has checked the name
    const Clock::time_point start = Clock::now();
    const std::stop_token stop = context.interrupts.token();
    writeSyntheticCheckpoint(shape, options.directory, options.seed,
                             [&stop](double) { return !stop.stop_requested(); });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    constexpr double kGiga = 1e9;
    const double gigabytes = static_cast<double>(syntheticBytes(shape)) / kGiga;
    printNote(fmt::format("{}: {:.2f} GB of random weights in {:.1f} s", options.directory, gigabytes, seconds));
    return ExitCode::Success;
}

} // namespace

Command addSynthCommand(CLI::App &program)
{
    auto options = std::make_shared<SynthOptions>();
    CLI::App *command =
        program.add_subcommand("synth", "Write a model folder with random weights of a given shape, for measuring");
    std::vector<std::string> names;
    for (const SyntheticShape &shape : syntheticShapes())
        names.push_back(shape.name);
    command->add_option("--shape", options->shape, "Sizes of the model: tiny, demo (the bundled model's) or 26b")
        ->check(CLI::IsMember(names))
        ->type_name("NAME")
        ->capture_default_str();
    command->add_option("--seed", options->seed, "The same seed gives the same files")->capture_default_str();
    command->add_option("directory", options->directory, "Folder to make; must be empty if it exists")
        ->type_name("DIR")
        ->required();
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &context) {
                return run(*options, context);
            }};
}

} // namespace palimpsest::cli
