// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

namespace palimpsest::cli {

/// Parses the arguments, runs the command and maps errors to messages and exit codes: the whole program but main().
[[nodiscard]] int runCommandLine(int argc, const char *const *argv);

} // namespace palimpsest::cli
