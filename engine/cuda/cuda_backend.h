// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"
#include "engine/cuda/precision.h"

#include <memory>

namespace palimpsest::cuda {

struct CudaBackendSettings
{
    int device = 0;
    bool graphs = true; ///< replay steps as captured graphs; off: launch kernel by kernel (the results are the same)
    std::int64_t encodeChunk = 2048; ///< prompt tokens in one encoder pass at most
    Precision precision = Precision::Automatic;
};

/// The model on an NVIDIA device: weights 4-bit (experts) and bf16, fp32 residual stream; other activations, keys and
/// values in bf16, or for small models in fp32 (precision.h).
/// Throws Error Backend (no usable device, in plain words; or `progress` cancelled), OutOfMemory (needed and free) or
/// Unsupported (experts that are not in dg-w4a16-v1).
[[nodiscard]] std::unique_ptr<Backend> makeCudaBackend(std::shared_ptr<const Checkpoint> checkpoint,
                                                       CudaBackendSettings settings, const LoadProgress &progress = {});

} // namespace palimpsest::cuda
