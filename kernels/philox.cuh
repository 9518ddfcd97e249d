// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/ptx.cuh"

#include <cstdint>

/// The random numbers of the specification on the device, bit for bit those of engine/philox.h.
namespace palimpsest::kernels {

/// The rounds of Philox4x32-10 from number `first` on. Source: Salmon, Moraes, Dror and Shaw 2011, "Parallel random
/// numbers: as easy as 1, 2, 3".
template <int kFirst = 0>
__device__ __forceinline__ uint4 philox4x32(uint4 counter, uint2 key)
{
#pragma unroll
    for (std::uint32_t round = kFirst; round < 10; ++round) {
        // One 64-bit product each: a single instruction, where high and low halves asked for apart are two.
        const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter.x;
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter.z;
        counter = make_uint4(static_cast<std::uint32_t>(product1 >> 32U) ^ counter.y ^ (key.x + round * 0x9E3779B9U),
                             static_cast<std::uint32_t>(product1),
                             static_cast<std::uint32_t>(product0 >> 32U) ^ counter.w ^ (key.y + round * 0xBB67AE85U),
                             static_cast<std::uint32_t>(product0));
    }
    return counter;
}

/// philox4x32() of counters that differ in their first word alone: two of the products are the same for all.
class PhiloxRow
{
public:
    __device__ PhiloxRow(std::uint32_t second, std::uint32_t third, std::uint32_t fourth, uint2 key) : m_key(key)
    {
        const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * third;
        const std::uint32_t first = static_cast<std::uint32_t>(product1 >> 32U) ^ second ^ key.x;
        const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * first;
        m_toThird = fourth ^ key.y;
        m_toFirst = static_cast<std::uint32_t>(product1) ^ (key.x + 0x9E3779B9U);
        m_toThirdAgain = static_cast<std::uint32_t>(product0 >> 32U) ^ (key.y + 0xBB67AE85U);
        m_fourth = static_cast<std::uint32_t>(product0);
    }

    [[nodiscard]] __device__ __forceinline__ uint4 at(std::uint32_t first) const
    {
        const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * first;
        const std::uint64_t product1 =
            std::uint64_t{0xCD9E8D57U} * (static_cast<std::uint32_t>(product0 >> 32U) ^ m_toThird);
        return philox4x32<2>(make_uint4(static_cast<std::uint32_t>(product1 >> 32U) ^ m_toFirst,
                                        static_cast<std::uint32_t>(product1),
                                        static_cast<std::uint32_t>(product0) ^ m_toThirdAgain, m_fourth),
                             m_key);
    }

private:
    uint2 m_key;
    std::uint32_t m_toThird;      ///< of the counter: in the first round
    std::uint32_t m_toFirst;      ///< in the second
    std::uint32_t m_toThirdAgain; ///< likewise
    std::uint32_t m_fourth;       ///< behind the second
};

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

/// A word below which no Gumbel value reaches `needed`. Gumbel values grow with the word: u must be at least
/// exp(-exp(-needed)), and so at least 1 - exp(-needed), which lets few more pass where few do. There is room for every
/// rounding on the way: 1e-3 in the value, and 2^-22 in u, of which words are 2^-32 and what is rounded 2^-24.
__device__ __forceinline__ std::uint32_t wordFloor(float needed)
{
    constexpr float kLog2E = 1.44269504F;
    const float reach = ptx::exp2Approximate(-kLog2E * needed);
    // Of a number from 1 to 2 all but the first bit are what is added to 1: what u lacks to 1.
    const std::uint32_t lacks = __float_as_uint(fmaf(reach, 1.001F, 1.0F + 0x1p-22F)) << 9U;
    return reach < 0.9F ? ~lacks : 0U;
}

} // namespace palimpsest::kernels
