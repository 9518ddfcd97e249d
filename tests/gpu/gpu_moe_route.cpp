// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/dense_gemm.h"
#include "kernels/moe_route.h"

#include "gpu_check.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace palimpsest;
using namespace palimpsest::gpu_check;

namespace {

// Sums of `hidden` fp32 products in a tree, then a softmax in fp32: units of 1e-7 of the logits, which are below 10.
constexpr double kWeightBound = 1e-5;
constexpr double kTie = 1e-5;    // probabilities closer than this, relatively, may be taken in either order
constexpr float kEpsilon = 0.1F; // large enough that leaving it out would show

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
    return {randomFloats(static_cast<std::size_t>(shape.tokens * shape.hidden), testRandom(), 3.0F),
            randomFloats(static_cast<std::size_t>(shape.hidden), testRandom()),
            roundedToBf16(randomFloats(static_cast<std::size_t>(shape.experts * shape.hidden), testRandom(), 2.0F)),
            randomFloats(static_cast<std::size_t>(shape.experts), testRandom())};
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
        ++offsets[static_cast<std::size_t>(expert) + 1];
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

/// Tokens that are no numbers: experts as any other, so that nothing is read or sorted where there is none, and weights
/// that say so; their neighbours do not notice.
void notANumberStaysWithItsToken()
{
    for (const std::int64_t tokens : {17, 1024}) {
        const Shape shape{tokens, 256, 12, 4};
        Inputs inputs = randomInputs(shape);
        inputs.x[3 * 256 + 7] = std::numeric_limits<float>::quiet_NaN();
        inputs.x[9 * 256] = std::numeric_limits<float>::infinity();
        const Result result = run(shape, inputs);
        for (std::int64_t token = 0; token < 17; ++token) {
            if (token != 3 && token != 9) {
                checkToken(shape, inputs, result, token);
                continue;
            }
            for (std::int64_t j = 0; j < 4; ++j) {
                const auto slot = static_cast<std::size_t>(token * 4 + j);
                require(result.experts[slot] == j, "no numbers: the first experts");
                require(std::isnan(result.weights[slot]), "no numbers: weights neither");
            }
        }
        checkSort(shape, result);
    }
}

/// The same token alone, in the middle of some and of so many that the sums are laid out in another way.
void batchDoesNotMatter()
{
    const Shape alone{1, 2816, 128, 8};
    const Inputs one = randomInputs(alone);
    const Result wanted = run(alone, one);
    for (const std::int64_t tokens : {40, 384, 385, 1024, 2100}) { // blocks are large from 385 on
        const Shape shape{tokens, 2816, 128, 8};
        Inputs inputs = one;
        inputs.x = randomFloats(static_cast<std::size_t>(tokens * 2816), testRandom(), 3.0F);
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

/// A gated block of dense products and the routing of the same tokens, as a layer of the model launches them.
class DenseBesideRouting
{
public:
    struct Results
    {
        std::vector<kernels::Bf16> inner;
        std::vector<float> product;
        Result routing;
    };

    /// Everything anew in poisoned memory. With `beside` half of the routing runs beside each product, else in turn.
    Results run(bool beside, cudaStream_t stream, bool captured)
    {
        const DeviceArray<kernels::Bf16> inner(kTokens * kInner);
        const DeviceArray<float> product(static_cast<std::size_t>(m_parts * kTokens * kHidden));
        const DeviceArray<std::uint8_t> workspace(
            static_cast<std::size_t>(kernels::moeRouteWorkspaceBytes(kTokens, kHidden, kExperts)));
        const DeviceArray<std::int32_t> experts(kTokens * kSlots);
        const DeviceArray<float> slotWeights(kTokens * kSlots);
        const DeviceArray<std::int32_t> offsets(kExperts + 1);
        const DeviceArray<std::int32_t> slots(kTokens * kSlots);
        kernels::DenseGemmArgs gateUp{.rows = kTokens,
                                      .outputs = 2 * kInner,
                                      .inputs = kHidden,
                                      .x = m_input.data(),
                                      .weight = m_gateUp.data(),
                                      .epilogue = kernels::GemmEpilogue::GatedGelu,
                                      .out = inner.data(),
                                      .besideNext = beside};
        kernels::DenseGemmArgs down{.rows = kTokens,
                                    .outputs = kHidden,
                                    .inputs = kInner,
                                    .x = inner.data(),
                                    .weight = m_down.data(),
                                    .epilogue = kernels::GemmEpilogue::Float,
                                    .out = product.data(),
                                    .parts = m_parts,
                                    .besideNext = beside};
        m_route.workspace = workspace.data();
        m_route.expertIds = experts.data();
        m_route.slotWeights = slotWeights.data();
        m_route.expertOffsets = offsets.data();
        m_route.slots = slots.data();
        m_route.besidePrevious = beside;
        ok(cudaDeviceSynchronize(), "poison");
        if (captured)
            ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        ok(kernels::denseGemm(gateUp, stream), "gate and up");
        ok(kernels::moeRouteLogits(m_route, stream), "moeRouteLogits");
        ok(kernels::denseGemm(down, stream), "down");
        ok(kernels::moeRouteChoose(m_route, stream), "moeRouteChoose");
        if (captured)
            replay(stream);
        ok(cudaStreamSynchronize(stream), "products and routing");
        return {inner.host("inner"),
                product.host("product"),
                {experts.host("experts"), slotWeights.host("weights"), offsets.host("offsets"), slots.host("slots")}};
    }

private:
    static void replay(cudaStream_t stream)
    {
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t ready = nullptr;
        ok(cudaStreamEndCapture(stream, &graph), "capture");
        ok(cudaGraphInstantiate(&ready, graph, 0), "instantiate");
        ok(cudaGraphLaunch(ready, stream), "replay");
        ok(cudaStreamSynchronize(stream), "replay");
        ok(cudaGraphExecDestroy(ready), "destroy");
        ok(cudaGraphDestroy(graph), "destroy");
    }
    static std::vector<kernels::Bf16> bf16(std::size_t count, float scale)
    {
        return roundedToBf16(randomFloats(count, testRandom(), scale));
    }

    // As many blocks as leave multiprocessors to the other launch.
    static constexpr std::int64_t kTokens = 256;
    static constexpr std::int64_t kHidden = 2816;
    static constexpr std::int64_t kInner = 2112;
    static constexpr std::int64_t kExperts = 128;
    static constexpr std::int64_t kSlots = 8;
    int m_parts = kernels::denseGemmParts(kHidden, kInner, kernels::WeightLayout::OutputMajor);
    DeviceArray<kernels::Bf16> m_input{bf16(kTokens * kHidden, 1.0F)};
    DeviceArray<kernels::Bf16> m_gateUp{bf16(2 * kInner * kHidden, 0.02F)};
    DeviceArray<kernels::Bf16> m_down{bf16(kHidden * kInner, 0.02F)};
    DeviceArray<float> m_x{randomFloats(kTokens * kHidden, testRandom(), 3.0F)};
    DeviceArray<float> m_scale{randomFloats(kHidden, testRandom())};
    DeviceArray<kernels::Bf16> m_router{bf16(kExperts * kHidden, 2.0F)};
    DeviceArray<float> m_perExpertScale{randomFloats(kExperts, testRandom())};
    kernels::MoeRouteArgs m_route{.tokens = kTokens,
                                  .hidden = kHidden,
                                  .experts = kExperts,
                                  .slotsPerToken = kSlots,
                                  .epsilon = kEpsilon,
                                  .x = m_x.data(),
                                  .scale = m_scale.data(),
                                  .weights = m_router.data(),
                                  .perExpertScale = m_perExpertScale.data()};
};

/// `besideNext` and `besidePrevious`: whatever runs beside what, the bits are those of launches in turn.
void besideProductsItIsTheSame()
{
    cudaStream_t stream = nullptr;
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    DenseBesideRouting layer;
    const auto wanted = layer.run(false, stream, false);
    for (int round = 0; round < 10; ++round) {
        const bool captured = round % 2 != 0;
        const auto found = layer.run(true, stream, captured);
        const std::string what = std::string("beside each other, ") + (captured ? "in a graph" : "launched");
        requireSameBits(found.inner, wanted.inner, what + ": gate and up");
        requireSameBits(found.product, wanted.product, what + ": down");
        requireSameBits(found.routing.experts, wanted.routing.experts, what + ": experts");
        requireSameBits(found.routing.weights, wanted.routing.weights, what + ": weights");
        requireSameBits(found.routing.offsets, wanted.routing.offsets, what + ": offsets");
        requireSameBits(found.routing.slots, wanted.routing.slots, what + ": slots");
    }
    ok(cudaStreamDestroy(stream), "stream");
}

} // namespace

int main()
{
    requireDevice();
    const Shape
        shapes[] = {{1, 128, 8, 2},     {17, 128, 8, 2},     {64, 256, 6, 4},      {33, 8, 1, 1},
                    {5, 264, 200, 16},  {256, 512, 256, 3},  {256, 2816, 128, 8},  {2048, 2816, 128, 8},
                    {2047, 96, 32, 8},  {4096, 128, 130, 8}, {1040, 2816, 128, 8}, {700, 520, 256, 16},
                    {705, 1032, 129, 7}}; // many tokens, the last one expert of its tile and an odd number of them
    for (const Shape &shape : shapes)
        matchesTheReference(shape);
    tiesGoToTheLowerIndex();
    notANumberStaysWithItsToken();
    batchDoesNotMatter();
    besideProductsItIsTheSame();
    return finish("moe_route");
}
