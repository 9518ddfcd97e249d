// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/atomic_file.h"
#include "app/cli/command.h"
#include "app/cli/engine_start.h"
#include "app/cli/input_text.h"
#include "app/cli/marked_text.h"
#include "app/cli/options.h"
#include "app/cli/proofread_page.h"
#include "app/cli/run_progress.h"
#include "app/cli/run_report.h"
#include "app/cli/run_requests.h"
#include "app/model_session.h"
#include "engine/error.h"
#include "engine/proofreading.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples =
    "  palimpsest proofread letter.txt             the corrected text on standard output\n"
    "  palimpsest proofread --in-place letter.txt  corrects the file itself\n"
    "  palimpsest proofread --diff letter.txt      only what changes: the [-teh-]{+the+} cat\n"
    "  git show HEAD:README.md | palimpsest proofread - --json\n";

/// The same text gives the same corrections unless another seed is asked for.
constexpr std::uint64_t kDefaultSeed = 1;

struct ProofreadCommandOptions
{
    std::string file;
    bool inPlace = false;
    bool diff = false;
    std::int64_t words = ProofreadOptions{}.wordsPerSegment;
    ModelOptions model;
    SamplerOptions sampler;
    OutputOptions output;
};

/// The work of one run.
struct Proofread
{
    InputText input;
    std::vector<ProofreadSegment> segments;
    std::vector<std::size_t> prose; ///< segments that go to the model
    std::uint64_t seed = 0;
    SamplerSettings sampler;
};

/// What came of it.
struct Corrected
{
    ProofreadMerge merge;
    std::vector<GenerationResult> results; ///< by prose
    RunFigures figures;
    nlohmann::json model;
};

Proofread prepare(const ProofreadCommandOptions &options, const LoadedModel &model)
{
    Proofread work;
    work.input = readInputText(options.file);
    work.segments = splitForProofreading(work.input.text, {.wordsPerSegment = options.words});
    for (std::size_t index = 0; index < work.segments.size(); ++index) {
        if (work.segments[index].kind == SegmentKind::Prose)
            work.prose.push_back(index);
    }
    work.seed = options.sampler.seed.value_or(kDefaultSeed);
    work.sampler = samplerSettings(options.sampler, model.checkpoint->generationDefaults());
    return work;
}

std::vector<TokenId> endTokens(const LoadedModel &model)
{
    const GenerationDefaults &defaults = model.checkpoint->generationDefaults();
    const ModelConfig &config = model.checkpoint->config();
    std::vector<TokenId> ids = defaults.eosTokenIds.empty() ? config.eosTokenIds : defaults.eosTokenIds;
    ids.push_back(defaults.padTokenId.value_or(config.padTokenId));
    return ids;
}

ProofreadMerge merge(const Proofread &work, const std::vector<GenerationResult> &results, const ChatFormat &chat)
{
    std::vector<ProofreadReply> replies(work.segments.size());
    for (std::size_t slot = 0; slot < work.prose.size(); ++slot)
        replies[work.prose[slot]] = proofreadReply(results[slot], chat);
    return mergeProofread(work.input.text, work.segments, replies);
}

/// Nothing if the person cancelled.
std::optional<Corrected> correct(const ProofreadCommandOptions &options, const Proofread &work,
                                 const LoadedModel &model, CommandContext &context)
{
    const ChatFormat &chat = requireChat(model, "use a model that answers instructions");
    context.interrupts.arm();
    const DisplayMode mode = RunProgress::prepare(options.output.progress(), context);
    const Engine engine = startEngine(model, PromptReuse::None, context.interrupts.token());
    const Proofreader proofreader(model.tokenizer, chat, model.checkpoint->config(),
                                  model.checkpoint->generationDefaults());
    ProofreadPage page(work.input.text, work.segments, work.prose);
    RunProgress progress({mode, work.prose.size(), tokenTexts(model.tokenizer, endTokens(model)),
                          [&page](const RunBoard &board) {
                              return page.source(board);
                          }},
                         context);
    const auto makeRequest = [&](std::size_t slot) {
        return proofreader.request(work.input.text, work.segments[work.prose[slot]], work.sampler, work.seed);
    };
    const auto onResult = [&](std::size_t slot, const GenerationResult &result) {
        page.finish(slot, proofreadReply(result, chat));
    };
    const auto start = std::chrono::steady_clock::now();
    Corrected corrected;
    corrected.results = runRequests(*engine.scheduler, {work.prose.size(), makeRequest, onResult}, progress.board(),
                                    context.interrupts.token());
    const double runMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    const bool cancelled =
        std::any_of(corrected.results.begin(), corrected.results.end(),
                    [](const GenerationResult &result) { return result.finish == FinishReason::Cancelled; });
    // With the text going elsewhere, the last frame is what the person sees of it.
    const bool textIsShown = context.outputTerminal.isTerminal && !options.inPlace && !options.output.json;
    progress.finish(cancelled || textIsShown || options.diff ? Ending::Erase : Ending::Keep);
    if (cancelled)
        return std::nullopt;
    corrected.merge = merge(work, corrected.results, chat);
    corrected.figures = runFigures(corrected.results, runMs, progress.board().meanStepMs());
    corrected.figures.openMs = model.openMs;
    corrected.figures.loadMs = engine.loadMs;
    corrected.model = toJson(model, engine.scheduler->backendInfo());
    return corrected;
}

