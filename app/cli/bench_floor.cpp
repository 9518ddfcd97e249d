// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/bench_floor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <dnnl.h>
#include <omp.h>
#include <thread>
#include <vector>

namespace palimpsest::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMaxVocabularyColumns = 8192;
constexpr int kRounds = 12;
constexpr double kOperationsPerProduct = 2.0; // one multiplication, one addition

double real(std::int64_t count)
{
    return static_cast<double>(count);
}

/// Seconds of one product [rows x inner] times [inner x columns], the rows cut among the threads as the engine does.
double productSeconds(std::int64_t rows, std::int64_t inner, std::int64_t columns, int threads)
{
    const std::vector<float> left(static_cast<std::size_t>(rows * inner), 0.5F);
    const std::vector<float> right(static_cast<std::size_t>(inner * columns), 0.25F);
    std::vector<float> product(static_cast<std::size_t>(rows * columns));
    const auto part = [&](int thread) {
        // One OpenMP thread in each of ours: oneDNN's own barriers spin.
        omp_set_num_threads(1);
        const std::int64_t begin = rows * thread / threads;
        const std::int64_t end = rows * (thread + 1) / threads;
        if (begin == end)
            return;
        dnnl_sgemm('N', 'N', end - begin, columns, inner, 1.0F, left.data() + begin * inner, inner, right.data(),
                   columns, 0.0F, product.data() + begin * columns, columns);
    };
    const Clock::time_point start = Clock::now();
    std::vector<std::thread> helpers;
    for (int thread = 1; thread < threads; ++thread)
        helpers.emplace_back(part, thread);
    part(0);
    for (std::thread &helper : helpers)
        helper.join();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double bestFlops(std::int64_t rows, std::int64_t inner, std::int64_t columns, int threads)
{
    double best = productSeconds(rows, inner, columns, threads); // the first one also makes oneDNN's kernels
    for (int round = 0; round < kRounds; ++round)
        best = std::min(best, productSeconds(rows, inner, columns, threads));
    return kOperationsPerProduct * real(rows) * real(inner) * real(columns) / best;
}

} // namespace

StepWork stepWork(const ModelConfig &config, std::int64_t context)
{
    const double hidden = real(config.hiddenSize);
    const double gatedMlp = 3.0; // gate, up and down
    const double denseMlp = gatedMlp * hidden * real(config.denseIntermediateSize);
    double layers = denseMlp; // the self-conditioning block's
    double attention = 0.0;
    for (const LayerConfig &layer : config.layers) {
        const double queryWidth = real(config.attentionHeads * layer.headDim);
        const double keyWidth = real(layer.kvHeads * layer.headDim);
        layers += 2.0 * hidden * queryWidth + (layer.hasValueProjection ? 2.0 : 1.0) * hidden * keyWidth;
        layers += denseMlp + hidden * real(config.expertCount);
        layers += gatedMlp * real(config.expertsPerToken) * hidden * real(config.expertIntermediateSize);
        const std::int64_t seen =
            layer.kind == LayerKind::Sliding ? std::min(context, config.slidingWindow - 1) : context;
        attention += 2.0 * queryWidth * real(seen + config.canvasLength);
    }
    const double perCanvas = kOperationsPerProduct * real(config.canvasLength);
    return {.layerFlop = perCanvas * layers,
            .attentionFlop = perCanvas * attention,
            .vocabularyFlop = perCanvas * 2.0 * hidden * real(config.vocabSize)};
}

ProductRates measureProductRates(const ModelConfig &config, int threads)
{
    const std::int64_t columns = std::min(config.vocabSize, kMaxVocabularyColumns);
    return {.layerFlops = bestFlops(config.canvasLength, config.hiddenSize, config.denseIntermediateSize, threads),
            .vocabularyFlops = bestFlops(config.canvasLength, config.hiddenSize, columns, threads)};
}

double floorMs(const StepWork &work, const ProductRates &rates)
{
    constexpr double kMsPerSecond = 1000.0;
    return kMsPerSecond *
           ((work.layerFlop + work.attentionFlop) / rates.layerFlops + work.vocabularyFlop / rates.vocabularyFlops);
}

} // namespace palimpsest::cli
