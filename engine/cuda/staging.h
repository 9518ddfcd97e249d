// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/buffers.h"
#include "engine/cuda/copy_threads.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace palimpsest::cuda {

/// Bytes of one block on its way to the device: long enough that threads and bus work at their rates.
inline constexpr std::int64_t kStagingBytes = std::int64_t{64} << 20;

/// Where bytes lie that go to the device. Of a mapped file, the pages are let go once they were read.
enum class Source { Memory, MappedFile };

/// Two pinned blocks that take turns between the mapped files and the device.
class Staging
{
public:
    /// Device memory that lasts as long as the staging does.
    static constexpr std::int64_t kDeviceBytes = 2 * kStagingBytes;

    explicit Staging(std::shared_ptr<Device> device);
    ~Staging();
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;

    /// Copies at most kStagingBytes to device memory. Small pieces are gathered in the block until it is full.
    void copy(std::span<const std::byte> source, Source kind, std::byte *target);

    /// Brings the sources, of mapped files (together at most kStagingBytes) into device memory that is valid until
    /// `finishBlock`, which comes after the work that reads it was started. Returns where each begins.
    [[nodiscard]] std::vector<const std::byte *> stage(std::initializer_list<std::span<const std::byte>> sources);
    void finishBlock();

    /// Waits until everything has arrived.
    void flush();

private:
    struct Block
    {
        PinnedBuffer host;
        DeviceBuffer device;
        cudaEvent_t free = nullptr; ///< the device needs the block no more
    };

    struct Piece
    {
        std::span<const std::byte> source;
        std::byte *target;
    };

    Block &freshBlock();
    void copyPieces(const std::vector<Piece> &pieces, Source kind);

    std::shared_ptr<Device> m_device;
    CopyThreads m_threads;
    std::array<Block, 2> m_blocks;
    std::size_t m_current = 0;
    std::int64_t m_used = 0; ///< bytes of the current block
    bool m_fresh = false;    ///< the current block was waited for
};

} // namespace palimpsest::cuda
