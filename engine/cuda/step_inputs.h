// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/cuda/buffers.h"
#include "engine/cuda/kv_cache.h"
#include "kernels/head_sample.h"
#include "kernels/kv_pages.h"

#include <cstdint>
#include <memory>
#include <span>

namespace palimpsest::cuda {

/// The sizes that launches and captured graphs are made for. Row r of sequence s is row s * rowStride + r.
struct StepShape
{
    std::int64_t sequences = 0;
    std::int64_t rowStride = 0;
    std::int64_t mostCached = 0; ///< positions, a bound: what is in the cache may be less

    [[nodiscard]] std::int64_t rows() const noexcept { return sequences * rowStride; }
    friend bool operator==(const StepShape &, const StepShape &) = default;
};

/// What changes from step to step, gathered in pinned memory and brought to the device in one copy. Where each part
/// lies follows from the shape alone, so a graph of that shape can be replayed.
class StepInputs
{
public:
    explicit StepInputs(std::shared_ptr<Device> device) : m_device(std::move(device)) {}

    /// Begins a step: forgets what was put. `biasCount` logit biases follow in all.
    void begin(const StepShape &shape, std::int64_t biasCount);
    /// Sequence number `index` with its rows' ids; the cache ends before them.
    void putSequence(std::int64_t index, const CudaSequence &sequence, std::span<const TokenId> ids,
                     std::int64_t slidingWindow);
    void putSettings(std::int64_t index, const DenoiseJob &job);
    /// Starts the copy on the device's stream; the step's work may follow on it at once. The next `begin` comes after
    /// that work ended.
    void upload();

    [[nodiscard]] const std::int32_t *ids() const { return m_target.as<std::int32_t>(m_ids); }
    [[nodiscard]] const kernels::SequenceView *views(LayerKind kind) const
    {
        return m_target.as<kernels::SequenceView>(m_views) + static_cast<std::int64_t>(kind) * m_shape.sequences;
    }
    [[nodiscard]] const kernels::SampleSettings *settings(std::int64_t index) const
    {
        return m_target.as<kernels::SampleSettings>(m_settings) + index;
    }
    /// Changes when the device memory moved.
    [[nodiscard]] std::uint64_t generation() const noexcept { return m_generation; }

private:
    std::shared_ptr<Device> m_device;
    PinnedBuffer m_source;
    DeviceBuffer m_target;
    StepShape m_shape;
    std::int64_t m_ids = 0; ///< these are offsets in bytes
    std::int64_t m_views = 0;
    std::int64_t m_settings = 0;
    std::int64_t m_tables = 0;
    std::int64_t m_bias = 0;
    std::int64_t m_bytes = 0;
    std::int64_t m_tablePages = 0;
    std::int64_t m_biasCount = 0;
    std::uint64_t m_generation = 0;
};

} // namespace palimpsest::cuda
