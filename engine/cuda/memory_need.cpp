// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/memory_need.h"

#include "engine/cuda/staging.h"
#include "engine/cuda/weight_layout.h"

namespace palimpsest::cuda {

ActivationSizes leastActivations(const ModelConfig &config) noexcept
{
    return {.rows = activationRows(config.canvasLength), .sequences = 1, .canvasRows = config.canvasLength};
}

MemoryNeed memoryNeed(const Checkpoint &checkpoint, Precision precision)
{
    const ModelConfig &config = checkpoint.config();
    return {.weightBytes = layOutWeights(checkpoint, nullptr).bytes,
            .activationBytes =
                layOutActivations(config, precisionFor(config, precision), leastActivations(config), nullptr).bytes,
            .stagingBytes = Staging::kDeviceBytes};
}

} // namespace palimpsest::cuda
