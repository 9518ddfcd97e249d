// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/device.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace palimpsest::cuda {

enum class BufferPlace {
    Device,
    PinnedHost, ///< what the device's copy engines read and write at full speed
};

/// Memory of one kind, freed with its owner; move-only. What a restarted device has thrown away is not freed again.
template <BufferPlace place>
class Buffer
{
public:
    Buffer() = default;
    /// Device memory is zeroed, so that rows that nobody wrote yet are finite numbers. `what` is for the message of
    /// Error OutOfMemory: "make room for <what>".
    Buffer(std::shared_ptr<Device> device, std::int64_t bytes, const char *what);
    ~Buffer() { release(); }
    Buffer(Buffer &&other) noexcept { *this = std::move(other); }
    Buffer &operator=(Buffer &&other) noexcept
    {
        release();
        m_device = std::move(other.m_device);
        m_data = std::exchange(other.m_data, nullptr);
        m_bytes = std::exchange(other.m_bytes, 0);
        m_epoch = other.m_epoch;
        return *this;
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    [[nodiscard]] std::int64_t bytes() const noexcept { return m_bytes; }
    /// The memory as elements of T, from `offset` bytes on.
    template <typename T>
    [[nodiscard]] T *as(std::int64_t offset = 0) const noexcept
    {
        return reinterpret_cast<T *>(m_data + offset);
    }

private:
    void release() noexcept;

    std::shared_ptr<Device> m_device;
    std::byte *m_data = nullptr;
    std::int64_t m_bytes = 0;
    std::uint64_t m_epoch = 0;
};

using DeviceBuffer = Buffer<BufferPlace::Device>;
using PinnedBuffer = Buffer<BufferPlace::PinnedHost>;

/// Where arrays begin inside a larger block: what the widest loads of the kernels need, and more.
[[nodiscard]] constexpr std::int64_t alignedBytes(std::int64_t bytes) noexcept
{
    constexpr std::int64_t kAlignment = 256;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

} // namespace palimpsest::cuda
