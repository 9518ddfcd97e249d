// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/truncation.h"

#include "engine/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace palimpsest {

namespace {

void require(bool holds, const std::string &field, const std::string &wanted)
{
    if (!holds) {
        throw Error(ErrorKind::InvalidArgument, field + " must be " + wanted, field);
    }
}

/// Alternatives that have a probability at all.
int possibleAlternatives(const PositionResult &result)
{
    int count = 0;
    while (count < kAlternativeCount && result.alternatives.at(static_cast<std::size_t>(count)).probability > 0.0F) {
        ++count;
    }
    return count;
}

} // namespace

void validate(const Truncation &truncation)
{
    require(truncation.topP > 0.0 && truncation.topP <= 1.0, "topP", "above 0 and at most 1");
    require(truncation.topK >= 0, "topK", "0 (no limit) or more");
    require(truncation.minP >= 0.0 && truncation.minP <= 1.0, "minP", "from 0 to 1");
}

std::optional<int> keptAlternatives(const Truncation &truncation, const PositionResult &result)
{
    const int possible = possibleAlternatives(result);
    if (possible == 0) {
        return std::nullopt;
    }
    constexpr int kUnknown = std::numeric_limits<int>::max();
    // Fewer than five have a probability: there are no others.
    int kept = possible < kAlternativeCount ? possible : kUnknown;
    if (truncation.topK > 0 && truncation.topK <= possible) {
        kept = std::min(kept, truncation.topK);
    }
    double sum = 0.0;
    const double least = truncation.minP * static_cast<double>(result.alternatives.front().probability);
    for (int i = 0; i < possible; ++i) {
        const auto probability = static_cast<double>(result.alternatives.at(static_cast<std::size_t>(i)).probability);
        if (i > 0 && (probability < least || (truncation.topP < 1.0 && sum >= truncation.topP))) {
            kept = std::min(kept, i);
            break;
        }
        sum += probability;
    }
    if (truncation.topP < 1.0 && sum >= truncation.topP) {
        kept = std::min(kept, possible);
    }
    return kept == kUnknown ? std::nullopt : std::optional<int>(kept);
}

void truncateDraw(const Truncation &truncation, const NoiseAddress &address, std::uint32_t position,
                  PositionResult &result)
{
    const std::optional<int> kept = keptAlternatives(truncation, result);
    if (!kept) {
        return;
    }
    float best = -std::numeric_limits<float>::infinity();
    TokenId drawn = result.sampled;
    for (int i = 0; i < *kept; ++i) {
        const auto &[id, probability] = result.alternatives.at(static_cast<std::size_t>(i));
        if (id == result.sampled) {
            return; // best of all, so best of these
        }
        const auto index = static_cast<std::uint32_t>(id);
        const std::uint32_t word = address.block(NoiseKind::Gumbel, position, index / 4)[index % 4];
        const float value = std::log(probability) + gumbelFromWord(word);
        if (value > best || (value == best && id < drawn)) {
            best = value;
            drawn = id;
        }
    }
    result.sampled = drawn;
}

} // namespace palimpsest
