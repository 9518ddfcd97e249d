// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"
#include "app/cli/engine_start.h"
#include "app/cli/input_text.h"
#include "app/cli/options.h"
#include "app/cli/run_progress.h"
#include "app/cli/run_report.h"
#include "app/cli/run_requests.h"
#include "app/model_session.h"
#include "engine/error.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples =
    "  palimpsest generate \"Make a list: apples, pears and bread\"\n"
    "  palimpsest generate --system \"Answer in one line\" --seed 7 \"What is a fathom?\"\n"
    "  palimpsest generate --raw \"Once upon a time\" --max-tokens 100 --stop \"The End\"\n"
    "  palimpsest generate --json < prompt.txt > answer.json\n";

struct GenerateOptions
{
    std::vector<std::string> words;
    std::string file;
    std::string system;
    bool raw = false;
    bool think = false;
    std::optional<std::int64_t> maxTokens;
    std::vector<std::string> stops;
    ModelOptions model;
    SamplerOptions sampler;
    OutputOptions output;
};

std::string promptOf(const GenerateOptions &options)
{
    if (!options.file.empty())
        return readInputText(options.file).text;
    std::string prompt;
    for (const std::string &word : options.words)
        prompt += (prompt.empty() ? "" : " ") + word;
    if (!prompt.empty()) {
        requireInputText(prompt, "the prompt");
        return prompt;
    }
    if (::isatty(STDIN_FILENO) != 0) {
        throw Error(ErrorKind::InvalidArgument,
                    "there is no prompt: give one as an argument, with --file, or on standard input", "prompt");
    }
    return readInputText("-").text;
}

/// Raw text as the model reads it: markers in it are tokens, and it begins with <bos> unless it says so itself.
std::vector<TokenId> rawPrompt(const LoadedModel &model, const std::string &text)
{
    std::vector<TokenId> ids = model.tokenizer->encode(text, SpecialTokens::Parse);
    const TokenId bos = model.checkpoint->config().bosTokenId;
    if (ids.empty() || ids.front() != bos)
        ids.insert(ids.begin(), bos);
    return ids;
}

std::vector<TokenId> chatPrompt(const LoadedModel &model, const GenerateOptions &options, const std::string &text)
{
    const ChatFormat &chat = requireChat(model, "use --raw to continue plain text");
    if (options.think && chat.dialect() == ChatDialect::PlainTurns) {
        throw Error(ErrorKind::InvalidArgument, "--think: this model has no thinking channel", "think");
    }
    ChatRequest request;
    request.enableThinking = options.think;
    if (!options.system.empty()) {
        ChatMessage system;
        system.role = ChatRole::System;
        system.text = options.system;
        request.messages.push_back(std::move(system));
    }
    ChatMessage user;
    user.text = text;
    request.messages.push_back(std::move(user));
    return chat.encode(request, *model.tokenizer);
}

GenerationRequest makeRequest(const LoadedModel &model, const GenerateOptions &options)
{
    const GenerationDefaults &defaults = model.checkpoint->generationDefaults();
    const ModelConfig &config = model.checkpoint->config();
    const std::string text = promptOf(options);
    GenerationRequest request;
    request.prompt = options.raw ? rawPrompt(model, text) : chatPrompt(model, options, text);
    request.sampler = samplerSettings(options.sampler, defaults);
    request.seed = seedOrRandom(options.sampler);
    request.maxNewTokens = options.maxTokens.value_or(defaults.maxNewTokens);
    request.eosTokenIds = defaults.eosTokenIds.empty() ? config.eosTokenIds : defaults.eosTokenIds;
    request.padTokenId = defaults.padTokenId.value_or(config.padTokenId);
    request.stopStrings = options.stops;
    return request;
}

ProgressSource progressSource(const RunBoard &board)
{
    const auto page = [&board] {
        const SlotState slot = board.slot(0);
        LivePage result;
        result.pieces.emplace_back(StyledText{slot.settled, {}});
        if (slot.event)
            result.pieces.emplace_back(LiveCanvas{.event = slot.event, .begin = 0, .end = std::nullopt});
        result.status = statusOf(slot, board.stepMs());
        result.status.emplace_back("Ctrl-C stops");
        return result;
    };
    const auto line = [&board, last = std::string()]() mutable {
        const SlotState slot = board.slot(0);
        std::string text = fmt::format("{}", fmt::join(statusOf(slot, board.stepMs()), ", "));
        if (text == last || slot.done)
            return std::string();
        last = text;
        return text;
    };
    return {page, line};
}

