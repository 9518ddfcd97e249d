// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/run_info.h"
#include "engine/generation.h"

#include <cstdint>
#include <vector>

namespace palimpsest::editing {

/// What a run's figures are made of.
struct FiguresInput
{
    RunCurves curves;
    std::vector<const GenerationResult *> results; ///< of the lanes that came to an end
    double firstDraftMs = 0.0;                     ///< from the start to the first step's results
    double totalMs = 0.0;
    std::int64_t words = 0; ///< of the text that was worked on or written; 0 = none
};

[[nodiscard]] RunFigures figuresOf(const FiguresInput &input);

} // namespace palimpsest::editing
