// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/row_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace palimpsest::cpu {

namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
/// Gumbel value of the largest random word (specification, section 3), rounded up.
constexpr float kLargestGumbel = 16.636F;

std::int64_t blockOf(std::int64_t id)
{
    return id / kPanelColumns;
}

// The smallest random word whose Gumbel value can reach `needed`, with room for every rounding on the way: 1e-3 in the
// value (its float32 error is below 2e-6) and 8192 words (2^-19 of the range; the uniform float has 24 bits and the
// exponentials here err by 2^-22).
std::uint32_t wordFloor(float needed)
{
    const float word = std::exp(-std::exp(-(needed - 1e-3F))) * 0x1p32F - 8192.0F;
    return word <= 0.0F ? 0U : static_cast<std::uint32_t>(word); // at most 2^32 - 8192
}

std::int64_t firstEqual(std::span<const float> values, float wanted)
{
    return std::ranges::find(values, wanted) - values.begin();
}

TokenId gumbelArgmax(const RowKernels &kernels, const RowNoise &noise, std::span<const float> processed,
                     std::span<const float> blockMaxima, std::int64_t argmaxBlock)
{
    const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(noise.address.seed),
                                           static_cast<std::uint32_t>(noise.address.seed >> 32U)};
    const std::uint32_t stream = (noise.address.canvas << 8U) | static_cast<std::uint32_t>(NoiseKind::Gumbel);
    GumbelBest best{kLowest, std::numeric_limits<std::int32_t>::max()};
    const auto look = [&](std::int64_t block) {
        const float blockMaximum = blockMaxima[static_cast<std::size_t>(block)];
        if (blockMaximum == kLowest || (noise.pruning && blockMaximum + kLargestGumbel < best.value))
            return;
        const std::uint32_t floor = noise.pruning && best.value > kLowest ? wordFloor(best.value - blockMaximum) : 0U;
        kernels.gumbelBlock(processed.data() + block * kPanelColumns, block, noise.position, noise.address.step, stream,
                            key.data(), floor, &best);
    };
    look(argmaxBlock); // a good value early makes the rest cheap
    for (std::int64_t block = 0; block < static_cast<std::int64_t>(blockMaxima.size()); ++block)
        if (block != argmaxBlock)
            look(block);
    return best.id;
}

struct Candidate
{
    float logit = kLowest;
    TokenId id = 0;
};

std::array<Candidate, kAlternativeCount> bestLogits(std::span<const float> processed,
                                                    std::span<const float> blockMaxima)
{
    std::array<Candidate, kAlternativeCount> best{};
    for (std::size_t block = 0; block < blockMaxima.size(); ++block) {
        if (!(blockMaxima[block] > best.back().logit))
            continue;
        const std::size_t first = block * static_cast<std::size_t>(kPanelColumns);
        for (std::size_t id = first; id < first + static_cast<std::size_t>(kPanelColumns); ++id) {
            if (!(processed[id] > best.back().logit))
                continue;
            best.back() = {processed[id], static_cast<TokenId>(id)};
            for (std::size_t i = best.size() - 1; i > 0 && best.at(i).logit > best.at(i - 1).logit; --i)
                std::swap(best.at(i), best.at(i - 1)); // equal logits stay in the order of their ids
        }
    }
    return best;
}

} // namespace

float processBlock(const RowKernels &kernels, const LogitProcessing &processing, std::int64_t block, const float *raw,
                   float *processed)
{
    const std::int64_t firstId = block * kPanelColumns;
    kernels.softcap(processed, raw, processing.softcap, kPanelColumns);
    if (!processing.bias.empty()) {
        auto bias = std::ranges::lower_bound(processing.bias, static_cast<TokenId>(firstId), {}, &LogitBias::id);
        for (; bias != processing.bias.end() && bias->id < firstId + kPanelColumns; ++bias)
            processed[bias->id - firstId] += bias->bias;
    }
    for (std::int64_t i = std::max<std::int64_t>(0, processing.vocabSize - firstId); i < kPanelColumns; ++i)
        processed[i] = kLowest;
    return kernels.divideBlock(processed, processing.temperature);
}

RowWeights sampleRow(const RowKernels &kernels, const RowNoise &noise, std::span<float> row,
                     std::span<const float> blockMaxima, PositionResult &result)
{
    const float maximum = *std::ranges::max_element(blockMaxima);
    const std::int64_t argmaxBlock = firstEqual(blockMaxima, maximum);
    result.argmax = static_cast<TokenId>(
        argmaxBlock * kPanelColumns +
        firstEqual(row.subspan(static_cast<std::size_t>(argmaxBlock * kPanelColumns), kPanelColumns), maximum));
    result.sampled = gumbelArgmax(kernels, noise, row, blockMaxima, blockOf(result.argmax));
    const auto best = bestLogits(row, blockMaxima);

    RowWeights weights{.sum = 0.0, .maximum = maximum};
    double weightedSum = 0.0;
    kernels.expSums(row.data(), maximum, static_cast<std::int64_t>(row.size()), &weights.sum, &weightedSum);
    // H = -sum p log p with log p = (x - max) - log S. Never negative: S >= 1 and x - max <= 0.
    result.entropyNats = static_cast<float>(std::log(weights.sum) - weightedSum / weights.sum);
    for (std::size_t i = 0; i < best.size(); ++i)
        result.alternatives.at(i) = {
            best.at(i).id, static_cast<float>(std::exp(static_cast<double>(best.at(i).logit - maximum)) / weights.sum)};
    return weights;
}

} // namespace palimpsest::cpu
