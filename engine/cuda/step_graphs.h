// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/device.h"
#include "engine/cuda/step_inputs.h"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

namespace palimpsest::cuda {

/// The captured graphs of denoising steps, one a shape.
///
/// The first step of a shape is launched kernel by kernel (which also loads the kernels, and a shape may never come
/// again), the second one captured, later ones replayed; where there is no memory for a graph, steps go on kernel by
/// kernel. The results do not depend on the way.
class StepGraphs
{
public:
    explicit StepGraphs(std::shared_ptr<Device> device) : m_device(std::move(device)) {}
    ~StepGraphs() { clear(); }
    StepGraphs(const StepGraphs &) = delete;
    StepGraphs &operator=(const StepGraphs &) = delete;

    /// Runs the work of `launch` for `shape` on the device's stream.
    void run(const StepShape &shape, const std::function<void()> &launch);
    /// Forgets all graphs: memory that they refer to has moved.
    void clear() noexcept;
    [[nodiscard]] std::int64_t replays() const noexcept { return m_replays; }

private:
    struct Entry
    {
        StepShape shape;
        cudaGraphExec_t graph = nullptr; ///< null until captured
    };

    /// Leaves `graph` null where the device has no memory for one.
    void capture(Entry &entry, const std::function<void()> &launch);
    void drop(Entry &entry) noexcept;

    std::shared_ptr<Device> m_device;
    std::uint64_t m_epoch = 0;
    std::list<Entry> m_entries; ///< most recently used first
    std::int64_t m_replays = 0;
};

} // namespace palimpsest::cuda
