// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/moe_combine.h"

#include "gpu_check.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::MoeCombineArgs;

namespace {

constexpr double kFloatBound = 2e-6; // three norms, each a few units of 2^-24
constexpr double kBf16Bound = 4e-3;  // one rounding to bf16: at most 2^-8 = 3.9e-3 of the value
constexpr float kEpsilon = 0.1F;     // of the rows' squares, which are about 1: leaving it out would show
constexpr float kScale = 0.8F;
constexpr std::size_t kNorms = 3;

struct Shape
{
    std::size_t tokens;
    std::size_t hidden;
    std::size_t slotsPerToken;
    std::size_t parts = 1; ///< of the dense branch

    [[nodiscard]] std::string name() const
    {
        return "moeCombine " + std::to_string(tokens) + " x " + std::to_string(hidden) + ", " +
               std::to_string(slotsPerToken) + " slots, " + std::to_string(parts) + " parts";
    }
};

/// A row's weights of every norm: dense branch, experts, both, then those that follow. Each is another one.
std::vector<std::vector<float>> randomWeights(std::size_t hidden)
{
    std::vector<std::vector<float>> weights;
    for (std::size_t i = 0; i < 3 + kNorms; ++i)
        weights.push_back(randomFloats(hidden, testRandom()));
    return weights;
}

/// What a product reads, in host and device memory.
struct Operands
{
    Shape shape;
    std::vector<float> dense;
    std::vector<Bf16> slots;
    std::vector<float> slotWeights;
    std::vector<float> x;
    std::vector<std::vector<float>> weights;
    DeviceArray<float> onDeviceDense{dense};
    DeviceArray<Bf16> onDeviceSlots{slots};
    DeviceArray<float> onDeviceWideSlots{widened(slots)};
    DeviceArray<float> onDeviceSlotWeights{slotWeights};
    std::vector<std::unique_ptr<DeviceArray<float>>> onDeviceWeights;

