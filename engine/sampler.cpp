// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/sampler.h"

#include "engine/error.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace palimpsest {

namespace {

[[noreturn]] void refuse(const std::string &field, const std::string &found, const std::string &wanted)
{
    throw Error(ErrorKind::InvalidArgument, field + " is " + found + ", but must be " + wanted, field);
}

std::string spelled(double value)
{
    std::string text = std::to_string(value);
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        text.erase(text.find_last_not_of('.') + 1);
    }
    return text;
}

void requireRange(const std::string &field, double value, double lowest, double highest)
{
    if (!std::isfinite(value) || value < lowest || value > highest) {
        refuse(field, spelled(value), "from " + spelled(lowest) + " to " + spelled(highest));
    }
}

void requireNotNegative(const std::string &field, double value)
{
    if (!std::isfinite(value) || value < 0.0) {
        refuse(field, spelled(value), "a finite number that is not negative");
    }
}

bool isFree(std::span<const std::uint8_t> frozen, std::size_t position)
{
    return frozen.empty() || frozen[position] == 0;
}

} // namespace

void validate(const SamplerSettings &settings)
{
    if (settings.maxDenoisingSteps < 1 || settings.maxDenoisingSteps > kMostDenoisingSteps) {
        refuse("maxDenoisingSteps", std::to_string(settings.maxDenoisingSteps),
               "from 1 to " + std::to_string(kMostDenoisingSteps));
    }
    requireRange("tMin", settings.tMin, 0.0, kHighestTemperature);
    requireRange("tMax", settings.tMax, 0.0, kHighestTemperature);
    // The schedule is linear, so one of its ends is the coldest step.
    const float coldest = std::min(stepTemperature(settings, 1), stepTemperature(settings, settings.maxDenoisingSteps));
    if (coldest < static_cast<float>(kLowestTemperature)) {
        const char *const field = settings.tMax < settings.tMin ? "tMax" : "tMin";
        throw Error(ErrorKind::InvalidArgument,
                    std::string(field) + " is too low: the coldest denoising step would have temperature " +
                        spelled(static_cast<double>(coldest)) + ", but at least " + spelled(kLowestTemperature) +
                        " is wanted",
                    field);
    }
    requireNotNegative("entropyBoundNats", settings.entropyBoundNats);
    requireNotNegative("confidenceThresholdNats", settings.confidenceThresholdNats);
    if (settings.stabilityThreshold < 0) {
        refuse("stabilityThreshold", std::to_string(settings.stabilityThreshold), "0 or more");
    }
}

float stepTemperature(const SamplerSettings &settings, int step) noexcept
{
    // The difference is formed in double and then rounded, everything else is float32 (specification, section 4).
    const auto range = static_cast<float>(settings.tMax - settings.tMin);
    const float progress = static_cast<float>(step) / static_cast<float>(settings.maxDenoisingSteps);
    return static_cast<float>(settings.tMin) + range * progress;
}

std::vector<std::uint8_t> acceptPositions(std::span<const float> entropyNats, std::span<const std::uint8_t> frozen,
                                          double entropyBoundNats)
{
    assert(frozen.empty() || frozen.size() == entropyNats.size());
    std::vector<std::size_t> order;
    order.reserve(entropyNats.size());
    for (std::size_t position = 0; position < entropyNats.size(); ++position) {
        if (isFree(frozen, position)) {
            order.push_back(position);
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return entropyNats[a] < entropyNats[b]; });

    std::vector<std::uint8_t> accepted(entropyNats.size(), 1);
    const auto bound = static_cast<float>(entropyBoundNats);
    float sum = 0.0F;
    for (const std::size_t position : order) {
        sum += entropyNats[position];
        // Sum minus own, not the sum before it: in float32 they differ, and the reference forms the former.
        accepted[position] = sum - entropyNats[position] <= bound ? 1 : 0;
    }
    return accepted;
}

float meanEntropy(std::span<const float> entropyNats, std::span<const std::uint8_t> frozen) noexcept
{
    assert(frozen.empty() || frozen.size() == entropyNats.size());
    // Summed in double and rounded once: the same value in whichever order a reduction would have run.
    double sum = 0.0;
    std::int64_t count = 0;
    for (std::size_t position = 0; position < entropyNats.size(); ++position) {
        if (isFree(frozen, position)) {
            sum += static_cast<double>(entropyNats[position]);
            ++count;
        }
    }
    return count == 0 ? 0.0F : static_cast<float>(sum / static_cast<double>(count));
}

StoppingRule::StoppingRule(int stabilityThreshold, double confidenceThresholdNats)
    : m_stabilityThreshold(static_cast<std::size_t>(std::max(stabilityThreshold, 0))),
      m_confidenceThresholdNats(static_cast<float>(confidenceThresholdNats))
{
}

bool StoppingRule::update(std::span<const TokenId> argmax, float meanEntropyNats)
{
    const auto equalsArgmax = [&](const std::vector<TokenId> &earlier) {
        return std::equal(earlier.begin(), earlier.end(), argmax.begin(), argmax.end());
    };
    const bool stable =
        m_history.size() >= m_stabilityThreshold && std::all_of(m_history.begin(), m_history.end(), equalsArgmax);
    if (m_stabilityThreshold > 0) {
        if (m_history.size() == m_stabilityThreshold) {
            m_history.pop_front();
        }
        m_history.emplace_back(argmax.begin(), argmax.end());
    }
    return stable && meanEntropyNats < m_confidenceThresholdNats;
}

void StoppingRule::reset()
{
    m_history.clear();
}

} // namespace palimpsest
