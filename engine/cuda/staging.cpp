// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/staging.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>
#include <thread>

namespace palimpsest::cuda {

namespace {

/// One core copies about 7 GB/s out of the page cache, sixteen more than the bus takes (H200, 16 cores: 72 and 55
/// GB/s).
constexpr std::size_t kMostThreads = 16;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20; ///< that a thread copies at once

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

/// Unmaps the whole pages inside `part`, by the thread that read them: one thread for all takes as long as the bus.
void release(std::span<const std::byte> part)
{
    constexpr std::uintptr_t kMostPage = 65536; // of any system
    const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + kMostPage - 1) / kMostPage * kMostPage;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / kMostPage * kMostPage;
    if (begin < end)
        (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

template <typename Piece>
void addPieces(std::vector<Piece> &pieces, std::span<const std::byte> source, std::byte *target)
{
    for (std::size_t begin = 0; begin < source.size(); begin += kPieceBytes)
        pieces.push_back({source.subspan(begin, std::min(kPieceBytes, source.size() - begin)), target + begin});
}

std::size_t threadCount()
{
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
}

} // namespace

Staging::Staging(std::shared_ptr<Device> device) : m_device(std::move(device)), m_threads(threadCount())
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

/// All pieces of a block side by side, however many tensors they are of.
void Staging::copyPieces(const std::vector<Piece> &pieces, Source kind)
{
    std::atomic<std::size_t> next = 0;
    const auto copyNext = [&] {
        for (std::size_t i = next++; i < pieces.size(); i = next++) {
            const auto &[source, target] = pieces[i];
            if (kind == Source::MappedFile)
                populate(source);
            std::memcpy(target, source.data(), source.size());
            if (kind == Source::MappedFile)
                release(source);
        }
    };
    if (pieces.size() == 1)
        copyNext();
    else
        m_threads.run(copyNext);
}

void Staging::copy(std::span<const std::byte> source, Source kind, std::byte *target)
{
    if (m_used + std::ssize(source) > kStagingBytes)
        finishBlock();
    Block &block = freshBlock();
    auto *const host = block.host.as<std::byte>(m_used);
    std::vector<Piece> pieces;
    addPieces(pieces, source, host);
    copyPieces(pieces, kind);
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
    std::vector<Piece> pieces;
    for (const std::span<const std::byte> source : sources) {
        addPieces(pieces, source, block.host.as<std::byte>(m_used));
        places.push_back(block.device.as<const std::byte>(m_used));
        m_used += alignedBytes(std::ssize(source));
    }
    copyPieces(pieces, Source::MappedFile);
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
