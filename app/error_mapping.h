// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/error.h"

#include <string>

namespace palimpsest {

/// What the program returns to the shell; part of its interface, listed in every `--help`.
enum class ExitCode : int {
    Success = 0,
    Internal = 1,
    Usage = 2,
    BadInput = 3,
    Model = 4,
    File = 5,
    ContextLength = 6,
    Device = 7,
    NoResult = 8,
    Cancelled = 130, ///< 128 + SIGINT, as shells expect; 143 after SIGTERM
};

[[nodiscard]] ExitCode exitCodeOf(ErrorKind kind) noexcept;

/// The list of exit codes as the help shows it.
[[nodiscard]] std::string exitCodeHelp();

} // namespace palimpsest
