// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/philox.h"
#include "engine/sampler.h"

#include <cstdint>
#include <optional>

namespace palimpsest {

/// Keeps a position's draw to its likelier ids, as autoregressive samplers do. The defaults keep all of them.
///
/// Each limit is judged on the whole distribution of the step, and an id is kept if it passes all three. Only the draw
/// is touched, never the argmax that is committed, so the effect on a block-diffusion model is small: it is where a
/// canvas comes from, not what it settles on.
struct Truncation
{
    double topP = 1.0; ///< the fewest ids whose probabilities sum to this, above 0 to 1
    int topK = 0;      ///< the likeliest ids; 0 = all
    double minP = 0.0; ///< ids with at least this share of the likeliest one's probability, 0 to 1

    [[nodiscard]] bool isActive() const noexcept { return topP < 1.0 || topK > 0 || minP > 0.0; }
};

/// Throws Error InvalidArgument naming the field for a value out of range.
void validate(const Truncation &truncation);

/// How many of a position's alternatives are kept, at least 1; nothing if some that are not among them are kept, too.
[[nodiscard]] std::optional<int> keptAlternatives(const Truncation &truncation, const PositionResult &result);

/// Draws a position's sample again from what is kept, with the same Gumbel noise, so that it is the sample that the
/// backend would have drawn from the truncated distribution: exact, since argmax(log p + noise) needs no normalisation.
///
/// A backend reports no more than its five best alternatives. Where more ids would be kept than these, the draw is left
/// as it is; that happens at uncertain positions only, whose draws are rarely accepted.
void truncateDraw(const Truncation &truncation, const NoiseAddress &address, std::uint32_t position,
                  PositionResult &result);

} // namespace palimpsest
