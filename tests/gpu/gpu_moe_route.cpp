// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/moe_route.h"

#include "gpu_check.h"

#include <numeric>

using namespace palimpsest;
using namespace palimpsest::gpu_check;

namespace {

// Sums of `hidden` fp32 products in a tree, then a softmax in fp32: units of 1e-7 of the logits, which are below 10.
constexpr double kWeightBound = 1e-5;
constexpr double kTie = 1e-5; // probabilities closer than this, relatively, may be taken in either order
constexpr float kEpsilon = 1e-6F;

std::mt19937 &random()
{
    static std::mt19937 generator(std::random_device{}());
    return generator;
}

struct Shape
{
    std::int64_t tokens;
    std::int64_t hidden;
    std::int64_t experts;
    std::int64_t slotsPerToken;
};

struct Inputs
{
    std::vector<float> x;
    std::vector<float> scale;
    std::vector<kernels::Bf16> weights;
    std::vector<float> perExpertScale;
};

struct Result
{
    std::vector<std::int32_t> experts;
    std::vector<float> weights;
    std::vector<std::int32_t> offsets;
    std::vector<std::int32_t> slots;
};

Inputs randomInputs(const Shape &shape)
{
    return {randomFloats(static_cast<std::size_t>(shape.tokens * shape.hidden), random(), 3.0F),
            randomFloats(static_cast<std::size_t>(shape.hidden), random()),
            roundedToBf16(randomFloats(static_cast<std::size_t>(shape.experts * shape.hidden), random(), 2.0F)),
            randomFloats(static_cast<std::size_t>(shape.experts), random())};
}

Result run(const Shape &shape, const Inputs &inputs)
{
    const DeviceArray<float> x(inputs.x);
    const DeviceArray<float> scale(inputs.scale);
    const DeviceArray<kernels::Bf16> weights(inputs.weights);
    const DeviceArray<float> perExpertScale(inputs.perExpertScale);
    const DeviceArray<std::uint8_t> workspace(
        static_cast<std::size_t>(kernels::moeRouteWorkspaceBytes(shape.tokens, shape.hidden, shape.experts)));
    const auto slotCount = static_cast<std::size_t>(shape.tokens * shape.slotsPerToken);
    const DeviceArray<std::int32_t> experts(slotCount);
    const DeviceArray<float> slotWeights(slotCount);
    const DeviceArray<std::int32_t> offsets(static_cast<std::size_t>(shape.experts + 1));
    const DeviceArray<std::int32_t> slots(slotCount);
    ok(kernels::moeRoute({.tokens = shape.tokens,
                          .hidden = shape.hidden,
                          .experts = shape.experts,
                          .slotsPerToken = shape.slotsPerToken,
                          .epsilon = kEpsilon,
                          .x = x.data(),
                          .scale = scale.data(),
                          .weights = weights.data(),
                          .perExpertScale = perExpertScale.data(),
                          .workspace = workspace.data(),
                          .expertIds = experts.data(),
                          .slotWeights = slotWeights.data(),
                          .expertOffsets = offsets.data(),
                          .slots = slots.data()},
                         nullptr),
       "moeRoute");
    static_cast<void>(workspace.host("workspace")); // nothing written behind its end
    return {experts.host("experts"), slotWeights.host("weights"), offsets.host("offsets"), slots.host("slots")};
}

std::vector<double> probabilitiesOf(const Shape &shape, const Inputs &inputs, std::int64_t token)
{
    const float *x = inputs.x.data() + token * shape.hidden;
    double squares = 0.0;
    for (std::int64_t i = 0; i < shape.hidden; ++i)
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    const auto hidden = static_cast<double>(shape.hidden);
    const double factor = 1.0 / std::sqrt(squares / hidden + static_cast<double>(kEpsilon)) / std::sqrt(hidden);
    std::vector<double> values(static_cast<std::size_t>(shape.experts));
    for (std::size_t expert = 0; expert < values.size(); ++expert)
        for (std::int64_t i = 0; i < shape.hidden; ++i)
            values[expert] +=
                static_cast<double>(x[i]) * factor * static_cast<double>(inputs.scale[static_cast<std::size_t>(i)]) *
                static_cast<double>(fromBf16(
                    inputs.weights[expert * static_cast<std::size_t>(shape.hidden) + static_cast<std::size_t>(i)]));
    const double largest = *std::max_element(values.begin(), values.end());
    double total = 0.0;
    for (double &value : values)
        total += value = std::exp(value - largest);
    for (double &value : values)
        value /= total;
    return values;
}

void checkToken(const Shape &shape, const Inputs &inputs, const Result &result, std::int64_t token)
{
    const std::string what = "token " + std::to_string(token) + " of " + std::to_string(shape.tokens) + " x " +
                             std::to_string(shape.hidden) + ", " + std::to_string(shape.experts) + " experts";
    const std::vector<double> probabilities = probabilitiesOf(shape, inputs, token);
    std::vector<double> sorted = probabilities;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const auto first = static_cast<std::size_t>(token * shape.slotsPerToken);
    const auto chosen = static_cast<std::size_t>(shape.slotsPerToken);
    double total = 0.0;
    std::vector<bool> seen(probabilities.size());
    for (std::size_t j = 0; j < chosen; ++j) {
        const auto expert = static_cast<std::size_t>(result.experts[first + j]);
        if (expert >= probabilities.size() || seen[expert])
            return fail(what + ": choice " + std::to_string(j) + " is no expert, or chosen twice");
        seen[expert] = true;
        total += probabilities[expert];
        require(std::abs(probabilities[expert] - sorted[j]) <= kTie * sorted[j],
                what + ": not the most probable experts");
    }
    for (std::size_t j = 0; j < chosen; ++j) {
        const auto expert = static_cast<std::size_t>(result.experts[first + j]);
        const double wanted = probabilities[expert] / total * static_cast<double>(inputs.perExpertScale[expert]);
        require(std::abs(static_cast<double>(result.weights[first + j]) - wanted) <=
                    kWeightBound * std::abs(wanted) + 1e-12,
                what + ": weight " + std::to_string(result.weights[first + j]) + ", wanted " + std::to_string(wanted));
    }
}

void checkSort(const Shape &shape, const Result &result)
{
    std::vector<std::int32_t> wanted(result.experts.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    std::stable_sort(wanted.begin(), wanted.end(), [&](std::int32_t a, std::int32_t b) {
        return result.experts[static_cast<std::size_t>(a)] < result.experts[static_cast<std::size_t>(b)];
    });
    requireSameBits(result.slots, wanted, "order of the slots at " + std::to_string(shape.tokens) + " tokens");
    std::vector<std::int32_t> offsets(static_cast<std::size_t>(shape.experts + 1));
    for (const std::int32_t expert : result.experts)
        ++offsets[static_cast<std::size_t>(expert + 1)];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    requireSameBits(result.offsets, offsets, "offsets at " + std::to_string(shape.tokens) + " tokens");
}

void matchesTheReference(const Shape &shape)
{
    const Inputs inputs = randomInputs(shape);
    const Result result = run(shape, inputs);
    const std::int64_t stride = std::max<std::int64_t>(1, shape.tokens / 40);
    for (std::int64_t token = 0; token < shape.tokens; token += stride)
        checkToken(shape, inputs, result, token);
    checkToken(shape, inputs, result, shape.tokens - 1);
    checkSort(shape, result);
}

/// Equal experts are taken in the order of their index.
void tiesGoToTheLowerIndex()
{
    const Shape shape{5, 256, 12, 4};
    Inputs inputs = randomInputs(shape);
    for (std::size_t expert = 1; expert < 12; ++expert)
        std::copy_n(inputs.weights.begin(), 256, inputs.weights.begin() + static_cast<std::ptrdiff_t>(expert * 256));
    const Result result = run(shape, inputs);
    for (std::size_t slot = 0; slot < result.experts.size(); ++slot)
        require(result.experts[slot] == static_cast<std::int32_t>(slot % 4), "a tie goes to the lower index");
}

/// The same token alone, in the middle of some and of so many that the sums are laid out in another way.
void batchDoesNotMatter()
{
    const Shape alone{1, 2816, 128, 8};
    const Inputs one = randomInputs(alone);
    const Result wanted = run(alone, one);
    for (const std::int64_t tokens : {40, 2100}) {
        const Shape shape{tokens, 2816, 128, 8};
        Inputs inputs = one;
        inputs.x = randomFloats(static_cast<std::size_t>(tokens * 2816), random(), 3.0F);
        const std::int64_t token = tokens - 3;
        std::copy_n(one.x.begin(), 2816, inputs.x.begin() + token * 2816);
        const Result result = run(shape, inputs);
        requireSameBits(std::vector<float>(result.weights.begin() + token * 8, result.weights.begin() + token * 8 + 8),
                        wanted.weights, "weights of a token beside others");
        requireSameBits(
            std::vector<std::int32_t>(result.experts.begin() + token * 8, result.experts.begin() + token * 8 + 8),
            wanted.experts, "experts of a token beside others");
    }
}

} // namespace

int main()
{
    requireDevice();
    const Shape shapes[] = {{1, 128, 8, 2},    {17, 128, 8, 2},     {64, 256, 6, 4},      {33, 8, 1, 1},
                            {5, 264, 200, 16}, {256, 512, 256, 3},  {256, 2816, 128, 8},  {2048, 2816, 128, 8},
                            {2047, 96, 32, 8}, {4096, 128, 130, 8}, {1040, 2816, 128, 8}, {700, 520, 256, 16}};
    for (const Shape &shape : shapes)
        matchesTheReference(shape);
    tiesGoToTheLowerIndex();
    batchDoesNotMatter();
    return finish("moe_route");
}
