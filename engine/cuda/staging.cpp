// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/staging.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <thread>

namespace palimpsest::cuda {

namespace {

/// One core copies about 10 GB/s from the page cache and takes its page faults one by one; eight keep up with the bus.
constexpr std::int64_t kMostThreads = 8;
constexpr std::int64_t kLeastBytesPerThread = std::int64_t{1} << 20;

/// Asks for the pages of a mapped file in one call instead of a fault each. A hint: older systems refuse it, and what
/// is read next finds its pages either way.
void populate(std::span<const std::byte> part)
{
#ifdef MADV_POPULATE_READ
    constexpr std::uintptr_t kPage = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data()) / kPage * kPage;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size());
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_POPULATE_READ);
#else
    (void)part;
#endif
}

void parallelCopy(std::byte *target, std::span<const std::byte> source)
{
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    const std::int64_t bytes = std::ssize(source);
    const std::int64_t threads =
        std::clamp<std::int64_t>(bytes / kLeastBytesPerThread, 1, std::min(kMostThreads, cores));
    const auto part = [&](std::int64_t thread) {
        const std::int64_t begin = bytes * thread / threads;
        const std::int64_t end = bytes * (thread + 1) / threads;
        populate(source.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
        std::memcpy(target + begin, source.data() + begin, static_cast<std::size_t>(end - begin));
    };
    std::vector<std::jthread> helpers;
    for (std::int64_t thread = 1; thread < threads; ++thread)
        helpers.emplace_back(part, thread);
    part(0);
}

} // namespace

Staging::Staging(std::shared_ptr<Device> device) : m_device(std::move(device))
{
    for (Block &block : m_blocks) {
        block.host = PinnedBuffer(m_device, kStagingBytes, "loading");
        block.device = DeviceBuffer(m_device, kStagingBytes, "loading");
        m_device->check(cudaEventCreateWithFlags(&block.free, cudaEventDisableTiming), "prepare loading");
    }
}

Staging::~Staging()
{
    // The device may still read a block if an error ends the loading half way.
    (void)cudaStreamSynchronize(m_device->stream());
    for (Block &block : m_blocks)
        if (block.free != nullptr)
            (void)cudaEventDestroy(block.free);
}

Staging::Block &Staging::freshBlock()
{
    Block &block = m_blocks.at(m_current);
    if (!m_fresh)
        m_device->check(cudaEventSynchronize(block.free), "bring the weights to the device");
    m_fresh = true;
    return block;
}

void Staging::finishBlock()
{
    m_device->check(cudaEventRecord(m_blocks.at(m_current).free, m_device->stream()),
                    "bring the weights to the device");
    m_current = (m_current + 1) % m_blocks.size();
    m_used = 0;
    m_fresh = false;
}

void Staging::copy(std::span<const std::byte> source, std::byte *target)
{
    if (m_used + std::ssize(source) > kStagingBytes)
        finishBlock();
    Block &block = freshBlock();
    auto *const host = block.host.as<std::byte>(m_used);
    parallelCopy(host, source);
    m_device->check(cudaMemcpyAsync(target, host, source.size(), cudaMemcpyHostToDevice, m_device->stream()),
                    "bring the weights to the device");
    m_used += alignedBytes(std::ssize(source));
    if (m_used >= kStagingBytes / 2)
        finishBlock();
}

std::vector<const std::byte *> Staging::stage(std::initializer_list<std::span<const std::byte>> sources)
{
    if (m_used > 0)
        finishBlock();
    Block &block = freshBlock();
    std::vector<const std::byte *> places;
    for (const std::span<const std::byte> source : sources) {
        parallelCopy(block.host.as<std::byte>(m_used), source);
        places.push_back(block.device.as<const std::byte>(m_used));
        m_used += alignedBytes(std::ssize(source));
    }
    m_device->check(cudaMemcpyAsync(block.device.as<std::byte>(), block.host.as<std::byte>(),
                                    static_cast<std::size_t>(m_used), cudaMemcpyHostToDevice, m_device->stream()),
                    "bring the weights to the device");
    return places;
}

void Staging::flush()
{
    finishBlock();
    m_device->synchronise();
}

} // namespace palimpsest::cuda
