// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"
#include "app/cli/input_text.h"
#include "app/cli/options.h"
#include "app/model_session.h"
#include "app/settings.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples =
    "  palimpsest tokens \"un mot, deux mots\"      the ids of a text, with the bytes each stands for\n"
    "  palimpsest tokens --file letter.txt --json  for programs\n"
    "  echo -n '<|turn>user' | palimpsest tokens --special\n";

struct TokensOptions
{
    std::string text;
    std::string file;
    std::optional<std::string> model;
    bool special = false;
    bool json = false;
};

std::string inputOf(const TokensOptions &options)
{
    if (!options.file.empty())
        return readInputText(options.file).text;
    return options.text.empty() ? readInputText("-").text : options.text;
}

nlohmann::json toJson(const Tokenizer &tokenizer, const std::vector<TokenSpan> &spans)
{
    nlohmann::json tokens = nlohmann::json::array();
    for (const TokenSpan &span : spans) {
        tokens.push_back({{"id", span.id},
                          {"piece", tokenizer.piece(span.id)},
                          {"begin", span.begin},
                          {"end", span.end},
                          {"special", tokenizer.isSpecial(span.id)}});
    }
    return {{"command", "tokens"}, {"count", spans.size()}, {"tokens", std::move(tokens)}};
}

std::string toTable(const Tokenizer &tokenizer, const std::vector<TokenSpan> &spans)
{
    std::string table = fmt::format("{:>7} {:>8} {:>15}  {}\n", "token", "id", "bytes", "piece");
    for (std::size_t index = 0; index < spans.size(); ++index) {
        const TokenSpan &span = spans[index];
        // As a JSON string: line ends and control characters are spelled out.
        const std::string piece = nlohmann::json(tokenizer.piece(span.id)).dump();
        const std::string bytes = fmt::format("{}:{}", span.begin, span.end);
        table += fmt::format("{:>7} {:>8} {:>15}  {}{}\n", index, span.id, bytes, piece,
                             tokenizer.isSpecial(span.id) ? "  special" : "");
    }
    return table;
}

ExitCode run(const TokensOptions &options)
{
    const ModelLocation location = findModel(modelSources(options.model, readSettings(settingsFile())));
    const std::shared_ptr<const Tokenizer> tokenizer = openTokenizer(location);
    const SpecialTokens mode = options.special ? SpecialTokens::Parse : SpecialTokens::PlainText;
    const std::vector<TokenSpan> spans = tokenizer->encodeWithSpans(inputOf(options), mode);
    printResult(options.json ? toJson(*tokenizer, spans).dump(2) + "\n" : toTable(*tokenizer, spans));
    return ExitCode::Success;
}

} // namespace

Command addTokensCommand(CLI::App &program)
{
    auto options = std::make_shared<TokensOptions>();
    CLI::App *command = program.add_subcommand("tokens", "Show how a text is cut into the model's tokens");
    CLI::Option *text = command->add_option("text", options->text, "The text; standard input if none is given");
    command->add_option("--file", options->file, "Read the text from a file")->type_name("FILE")->excludes(text);
    command->add_option("--model", options->model, "Model folder, as in the other commands")->type_name("DIR");
    command->add_flag("--special", options->special, "Markers like <|turn> in the text become tokens of their own");
    command->add_flag("--json", options->json, "JSON instead of a table");
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &) {
                return run(*options);
            }};
}

} // namespace palimpsest::cli
