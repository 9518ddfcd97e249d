// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/philox.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace palimpsest {

TokenId uniformTokenIdExcept(const NoiseAddress &address, NoiseKind kind, std::uint32_t position,
                             std::int64_t vocabSize, std::span<const TokenId> banned) noexcept
{
    const TokenId first = uniformTokenId(address, kind, position, vocabSize);
    if (!std::binary_search(banned.begin(), banned.end(), first)) {
        return first;
    }
    const std::int64_t allowedCount = vocabSize - static_cast<std::int64_t>(banned.size());
    assert(allowedCount > 0);
    const std::uint64_t word = address.block(kind, position, 1)[0];
    const auto rank = static_cast<std::int64_t>((word * static_cast<std::uint64_t>(allowedCount)) >> 32U);
    // The id with `rank` allowed ids below it: banned[i] - i ids are allowed below banned[i], and that never decreases.
    std::int64_t low = 0;
    auto high = static_cast<std::int64_t>(banned.size());
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (banned[static_cast<std::size_t>(middle)] - middle <= rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return static_cast<TokenId>(rank + low);
}

float uniformFromWord(std::uint32_t word) noexcept
{
    constexpr float kLowest = 0x1p-33F;
    constexpr float kHighest = 1.0F - 0x1p-24F;
    const auto uniform = static_cast<float>((static_cast<double>(word) + 0.5) * 0x1p-32);
    return std::clamp(uniform, kLowest, kHighest);
}

float gumbelFromWord(std::uint32_t word) noexcept
{
    return -std::log(-std::log(uniformFromWord(word)));
}

} // namespace palimpsest
