// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/w4_format.h"

#include "engine/error.h"
#include "engine/half_precision.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace palimpsest {

namespace {

constexpr float kLargestNibble = 15.0F;
constexpr float kSmallestRange = 1e-8F; // keeps the scale of a constant group above zero

/// Quantises one group; `packed` is half as long as `weights`.
void quantiseGroup(std::span<const float> weights, std::span<std::uint8_t> packed, std::uint16_t &scaleBits,
                   std::uint16_t &zeroBits)
{
    const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
    const float scale = std::max(*high - *low, kSmallestRange) / kLargestNibble;
    const float zero = std::clamp(std::nearbyint(-*low / scale), 0.0F, kLargestNibble);
    const auto nibble = [&](float weight) {
        return static_cast<unsigned>(std::clamp(std::nearbyint(weight / scale + zero), 0.0F, kLargestNibble));
    };
    for (std::size_t j = 0; j < packed.size(); ++j)
        packed[j] = static_cast<std::uint8_t>(nibble(weights[2 * j]) | (nibble(weights[2 * j + 1]) << 4U));
    scaleBits = floatToFp16(scale);
    zeroBits = floatToFp16(zero);
}

} // namespace

W4Matrix quantiseW4(std::span<const float> weights, std::int64_t columns, std::int64_t groupSize)
{
    assert(groupSize > 0 && groupSize % 2 == 0 && columns % groupSize == 0);
    assert(columns > 0 && std::ssize(weights) % columns == 0);
    const auto bad =
        std::find_if_not(weights.begin(), weights.end(), [](float weight) { return std::isfinite(weight); });
    if (bad != weights.end())
        throw Error(ErrorKind::InvalidInput, "the weight in row " + std::to_string((bad - weights.begin()) / columns) +
                                                 ", column " + std::to_string((bad - weights.begin()) % columns) +
                                                 " is not finite and cannot be quantised");
    const auto group = static_cast<std::size_t>(groupSize);
    const std::size_t groupCount = weights.size() / group;
    W4Matrix matrix{.packed = std::vector<std::uint8_t>(weights.size() / 2),
                    .scale = std::vector<std::uint16_t>(groupCount),
                    .zero = std::vector<std::uint16_t>(groupCount)};
    for (std::size_t i = 0; i < groupCount; ++i)
        quantiseGroup(weights.subspan(i * group, group), std::span(matrix.packed).subspan(i * group / 2, group / 2),
                      matrix.scale[i], matrix.zero[i]);
    return matrix;
}

void unpackW4(std::span<const std::uint8_t> packed, std::span<std::uint8_t> nibbles) noexcept
{
    assert(nibbles.size() == 2 * packed.size());
    for (std::size_t j = 0; j < packed.size(); ++j) {
        nibbles[2 * j] = packed[j] & 15U;
        nibbles[2 * j + 1] = static_cast<std::uint8_t>(packed[j] >> 4U);
    }
}

void dequantiseW4(std::span<const std::uint8_t> packed, std::span<const std::uint16_t> scale,
                  std::span<const std::uint16_t> zero, std::span<float> weights) noexcept
{
    assert(weights.size() == 2 * packed.size() && scale.size() == zero.size());
    if (scale.empty())
        return;
    const std::size_t group = weights.size() / scale.size();
    assert(group % 2 == 0 && group * scale.size() == weights.size());
    for (std::size_t i = 0; i < scale.size(); ++i) {
        const float groupScale = fp16ToFloat(scale[i]);
        const float groupZero = fp16ToFloat(zero[i]);
        for (std::size_t j = i * group / 2; j < (i + 1) * group / 2; ++j) {
            weights[2 * j] = (static_cast<float>(packed[j] & 15U) - groupZero) * groupScale;
            weights[2 * j + 1] = (static_cast<float>(packed[j] >> 4U) - groupZero) * groupScale;
        }
    }
}

} // namespace palimpsest
