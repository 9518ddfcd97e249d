// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cli/engine_start.h"
#include "app/model_session.h"
#include "engine/generation.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

namespace palimpsest::cli {

/// Wall-clock figures of a run. Several requests of a run share the clock, so nothing here is a sum over them.
struct RunFigures
{
    double openMs = 0.0; ///< opening and checking the model folder
    double loadMs = 0.0; ///< loading the weights
    double runMs = 0.0;  ///< from the first request to the last result
    double firstDraftMs = 0.0;
    std::int64_t canvases = 0;
    std::int64_t steps = 0; ///< summed over canvases
    std::int64_t answerTokens = 0;
    std::int64_t promptTokens = 0;
    double msPerStep = 0.0; ///< of the batch, as the engine did them; 0 = no step was done
};

/// `msPerStep` comes from the board, which has seen the steps.
[[nodiscard]] RunFigures runFigures(std::span<const GenerationResult> results, double runMs, double msPerStep);

/// Answer tokens a second of wall clock, or nothing where the span or the answer is too short for the figure to mean
/// anything.
[[nodiscard]] std::optional<double> tokensPerSecond(const RunFigures &figures) noexcept;

/// "2 canvases of 19 and 12 steps", "3 canvases of 7 to 48 steps"
[[nodiscard]] std::string describeSteps(std::span<const GenerationResult> results);

[[nodiscard]] nlohmann::json toJson(const RunFigures &figures);
[[nodiscard]] nlohmann::json toJson(const SamplerSettings &settings);
/// Tokens, stop reason and canvases of one result.
[[nodiscard]] nlohmann::json toJson(const GenerationResult &result);
/// The model and the device.
[[nodiscard]] nlohmann::json toJson(const LoadedModel &model, const BackendInfo &backend);

/// As text, with bytes that are not UTF-8 replaced; ends in a line end.
[[nodiscard]] std::string dumpJson(const nlohmann::json &value);

} // namespace palimpsest::cli
