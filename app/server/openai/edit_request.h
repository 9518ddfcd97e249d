// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/completion_request.h"
#include "app/server/openai/sampling_fields.h"
#include "engine/canvas.h"
#include "engine/model_config.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// A request to /edit, from an editor's plug-in.
struct PluginEdit
{
    std::optional<std::string> model;
    EditRequest edit; ///< without sampler settings and seed, which the model's defaults fill in
    SamplingFields sampling;
    std::vector<std::string> unknownFields;
};

/// Reads `code` (the whole document), `instruction`, `language`, `mode` ("selection" or "whole"), `selection_start` and
/// `selection_end` (Unicode code points, end exclusive; equal = insert there), and the sampling fields. Throws Error
/// InvalidArgument with the field as its subject.
[[nodiscard]] PluginEdit readEditRequest(const nlohmann::json &body);

/// A completion with a suffix, as an edit: an empty selection between the two, no instruction.
[[nodiscard]] EditRequest infillOf(const CompletionRequest &request);

/// Puts the model's schedule, and a seed, into an edit. Throws Error InvalidArgument.
void finishEdit(EditRequest &edit, const SamplingFields &sampling, const GenerationDefaults &defaults);

} // namespace palimpsest::openai
