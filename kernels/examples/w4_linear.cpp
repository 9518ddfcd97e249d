// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/w4_linear.h"

#include "device_vector.h"
#include "kernels/w4_quantize.h"
#include "kernels/w4_repack.h"

#include <cmath>

using namespace palimpsest::kernels;

// Weights are quantised, repacked for the product, and multiplied by rows of ones: the sums of the dequantised weights.
int main()
{
    constexpr std::int64_t kOutputs = 1024;
    constexpr std::int64_t kInputs = 2048;
    constexpr std::int64_t kGroup = 128;
    constexpr std::int64_t kRows = 5;
    constexpr Bf16 kOne = 0x3F80;
    const DeviceVector<float> weights(randomFloats(kOutputs * kInputs, 2));
    const DeviceVector<std::uint8_t> packed(kOutputs * kInputs / 2);
    const DeviceVector<std::uint16_t> scale(kOutputs * kInputs / kGroup);
    const DeviceVector<std::uint16_t> zero(kOutputs * kInputs / kGroup);
    const DeviceVector<std::uint8_t> blocks(w4MatrixBytes(kOutputs, kInputs, kGroup));
    const DeviceVector<float> dequantised(kOutputs * kInputs);
    const DeviceVector<Bf16> x(std::vector<Bf16>(kRows * kInputs, kOne));
    const DeviceVector<float> y(kRows * kOutputs);
    const DeviceVector<std::uint8_t> workspace(w4LinearWorkspaceBytes(kRows, kOutputs, kInputs, kGroup) + 1);

    W4QuantizeArgs quantize{kOutputs, kInputs, kGroup, weights.data(), packed.data(), scale.data(), zero.data()};
    check(w4Quantize(quantize, nullptr));
    W4RepackArgs repack;
    repack.packed = packed.data();
    repack.scale = scale.data();
    repack.zero = zero.data();
    repack.blocks = blocks.data();
    repack.matrices = 1;
    repack.rows = kOutputs;
    repack.columns = kInputs;
    repack.groupSize = kGroup;
    check(w4Repack(repack, nullptr));
    W4LinearArgs linear;
    linear.rows = kRows;
    linear.inputs = kInputs;
    linear.outputs = kOutputs;
    linear.groupSize = kGroup;
    linear.x = x.data();
    linear.weights = blocks.data();
    linear.outFloat = y.data();
    linear.workspace = workspace.data(); // optional: for matrices of few outputs the inputs are cut into parts
    check(w4Linear(linear, nullptr));

    W4DequantizeArgs dequantize{kOutputs,    kInputs,           kGroup, packed.data(), scale.data(),
                                zero.data(), dequantised.data()};
    check(w4Dequantize(dequantize, nullptr));
    double wanted = 0.0;
    const std::vector<float> w = dequantised.host();
    for (std::size_t column = 0; column < kInputs; ++column)
        wanted += static_cast<double>(w[column]);
    const auto found = static_cast<double>(y.host().front());
    std::printf("w4_linear: %.4f, expected %.4f\n", found, wanted);
    return std::abs(found - wanted) < 1e-3 ? 0 : 1;
}
