// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/canvas.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace palimpsest {

/// The gap of an edit, position by position.
struct Gap
{
    std::vector<TokenSpan> tokens;  ///< for free positions of a stretched gap the id means nothing
    std::vector<std::uint8_t> held; ///< non-zero = frozen to the id

    [[nodiscard]] std::int64_t heldCount() const noexcept;
};

/// Marks the tokens that a lock touches; returns the lock with its true extent. Throws Error InvalidArgument if the
/// lock is empty or not inside `replaced`.
LockExtent holdLock(Gap &gap, ByteRange lock, std::string_view document, ByteRange replaced);

/// Which tokens are written anew: whole words, chosen by the seed, until they make up the share that `noise` names.
/// One byte a token, non-zero = anew.
[[nodiscard]] std::vector<std::uint8_t> chooseNoise(std::span<const TokenSpan> tokens, std::string_view document,
                                                    ByteRange replaced, NoiseAmount noise, std::uint64_t seed);

/// The gap with `length` positions: held tokens keep their order, and the free runs between them grow and shrink
/// evenly. `length` must be at least the number of held tokens, and the gap must have a free one.
[[nodiscard]] Gap stretched(const Gap &gap, std::int64_t length);

/// Runs of held positions with the bytes they stand for; positions count from `canvasBegin`.
[[nodiscard]] std::vector<HeldRun> heldRuns(const Gap &gap, std::int64_t canvasBegin);

} // namespace palimpsest
