// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/studio_options.h"

#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/error_mapping.h"
#include "app/settings.h"
#include "app/version.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>

namespace palimpsest::studio {

namespace {

constexpr const char *kDescription = "The desktop studio of Palimpsest: write a draft, and let a block-diffusion "
                                     "language model rewrite parts of it while "
                                     "you watch and reach in.";

constexpr std::string_view kExamples =
    "  palimpsest-studio                          opens what was open last\n"
    "  palimpsest-studio letter.txt notes.md      copies the files into the library, and opens the last one\n"
    "  palimpsest-studio --data-dir ~/novel       drafts of their own, apart from all others\n";

} // namespace

std::variant<StudioOptions, int> parseStudioOptions(int argc, const char *const *argv)
{
    CLI::App program{kDescription, "palimpsest-studio"};
    StudioOptions options;
    std::optional<std::string> dataDirectory;
    program.set_version_flag("--version", std::string("palimpsest-studio ") + kVersion);
    program.add_flag("--verbose,-v", options.verbose, "Say on standard error what is being done");
    program.add_option("files", options.files, "Texts to open")->type_name("FILE");
    program.add_option("--data-dir", dataDirectory, "Where drafts are kept; default: palimpsest in the data folder")
        ->type_name("DIR");
    cli::addModelOptions(program, options.engine.model);
    program.footer([] {
        return cli::helpFooter(kExamples) + "\nSettings are kept in " + settingsFile().string() +
               "; a second start with the same drafts hands its files to the first one.\n";
    });
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success &request) { // --help or --version
        return program.exit(request);
    } catch (const CLI::ParseError &error) {
        cli::printNote(std::string(error.what()) + "\nSee: palimpsest-studio --help");
        return static_cast<int>(ExitCode::Usage);
    }
    for (std::string &file : options.files)
        file = std::filesystem::absolute(file).string(); // another process may open it
    options.store.file = dataDirectory ? std::filesystem::absolute(*dataDirectory) / "documents.sqlite"
                                       : documents::DocumentStore::defaultFile();
    return options;
}

} // namespace palimpsest::studio
