// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/settings.h"
#include "engine/checkpoint.h"
#include "engine/checkpoint_report.h"

#include <CLI/CLI.hpp>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples =
    "  palimpsest inspect                      the bundled demo model: sizes, files, problems\n"
    "  palimpsest inspect models/26b --tensors with every tensor\n"
    "  palimpsest inspect models/26b --json    for programs\n";

struct InspectOptions
{
    std::optional<std::string> directory;
    bool tensors = false;
    bool json = false;
};

std::string humanBytes(std::int64_t bytes)
{
    constexpr double kStep = 1024.0;
    const std::array<const char *, 4> units{"B", "KiB", "MiB", "GiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= kStep && unit + 1 < units.size(); ++unit)
        value /= kStep;
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string settingsTable(std::string_view title, const std::vector<CheckpointReport::Setting> &settings)
{
    std::string table = fmt::format("\n{}\n", title);
    for (const CheckpointReport::Setting &setting : settings)
        table += fmt::format("  {:<28} {}\n", setting.name, setting.value);
    return table;
}

std::string toTable(const CheckpointReport &report, bool withTensors)
{
    std::string table =
        fmt::format("{}\n  {:<28} {}\n  {:<28} {}\n  {:<28} {}\n", report.directory, "format", report.format,
                    "weight files", humanBytes(report.fileBytes), "parameters", report.parameterCount);
    table += settingsTable("Configuration", report.config);
    table += settingsTable("Generation defaults", report.generation);
    table += "\nFiles\n";
    for (const CheckpointReport::File &file : report.files)
        table += fmt::format("  {:<44} {:>10} {:>6} tensors\n", file.name, humanBytes(file.bytes), file.tensorCount);
    table += "\nTensors by kind\n";
    for (const CheckpointReport::KindTotal &kind : report.kinds) {
        table += fmt::format("  {:<28} {:>10} {:>6} tensors {:>14} parameters\n", kind.kind, humanBytes(kind.bytes),
                             kind.tensorCount, kind.parameterCount);
    }
    for (const CheckpointReport::GroupSize &group : report.groupSizes)
        table += fmt::format("  {:<28} one scale and zero for {} columns\n", group.matrix + " groups", group.columns);
    if (withTensors) {
        table += "\nTensors\n";
        for (const CheckpointReport::Tensor &tensor : report.tensors) {
            table += fmt::format("  {:<66} {:<5} {:<18} {:>10}  {}\n", tensor.name, tensor.dtype, tensor.shape,
                                 humanBytes(tensor.bytes), tensor.file);
        }
    }
    table += report.warnings.empty() ? "\nNo problems found.\n" : "\nOddities (harmless)\n";
    for (const std::string &warning : report.warnings)
        table += "  " + warning + "\n";
    return table;
}

nlohmann::json settingsJson(const std::vector<CheckpointReport::Setting> &settings)
{
    nlohmann::json object = nlohmann::json::object();
    for (const CheckpointReport::Setting &setting : settings)
        object[setting.name] = setting.value;
    return object;
}

nlohmann::json toJson(const CheckpointReport &report, bool withTensors)
{
    nlohmann::json result{{"command", "inspect"},
                          {"directory", report.directory},
                          {"format", report.format},
                          {"file_bytes", report.fileBytes},
                          {"warnings", report.warnings},
                          {"parameter_count", report.parameterCount},
                          {"config", settingsJson(report.config)},
                          {"generation", settingsJson(report.generation)}};
    for (const CheckpointReport::File &file : report.files)
        result["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"tensors", file.tensorCount}});
    for (const CheckpointReport::KindTotal &kind : report.kinds) {
        result["kinds"].push_back({{"kind", kind.kind},
                                   {"bytes", kind.bytes},
                                   {"tensors", kind.tensorCount},
                                   {"parameters", kind.parameterCount}});
    }
    for (const CheckpointReport::GroupSize &group : report.groupSizes)
        result["group_sizes"][group.matrix] = group.columns;
    if (!withTensors)
        return result;
    for (const CheckpointReport::Tensor &tensor : report.tensors) {
        result["tensors"].push_back({{"name", tensor.name},
                                     {"kind", tensor.kind},
                                     {"dtype", tensor.dtype},
                                     {"shape", tensor.shape},
                                     {"bytes", tensor.bytes},
                                     {"file", tensor.file}});
    }
    return result;
}

ExitCode run(const InspectOptions &options)
{
    const ModelLocation location = findModel(modelSources(options.directory, readSettings(settingsFile())));
    const CheckpointReport report = makeCheckpointReport(*Checkpoint::open(location.directory));
    printResult(options.json ? toJson(report, options.tensors).dump(2) + "\n" : toTable(report, options.tensors));
    return ExitCode::Success;
}

} // namespace

Command addInspectCommand(CLI::App &program)
{
    auto options = std::make_shared<InspectOptions>();
    CLI::App *command = program.add_subcommand("inspect", "Check a model folder and show what is in it");
    command
        ->add_option("directory", options->directory, "Model folder; default: the model the other commands would use")
        ->type_name("DIR");
    command->add_flag("--tensors", options->tensors, "List every tensor");
    command->add_flag("--json", options->json, "JSON instead of tables");
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &) {
                return run(*options);
            }};
}

} // namespace palimpsest::cli
