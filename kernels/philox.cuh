// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

/// The random numbers of the specification on the device, bit for bit those of engine/philox.h.
namespace palimpsest::kernels {

/// Philox4x32-10. Source: Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
__device__ __forceinline__ uint4 philox4x32(uint4 counter, uint2 key)
{
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        // One 64-bit product each: a single instruction, where high and low halves asked for apart are two.
        const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter.x;
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter.z;
        counter = make_uint4(
            static_cast<std::uint32_t>(product1 >> 32U) ^ counter.y ^ key.x, static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32U) ^ counter.w ^ key.y, static_cast<std::uint32_t>(product0));
        key.x += 0x9E3779B9U;
        key.y += 0xBB67AE85U;
    }
    return counter;
}

/// Gumbel value of the largest word, rounded up.
inline constexpr float kLargestGumbel = 16.636F;
/// That of the smallest, rounded down: -log(log(2^33)).
inline constexpr float kSmallestGumbel = -3.131F;

/// float32 of (word + 0.5) 2^-32, clamped to [2^-33, 1 - 2^-24]: the same bits as the CPU's.
__device__ __forceinline__ float uniformFromWord(std::uint32_t word)
{
    const float uniform = __ull2float_rn(2ULL * word + 1ULL) * 0x1p-33F; // one rounding, then an exact factor
    return fminf(uniform, 1.0F - 0x1p-24F);
}

/// -log(-log(u)), each logarithm taken in double and rounded once to float32. The CPU's float32 logarithms are within
/// an ulp of that: the inner one differs in few words by 1 ulp, and the value then by at most 2 ulp of itself
/// or 1.2e-7, whichever is larger.
__device__ __forceinline__ float gumbelFromWord(std::uint32_t word)
{
    const auto inner = static_cast<float>(-log(static_cast<double>(uniformFromWord(word))));
    return static_cast<float>(-log(static_cast<double>(inner)));
}

/// The same with fast logarithms, off by less than kRoughGumbelError: the inner one has an absolute error of 2^-21.4,
/// so where 1 - u is small its series is taken instead.
inline constexpr float kRoughGumbelError = 1e-3F;
__device__ __forceinline__ float roughGumbelFromWord(std::uint32_t word)
{
    const float uniform = uniformFromWord(word);
    const float rest = 1.0F - uniform; // exact where it matters
    return -__logf(rest < 0x1p-10F ? rest + 0.5F * rest * rest : -__logf(uniform));
}

/// A word below which no Gumbel value reaches `needed`, with room for every rounding on the way: 1e-3 in the value and
/// 2^14 words (the exponentials' error is below 2^-21, 2^11 words). Gumbel values grow with the word.
__device__ __forceinline__ std::uint32_t wordFloor(float needed)
{
    const float word = __expf(-__expf(-(needed - 1e-3F))) * 0x1p32F - 0x1p14F;
    return word <= 0.0F ? 0U : __float2uint_rd(word); // saturates
}

} // namespace palimpsest::kernels
