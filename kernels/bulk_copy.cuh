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

// The race detector follows neither one lane that arrives for its warp nor an arrival that waits for copies: it names
// hazards where there are none. For it the library can be built so that every lane arrives, behind its own copies.
#ifdef PALIMPSEST_RACECHECK
inline constexpr bool kEveryLaneArrives = true;
#else
inline constexpr bool kEveryLaneArrives = false;
#endif

/// What barrierArriveOfWarp() counts as.
inline constexpr unsigned kWarpArrivals = kEveryLaneArrives ? 32 : 1;

/// The whole warp arrives: what its lanes read and wrote is behind them.
__device__ __forceinline__ void barrierArriveOfWarp(std::uint32_t barrier, int lane)
{
    __syncwarp();
    if (kEveryLaneArrives || lane == 0)
        barrierArrive(barrier);
}

/// Arrives once this thread's copies begun with cp.async have all landed; one of the barrier's expected arrivals.
__device__ __forceinline__ void barrierArriveAfterCopies(std::uint32_t barrier)
{
    if constexpr (kEveryLaneArrives)
        asm volatile("cp.async.wait_all;\nmbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
    else
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/// For data that is read once: first to leave the second-level cache, so that what is read again stays.
__device__ __forceinline__ std::uint64_t evictFirstPolicy()
{
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

__device__ __forceinline__ std::uint64_t evictNormalPolicy()
{
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/// Starts one copy of `bytes` (a multiple of 16, both ends aligned to 16) to shared memory that reports to `barrier`.
__device__ __forceinline__ void copyBulk(std::uint32_t target, const void *source, std::uint32_t bytes,
                                         std::uint32_t barrier, std::uint64_t policy)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(target),
        "l"(source), "r"(bytes), "r"(barrier), "l"(policy)
        : "memory");
}

} // namespace palimpsest::kernels::ptx
