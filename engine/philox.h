// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <array>
#include <cstdint>
#include <span>

namespace palimpsest {

/// What a random number is drawn for; the low byte of the Philox stream word.
enum class NoiseKind : std::uint32_t { InitialCanvas = 0, Renoise = 1, Gumbel = 2 };

using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3").
[[nodiscard]] constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept
{
    constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
    constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
    constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t product0 = kMultiplier0 * counter[0];
        const std::uint64_t product1 = kMultiplier1 * counter[2];
        counter = {
            static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return counter;
}

/// Addresses every random number of one denoising step: seed, canvas number from 0, and the step, which counts down
/// from maxDenoisingSteps to 1 (0 for the initial canvas). Any backend, batch and order of evaluation draws the same
/// numbers.
struct NoiseAddress
{
    std::uint64_t seed = 0;
    std::uint32_t canvas = 0;
    std::uint32_t step = 0;

    [[nodiscard]] constexpr PhiloxBlock block(NoiseKind kind, std::uint32_t position,
                                              std::uint32_t index) const noexcept
    {
        return philox4x32({index, position, step, (canvas << 8U) | static_cast<std::uint32_t>(kind)},
                          {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)});
    }
};

/// Uniform token id of a canvas position, for the initial canvas and for renoising.
[[nodiscard]] constexpr TokenId uniformTokenId(const NoiseAddress &address, NoiseKind kind, std::uint32_t position,
                                               std::int64_t vocabSize) noexcept
{
    const std::uint64_t word = address.block(kind, position, 0)[0];
    return static_cast<TokenId>((word * static_cast<std::uint64_t>(vocabSize)) >> 32U);
}

/// Uniform token id among those that are not banned, for a position that a banned id may not reach.
///
/// The draw of `uniformTokenId` if that is allowed, else a second one over the allowed ids alone, from the same address
/// with index 1: banning an id changes only the positions that would have drawn it. `banned` is sorted, each id once,
/// inside the vocabulary and not all of it.
[[nodiscard]] TokenId uniformTokenIdExcept(const NoiseAddress &address, NoiseKind kind, std::uint32_t position,
                                           std::int64_t vocabSize, std::span<const TokenId> banned) noexcept;

/// Uniform float in [2^-33, 1 - 2^-24] of a random word.
[[nodiscard]] float uniformFromWord(std::uint32_t word) noexcept;

/// Standard Gumbel value -log(-log(u)) of a random word, float32 throughout.
[[nodiscard]] float gumbelFromWord(std::uint32_t word) noexcept;

} // namespace palimpsest
