// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace palimpsest::cli {

namespace {

/// Optimal string alignment distance (Damerau 1964, without repeated edits of a place).
std::size_t editDistance(std::string_view left, std::string_view right)
{
    const std::size_t columns = right.size() + 1;
    std::vector<std::size_t> table((left.size() + 1) * columns);
    const auto at = [&](std::size_t row, std::size_t column) -> std::size_t & {
        return table[row * columns + column];
    };
    for (std::size_t row = 0; row <= left.size(); ++row) {
        for (std::size_t column = 0; column <= right.size(); ++column) {
            if (row == 0 || column == 0) {
                at(row, column) = row + column;
                continue;
            }
            const std::size_t change = left[row - 1] == right[column - 1] ? 0 : 1;
            std::size_t best =
                std::min({at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + change});
            const bool swapped =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1];
            if (swapped)
                best = std::min(best, at(row - 2, column - 2) + 1);
            at(row, column) = best;
        }
    }
    return table.back();
}

} // namespace

std::optional<std::string> nearestWord(std::string_view unknown, std::span<const std::string> known)
{
    constexpr std::size_t kMaxDistance = 3;
    std::optional<std::string> nearest;
    std::size_t nearestDistance = std::clamp<std::size_t>(unknown.size() / 3, 1, kMaxDistance) + 1;
    for (const std::string &word : known) {
        const std::size_t distance = editDistance(unknown, word);
        if (distance < nearestDistance) {
            nearestDistance = distance;
            nearest = word;
        }
    }
    return nearest;
}

} // namespace palimpsest::cli
