// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

/// The specification's random numbers once more, for the tests of the sampler.
namespace palimpsest::gpu_check {

[[nodiscard]] inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::uint32_t k0,
                                                         std::uint32_t k1)
{
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = 0xD2511F53ULL * c[0];
        const std::uint64_t p1 = 0xCD9E8D57ULL * c[2];
        c = {static_cast<std::uint32_t>(p1 >> 32U) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
             static_cast<std::uint32_t>(p0 >> 32U) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
    }
    return c;
}

[[nodiscard]] inline float uniformFromWord(std::uint32_t word)
{
    const auto uniform = static_cast<float>((static_cast<double>(word) + 0.5) * 0x1p-32);
    return std::clamp(uniform, 0x1p-33F, 1.0F - 0x1p-24F);
}

} // namespace palimpsest::gpu_check
