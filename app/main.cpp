// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/command_line.h"

int main(int argc, char **argv)
{
    return palimpsest::cli::runCommandLine(argc, argv);
}
