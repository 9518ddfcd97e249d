// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace palimpsest {

/// The 4-bit expert format (design, section 3): weight = (q - zero) * scale, one scale and zero point for a group of
/// columns of a row.
inline constexpr std::string_view kW4FormatName = "dg-w4a16-v1";
inline constexpr int kW4Bits = 4;
inline constexpr std::int64_t kGateUpGroupSize = 128;
inline constexpr std::int64_t kDownGroupSize = 64;

/// A matrix [rows, columns] in that format.
struct W4Matrix
{
    std::vector<std::uint8_t> packed; ///< [rows, columns / 2]; byte j: column 2j in the low nibble, 2j + 1 in the high
    std::vector<std::uint16_t> scale; ///< [rows, columns / groupSize] binary16
    std::vector<std::uint16_t> zero;  ///< [rows, columns / groupSize] binary16, a whole number from 0 to 15
};

/// Quantises `weights` [rows, columns]; columns is a multiple of `groupSize`, which is even.
///
/// scale = max((max - min), 1e-8) / 15, zero = clamp(round(-min / scale), 0, 15), q = clamp(round(w / scale + zero), 0,
/// 15), in float32, rounding half to even. q uses the float32 scale; only the stored one is rounded to binary16 (and is
/// infinite above 65519). Throws Error InvalidInput if a weight is not finite.
[[nodiscard]] W4Matrix quantiseW4(std::span<const float> weights, std::int64_t columns, std::int64_t groupSize);

/// Splits each byte into its low and its high nibble; `nibbles` is twice as long as `packed`.
void unpackW4(std::span<const std::uint8_t> packed, std::span<std::uint8_t> nibbles) noexcept;

/// (q - zero) * scale in float32. `groupSize` columns share a scale; weights is twice as long as packed and groupSize
/// times as long as scale and zero.
void dequantiseW4(std::span<const std::uint8_t> packed, std::span<const std::uint16_t> scale,
                  std::span<const std::uint16_t> zero, std::span<float> weights) noexcept;

} // namespace palimpsest
