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

// The smallest random word whose Gumbel value can reach `needed`, with room for every rounding on the way: 1e-4 in the
// value (its float32 error is below 2e-6) and 1024 words (the uniform float has 24 bits, 256 words a step).
std::uint32_t wordFloor(float needed)
{
    const double word = std::exp(-std::exp(-(static_cast<double>(needed) - 1e-4))) * 0x1p32 - 1024.0;
    return word <= 0.0 ? 0U : static_cast<std::uint32_t>(std::min(word, 4294967295.0));
}

std::int64_t firstEqual(std::span<const float> values, float wanted)
{
    return std::ranges::find(values, wanted) - values.begin();
}

TokenId gumbelArgmax(const RowKernels &kernels, const RowSamplerInput &input, std::span<const float> processed,
                     std::span<const float> blockMaxima, std::int64_t argmaxBlock)
{
    const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(input.noise.seed),
                                           static_cast<std::uint32_t>(input.noise.seed >> 32U)};
    const std::uint32_t stream = (input.noise.canvas << 8U) | static_cast<std::uint32_t>(NoiseKind::Gumbel);
    GumbelBest best{kLowest, std::numeric_limits<std::int32_t>::max()};
    const auto look = [&](std::int64_t block) {
        const float blockMaximum = blockMaxima[static_cast<std::size_t>(block)];
        if (blockMaximum == kLowest || (input.pruning && blockMaximum + kLargestGumbel < best.value))
            return;
        const std::uint32_t floor = input.pruning && best.value > kLowest ? wordFloor(best.value - blockMaximum) : 0U;
        kernels.gumbelBlock(processed.data() + block * kPanelColumns, block, input.position, input.noise.step, stream,
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

RowWeights sampleRow(const RowKernels &kernels, const RowSamplerInput &input, std::span<float> logits,
                     std::int64_t vocabSize, std::span<float> blockMaxima, PositionResult &result)
{
    kernels.softcap(logits.data(), input.softcap, vocabSize);
    for (const LogitBias &bias : input.bias)
        logits[static_cast<std::size_t>(bias.id)] += bias.bias;
    std::fill(logits.begin() + vocabSize, logits.end(), kLowest);
    kernels.divideWithBlockMaximum(logits.data(), input.temperature, blockMaxima.data(),
                                   static_cast<std::int64_t>(logits.size()));

    const float maximum = *std::ranges::max_element(blockMaxima);
    const std::int64_t argmaxBlock = firstEqual(blockMaxima, maximum);
    result.argmax = static_cast<TokenId>(
        argmaxBlock * kPanelColumns +
        firstEqual(logits.subspan(static_cast<std::size_t>(argmaxBlock * kPanelColumns), kPanelColumns), maximum));
    result.sampled = gumbelArgmax(kernels, input, logits, blockMaxima, blockOf(result.argmax));
    const auto best = bestLogits(logits, blockMaxima);

    RowWeights weights{.sum = 0.0, .maximum = maximum};
    double weightedSum = 0.0;
    kernels.expSums(logits.data(), maximum, static_cast<std::int64_t>(logits.size()), &weights.sum, &weightedSum);
    // H = -sum p log p with log p = (x - max) - log S. Never negative: S >= 1 and x - max <= 0.
    result.entropyNats = static_cast<float>(std::log(weights.sum) - weightedSum / weights.sum);
    for (std::size_t i = 0; i < best.size(); ++i)
        result.alternatives.at(i) = {
            best.at(i).id, static_cast<float>(std::exp(static_cast<double>(best.at(i).logit - maximum)) / weights.sum)};
    return weights;
}

} // namespace palimpsest::cpu
