// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"
#include "engine/cuda/buffers.h"
#include "engine/cuda/memory_need.h"
#include "engine/cuda/weight_layout.h"

#include <memory>

namespace palimpsest::cuda {

/// The model's weights in device memory.
struct DeviceWeights
{
    DeviceBuffer memory;
    ModelPointers pointers;
};

/// Brings the weights from the mapped files to the device: copied by several threads into pinned memory, two blocks in
/// turn, so that one is filled while the bus takes the other; experts are repacked by the device on arrival.
///
/// Throws Error OutOfMemory (needed and free) before anything is read where what is needed does not fit,
/// Backend where `progress` cancels, Io where a file was changed.
[[nodiscard]] DeviceWeights uploadWeights(const Checkpoint &checkpoint, const std::shared_ptr<Device> &device,
                                          const MemoryNeed &need, const LoadProgress &progress);

} // namespace palimpsest::cuda
