// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/run_report.h"
#include "app/model_session.h"
#include "engine/canvas.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace palimpsest::cli {

/// An edit that was carried out.
struct EditRun
{
    EditPlan plan;
    EditOutcome outcome;
    std::vector<GenerationResult> results; ///< one a candidate
    RunFigures figures;
    nlohmann::json model;
};

/// Plans an edit, runs its candidates as a batch with the document shown around them, and splices the best one in.
/// Nothing if the person cancelled. Throws Error as CanvasEditor::plan and the engine do.
[[nodiscard]] std::optional<EditRun> runEdit(const EditRequest &request, const LoadedModel &model,
                                             const OutputOptions &output, CommandContext &context);

/// Candidates, their texts and figures, the seed, the sampler and the timings.
[[nodiscard]] nlohmann::json editJson(const EditRequest &request, const EditRun &run);

/// One line on standard error about what was done.
void printEditSummary(const EditRequest &request, const EditRun &run);

} // namespace palimpsest::cli
