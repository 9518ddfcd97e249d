// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/run_figures.h"

namespace palimpsest::editing {

namespace {

/// Over a shorter time, a rate says nothing.
constexpr double kShortestRatedMs = 50.0;

} // namespace

RunFigures figuresOf(const FiguresInput &input)
{
    RunFigures figures;
    double stepMs = 0.0;
    for (const std::vector<CanvasCurve> &lane : input.curves) {
        for (const CanvasCurve &canvas : lane) {
            figures.steps += static_cast<std::int64_t>(canvas.stepMs.size());
            figures.canvases += canvas.steps > 0 ? 1 : 0;
            for (const float ms : canvas.stepMs)
                stepMs += static_cast<double>(ms);
        }
    }
    std::int64_t tokens = 0;
    for (const GenerationResult *result : input.results) {
        tokens += static_cast<std::int64_t>(result->tokens.size());
        figures.promptTokens += result->promptTokens;
        figures.reusedTokens += result->reusedPromptTokens;
    }
    figures.stepMs = figures.steps > 0 ? stepMs / static_cast<double>(figures.steps) : 0.0;
    figures.firstDraftMs = input.firstDraftMs;
    figures.totalMs = input.totalMs;
    if (figures.totalMs < kShortestRatedMs)
        return figures;
    const double seconds = figures.totalMs / 1000.0;
    figures.tokensPerSecond = static_cast<double>(tokens) / seconds;
    if (input.words > 0)
        figures.wordsPerSecond = static_cast<double>(input.words) / seconds;
    return figures;
}

} // namespace palimpsest::editing
