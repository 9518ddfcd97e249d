// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/serve_run.h"
#include "engine/error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

namespace palimpsest::cli {

namespace {

constexpr std::string_view kExamples =
    "  palimpsest serve                                   the browser studio and the endpoint, for this machine alone\n"
    "  palimpsest serve --port auto                       on the first free port from 8080 on\n"
    "  palimpsest serve --allow-origin https://my.app     lets pages of another origin use the endpoint\n"
    "  palimpsest serve --host 0.0.0.0 --api-key-file keys.txt\n"
    "                                                     for other machines, too; each key on a line of the file\n"
    "  curl -s http://127.0.0.1:8080/v1/chat/completions -H 'Content-Type: application/json' \\\n"
    "       -d '{\"model\": \"palimpsest-demo\", \"messages\": [{\"role\": \"user\", \"content\": \"Fix the spelling: "
    "teh cat\"}]}'\n";

constexpr std::string_view kReachGroup = "Who can reach it";

void setPort(const std::string &text, server::ServerSettings &settings)
{
    if (text == "auto") {
        settings.portTaken = server::PortTaken::UseNext;
        return;
    }
    int port = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc() || end != text.data() + text.size() || port < 0 || port > 65535) {
        throw Error(ErrorKind::InvalidArgument, "--port: \"" + text + "\" is neither a number from 0 to 65535 nor auto",
                    "port");
    }
    settings.port = static_cast<std::uint16_t>(port);
}

void addReachOptions(CLI::App &command, ServeOptions &options)
{
    const auto group = [](CLI::Option *option) {
        option->group(std::string(kReachGroup));
    };
    group(command.add_option("--host", options.host, "Address to listen on")
              ->type_name("ADDRESS")
              ->capture_default_str());
    group(command
              .add_option("--port", options.port,
                          "Port to listen on; auto: the first free one from 8080 on; 0: any that is free")
              ->type_name("PORT")
              ->capture_default_str());
    group(command
              .add_option("--api-key", options.apiKey,
                          "Ask for this API key (others see command lines: rather use a file)")
              ->type_name("KEY")
              ->envname("PALIMPSEST_API_KEY"));
    group(command
              .add_option("--api-key-file", options.apiKeyFile,
                          "Ask for one of the API keys in this file, one a line, plain or as sha256:SALT:DIGEST")
              ->type_name("FILE"));
    group(command
              .add_option("--allow-origin", options.origins,
                          "Let web pages of this origin use the endpoint (* = all); may be given several times")
              ->type_name("ORIGIN")
              ->allow_extra_args(false));
    group(command
              .add_option("--allow-host", options.hosts,
                          "Answer under this name, too, as behind a proxy; may be given several times")
              ->type_name("NAME")
              ->allow_extra_args(false));
}

} // namespace

server::ServerSettings serverSettings(const ServeOptions &options)
{
    server::ServerSettings settings;
    settings.host = options.host;
    setPort(options.port, settings);
    if (options.apiKey)
        settings.access.keys.add(*options.apiKey);
    if (options.apiKeyFile)
        settings.access.keys.addFile(*options.apiKeyFile);
    std::for_each(options.origins.begin(), options.origins.end(), http::requireOrigin);
    settings.access.origins = options.origins;
    settings.access.hosts = options.hosts;
    return settings;
}

Command addServeCommand(CLI::App &program)
{
    auto options = std::make_shared<ServeOptions>();
    CLI::App *command =
        program.add_subcommand("serve", "Serve the browser studio and an OpenAI-compatible endpoint from this machine");
    addReachOptions(*command, *options);
    command->add_option("--model-name", options->modelName, "Serve the model under this name")->type_name("NAME");
    command->add_flag("--any-model-name", options->anyModelName,
                      "Answer whatever model a request names, for programs whose names are fixed");
    command->add_option("--queue", options->queue, "Requests that may wait; more are told to come back later")
        ->type_name("N")
        ->check(CLI::Range(0, 100'000))
        ->capture_default_str();
    command
        ->add_option("--data-dir", options->dataDirectory,
                     "Where drafts are kept; default: palimpsest in the data folder")
        ->type_name("DIR");
    addModelOptions(*command, options->model);
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &context) {
                return runServer(*options, context);
            }};
}

} // namespace palimpsest::cli
