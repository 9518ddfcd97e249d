// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// The sampler's pass over the logits of one canvas at the large model's vocabulary: soft-cap, temperature, entropy,
// argmax, Gumbel sample and five alternatives, 256 rows of 262144, one thread. Every logit has to be read and, for
// self-conditioning, its exponential written: 512 MiB a canvas. The floor is copying that much, measured beside it.

#include "engine/cpu/row_sampler.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

using namespace palimpsest;
using namespace palimpsest::cpu;

namespace {

constexpr std::int64_t kVocabulary = 262144;
constexpr std::int64_t kRows = 256;
constexpr std::int64_t kBytesMoved = 2 * kRows * kVocabulary * static_cast<std::int64_t>(sizeof(float));

/// Raw logits of 16 rows, used again for all 256: the pass does not depend on rows being different.
std::vector<float> rawLogits(float spread, float favourite)
{
    constexpr std::int64_t kDistinctRows = 16;
    std::mt19937 generator(1);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> logits(static_cast<std::size_t>(kDistinctRows * kVocabulary));
    for (float &logit : logits)
        logit = normal(generator);
    for (std::int64_t row = 0; row < kDistinctRows; ++row)
        logits[static_cast<std::size_t>(row * kVocabulary + row * 1000)] += favourite;
    return logits;
}

void sampleCanvas(benchmark::State &state, float spread, float favourite)
{
    const std::vector<float> raw = rawLogits(spread, favourite);
    const auto rawRows = static_cast<std::int64_t>(raw.size()) / kVocabulary;
    const RowKernels &kernels = rowKernels();
    const LogitProcessing processing{.softcap = 30.0F, .temperature = 0.6F, .bias = {}, .vocabSize = kVocabulary};
    constexpr std::int64_t kBlocks = kVocabulary / kPanelColumns;
    std::vector<float> row(static_cast<std::size_t>(kVocabulary));
    std::vector<float> maxima(static_cast<std::size_t>(kBlocks));
    for ([[maybe_unused]] auto _ : state) {
        for (std::int64_t position = 0; position < kRows; ++position) {
            const float *from = raw.data() + position % rawRows * kVocabulary;
            for (std::int64_t block = 0; block < kBlocks; ++block)
                maxima[static_cast<std::size_t>(block)] = processBlock(
                    kernels, processing, block, from + block * kPanelColumns, row.data() + block * kPanelColumns);
            PositionResult result;
            const RowNoise noise{.address = {.seed = 7, .canvas = 0, .step = 9},
                                 .position = static_cast<std::uint32_t>(position)};
            benchmark::DoNotOptimize(sampleRow(kernels, noise, row, maxima, result));
            benchmark::DoNotOptimize(result);
        }
    }
    state.SetBytesProcessed(state.iterations() * kBytesMoved);
    state.SetLabel(kernels.name);
}

void copyCanvas(benchmark::State &state)
{
    const std::vector<float> raw = rawLogits(1.0F, 0.0F);
    const auto rawRows = static_cast<std::int64_t>(raw.size()) / kVocabulary;
    std::vector<float> row(static_cast<std::size_t>(kVocabulary));
    for ([[maybe_unused]] auto _ : state) {
        for (std::int64_t position = 0; position < kRows; ++position) {
            std::memcpy(row.data(), raw.data() + position % rawRows * kVocabulary, row.size() * sizeof(float));
            benchmark::DoNotOptimize(row.data());
            benchmark::ClobberMemory();
        }
    }
    state.SetBytesProcessed(state.iterations() * kBytesMoved);
}

} // namespace

BENCHMARK(copyCanvas)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampleCanvas, noise, 0.3F, 0.0F)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampleCanvas, forming, 4.0F, 0.0F)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sampleCanvas, settled, 2.0F, 25.0F)->Unit(benchmark::kMillisecond);
