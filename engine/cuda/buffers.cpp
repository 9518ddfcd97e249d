// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/buffers.h"

#include <string>

namespace palimpsest::cuda {

template <BufferPlace place>
Buffer<place>::Buffer(std::shared_ptr<Device> device, std::int64_t bytes, const char *what)
    : m_device(std::move(device)), m_epoch(m_device->epoch())
{
    void *memory = nullptr;
    const auto size = static_cast<std::size_t>(bytes > 0 ? bytes : 1);
    const std::string doing =
        "make room for " + std::string(what) + ", " + std::to_string((bytes >> 20) + 1) + " MiB needed";
    if constexpr (place == BufferPlace::Device)
        m_device->check(cudaMalloc(&memory, size), doing.c_str());
    else
        m_device->check(cudaMallocHost(&memory, size), doing.c_str());
    m_data = static_cast<std::byte *>(memory);
    m_bytes = bytes;
    if constexpr (place == BufferPlace::Device) {
        try {
            m_device->check(cudaMemsetAsync(memory, 0, size, m_device->stream()), "clear device memory");
        } catch (...) {
            release();
            throw;
        }
    }
}

template <BufferPlace place>
void Buffer<place>::release() noexcept
{
    if (m_data == nullptr)
        return;
    if (m_device->epoch() == m_epoch) {
        if constexpr (place == BufferPlace::Device)
            (void)cudaFree(m_data);
        else
            (void)cudaFreeHost(m_data);
    }
    m_data = nullptr;
    m_bytes = 0;
}

template class Buffer<BufferPlace::Device>;
template class Buffer<BufferPlace::PinnedHost>;

} // namespace palimpsest::cuda
