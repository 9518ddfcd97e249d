// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "kernels/moe_combine.h"

#include "gpu_check.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;

namespace {

constexpr double kFloatBound = 2e-6; // three norms, each a few units of 2^-24
constexpr double kBf16Bound = 4e-3;  // one rounding to bf16: at most 2^-8 = 3.9e-3 of the value
constexpr float kEpsilon = 1e-6F;

std::mt19937 &random()
{
    static std::mt19937 generator(testSeed());
    return generator;
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

void matchesTheReference(std::size_t tokens, std::size_t hidden, std::size_t slotsPerToken, std::size_t parts,
                         bool bf16)
{
    const std::string what = "moeCombine " + std::to_string(tokens) + " x " + std::to_string(hidden) + ", " +
                             std::to_string(slotsPerToken) + " slots, " + std::to_string(parts) + " parts";
    const auto dense = randomFloats(parts * tokens * hidden, random());
    const auto slots = widened(roundedToBf16(randomFloats(tokens * slotsPerToken * hidden, random())));
    const auto slotWeights = randomFloats(tokens * slotsPerToken, random());
    const auto x = randomFloats(tokens * hidden, random());
    const std::vector<float> weights[] = {randomFloats(hidden, random()), randomFloats(hidden, random()),
                                          randomFloats(hidden, random()), randomFloats(hidden, random())};
    const float scale = 0.8F;

    const DeviceArray<float> deviceDense(dense);
    const DeviceArray<float> slotsFloat(slots);
    const DeviceArray<kernels::Bf16> slotsBf16(roundedToBf16(slots));
    const DeviceArray<float> deviceSlotWeights(slotWeights);
    const DeviceArray<float> deviceWeights[] = {DeviceArray<float>(weights[0]), DeviceArray<float>(weights[1]),
                                                DeviceArray<float>(weights[2]), DeviceArray<float>(weights[3])};
    const DeviceArray<float> deviceX(x);
    const DeviceArray<kernels::Bf16> norm(tokens * hidden);
    kernels::MoeCombineArgs args{.tokens = static_cast<std::int64_t>(tokens),
                                 .hidden = static_cast<std::int64_t>(hidden),
                                 .slotsPerToken = static_cast<std::int64_t>(slotsPerToken),
                                 .epsilon = kEpsilon,
                                 .dense = deviceDense.data(),
                                 .denseParts = static_cast<int>(parts),
                                 .denseWeight = deviceWeights[0].data(),
                                 .slotsBf16 = bf16 ? slotsBf16.data() : nullptr,
                                 .slotsFloat = bf16 ? nullptr : slotsFloat.data(),
                                 .slotWeights = deviceSlotWeights.data(),
                                 .expertWeight = deviceWeights[1].data(),
                                 .sumWeight = deviceWeights[2].data(),
                                 .x = deviceX.data(),
                                 .scale = scale};
    args.norms[1] = {deviceWeights[3].data(), norm.data()};
    ok(kernels::moeCombine(args, nullptr), what);

    std::vector<double> wantedX;
    std::vector<double> wantedNorm;
    for (std::size_t token = 0; token < tokens; ++token) {
        std::vector<double> denseRow(hidden);
        std::vector<double> expertRow(hidden);
        for (std::size_t c = 0; c < hidden; ++c) {
            for (std::size_t part = 0; part < parts; ++part)
                denseRow[c] += static_cast<double>(dense[(part * tokens + token) * hidden + c]);
            for (std::size_t j = 0; j < slotsPerToken; ++j) {
                const std::size_t slot = token * slotsPerToken + j;
                expertRow[c] += static_cast<double>(slotWeights[slot]) * static_cast<double>(slots[slot * hidden + c]);
            }
        }
        denseRow = normalised(denseRow, weights[0]);
        expertRow = normalised(expertRow, weights[1]);
        for (std::size_t c = 0; c < hidden; ++c)
            denseRow[c] += expertRow[c];
        std::vector<double> row = normalised(denseRow, weights[2]);
        for (std::size_t c = 0; c < hidden; ++c)
            row[c] = (static_cast<double>(x[token * hidden + c]) + row[c]) * static_cast<double>(scale);
        wantedX.insert(wantedX.end(), row.begin(), row.end());
        row = normalised(row, weights[3]);
        wantedNorm.insert(wantedNorm.end(), row.begin(), row.end());
    }
    requireClose(deviceX.host(what), wantedX, kFloatBound, what);
    requireClose(widened(norm.host(what)), wantedNorm, kBf16Bound, what + " norm");
}

/// Slots in bf16 and the same in fp32 go through different forms on some chips: the sums are the same, bit for bit.
void formsDoNotMatter(std::size_t tokens, std::size_t hidden, std::size_t slotsPerToken)
{
    const std::string what = "moeCombine, both forms, " + std::to_string(tokens) + " x " + std::to_string(hidden) +
                             ", " + std::to_string(slotsPerToken) + " slots";
    const DeviceArray<float> dense(randomFloats(tokens * hidden, random()));
    const auto slots = roundedToBf16(randomFloats(tokens * slotsPerToken * hidden, random()));
    const DeviceArray<kernels::Bf16> narrow(slots);
    const DeviceArray<float> wide(widened(slots));
    const DeviceArray<float> slotWeights(randomFloats(tokens * slotsPerToken, random()));
    const DeviceArray<float> weight(randomFloats(hidden, random()));
    const auto x = randomFloats(tokens * hidden, random());
    const DeviceArray<float> narrowX(x);
    const DeviceArray<float> wideX(x);
    const DeviceArray<kernels::Bf16> narrowNorm(tokens * hidden);
    const DeviceArray<kernels::Bf16> wideNorm(tokens * hidden);
    kernels::MoeCombineArgs args{.tokens = static_cast<std::int64_t>(tokens),
                                 .hidden = static_cast<std::int64_t>(hidden),
                                 .slotsPerToken = static_cast<std::int64_t>(slotsPerToken),
                                 .epsilon = kEpsilon,
                                 .dense = dense.data(),
                                 .denseWeight = weight.data(),
                                 .slotsBf16 = narrow.data(),
                                 .slotWeights = slotWeights.data(),
                                 .sumWeight = weight.data(), // the experts' is one
                                 .x = narrowX.data(),
                                 .scale = 1.25F};
    args.norms[0] = {weight.data(), narrowNorm.data()};
    ok(kernels::moeCombine(args, nullptr), what);
    args.slotsBf16 = nullptr;
    args.slotsFloat = wide.data();
    args.x = wideX.data();
    args.norms[0].out = wideNorm.data();
    ok(kernels::moeCombine(args, nullptr), what);
    requireSameBits(narrowX.host(what), wideX.host(what), what);
    requireSameBits(narrowNorm.host(what), wideNorm.host(what), what + ", norm");
}

} // namespace

int main()
{
    requireDevice();
    for (const std::size_t hidden : {4U, 128U, 256U, 1028U, 2816U, 16384U})
        for (const std::size_t tokens : {1U, 17U, 64U})
            matchesTheReference(tokens, hidden, tokens == 1 ? 1 : tokens == 17 ? 5 : 8, tokens % 7 + 1, hidden != 256);
    for (const std::size_t hidden : {4U, 128U, 1028U, 2816U, 3072U}) // one part of the dense branch
        for (const std::size_t tokens : {1U, 17U, 300U})
            matchesTheReference(tokens, hidden, tokens == 17 ? 4 : 8, 1, true);
    formsDoNotMatter(1, 2816, 8);
    formsDoNotMatter(1100, 2816, 8); // several tokens a block
    formsDoNotMatter(600, 64, 16);
    formsDoNotMatter(40, 256, 40); // more slots than a ring holds
    kernels::MoeCombineArgs args{.tokens = 1, .hidden = 8, .slotsPerToken = 2};
    require(kernels::moeCombine(args, nullptr) == cudaErrorInvalidValue, "no slots are refused");
    return finish("moe_combine");
}
