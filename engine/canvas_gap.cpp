// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/canvas_gap.h"

#include "engine/error.h"
#include "engine/philox.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

namespace palimpsest {

namespace {

/// Stream word of the draws that choose words; its low byte is none of NoiseKind, so no draw of the sampler is reused.
constexpr std::uint32_t kChoiceStream = 0xFF;

double shareOf(NoiseAmount noise)
{
    switch (noise) {
    case NoiseAmount::Light:
        return 0.25;
    case NoiseAmount::Medium:
        return 0.6;
    case NoiseAmount::Full:
        break;
    }
    return 1.0;
}

bool touches(const TokenSpan &token, ByteRange range)
{
    return token.begin < range.end && range.begin < token.end;
}

/// Indices of the tokens that a range touches.
std::vector<std::size_t> tokensOf(ByteRange range, std::span<const TokenSpan> tokens)
{
    std::vector<std::size_t> found;
    auto token = std::lower_bound(tokens.begin(), tokens.end(), range.begin,
                                  [](const TokenSpan &span, std::int64_t offset) { return span.end <= offset; });
    for (; token != tokens.end() && token->begin < range.end; ++token) {
        if (touches(*token, range)) {
            found.push_back(static_cast<std::size_t>(token - tokens.begin()));
        }
    }
    return found;
}

/// The tokens of each word; of each mark or emoji, if the text has no words. Never a part of a character's tokens.
std::vector<std::vector<std::size_t>> tokensOfWords(std::span<const TokenSpan> tokens, std::string_view document,
                                                    ByteRange replaced)
{
    const std::vector<WordPiece> pieces = splitIntoWords(replaced.of(document));
    const bool hasWords =
        std::any_of(pieces.begin(), pieces.end(), [](const WordPiece &piece) { return piece.isWord; });
    std::vector<std::vector<std::size_t>> words;
    for (const WordPiece &piece : pieces) {
        if (hasWords ? piece.isWord : !piece.isWhiteSpace) {
            words.push_back(tokensOf({piece.range.begin + replaced.begin, piece.range.end + replaced.begin}, tokens));
        }
    }
    return words;
}

/// The numbers 0 to count - 1 in an order that the seed decides.
std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed)
{
    const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed),
                                              static_cast<std::uint32_t>(seed >> 32U)};
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const auto drawOf = [&key](std::uint32_t index) {
        return philox4x32({index, 0, 0, kChoiceStream}, key)[0];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&drawOf](std::uint32_t a, std::uint32_t b) { return drawOf(a) < drawOf(b); });
    return order;
}

/// Lengths of the free runs before, between and behind the held tokens.
std::vector<std::int64_t> freeRuns(const Gap &gap)
{
    std::vector<std::int64_t> runs = {0};
    for (const std::uint8_t held : gap.held) {
        if (held != 0) {
            runs.push_back(0);
        } else {
            ++runs.back();
        }
    }
    return runs;
}

/// Shares `total` out in proportion to `weights`; what rounding leaves over goes to the largest remainders.
std::vector<std::int64_t> apportioned(const std::vector<std::int64_t> &weights, std::int64_t total)
{
    const std::int64_t sum = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    assert(sum > 0);
    std::vector<std::int64_t> shares;
    std::vector<std::size_t> order;
    std::int64_t left = total;
    for (const std::int64_t weight : weights) {
        order.push_back(shares.size());
        shares.push_back(weight * total / sum);
        left -= shares.back();
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] * total % sum > weights[b] * total % sum; });
    for (std::size_t i = 0; left > 0; ++i, --left) {
        ++shares[order[i]];
    }
    return shares;
}

} // namespace

std::int64_t Gap::heldCount() const noexcept
{
    return std::count_if(held.begin(), held.end(), [](std::uint8_t flag) { return flag != 0; });
}

LockExtent holdLock(Gap &gap, ByteRange lock, std::string_view document, ByteRange replaced)
{
    const auto size = static_cast<std::int64_t>(document.size());
    const bool isRange = 0 <= lock.begin && lock.begin < lock.end && lock.end <= size;
    const ByteRange snapped = isRange ? trimWhiteSpace(document, snapToGraphemes(document, lock)) : ByteRange{};
    if (snapped.empty() || snapped.begin < replaced.begin || snapped.end > replaced.end) {
        throw Error(ErrorKind::InvalidArgument,
                    fmt::format("the lock {}:{} holds no text inside the selection's {}:{}", lock.begin, lock.end,
                                replaced.begin, replaced.end),
                    "locks");
    }
    LockExtent extent = {.asked = lock, .held = snapped};
    for (std::size_t i = 0; i < gap.tokens.size(); ++i) {
        const TokenSpan &token = gap.tokens[i];
        if (touches(token, snapped)) {
            gap.held[i] = 1;
            extent.held.begin = std::min(extent.held.begin, token.begin);
            extent.held.end = std::max(extent.held.end, token.end);
        }
    }
    return extent;
}

std::vector<std::uint8_t> chooseNoise(std::span<const TokenSpan> tokens, std::string_view document, ByteRange replaced,
                                      NoiseAmount noise, std::uint64_t seed)
{
    if (noise == NoiseAmount::Full) {
        return std::vector<std::uint8_t>(tokens.size(), 1);
    }
    std::vector<std::uint8_t> anew(tokens.size(), 0);
    const std::vector<std::vector<std::size_t>> words = tokensOfWords(tokens, document, replaced);
    const double wanted = shareOf(noise) * static_cast<double>(tokens.size());
    std::int64_t chosen = 0;
    for (const std::uint32_t word : shuffled(words.size(), seed)) {
        if (static_cast<double>(chosen) >= wanted) {
            break;
        }
        for (const std::size_t token : words[word]) {
            chosen += anew[token] == 0 ? 1 : 0;
            anew[token] = 1;
        }
    }
    return anew;
}

Gap stretched(const Gap &gap, std::int64_t length)
{
    const std::int64_t heldCount = gap.heldCount();
    assert(length >= heldCount);
    const std::vector<std::int64_t> runs = apportioned(freeRuns(gap), length - heldCount);
    Gap result;
    auto run = runs.begin();
    const auto addFree = [&result](std::int64_t count) {
        result.tokens.resize(result.tokens.size() + static_cast<std::size_t>(count));
        result.held.resize(result.tokens.size(), 0);
    };
    addFree(*run++);
    for (std::size_t i = 0; i < gap.tokens.size(); ++i) {
        if (gap.held[i] != 0) {
            result.tokens.push_back(gap.tokens[i]);
            result.held.push_back(1);
            addFree(*run++);
        }
    }
    return result;
}

std::vector<HeldRun> heldRuns(const Gap &gap, std::int64_t canvasBegin)
{
    std::vector<HeldRun> runs;
    for (std::size_t i = 0; i < gap.tokens.size(); ++i) {
        if (gap.held[i] == 0) {
            continue;
        }
        const TokenSpan &token = gap.tokens[i];
        const std::int64_t position = canvasBegin + static_cast<std::int64_t>(i);
        // Words that were not neighbours may have become so where the free positions between them were taken away.
        if (!runs.empty() && runs.back().canvasEnd == position && runs.back().source.end == token.begin) {
            runs.back().canvasEnd = position + 1;
            runs.back().source.end = token.end;
        } else {
            runs.push_back({.canvasBegin = position, .canvasEnd = position + 1, .source = {token.begin, token.end}});
        }
    }
    return runs;
}

} // namespace palimpsest
