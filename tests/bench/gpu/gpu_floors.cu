// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_floors.h"

#include <cstdint>

namespace palimpsest::gpu_bench {

namespace {

constexpr int kThreads = 512;

__global__ __launch_bounds__(kThreads) void copyKernel(uint4 *to, const uint4 *from, std::size_t count)
{
    // Four loads under way for each thread.
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
    std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
    for (; i + 3 * stride < count; i += 4 * stride) {
        const uint4 a = __ldcs(from + i);
        const uint4 b = __ldcs(from + i + stride);
        const uint4 c = __ldcs(from + i + 2 * stride);
        const uint4 d = __ldcs(from + i + 3 * stride);
        __stcs(to + i, a);
        __stcs(to + i + stride, b);
        __stcs(to + i + 2 * stride, c);
        __stcs(to + i + 3 * stride, d);
    }
    for (; i < count; i += stride)
        __stcs(to + i, __ldcs(from + i));
}

__global__ void clockKernel(std::uint64_t *out)
{
    std::uint64_t begin = 0;
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    const std::int64_t first = clock64();
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < 50000);
    out[0] = static_cast<std::uint64_t>(clock64() - first);
    out[1] = now - begin;
}

} // namespace

cudaError_t copy(void *to, const void *from, std::size_t bytes, cudaStream_t stream)
{
    copyKernel<<<132 * 4, kThreads, 0, stream>>>(static_cast<uint4 *>(to), static_cast<const uint4 *>(from),
                                                 bytes / 16);
    return cudaGetLastError();
}

cudaError_t measureClock(std::uint64_t *cyclesAndNanoseconds, cudaStream_t stream)
{
    clockKernel<<<1, 1, 0, stream>>>(cyclesAndNanoseconds);
    return cudaGetLastError();
}

} // namespace palimpsest::gpu_bench
