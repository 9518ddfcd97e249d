// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/step_inputs.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace palimpsest::cuda {

namespace {

constexpr std::int64_t kKinds = 2;

} // namespace

void StepInputs::begin(const StepShape &shape, std::int64_t biasCount)
{
    m_shape = shape;
    m_biasCount = 0;
    // One page more than the positions fill: the rows of a prompt's chunk are behind them.
    m_tablePages = (shape.mostCached + shape.rowStride) / kernels::kPagePositions + 1;
    std::int64_t end = 0;
    const auto place = [&end](std::int64_t count, std::size_t size) {
        const std::int64_t at = end;
        end += alignedBytes(count * static_cast<std::int64_t>(size));
        return at;
    };
    m_ids = place(shape.rows(), sizeof(std::int32_t));
    m_views = place(kKinds * shape.sequences, sizeof(kernels::SequenceView));
    m_settings = place(shape.sequences, sizeof(kernels::SampleSettings));
    m_tables = place(kKinds * shape.sequences * m_tablePages, sizeof(std::int32_t));
    m_bias = place(biasCount, sizeof(kernels::DeviceLogitBias)); // last: its length is no part of the shape
    m_bytes = end;
    if (m_bytes > m_target.bytes()) {
        const std::int64_t capacity = std::max(m_bytes, 2 * m_target.bytes());
        m_target = DeviceBuffer(m_device, capacity, "a step's inputs");
        m_source = PinnedBuffer(m_device, capacity, "a step's inputs");
        ++m_generation;
    }
    std::memset(m_source.as<std::byte>(), 0, static_cast<std::size_t>(m_bytes)); // rows that nobody has: id 0
}

void StepInputs::putSequence(std::int64_t index, const CudaSequence &sequence, std::span<const TokenId> ids,
                             std::int64_t slidingWindow)
{
    std::ranges::copy(ids, m_source.as<std::int32_t>(m_ids) + index * m_shape.rowStride);
    for (const LayerKind kind : {LayerKind::Sliding, LayerKind::Full}) {
        const std::int64_t place = static_cast<std::int64_t>(kind) * m_shape.sequences + index;
        const std::int64_t table = m_tables + place * m_tablePages * static_cast<std::int64_t>(sizeof(std::int32_t));
        const auto &pages = sequence.pages(kind);
        std::copy_n(pages.begin(), std::min(std::ssize(pages), m_tablePages), m_source.as<std::int32_t>(table));
        const std::int64_t oldest =
            kind == LayerKind::Sliding ? std::max<std::int64_t>(0, sequence.length() - (slidingWindow - 1)) : 0;
        new (m_source.as<kernels::SequenceView>(m_views) + place)
            kernels::SequenceView{.pageTable = m_target.as<std::int32_t>(table),
                                  .length = static_cast<std::int32_t>(sequence.length()),
                                  .rows = static_cast<std::int32_t>(ids.size()),
                                  .firstVisible = static_cast<std::int32_t>(oldest)};
    }
}

void StepInputs::putSettings(std::int64_t index, const DenoiseJob &job)
{
    static_assert(sizeof(kernels::DeviceLogitBias) == sizeof(LogitBias));
    const std::int64_t bias = m_bias + m_biasCount * static_cast<std::int64_t>(sizeof(LogitBias));
    if (!job.logitBias.empty())
        std::memcpy(m_source.as<std::byte>(bias), job.logitBias.data(), job.logitBias.size_bytes());
    m_biasCount += std::ssize(job.logitBias);
    new (m_source.as<kernels::SampleSettings>(m_settings) + index)
        kernels::SampleSettings{.temperature = job.temperature,
                                .seedLow = static_cast<std::uint32_t>(job.noise.seed),
                                .seedHigh = static_cast<std::uint32_t>(job.noise.seed >> 32U),
                                .step = job.noise.step,
                                .stream = (job.noise.canvas << 8U) | static_cast<std::uint32_t>(NoiseKind::Gumbel),
                                .biasCount = static_cast<std::int32_t>(job.logitBias.size()),
                                .bias = job.logitBias.empty() ? nullptr : m_target.as<kernels::DeviceLogitBias>(bias)};
}

void StepInputs::upload()
{
    m_device->check(cudaMemcpyAsync(m_target.as<std::byte>(), m_source.as<std::byte>(),
                                    static_cast<std::size_t>(m_bytes), cudaMemcpyHostToDevice, m_device->stream()),
                    "send a step's inputs");
}

} // namespace palimpsest::cuda
