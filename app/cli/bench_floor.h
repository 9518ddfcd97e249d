// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/model_config.h"

#include <cstdint>

namespace palimpsest::cli {

/// Arithmetic of one denoising step of one canvas, multiplications and additions counted separately.
struct StepWork
{
    double layerFlop = 0.0;      ///< projections, dense and expert MLPs, routers, the self-conditioning MLP
    double attentionFlop = 0.0;  ///< scores and weighted values; the only part that grows with the context
    double vocabularyFlop = 0.0; ///< the head, and the softmax times the embedding for self-conditioning

    [[nodiscard]] double total() const noexcept { return layerFlop + attentionFlop + vocabularyFlop; }
};

/// `context` tokens lie in the cache. Sliding layers see at most their window of it.
[[nodiscard]] StepWork stepWork(const ModelConfig &config, std::int64_t context);

/// Floating-point operations a second of oneDNN's products at this model's shapes.
struct ProductRates
{
    double layerFlops = 0.0;      ///< [canvas x hidden] times [hidden x dense intermediate]
    double vocabularyFlops = 0.0; ///< [canvas x hidden] times [hidden x vocabulary, at most 8192 columns]
};

/// Measures for about a second; the best of several rounds counts, since a floor is asked for. `threads` threads share
/// the canvas's rows.
[[nodiscard]] ProductRates measureProductRates(const ModelConfig &config, int threads);

/// What a step would take if it were nothing but these products, in milliseconds.
[[nodiscard]] double floorMs(const StepWork &work, const ProductRates &rates);

} // namespace palimpsest::cli
