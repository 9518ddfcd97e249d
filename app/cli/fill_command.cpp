// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"
#include "app/cli/edit_run.h"
#include "app/cli/input_text.h"
#include "app/cli/marked_text.h"
#include "app/cli/options.h"
#include "app/model_session.h"
#include "engine/error.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples =
    "  palimpsest fill --prefix \"The ship left \" --suffix \" before dawn.\"\n"
    "  palimpsest fill --prefix \"The ship left \" --suffix \" before dawn.\" --length 2 --length 4 --only-gap\n"
    "  palimpsest fill --prefix \"Dear Ms Hale,\" --instruction \"Say that the parcel came\" --json\n";

struct FillOptions
{
    std::string prefix;
    std::string suffix;
    std::string instruction;
    std::vector<std::int64_t> lengths;
    int attempts = 1;
    bool onlyGap = false;
    ModelOptions model;
    SamplerOptions sampler;
    OutputOptions output;
};

EditRequest makeRequest(const FillOptions &options, const LoadedModel &model)
{
    const auto gap = static_cast<std::int64_t>(options.prefix.size());
    EditRequest request;
    request.document = options.prefix + options.suffix;
    request.selection = {gap, gap};
    request.instruction = options.instruction;
    request.gapLengths = options.lengths;
    request.attempts = options.attempts;
    request.seed = seedOrRandom(options.sampler);
    request.sampler = samplerSettings(options.sampler, model.checkpoint->generationDefaults());
    return request;
}

ExitCode run(const FillOptions &options, CommandContext &context)
{
    requireInputText(options.prefix + options.suffix, "--prefix and --suffix");
    const LoadedModel model = openModel(options.model);
    const EditRequest request = makeRequest(options, model);
    const std::optional<EditRun> edit = runEdit(request, model, options.output, context);
    if (!edit)
        return ExitCode::Cancelled;
    if (!edit->outcome.problem.empty()) {
        printNote("nothing was found to fill in: " + edit->outcome.problem);
        return ExitCode::NoResult;
    }
    const std::string gap(edit->outcome.replaced.of(edit->outcome.document));
    if (options.output.json) {
        nlohmann::json json = editJson(request, *edit);
        json["command"] = "fill";
        json["gap"] = gap;
        printResult(dumpJson(json));
        return ExitCode::Success;
    }
    const ByteRange before{edit->outcome.replaced.begin, edit->outcome.replaced.begin};
    const std::vector<TextChange> filled{{before, edit->outcome.replaced}};
    if (options.onlyGap)
        printText(gap, context);
    else if (context.outputTerminal.isTerminal)
        printResult(markedText(edit->outcome.document, filled, context.outputTerminal, CharacterWidths()) + "\n");
    else
        printResult(edit->outcome.document);
    if (!options.output.quiet)
        printEditSummary(request, *edit);
    return ExitCode::Success;
}

} // namespace

Command addFillCommand(CLI::App &program)
{
    auto options = std::make_shared<FillOptions>();
    CLI::App *command = program.add_subcommand("fill", "Write what is missing between two texts");
    command->add_option("--prefix", options->prefix, "The text in front of the gap")->type_name("TEXT");
    command->add_option("--suffix", options->suffix, "The text behind the gap")->type_name("TEXT");
    command->add_option("--instruction", options->instruction, "What the gap should say")->type_name("TEXT");
    command->add_option("--length", options->lengths, "Tokens the gap may take; several lengths are tried side by side")
        ->check(CLI::PositiveNumber)
        ->allow_extra_args(false);
    command->add_option("--attempts", options->attempts, "Runs of each length, with seeds that follow one another")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    command->add_flag("--only-gap", options->onlyGap, "Print the new words alone, not the whole text");
    addModelOptions(*command, options->model);
    addSamplerOptions(*command, options->sampler);
    addOutputOptions(*command, options->output);
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &context) {
                return run(*options, context);
            }};
}

} // namespace palimpsest::cli
