// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command.h"

#include "app/cli/text_cells.h"
#include "engine/error.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace palimpsest::cli {

std::string helpFooter(std::string_view examples)
{
    return "Examples:\n" + std::string(examples) + "\n" + exitCodeHelp();
}

void printResult(std::string_view text)
{
    if (!writeAll(STDOUT_FILENO, text))
        throw Error(ErrorKind::Io, std::string("standard output: cannot be written: ") + std::strerror(errno),
                    "stdout");
}

void printText(std::string_view text, const CommandContext &context)
{
    if (!context.outputTerminal.isTerminal) {
        printResult(text);
        return;
    }
    std::string safe = printable(text, CharacterWidths());
    if (!safe.ends_with('\n'))
        safe += '\n';
    printResult(safe);
}

void printNote(std::string_view text)
{
    writeAll(STDERR_FILENO, "palimpsest: " + std::string(text) + "\n");
}

} // namespace palimpsest::cli