struct Answer
{
    std::string text;
    ParsedReply reply; ///< empty for raw text
};

Answer answerOf(const LoadedModel &model, bool raw, const GenerationResult &result)
{
    if (raw || !model.chat)
        return {result.text, {}};
    ParsedReply reply = model.chat->parseReply(result.rawText);
    return {reply.text, std::move(reply)};
}

nlohmann::json replyJson(const ParsedReply &reply)
{
    nlohmann::json calls = nlohmann::json::array();
    for (const ParsedReply::Call &call : reply.toolCalls)
        calls.push_back({{"name", call.name}, {"arguments", call.argumentsJson}});
    return {{"thoughts", reply.thoughts},
            {"tool_calls", std::move(calls)},
            {"thought_unfinished", reply.thoughtUnfinished}};
}

void printSummary(const GenerationResult &result, const Answer &answer, const RunFigures &figures)
{
    std::string summary =
        fmt::format("{}, {:.0f} ms a step, first draft after {:.0f} ms, {:.1f} s; seed {}", describeSteps({&result, 1}),
                    figures.msPerStep, figures.firstDraftMs, figures.runMs / 1000.0, result.seed);
    if (result.finish == FinishReason::Budget)
        summary += fmt::format("; cut at {} tokens (--max-tokens)", result.tokens.size());
    printNote(summary);
    if (answer.reply.thoughtUnfinished)
        printNote("stopped while thinking: raise --max-tokens for an answer");
}

ExitCode run(const GenerateOptions &options, CommandContext &context)
{
    const LoadedModel model = openModel(options.model);
    const GenerationRequest request = makeRequest(model, options);
    context.interrupts.arm();
    const DisplayMode mode = RunProgress::prepare(options.output.progress(), context);
    const Engine engine = startEngine(model, PromptReuse::None, context.interrupts.token());
    std::vector<TokenId> endIds = request.eosTokenIds;
    endIds.push_back(*request.padTokenId);
    RunProgress progress({mode, 1, tokenTexts(model.tokenizer, std::move(endIds)), progressSource}, context);
    const auto start = std::chrono::steady_clock::now();
    const RequestQueue queue{1, [&request](std::size_t) { return GenerationRequest(request); }, {}};
    const std::vector<GenerationResult> results =
        runRequests(*engine.scheduler, queue, progress.board(), context.interrupts.token());
    const double runMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    progress.finish(Ending::Erase);
    const GenerationResult &result = results.front();
    if (result.finish == FinishReason::Cancelled)
        return ExitCode::Cancelled;
    RunFigures figures = runFigures(results, runMs, progress.board().meanStepMs());
    figures.openMs = model.openMs;
    figures.loadMs = engine.loadMs;
    const Answer answer = answerOf(model, options.raw, result);
    if (options.output.json) {
        nlohmann::json json{{"command", "generate"},      {"text", answer.text},
                            {"result", toJson(result)},   {"sampler", toJson(request.sampler)},
                            {"timings", toJson(figures)}, {"model", toJson(model, engine.scheduler->backendInfo())}};
        json.update(replyJson(answer.reply));
        printResult(dumpJson(json));
        return ExitCode::Success;
    }
    printText(answer.text, context);
    if (mode != DisplayMode::Silent)
        printSummary(result, answer, figures);
    return ExitCode::Success;
}

} // namespace

Command addGenerateCommand(CLI::App &program)
{
    auto options = std::make_shared<GenerateOptions>();
    CLI::App *command = program.add_subcommand("generate", "Answer a prompt, or continue a raw text");
    CLI::Option *prompt = command->add_option("prompt", options->words, "The prompt; standard input if none is given");
    command->add_option("--file", options->file, "Read the prompt from a file")->type_name("FILE")->excludes(prompt);
    CLI::Option *raw = command->add_flag("--raw", options->raw, "Continue the text itself, without the chat format");
    command->add_option("--system", options->system, "Instructions that come before the prompt")->excludes(raw);
    command->add_flag("--think", options->think, "Let a model that can think first")->excludes(raw);
    command->add_option("--max-tokens", options->maxTokens, "The answer's length in tokens, at most")
        ->check(CLI::PositiveNumber);
    command->add_option("--stop", options->stops, "End the answer before this text; may be given several times")
        ->allow_extra_args(false);
    addModelOptions(*command, options->model);
    addSamplerOptions(*command, options->sampler);
    addOutputOptions(*command, options->output);
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &context) {
                return run(*options, context);
            }};
}

} // namespace palimpsest::cli
