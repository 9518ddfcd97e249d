// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/device.h"
#include "engine/device_diagnostics.h"

#include <memory>
#include <string>
#include <vector>

namespace palimpsest::cuda {

/// Measures what the stages of a step take on the device, with an event behind each. Only for steps that are launched
/// kernel by kernel.
class StageClock
{
public:
    explicit StageClock(std::shared_ptr<Device> device) : m_device(std::move(device)) {}
    ~StageClock();
    StageClock(const StageClock &) = delete;
    StageClock &operator=(const StageClock &) = delete;

    /// The work launched since the last mark belongs to `stage`; the first mark only begins.
    void mark(const char *stage);
    /// Waits for the marks and adds up the stages, in the order in which they first occurred.
    [[nodiscard]] std::vector<StageTime> times();

private:
    struct Mark
    {
        cudaEvent_t event = nullptr;
        const char *stage = nullptr;
    };
    std::shared_ptr<Device> m_device;
    std::vector<Mark> m_marks;
};

} // namespace palimpsest::cuda
