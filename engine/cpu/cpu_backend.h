// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"

#include <memory>

namespace palimpsest::cpu {

struct CpuBackendSettings
{
    int threads = 0; ///< 0 = one per usable core
};

/// The model on the CPU: fp32 activations, weights read as stored (bf16, fp32, W4), dense products by oneDNN.
/// Throws Error OutOfMemory, or Backend if `progress` cancelled.
[[nodiscard]] std::unique_ptr<Backend> makeCpuBackend(std::shared_ptr<const Checkpoint> checkpoint,
                                                      CpuBackendSettings settings, const LoadProgress &progress = {});

} // namespace palimpsest::cpu
