// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/kv_cache.h"

#include <algorithm>

namespace palimpsest::cuda {

namespace {

/// Pages that a pool begins with, and by which part it grows when it is full.
constexpr std::int64_t kFirstPages = 16;

std::int64_t pagesFor(std::int64_t positions)
{
    return (positions + kernels::kPagePositions - 1) / kernels::kPagePositions;
}

} // namespace

PagePool::PagePool(std::shared_ptr<Device> device, const ModelConfig &config, LayerKind kind, Precision precision)
    : m_device(std::move(device)), m_epoch(m_device->epoch())
{
    const std::size_t elementBytes = precision == Precision::Fp32 ? sizeof(float) : sizeof(kernels::Bf16);
    for (const LayerConfig &layer : config.layers) {
        m_placeOf.push_back(m_layers.size());
        if (layer.kind != kind)
            continue;
        m_layers.emplace_back();
        m_layers.back().pageBytes =
            kernels::pageElements(layer.kvHeads, layer.headDim) * static_cast<std::int64_t>(elementBytes);
        m_pageBytes += 2 * m_layers.back().pageBytes;
    }
}

void PagePool::growTo(std::int64_t pages)
{
    const auto grow = [&](DeviceBuffer &buffer, std::int64_t pageBytes) {
        DeviceBuffer larger(m_device, pages * pageBytes, "the keys and values of the context");
        if (buffer.bytes() > 0)
            m_device->check(cudaMemcpyAsync(larger.as<std::byte>(), buffer.as<std::byte>(),
                                            static_cast<std::size_t>(m_capacity * pageBytes), cudaMemcpyDeviceToDevice,
                                            m_device->stream()),
                            "move the context");
        m_device->synchronise(); // the old memory is in use until then
        buffer = std::move(larger);
    };
    ++m_generation; // also if it fails half way: some layers have moved
    for (Layer &layer : m_layers) {
        grow(layer.keys, layer.pageBytes);
        grow(layer.values, layer.pageBytes);
    }
    m_holders.resize(static_cast<std::size_t>(pages), 0);
    std::vector<std::int32_t> added;
    for (std::int64_t page = pages - 1; page >= m_capacity; --page)
        added.push_back(static_cast<std::int32_t>(page));
    m_free.insert(m_free.begin(), added.begin(), added.end()); // the lower ones first
    m_capacity = pages;
}

void PagePool::ensureFree(std::int64_t pages)
{
    const std::int64_t missing = pages - std::ssize(m_free);
    if (missing > 0)
        growTo(std::max({kFirstPages, m_capacity + m_capacity / 2, m_capacity + missing}));
}

std::int32_t PagePool::acquire()
{
    ensureFree(1);
    const std::int32_t page = m_free.back();
    m_free.pop_back();
    m_holders[static_cast<std::size_t>(page)] = 1;
    return page;
}

void PagePool::release(std::int32_t page)
{
    if (--m_holders[static_cast<std::size_t>(page)] == 0)
        m_free.push_back(page);
}

void PagePool::copy(std::int32_t from, std::int32_t to)
{
    for (const Layer &layer : m_layers)
        for (const DeviceBuffer *buffer : {&layer.keys, &layer.values})
            m_device->check(cudaMemcpyAsync(buffer->as<std::byte>(to * layer.pageBytes),
                                            buffer->as<std::byte>(from * layer.pageBytes),
                                            static_cast<std::size_t>(layer.pageBytes), cudaMemcpyDeviceToDevice,
                                            m_device->stream()),
                            "copy a page of the context");
}

kernels::KvPool PagePool::layer(std::int64_t layer) const
{
    const Layer &place = m_layers[m_placeOf[static_cast<std::size_t>(layer)]];
    return {.keys = place.keys.as<kernels::Bf16>(), .values = place.values.as<kernels::Bf16>()};
}

kernels::Fp32KvPool PagePool::fp32Layer(std::int64_t layer) const
{
    const Layer &place = m_layers[m_placeOf[static_cast<std::size_t>(layer)]];
    return {.keys = place.keys.as<float>(), .values = place.values.as<float>()};
}

PagePools::PagePools(const std::shared_ptr<Device> &device, const ModelConfig &config, Precision precision)
    : sliding(device, config, LayerKind::Sliding, precision),
      full(device, config, LayerKind::Full, precision),
      slidingWindow(config.slidingWindow)
{
}

CudaSequence::~CudaSequence()
{
    for (const LayerKind kind : {LayerKind::Sliding, LayerKind::Full})
        for (const std::int32_t page : pages(kind))
            if (page != kDropped)
                m_pools->of(kind).release(page);
}

std::int64_t CudaSequence::cacheBytes() const noexcept
{
    std::int64_t bytes = 0;
    for (const LayerKind kind : {LayerKind::Sliding, LayerKind::Full})
        bytes += m_pools->of(kind).pageBytes() *
                 std::ranges::count_if(pages(kind), [](std::int32_t page) { return page != kDropped; });
    return bytes;
}

std::unique_ptr<CudaSequence> CudaSequence::fork(std::int64_t length) const
{
    if (length < 0 || length > m_length)
        return nullptr;
    // The next encoder position looks back window - 1 positions, as the decoder does.
    const std::int64_t oldest = std::max<std::int64_t>(0, length - (m_pools->slidingWindow - 1));
    const auto &sliding = pages(LayerKind::Sliding);
    for (std::int64_t page = oldest / kernels::kPagePositions; page < pagesFor(length); ++page)
        if (sliding[static_cast<std::size_t>(page)] == kDropped)
            return nullptr;
    auto made = std::make_unique<CudaSequence>(m_pools);
    made->m_length = length;
    for (const LayerKind kind : {LayerKind::Sliding, LayerKind::Full}) {
        made->table(kind).assign(pages(kind).begin(), pages(kind).begin() + pagesFor(length));
        for (const std::int32_t page : made->pages(kind))
            if (page != kDropped)
                m_pools->of(kind).share(page);
    }
    return made;
}

void CudaSequence::reserve(std::int64_t count)
{
    reserve(LayerKind::Sliding, count);
    reserve(LayerKind::Full, count);
}

void CudaSequence::reserve(LayerKind kind, std::int64_t count)
{
    PagePool &pool = m_pools->of(kind);
    std::vector<std::int32_t> &pages = table(kind);
    constexpr std::int64_t kOwnCopy = 1; // of a page that is shared until now
    pool.ensureFree(pagesFor(m_length + count) - std::ssize(pages) + kOwnCopy);
    const auto firstWritten = static_cast<std::size_t>(m_length / kernels::kPagePositions);
    if (firstWritten < pages.size() && pool.shared(pages[firstWritten])) {
        const std::int32_t own = pool.acquire();
        pool.copy(pages[firstWritten], own);
        pool.release(pages[firstWritten]);
        pages[firstWritten] = own;
    }
    while (std::ssize(pages) < pagesFor(m_length + count))
        pages.push_back(pool.acquire());
}

void CudaSequence::advance(std::int64_t count)
{
    m_length += count;
    const std::int64_t oldest = m_length - m_pools->slidingWindow - kRetainedPositions;
    std::vector<std::int32_t> &pages = table(LayerKind::Sliding);
    const std::int64_t dropped = std::max<std::int64_t>(0, oldest) / kernels::kPagePositions;
    for (std::int64_t index = dropped - 1; index >= 0; --index) {
        std::int32_t &page = pages[static_cast<std::size_t>(index)];
        if (page == kDropped)
            break; // everything before it is gone already
        m_pools->sliding.release(page);
        page = kDropped;
    }
}

} // namespace palimpsest::cuda
