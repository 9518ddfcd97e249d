// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/philox.h"
#include "engine/token.h"

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace palimpsest {

/// The knobs of the denoising loop (design, section 2, "Sampler").
struct SamplerSettings
{
    int maxDenoisingSteps = 48;
    double tMin = 0.4;
    double tMax = 0.8;
    double entropyBoundNats = 0.1;
    int stabilityThreshold = 1;
    double confidenceThresholdNats = 0.005;
};

inline constexpr int kMostDenoisingSteps = 10000;
/// Below it, logits of a capped head (at most tens) divided by it lose their fraction in float32.
inline constexpr double kLowestTemperature = 1e-3;
inline constexpr double kHighestTemperature = 1e3;

/// Throws Error InvalidArgument naming the field if a value is not finite or out of range: 1 to kMostDenoisingSteps
/// steps, tMin and tMax from 0 to kHighestTemperature such that no step is colder than kLowestTemperature, the others
/// not negative.
void validate(const SamplerSettings &settings);

inline constexpr int kAlternativeCount = 5;

struct Alternative
{
    TokenId id = 0;
    float probability = 0.0F;
};

/// What a backend reports for one canvas position after one decoder pass, from processed logits = logits / temperature.
struct PositionResult
{
    TokenId argmax = 0;  ///< of the processed logits, lowest id on ties
    TokenId sampled = 0; ///< argmax of processed logits + Gumbel noise
    float entropyNats = 0.0F;
    std::array<Alternative, kAlternativeCount> alternatives{}; ///< descending; equal probabilities by id
};

/// Temperature of a step, `step` counting down from maxDenoisingSteps to 1 (float32 arithmetic of the specification).
[[nodiscard]] float stepTemperature(const SamplerSettings &settings, int step) noexcept;

/// Which positions are accepted: ascending entropy, equal ones by position, while the running sum before a position is
/// at most the bound. Frozen positions (`frozen` empty or one byte a position, non-zero = frozen) take no part and
/// count as accepted. The sum is formed in float32; the entropies are finite.
[[nodiscard]] std::vector<std::uint8_t> acceptPositions(std::span<const float> entropyNats,
                                                        std::span<const std::uint8_t> frozen, double entropyBoundNats);

/// Mean entropy over the positions that are not frozen; 0 if all are.
[[nodiscard]] float meanEntropy(std::span<const float> entropyNats, std::span<const std::uint8_t> frozen) noexcept;

/// Decides when a canvas is finished: argmax unchanged for `stabilityThreshold` steps and mean entropy below the
/// threshold.
class StoppingRule
{
public:
    StoppingRule(int stabilityThreshold, double confidenceThresholdNats);
    /// Feeds one step's argmax canvas; true if the loop ends after it.
    [[nodiscard]] bool update(std::span<const TokenId> argmax, float meanEntropyNats);
    void reset();

private:
    std::size_t m_stabilityThreshold;
    float m_confidenceThresholdNats;
    std::deque<std::vector<TokenId>> m_history;
};

} // namespace palimpsest
