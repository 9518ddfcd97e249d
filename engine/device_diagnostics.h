// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace palimpsest {

/// One kind of work in a denoising step, all layers together.
struct StageTime
{
    std::string name; ///< for people: "experts, gate and up"
    double ms = 0.0;
    int launches = 0; ///< how often the stage occurs in a step
};

/// What a device can do at best, measured.
struct DeviceRates
{
    double copyBytesPerSecond = 0.0; ///< large copies inside its memory, bytes read plus bytes written
    double productFlops = 0.0;       ///< a large bf16 product, operations a second
};

struct DeviceMemory
{
    std::int64_t weightBytes = 0;
    std::int64_t activationBytes = 0;
    std::int64_t cacheBytes = 0; ///< of all sequences' pages, free ones included
    std::int64_t freeBytes = 0;
    std::int64_t totalBytes = 0;
};

/// What a backend on a device of its own can tell a benchmark; found by dynamic_cast from Backend.
class DeviceDiagnostics
{
public:
    virtual ~DeviceDiagnostics() = default;
    /// One denoising step as Backend::denoise, kernel by kernel, measured by stages. Slower in total than the step.
    [[nodiscard]] virtual std::vector<StageTime> timeStages(std::span<const DenoiseJob> jobs) = 0;
    /// Takes a moment and some of the free memory.
    [[nodiscard]] virtual DeviceRates measureRates() = 0;
    [[nodiscard]] virtual DeviceMemory memory() = 0;
};

} // namespace palimpsest