    explicit Operands(const Shape &of)
        : shape(of),
          dense(randomFloats(of.parts * of.tokens * of.hidden, testRandom())),
          slots(roundedToBf16(randomFloats(of.tokens * of.slotsPerToken * of.hidden, testRandom()))),
          slotWeights(randomFloats(of.tokens * of.slotsPerToken, testRandom())),
          x(randomFloats(of.tokens * of.hidden, testRandom())),
          weights(randomWeights(of.hidden))
    {
        for (const std::vector<float> &weight : weights)
            onDeviceWeights.push_back(std::make_unique<DeviceArray<float>>(weight));
    }
};

struct Result
{
    std::vector<float> x;
    std::vector<std::vector<Bf16>> norms;
};

/// Norms that the bits of `norms` name, slots in bf16 or in fp32.
Result run(const Operands &operands, unsigned norms, bool bf16)
{
    const Shape &shape = operands.shape;
    const std::string what = shape.name();
    const DeviceArray<float> x(operands.x);
    MoeCombineArgs args{.tokens = static_cast<std::int64_t>(shape.tokens),
                        .hidden = static_cast<std::int64_t>(shape.hidden),
                        .slotsPerToken = static_cast<std::int64_t>(shape.slotsPerToken),
                        .epsilon = kEpsilon,
                        .dense = operands.onDeviceDense.data(),
                        .denseParts = static_cast<int>(shape.parts),
                        .denseWeight = operands.onDeviceWeights[0]->data(),
                        .slotsBf16 = bf16 ? operands.onDeviceSlots.data() : nullptr,
                        .slotsFloat = bf16 ? nullptr : operands.onDeviceWideSlots.data(),
                        .slotWeights = operands.onDeviceSlotWeights.data(),
                        .expertWeight = operands.onDeviceWeights[1]->data(),
                        .sumWeight = operands.onDeviceWeights[2]->data(),
                        .x = x.data(),
                        .scale = kScale};
    std::vector<std::unique_ptr<DeviceArray<Bf16>>> outs;
    for (std::size_t i = 0; i < kNorms; ++i) {
        outs.push_back(std::make_unique<DeviceArray<Bf16>>(shape.tokens * shape.hidden));
        if ((norms >> i & 1U) != 0)
            args.norms[i] = {operands.onDeviceWeights[3 + i]->data(), outs.back()->data()};
    }
    ok(kernels::moeCombine(args, nullptr), what);
    Result result{.x = x.host(what), .norms = {}};
    for (const auto &out : outs)
        result.norms.push_back(out->host(what));
    return result;
}

std::vector<double> normalised(const std::vector<double> &row, const std::vector<float> &weight)
{
    double squares = 0.0;
    for (const double value : row)
        squares += value * value;
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(row.size()) + static_cast<double>(kEpsilon));
    std::vector<double> out(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
        out[i] = row[i] * inverse * static_cast<double>(weight[i]);
    return out;
}

/// The new x of a token.
std::vector<double> reference(const Operands &operands, std::size_t token)
{
    const auto &[tokens, hidden, slotsPerToken, parts] = operands.shape;
    std::vector<double> dense(hidden);
    std::vector<double> experts(hidden);
    for (std::size_t c = 0; c < hidden; ++c) {
        for (std::size_t part = 0; part < parts; ++part)
            dense[c] += static_cast<double>(operands.dense[(part * tokens + token) * hidden + c]);
        for (std::size_t j = 0; j < slotsPerToken; ++j) {
            const std::size_t slot = token * slotsPerToken + j;
            experts[c] += static_cast<double>(operands.slotWeights[slot]) *
                          static_cast<double>(fromBf16(operands.slots[slot * hidden + c]));
        }
    }
    dense = normalised(dense, operands.weights[0]);
    experts = normalised(experts, operands.weights[1]);
    for (std::size_t c = 0; c < hidden; ++c)
        dense[c] += experts[c];
    std::vector<double> row = normalised(dense, operands.weights[2]);
    for (std::size_t c = 0; c < hidden; ++c)
        row[c] = (static_cast<double>(operands.x[token * hidden + c]) + row[c]) * static_cast<double>(kScale);
    return row;
}

void matchesTheReference(const Shape &shape, unsigned norms, bool bf16)
{
    const std::string what = shape.name() + ", norms " + std::to_string(norms);
    const Operands operands(shape);
    const Result found = run(operands, norms, bf16);
    std::vector<double> wantedX;
    std::vector<double> wantedNorms[kNorms];
    for (std::size_t token = 0; token < shape.tokens; ++token) {
        const std::vector<double> row = reference(operands, token);
        wantedX.insert(wantedX.end(), row.begin(), row.end());
        for (std::size_t i = 0; i < kNorms; ++i) {
            const std::vector<double> norm = normalised(row, operands.weights[3 + i]);
            wantedNorms[i].insert(wantedNorms[i].end(), norm.begin(), norm.end());
        }
    }
    requireClose(found.x, wantedX, kFloatBound, what);
    for (std::size_t i = 0; i < kNorms; ++i) {
        if ((norms >> i & 1U) != 0)
            requireClose(widened(found.norms[i]), wantedNorms[i], kBf16Bound, what + ": norm " + std::to_string(i));
        else
            require(std::all_of(found.norms[i].begin(), found.norms[i].end(), [](Bf16 bits) { return bits == 0xFFFF; }),
                    what + ": a norm that nobody asked for");
    }
}

/// Slots in bf16 and the same in fp32 go through different forms on some chips: the sums are the same, bit for bit. So
/// are those of a token alone.
void formsDoNotMatter(const Shape &shape)
{
    const std::string what = shape.name() + ", both forms";
    const Operands operands(shape);
    const Result narrow = run(operands, 7, true);
    const Result wide = run(operands, 7, false);
    requireSameBits(narrow.x, wide.x, what);
    for (std::size_t i = 0; i < kNorms; ++i)
        requireSameBits(narrow.norms[i], wide.norms[i], what + ": norm " + std::to_string(i));
}

void refusals()
{
    const DeviceArray<float> memory(64);
    const DeviceArray<Bf16> slots(64);
    const MoeCombineArgs good{.tokens = 1,
                              .hidden = 8,
                              .slotsPerToken = 4,
                              .dense = memory.data(),
                              .slotsBf16 = slots.data(),
                              .slotWeights = memory.data() + 16,
                              .x = memory.data() + 32};
    const auto refused = [&](const std::string &what, auto change) {
        MoeCombineArgs args = good;
        change(args);
        require(kernels::moeCombine(args, nullptr) == cudaErrorInvalidValue, what + " are refused");
    };
    ok(kernels::moeCombine(good, nullptr), "what the refusals differ from");
    refused("tokens below zero", [](MoeCombineArgs &args) { args.tokens = -1; });
    refused("six columns", [](MoeCombineArgs &args) { args.hidden = 6; });
    refused("rows of 16388 columns", [](MoeCombineArgs &args) { args.hidden = 16388; });
    refused("no slots for a token", [](MoeCombineArgs &args) { args.slotsPerToken = 0; });
    refused("no parts", [](MoeCombineArgs &args) { args.denseParts = 0; });
    refused("slots of no kind", [](MoeCombineArgs &args) { args.slotsBf16 = nullptr; });
    refused("slots of both kinds", [&](MoeCombineArgs &args) { args.slotsFloat = memory.data(); });
    refused("tokens without a dense branch", [](MoeCombineArgs &args) { args.dense = nullptr; });
    refused("slots without weights", [](MoeCombineArgs &args) { args.slotWeights = nullptr; });
    refused("tokens without a row", [](MoeCombineArgs &args) { args.x = nullptr; });
    refused("slots that are not aligned", [](MoeCombineArgs &args) { args.slotsBf16 += 4; });
    refused("weights that are not aligned", [](MoeCombineArgs &args) { args.slotWeights += 1; });
    MoeCombineArgs none = good;
    none.tokens = 0;
    none.x = nullptr;
    ok(kernels::moeCombine(none, nullptr), "no tokens are nothing to do");
}

} // namespace

int main()
{
    requireDevice();
    refusals();
    for (const std::size_t hidden : {4U, 128U, 256U, 1028U, 2816U, 16384U})
        for (const std::size_t tokens : {1U, 17U, 64U})
            matchesTheReference({tokens, hidden,
                                 tokens == 1    ? 1U
                                 : tokens == 17 ? 5U
                                                : 8U,
                                 tokens % 7 + 1},
                                tokens == 17 ? 2 : 5, hidden != 256);
    // The dense branch in one part, which the ring takes; then what it must leave to the other form: slots that are not
    // in fours, rows that are too wide.
    for (const std::size_t hidden : {4U, 128U, 1028U, 2816U, 3072U})
        for (const std::size_t tokens : {1U, 17U, 600U})
            matchesTheReference({tokens, hidden, tokens == 17 ? 4U : 8U}, hidden == 128 ? 0 : 7, true);
    matchesTheReference({300, 2816, 5}, 7, true);
    matchesTheReference({300, 3076, 8}, 7, true);
    matchesTheReference({70, 4096, 8}, 7, true);
    formsDoNotMatter({1, 2816, 8});
    formsDoNotMatter({1100, 2816, 8}); // several tokens a block
    formsDoNotMatter({600, 2816, 16}); // as many chunks as a token has
    formsDoNotMatter({600, 64, 16});
    formsDoNotMatter({600, 256, 28}); // the most slots that a ring holds, then more
    formsDoNotMatter({600, 256, 40});
    return finish("moe_combine");
}
