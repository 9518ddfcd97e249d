// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/checkpoint.h"
#include "engine/cuda/activations.h"
#include "engine/cuda/precision.h"

#include <cstdint>

namespace palimpsest::cuda {

/// What a model takes of a device's memory once it is loaded, in bytes, before any context: the pages of keys and
/// values come on top as a prompt grows.
struct MemoryNeed
{
    std::int64_t weightBytes = 0;
    std::int64_t activationBytes = 0; ///< of a step of one canvas
    std::int64_t stagingBytes = 0;    ///< while the weights are loaded

    [[nodiscard]] std::int64_t totalBytes() const noexcept { return weightBytes + activationBytes + stagingBytes; }
};

/// The activations that are laid out with the model: a step of one canvas.
[[nodiscard]] ActivationSizes leastActivations(const ModelConfig &config) noexcept;

/// Touches no device. Throws Error Unsupported where the experts are not in dg-w4a16-v1.
[[nodiscard]] MemoryNeed memoryNeed(const Checkpoint &checkpoint, Precision precision);

} // namespace palimpsest::cuda
