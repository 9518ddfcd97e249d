// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <string_view>

namespace palimpsest::test {

/// Figures over many proofread texts, in words split at white space. Distances are the usual edit distance over words;
/// an error is a word of the expected text that the noisy one has wrong, or a gap in it that the noisy one has filled.
struct ProofreadingScore
{
    std::int64_t words = 0;
    std::int64_t distanceBefore = 0;
    std::int64_t distanceAfter = 0;
    std::int64_t errors = 0;
    std::int64_t fixed = 0;
    std::int64_t cleanWords = 0;
    std::int64_t damaged = 0;

    void add(std::string_view expected, std::string_view noisy, std::string_view output);

    [[nodiscard]] double errorRateBefore() const { return percent(distanceBefore, words); }
    [[nodiscard]] double errorRateAfter() const { return percent(distanceAfter, words); }
    [[nodiscard]] double fixedPercent() const { return percent(fixed, errors); }
    [[nodiscard]] double damagedPercent() const { return percent(damaged, cleanWords); }

private:
    static double percent(std::int64_t part, std::int64_t whole)
    {
        return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    }
};

} // namespace palimpsest::test
