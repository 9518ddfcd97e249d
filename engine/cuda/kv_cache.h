// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/cuda/buffers.h"
#include "engine/cuda/precision.h"
#include "kernels/kv_pages.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace palimpsest::cuda {

/// Device memory for the keys and values of all layers of one kind: pages of 64 positions (kernels/kv_pages.h) in bf16
/// or fp32, counted
/// by the sequences that hold them. Grows as pages are asked for, layer by layer, and never shrinks.
class PagePool
{
public:
    PagePool(std::shared_ptr<Device> device, const ModelConfig &config, LayerKind kind, Precision precision);

    /// A page that one sequence holds. Throws Error OutOfMemory.
    [[nodiscard]] std::int32_t acquire();
    void share(std::int32_t page) { ++m_holders[static_cast<std::size_t>(page)]; }
    void release(std::int32_t page);
    [[nodiscard]] bool shared(std::int32_t page) const { return m_holders[static_cast<std::size_t>(page)] > 1; }
    /// Copies a page of every layer.
    void copy(std::int32_t from, std::int32_t to);

    /// Makes sure that `pages` more pages can be acquired, growing once at most.
    void ensureFree(std::int64_t pages);

    /// Where a layer of this kind has its pages; changes when `generation` does.
    [[nodiscard]] kernels::KvPool layer(std::int64_t layer) const;
    /// The same where the precision is fp32.
    [[nodiscard]] kernels::Fp32KvPool fp32Layer(std::int64_t layer) const;
    [[nodiscard]] std::uint64_t generation() const noexcept { return m_generation; }
    /// Of one page, all layers of this kind together.
    [[nodiscard]] std::int64_t pageBytes() const noexcept { return m_pageBytes; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return m_capacity * m_pageBytes; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return m_epoch; }

private:
    struct Layer
    {
        std::int64_t pageBytes = 0; ///< of keys; values take as much
        DeviceBuffer keys;
        DeviceBuffer values;
    };

    void growTo(std::int64_t pages);

    std::shared_ptr<Device> m_device;
    std::uint64_t m_epoch;
    std::vector<Layer> m_layers;         ///< those of this kind
    std::vector<std::size_t> m_placeOf;  ///< [layer of the model]: index into m_layers
    std::vector<std::int32_t> m_holders; ///< [page]
    std::vector<std::int32_t> m_free;    ///< the next one last
    std::int64_t m_capacity = 0;
    std::int64_t m_pageBytes = 0;
    std::uint64_t m_generation = 0;
};

/// The pools of both kinds of layers.
struct PagePools
{
    PagePool sliding;
    PagePool full;
    std::int64_t slidingWindow = 0;

    PagePools(const std::shared_ptr<Device> &device, const ModelConfig &config, Precision precision);
    [[nodiscard]] PagePool &of(LayerKind kind) { return kind == LayerKind::Sliding ? sliding : full; }
};

/// The cache of one sequence: page tables into the pools. A sliding layer drops pages that lie further back than its
/// window and kRetainedPositions.
class CudaSequence final : public Sequence
{
public:
    /// Beyond the window, so that a request that shares all but the end of a prompt can fork from it.
    static constexpr std::int64_t kRetainedPositions = 1024;
    static constexpr std::int32_t kDropped = -1;

    explicit CudaSequence(std::shared_ptr<PagePools> pools) : m_pools(std::move(pools)) {}
    ~CudaSequence() override;

    [[nodiscard]] std::int64_t length() const noexcept override { return m_length; }
    [[nodiscard]] std::int64_t cacheBytes() const noexcept override;

    /// Null where a sliding layer no longer holds what the prefix of that length needs.
    [[nodiscard]] std::unique_ptr<CudaSequence> fork(std::int64_t length) const;

    /// Makes room for `count` more positions that no other sequence sees. Throws Error OutOfMemory; what is in the
    /// cache stays as it is.
    void reserve(std::int64_t count);
    /// `count` positions were written.
    void advance(std::int64_t count);

    [[nodiscard]] const std::vector<std::int32_t> &pages(LayerKind kind) const noexcept
    {
        return m_pages.at(static_cast<std::size_t>(kind));
    }
    /// False once the device was restarted: what the tables point to is gone.
    [[nodiscard]] bool belongsTo(const PagePools &pools) const noexcept { return m_pools.get() == &pools; }

private:
    [[nodiscard]] std::vector<std::int32_t> &table(LayerKind kind)
    {
        return m_pages.at(static_cast<std::size_t>(kind));
    }
    void reserve(LayerKind kind, std::int64_t count);

    std::shared_ptr<PagePools> m_pools;
    std::array<std::vector<std::int32_t>, 2> m_pages; ///< [kind][position / 64]
    std::int64_t m_length = 0;
};

} // namespace palimpsest::cuda
