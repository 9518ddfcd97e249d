// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace palimpsest {

/// The 16-bit formats that weights are stored in, as bit patterns: bfloat16 (8 exponent bits, 7 of fraction) and IEEE
/// binary16 (5 and 10). Rounding is to nearest, ties to even, as in numpy and torch.

[[nodiscard]] constexpr float bf16ToFloat(std::uint16_t bits) noexcept
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// NaN stays NaN (quiet, sign kept); values beyond the largest finite one become infinite.
[[nodiscard]] constexpr std::uint16_t floatToBf16(float value) noexcept
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U)
        return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

[[nodiscard]] constexpr float fp16ToFloat(std::uint16_t bits) noexcept
{
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    if (magnitude >= 0x7C00U) // infinity and NaN: the exponent is all ones in both formats
        return std::bit_cast<float>(sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13U));
    if (magnitude >= 0x400U) // normal: the biases differ by 127 - 15
        return std::bit_cast<float>(sign | ((magnitude + (112U << 10U)) << 13U));
    constexpr float kSmallestSubnormal = 0x1p-24F;
    const float value = static_cast<float>(magnitude) * kSmallestSubnormal; // exact
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

[[nodiscard]] constexpr std::uint16_t floatToFp16(float value) noexcept
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U)
        return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x3FFU));
    constexpr std::uint32_t kOverflow = 0x477FF000U; // 65520: half way from 65504, the largest finite value, to 65536
    if (magnitude >= kOverflow)
        return static_cast<std::uint16_t>(sign | 0x7C00U);
    constexpr std::uint32_t kSmallestNormal = 0x38800000U; // 2^-14
    if (magnitude >= kSmallestNormal) {
        const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
        return static_cast<std::uint16_t>(sign | ((rounded >> 13U) - (112U << 10U)));
    }
    // Adding 0.5 puts the units of 2^-24 into the lowest fraction bits, and the addition rounds to even by itself.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
}

/// Widens bf16 bytes as they lie in a file, at any alignment: a plain loop that compilers vectorise.
inline void bf16ToFloat(const std::byte *source, std::span<float> target) noexcept
{
    for (std::size_t i = 0; i < target.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
        target[i] = bf16ToFloat(bits);
    }
}

/// The same for binary16.
inline void fp16ToFloat(const std::byte *source, std::span<float> target) noexcept
{
    for (std::size_t i = 0; i < target.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, source + i * sizeof bits, sizeof bits);
        target[i] = fp16ToFloat(bits);
    }
}

} // namespace palimpsest
