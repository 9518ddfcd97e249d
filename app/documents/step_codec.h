// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::documents {

/// Entropies above it are kept as this one. The entropy of a uniform choice among 2^23 tokens is below it.
inline constexpr float kHighestKeptEntropyNats = 16.0F;

/// An entropy in a byte, on a square-root scale: steps of 0.0007 nats around the confidence threshold of 0.005, of 0.12
/// at the upper end. What is not a number counts as 0.
[[nodiscard]] std::uint8_t quantisedEntropy(float nats) noexcept;
[[nodiscard]] float entropyOfQuantised(std::uint8_t quantised) noexcept;

/// Packs steps of one canvas, rising, all with the same number of positions. Throws Error InvalidArgument otherwise.
///
/// Before compression, each field stands alone: an argmax as its difference from the step before, an id as its
/// difference from the argmax, so that settled positions are zeros; integers byte plane by byte plane; masks as bits.
[[nodiscard]] std::string packSteps(std::span<const StepRecord> steps);

/// Throws Error InvalidInput if the record is not one that `packSteps` made.
[[nodiscard]] std::vector<StepRecord> unpackSteps(std::string_view record);

} // namespace palimpsest::documents
