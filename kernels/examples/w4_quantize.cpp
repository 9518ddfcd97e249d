// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/w4_quantize.h"

#include "device_vector.h"

#include <algorithm>
#include <cmath>

// There and back: what comes out is off by half a step of the group's scale at most, and a rounding of the zero point.
int main()
{
    constexpr std::int64_t kRows = 256;
    constexpr std::int64_t kColumns = 1024;
    constexpr std::int64_t kGroup = 128;
    const std::vector<float> weights = randomFloats(kRows * kColumns, 1);
    const DeviceVector<float> in(weights);
    const DeviceVector<std::uint8_t> packed(kRows * kColumns / 2);
    const DeviceVector<std::uint16_t> scale(kRows * kColumns / kGroup);
    const DeviceVector<std::uint16_t> zero(kRows * kColumns / kGroup);
    const DeviceVector<float> out(weights.size());

    check(palimpsest::kernels::w4Quantize({.rows = kRows,
                                           .columns = kColumns,
                                           .groupSize = kGroup,
                                           .weights = in.data(),
                                           .packed = packed.data(),
                                           .scale = scale.data(),
                                           .zero = zero.data()},
                                          nullptr));
    check(palimpsest::kernels::w4Dequantize({.rows = kRows,
                                             .columns = kColumns,
                                             .groupSize = kGroup,
                                             .packed = packed.data(),
                                             .scale = scale.data(),
                                             .zero = zero.data(),
                                             .weights = out.data()},
                                            nullptr));

    const std::vector<float> back = out.host();
    float largest = 0.0F;
    for (std::size_t i = 0; i < weights.size(); ++i)
        largest = std::max(largest, std::abs(back[i] - weights[i]));
    std::printf("w4_quantize: largest error %.3f for weights of deviation 1 in 16 levels\n", largest);
    return largest > 0.0F && largest < 0.8F ? 0 : 1;
}
