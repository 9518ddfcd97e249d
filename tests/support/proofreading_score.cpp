// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/support/proofreading_score.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace palimpsest::test {

namespace {

std::vector<std::string_view> wordsOf(std::string_view text)
{
    constexpr std::string_view kSpace = " \t\r\n\v\f";
    std::vector<std::string_view> words;
    for (std::size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;
         at = text.find_first_not_of(kSpace, at)) {
        const std::size_t end = std::min(text.find_first_of(kSpace, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

/// How one text differs from the expected one.
struct Alignment
{
    std::int64_t distance = 0;
    std::set<std::size_t> wrong;      ///< expected words that are different or missing
    std::set<std::size_t> insertions; ///< gaps in front of expected words that hold extra words
};

Alignment align(const std::vector<std::string_view> &expected, const std::vector<std::string_view> &text)
{
    const std::size_t rows = expected.size() + 1;
    const std::size_t columns = text.size() + 1;
    std::vector<std::int64_t> table(rows * columns);
    const auto cost = [&](std::size_t i, std::size_t j) -> std::int64_t & {
        return table[i * columns + j];
    };
    const auto differs = [&](std::size_t i, std::size_t j) {
        return expected[i - 1] == text[j - 1] ? 0 : 1;
    };
    for (std::size_t i = 0; i < rows; ++i)
        cost(i, 0) = static_cast<std::int64_t>(i);
    for (std::size_t j = 0; j < columns; ++j)
        cost(0, j) = static_cast<std::int64_t>(j);
    for (std::size_t i = 1; i < rows; ++i)
        for (std::size_t j = 1; j < columns; ++j)
            cost(i, j) = std::min({cost(i - 1, j - 1) + differs(i, j), cost(i - 1, j) + 1, cost(i, j - 1) + 1});
    Alignment found{.distance = cost(rows - 1, columns - 1), .wrong = {}, .insertions = {}};
    for (std::size_t i = rows - 1, j = columns - 1; i > 0 || j > 0;) {
        if (i > 0 && j > 0 && cost(i, j) == cost(i - 1, j - 1) + differs(i, j)) {
            if (differs(i, j) != 0)
                found.wrong.insert(i - 1);
            --i;
            --j;
        } else if (i > 0 && cost(i, j) == cost(i - 1, j) + 1) {
            found.wrong.insert(--i);
        } else {
            found.insertions.insert(i);
            --j;
        }
    }
    return found;
}

std::int64_t countOnlyIn(const std::set<std::size_t> &a, const std::set<std::size_t> &b)
{
    return std::ranges::count_if(a, [&](std::size_t item) { return !b.contains(item); });
}

} // namespace

void ProofreadingScore::add(std::string_view expected, std::string_view noisy, std::string_view output)
{
    const auto wanted = wordsOf(expected);
    const Alignment before = align(wanted, wordsOf(noisy));
    const Alignment after = align(wanted, wordsOf(output));
    words += static_cast<std::int64_t>(wanted.size());
    distanceBefore += before.distance;
    distanceAfter += after.distance;
    errors += static_cast<std::int64_t>(before.wrong.size() + before.insertions.size());
    fixed += countOnlyIn(before.wrong, after.wrong) + countOnlyIn(before.insertions, after.insertions);
    cleanWords += static_cast<std::int64_t>(wanted.size() - before.wrong.size());
    damaged += countOnlyIn(after.wrong, before.wrong) + countOnlyIn(after.insertions, before.insertions);
}

} // namespace palimpsest::test
