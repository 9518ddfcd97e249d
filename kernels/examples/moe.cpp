// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe.h"

#include "device_vector.h"
#include "kernels/w4_quantize.h"
#include "kernels/w4_repack.h"

#include <cmath>

using namespace palimpsest::kernels;

// Matrices of all experts, quantised and repacked for the products.
static std::vector<std::uint8_t> quantised(std::int64_t experts, std::int64_t rows, std::int64_t columns,
                                           std::int64_t group, W4RowOrder order, unsigned seed)
{
    std::vector<float> values = randomFloats(experts * rows * columns, seed);
    for (float &value : values)
        value /= std::sqrt(static_cast<float>(columns));
    const DeviceVector<float> weights(values);
    const DeviceVector<std::uint8_t> packed(experts * rows * columns / 2);
    const DeviceVector<std::uint16_t> scale(experts * rows * columns / group);
    const DeviceVector<std::uint16_t> zero(experts * rows * columns / group);
    const DeviceVector<std::uint8_t> blocks(experts * w4MatrixBytes(rows, columns, group));
    W4QuantizeArgs quantize{experts * rows, columns, group, weights.data(), packed.data(), scale.data(), zero.data()};
    check(w4Quantize(quantize, nullptr));
    W4RepackArgs repack{packed.data(), scale.data(), zero.data(), blocks.data(), nullptr,
                        experts,       rows,         columns,     group,         order};
    check(w4Repack(repack, nullptr));
    return blocks.host();
}

// A token's output does not depend on the others: the first one alone gives the same bits.
int main()
{
    constexpr std::int64_t kTokens = 64;
    constexpr std::int64_t kChosen = 2;
    constexpr std::int64_t kExperts = 8;
    constexpr std::int64_t kHidden = 256;
    constexpr std::int64_t kInner = 128;
    std::vector<Bf16> tokens;
    for (const float value : randomFloats(kTokens * kHidden, 3))
        tokens.push_back(value < 0.0F ? 0xBF80 : 0x3F80); // -1 and 1 in bf16
    std::vector<std::int32_t> ids;
    for (std::int32_t slot = 0; slot < kTokens * kChosen; ++slot)
        ids.push_back(slot * 5 % kExperts); // in place of a router
    const DeviceVector<Bf16> input(tokens);
    const DeviceVector<std::int32_t> expertIds(ids);
    const DeviceVector<float> slotWeights(std::vector<float>(ids.size(), 1.0F / kChosen));
    const DeviceVector<std::uint8_t> gateUp(
        quantised(kExperts, 2 * kInner, kHidden, 128, W4RowOrder::GateUp, 4)); // rows: gate, then up
    const DeviceVector<std::uint8_t> down(quantised(kExperts, kHidden, kInner, 64, W4RowOrder::Plain, 5));
    const DeviceVector<float> out(kTokens * kHidden);

    MoeArgs args;
    args.tokens = kTokens;
    args.slotsPerToken = kChosen;
    args.experts = kExperts;
    args.hidden = kHidden;
    args.inner = kInner;
    args.input = input.data();
    args.expertIds = expertIds.data();
    args.slotWeights = slotWeights.data();
    args.gateUp = gateUp.data();
    args.down = down.data();
    args.out = out.data();
    const DeviceVector<std::uint8_t> workspace(moeWorkspaceBytes(args));
    args.workspace = workspace.data();
    check(moe(args, nullptr));
    const std::vector<float> all = out.host();
    args.tokens = 1;
    check(moe(args, nullptr));
    const std::vector<float> alone = out.host();

    double square = 0.0;
    bool same = true;
    for (std::size_t i = 0; i < kHidden; ++i) {
        square += static_cast<double>(all[i]) * static_cast<double>(all[i]) / kHidden;
        same = same && all[i] == alone[i];
    }
    std::printf("moe: root mean square %.3f, the first token alone gives %s\n", std::sqrt(square),
                same ? "the same" : "something else");
    return same && square > 1e-4 && square < 10.0 ? 0 : 1;
}
