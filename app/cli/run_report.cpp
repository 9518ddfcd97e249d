// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/run_report.h"

#include "app/stop_names.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace palimpsest::cli {

namespace {

/// Below these, a rate says more about the clock than about the engine.
constexpr double kShortestHonestSpanMs = 200.0;
constexpr std::int64_t kFewestHonestTokens = 16;

/// Milliseconds with three decimals: what the clock is good for.
double rounded(double milliseconds)
{
    constexpr double kPerMillisecond = 1000.0;
    return std::round(milliseconds * kPerMillisecond) / kPerMillisecond;
}

nlohmann::json nullable(std::optional<double> value)
{
    return value ? nlohmann::json(rounded(*value)) : nlohmann::json(nullptr);
}

} // namespace

RunFigures runFigures(std::span<const GenerationResult> results, double runMs, double msPerStep)
{
    RunFigures figures;
    figures.runMs = runMs;
    figures.msPerStep = msPerStep;
    for (const GenerationResult &result : results) {
        figures.canvases += static_cast<std::int64_t>(result.canvases.size());
        for (const CanvasRecord &canvas : result.canvases)
            figures.steps += canvas.steps;
        figures.answerTokens += static_cast<std::int64_t>(result.tokens.size());
        figures.promptTokens += result.promptTokens;
        if (result.firstDraftMs > 0.0 && (figures.firstDraftMs == 0.0 || result.firstDraftMs < figures.firstDraftMs))
            figures.firstDraftMs = result.firstDraftMs;
    }
    return figures;
}

std::optional<double> tokensPerSecond(const RunFigures &figures) noexcept
{
    constexpr double kMsPerSecond = 1000.0;
    if (figures.runMs < kShortestHonestSpanMs || figures.answerTokens < kFewestHonestTokens)
        return std::nullopt;
    return static_cast<double>(figures.answerTokens) * kMsPerSecond / figures.runMs;
}

std::string describeSteps(std::span<const GenerationResult> results)
{
    std::vector<int> steps;
    for (const GenerationResult &result : results) {
        for (const CanvasRecord &canvas : result.canvases)
            steps.push_back(canvas.steps);
    }
    if (steps.empty())
        return "no canvas";
    if (steps.size() == 1)
        return fmt::format("1 canvas of {} steps", steps[0]);
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    return *least == *most ? fmt::format("{} canvases of {} steps", steps.size(), *least)
                           : fmt::format("{} canvases of {} to {} steps", steps.size(), *least, *most);
}

nlohmann::json toJson(const RunFigures &figures)
{
    const auto known = [](double value) {
        return value > 0.0 ? std::optional<double>(value) : std::nullopt;
    };
    return {{"open_ms", rounded(figures.openMs)},
            {"load_ms", rounded(figures.loadMs)},
            {"run_ms", rounded(figures.runMs)},
            {"first_draft_ms", nullable(known(figures.firstDraftMs))},
            {"ms_per_step", nullable(known(figures.msPerStep))},
            {"tokens_per_second", nullable(tokensPerSecond(figures))}};
}

nlohmann::json toJson(const SamplerSettings &settings)
{
    return {{"steps", settings.maxDenoisingSteps},
            {"entropy_bound_nats", settings.entropyBoundNats},
            {"t_min", settings.tMin},
            {"t_max", settings.tMax},
            {"confidence_nats", settings.confidenceThresholdNats},
            {"stability", settings.stabilityThreshold}};
}

nlohmann::json toJson(const GenerationResult &result)
{
    nlohmann::json canvases = nlohmann::json::array();
    for (const CanvasRecord &canvas : result.canvases) {
        canvases.push_back(
            {{"steps", canvas.steps}, {"stop", nameOf(canvas.stop)}, {"mean_entropy_nats", canvas.meanEntropyNats}});
    }
    return {{"seed", result.seed},
            {"finish_reason", nameOf(result.finish)},
            {"prompt_tokens", result.promptTokens},
            {"reused_prompt_tokens", result.reusedPromptTokens},
            {"completion_tokens", result.tokens.size()},
            {"canvases", std::move(canvases)},
            {"queue_ms", rounded(result.queueMs)},
            {"prefill_ms", rounded(result.prefillMs)},
            {"denoise_ms", rounded(result.denoiseMs)}};
}

nlohmann::json toJson(const LoadedModel &model, const BackendInfo &backend)
{
    return {{"directory", model.location.directory.string()},
            {"origin", model.location.origin},
            {"backend", backend.kind},
            {"device", backend.deviceName},
            {"weight_bytes", backend.weightBytes}};
}

std::string dumpJson(const nlohmann::json &value)
{
    constexpr int kIndent = 2;
    return value.dump(kIndent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace palimpsest::cli
