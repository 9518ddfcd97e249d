// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/ptx_sm90.cuh"

#include <cstdint>

/// The copy engine without tensor maps (compute capability 9.0 and up): one function for one instruction.
namespace palimpsest::kernels::ptx {

__device__ __forceinline__ void barrierArrive(std::uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Starts one copy of `bytes` (a multiple of 16, both ends aligned to 16) to shared memory that reports to `barrier`.
__device__ __forceinline__ void copyBulk(std::uint32_t target, const void *source, std::uint32_t bytes,
                                         std::uint32_t barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(target),
        "l"(source), "r"(bytes), "r"(barrier)
        : "memory");
}

} // namespace palimpsest::kernels::ptx
