// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

/// Kernels that measure the card itself.
namespace palimpsest::gpu_bench {

/// Copies `bytes` (a multiple of 16) with all multiprocessors.
[[nodiscard]] cudaError_t copy(void *to, const void *from, std::size_t bytes, cudaStream_t stream);

/// Counts a multiprocessor's cycles over 50 us; out: cycles, nanoseconds (device memory).
[[nodiscard]] cudaError_t measureClock(std::uint64_t *cyclesAndNanoseconds, cudaStream_t stream);

} // namespace palimpsest::gpu_bench
