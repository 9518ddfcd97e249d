// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <functional>
#include <optional>

/// What repeated work costs the card. A large card runs into its power limit: its clock falls under a lasting load, and
/// what a call takes then follows from its energy, not from the median of a few calls behind a pause.
namespace palimpsest::gpu_bench {

struct Sustained
{
    double milliseconds = 0.0; ///< a call
    double millijoules = 0.0;  ///< a call, all that the card takes while it runs
    double watts = 0.0;
    unsigned megahertz = 0; ///< of the multiprocessors, towards the end
};

/// Repeats `call`, which returns when the card has done it, for about `seconds`, and reads the machine's first card, as
/// the management library counts them: on a machine with several, show the program that one alone. Nothing where the
/// driver's management library (NVML) or its energy counter is not there.
[[nodiscard]] std::optional<Sustained> sustained(double seconds, const std::function<void()> &call);

} // namespace palimpsest::gpu_bench
