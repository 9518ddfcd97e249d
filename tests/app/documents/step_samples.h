// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"
#include "app/documents/step_codec.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace palimpsest::test {

/// Uniform in [0, bound); the standard's distributions differ between libraries.
inline std::uint64_t below(std::mt19937_64 &random, std::uint64_t bound)
{
    return random() % bound;
}

/// Steps without any order in them; every third without a frozen mask.
inline std::vector<documents::StepRecord> randomSteps(std::uint64_t seed, std::size_t count, std::size_t positions)
{
    std::mt19937_64 random(seed);
    std::vector<documents::StepRecord> steps(count);
    std::int32_t number = 0;
    for (documents::StepRecord &step : steps) {
        step.step = number += 1 + static_cast<std::int32_t>(below(random, 3));
        step.meanEntropyNats = static_cast<float>(below(random, 1000)) / 999.0F;
        step.stepMs = static_cast<float>(below(random, 1000)) / 7.0F;
        const bool hasFrozen = below(random, 3) != 0;
        for (std::size_t position = 0; position < positions; ++position) {
            step.ids.push_back(static_cast<std::int32_t>(random()));
            step.argmax.push_back(static_cast<std::int32_t>(random()));
            step.entropiesNats.push_back(static_cast<float>(below(random, 1250)) / 100.0F);
            step.accepted.push_back(random() & 1U);
            if (hasFrozen)
                step.frozen.push_back(random() & 1U);
        }
    }
    return steps;
}

/// A canvas that settles as a model's does: each position has its own step from which on it is accepted; before, its id
/// is noise and its argmax changes now and then.
inline std::vector<documents::StepRecord> settlingCanvas(std::uint64_t seed, std::int32_t stepCount,
                                                         std::size_t positions, std::uint64_t vocabulary)
{
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> settlesAt(positions);
    std::vector<std::int32_t> argmax(positions);
    for (std::size_t position = 0; position < positions; ++position) {
        settlesAt[position] = 1 + static_cast<std::int32_t>(below(random, static_cast<std::uint64_t>(stepCount)));
        argmax[position] = static_cast<std::int32_t>(below(random, vocabulary));
    }
    std::vector<documents::StepRecord> steps;
    for (std::int32_t number = 1; number <= stepCount; ++number) {
        documents::StepRecord &step = steps.emplace_back();
        step.step = number;
        step.stepMs = 41.5F + static_cast<float>(below(random, 100)) / 100.0F;
        for (std::size_t position = 0; position < positions; ++position) {
            const bool settled = settlesAt[position] <= number;
            const bool moves = below(random, settled ? 200 : 4) == 0;
            if (moves)
                argmax[position] = static_cast<std::int32_t>(below(random, vocabulary));
            step.argmax.push_back(argmax[position]);
            step.ids.push_back(settled ? argmax[position] : static_cast<std::int32_t>(below(random, vocabulary)));
            const auto fraction = static_cast<float>(below(random, 1000)) / 1000.0F;
            step.entropiesNats.push_back(settled ? 0.01F * fraction * fraction : 6.0F * fraction);
            step.accepted.push_back(settled ? 1 : 0);
        }
    }
    return steps;
}

/// What the history gives back: entropies in their byte, masks of 0 and 1.
inline std::vector<documents::StepRecord> asKept(std::vector<documents::StepRecord> steps)
{
    for (documents::StepRecord &step : steps) {
        for (float &entropy : step.entropiesNats)
            entropy = documents::entropyOfQuantised(documents::quantisedEntropy(entropy));
        for (std::uint8_t &bit : step.accepted)
            bit = bit != 0 ? 1 : 0;
        for (std::uint8_t &bit : step.frozen)
            bit = bit != 0 ? 1 : 0;
    }
    return steps;
}

} // namespace palimpsest::test