std::string_view name(SegmentOutcome outcome)
{
    switch (outcome) {
    case SegmentOutcome::PassedThrough:
        return "passed_through";
    case SegmentOutcome::Unchanged:
        return "unchanged";
    case SegmentOutcome::Changed:
        return "changed";
    case SegmentOutcome::KeptEmpty:
        return "kept_empty_reply";
    case SegmentOutcome::KeptLength:
        return "kept_reply_of_other_length";
    case SegmentOutcome::KeptMarkers:
        return "kept_reply_with_markers";
    case SegmentOutcome::KeptUnrelated:
        return "kept_unrelated_reply";
    case SegmentOutcome::KeptUnfinished:
        return "kept_unfinished_reply";
    }
    return "unknown";
}

bool isKept(SegmentOutcome outcome)
{
    return outcome != SegmentOutcome::PassedThrough && outcome != SegmentOutcome::Unchanged &&
           outcome != SegmentOutcome::Changed;
}

nlohmann::json segmentsJson(const Proofread &work, const Corrected &corrected)
{
    nlohmann::json list = nlohmann::json::array();
    std::size_t slot = 0;
    for (std::size_t index = 0; index < work.segments.size(); ++index) {
        const ProofreadSegment &segment = work.segments[index];
        nlohmann::json entry{{"begin", segment.range.begin},
                             {"end", segment.range.end},
                             {"words", segment.words},
                             {"outcome", name(corrected.merge.outcomes[index])}};
        if (segment.kind == SegmentKind::Prose)
            entry["result"] = toJson(corrected.results[slot++]);
        list.push_back(std::move(entry));
    }
    return list;
}

nlohmann::json resultJson(const Proofread &work, const Corrected &corrected)
{
    nlohmann::json changes = nlohmann::json::array();
    for (const TextChange &change : corrected.merge.changes) {
        changes.push_back({{"begin", change.original.begin},
                           {"end", change.original.end},
                           {"original", change.original.of(work.input.text)},
                           {"revised", change.revised.of(corrected.merge.text)}});
    }
    return {{"command", "proofread"},
            {"file", work.input.name},
            {"text", corrected.merge.text},
            {"seed", work.seed},
            {"sampler", toJson(work.sampler)},
            {"changes", std::move(changes)},
            {"segments", segmentsJson(work, corrected)},
            {"timings", toJson(corrected.figures)},
            {"model", corrected.model}};
}

void printSummary(const Proofread &work, const Corrected &corrected)
{
    const auto count = [&](auto predicate) {
        return std::count_if(corrected.merge.outcomes.begin(), corrected.merge.outcomes.end(), predicate);
    };
    const auto changed = count([](SegmentOutcome outcome) { return outcome == SegmentOutcome::Changed; });
    const double steps = corrected.figures.canvases == 0 ? 0.0
                                                         : static_cast<double>(corrected.figures.steps) /
                                                               static_cast<double>(corrected.figures.canvases);
    printNote(fmt::format("{} corrections in {} of {} passages; {:.1f} steps a canvas, {:.0f} ms a step, {:.1f} s",
                          corrected.merge.changes.size(), changed, work.prose.size(), steps,
                          corrected.figures.msPerStep, corrected.figures.runMs / 1000.0));
    if (const auto kept = count(isKept); kept > 0)
        printNote(
            fmt::format("{} passages were left as they are, because the reply was no corrected copy of them", kept));
}

void deliver(const ProofreadCommandOptions &options, const Proofread &work, const Corrected &corrected,
             const CommandContext &context)
{
    const CharacterWidths widths;
    if (options.inPlace && corrected.merge.text != work.input.text)
        replaceFile(options.file, corrected.merge.text, work.input.stamp);
    if (options.output.json)
        printResult(dumpJson(resultJson(work, corrected)));
    else if (options.diff)
        printResult(
            wordDiff(work.input.text, corrected.merge.text, corrected.merge.changes, context.outputTerminal, widths));
    else if (!options.inPlace && !context.outputTerminal.isTerminal)
        printResult(corrected.merge.text);
    else if (!options.inPlace)
        printResult(markedText(corrected.merge.text, corrected.merge.changes, context.outputTerminal, widths));
}

ExitCode run(const ProofreadCommandOptions &options, CommandContext &context)
{
    if (options.inPlace && options.file == "-")
        throw Error(ErrorKind::InvalidArgument, "--in-place: standard input cannot be replaced, give a file",
                    "in-place");
    const LoadedModel model = openModel(options.model);
    const Proofread work = prepare(options, model);
    const std::optional<Corrected> corrected = correct(options, work, model, context);
    if (!corrected)
        return ExitCode::Cancelled;
    deliver(options, work, *corrected, context);
    if (!options.output.quiet)
        printSummary(work, *corrected);
    return ExitCode::Success;
}

} // namespace

Command addProofreadCommand(CLI::App &program)
{
    auto options = std::make_shared<ProofreadCommandOptions>();
    CLI::App *command = program.add_subcommand("proofread", "Correct spelling and grammar, passage by passage");
    command->add_option("file", options->file, "The text; - is standard input")->type_name("FILE")->required();
    command->add_flag("--in-place,-i", options->inPlace,
                      "Correct the file itself; it is replaced as a whole or not at all");
    command->add_flag("--diff", options->diff, "Print the changed lines only, word by word");
    command->add_option("--words", options->words, "Words in a passage; the demo model is best at about 60")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    addModelOptions(*command, options->model);
    addSamplerOptions(*command, options->sampler);
    addOutputOptions(*command, options->output);
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &context) {
                return run(*options, context);
            }};
}

} // namespace palimpsest::cli
