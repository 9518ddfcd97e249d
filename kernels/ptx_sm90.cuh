// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

/// Instructions of compute capability 9.0 (sm_90a), one function each. Shared addresses are those of
/// ptx::sharedAddress().
namespace palimpsest::kernels::ptx {

__device__ __forceinline__ void barrierInit(std::uint32_t barrier, std::uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes initialised barriers visible to the cluster and to the copy engine.
__device__ __forceinline__ void barrierInitFence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives and announces `bytes` that the copy engine will deliver in this phase.
__device__ __forceinline__ void barrierExpect(std::uint32_t barrier, std::uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Waits for the end of the phase of that parity.
__device__ __forceinline__ void barrierWait(std::uint32_t barrier, std::uint32_t parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra ready_%=;\n"
                 "bra again_%=;\n"
                 "ready_%=:\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/// Orders what ordinary stores and cp.async wrote to shared memory, and this thread has seen, before what wgmma and the
/// copy engine do there next.
__device__ __forceinline__ void proxyFence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Arrives at the barrier at the same place in block `rank` of the cluster. Orders nothing beyond this block: a release
/// at cluster scope would be a fence to the device's memory, a thousand cycles; products that were waited for need
/// none.
__device__ __forceinline__ void barrierArriveAt(std::uint32_t barrier, std::uint32_t rank)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

__device__ __forceinline__ std::uint32_t clusterRank()
{
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void clusterBarrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// A box of a two-dimensional tensor into this block's shared memory.
__device__ __forceinline__ void copyBox2(std::uint32_t target, const void *map, std::uint32_t barrier, std::int32_t c0,
                                         std::int32_t c1)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
            target),
        "l"(map), "r"(barrier), "r"(c0), "r"(c1)
        : "memory");
}

/// The same into every block of the cluster that `mask` names, each one's barrier told.
__device__ __forceinline__ void copyBox2Multicast(std::uint32_t target, const void *map, std::uint32_t barrier,
                                                  std::uint16_t mask, std::int32_t c0, std::int32_t c1)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%4, %5}], [%2], %3;" ::"r"(target),
                 "l"(map), "r"(barrier), "h"(mask), "r"(c0), "r"(c1)
                 : "memory");
}

__device__ __forceinline__ void copyBox4(std::uint32_t target, const void *map, std::uint32_t barrier, std::int32_t c0,
                                         std::int32_t c1, std::int32_t c2, std::int32_t c3)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(target),
                 "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
                 : "memory");
}

__device__ __forceinline__ void prefetchTensorMap(const void *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Stores four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void storeMatrix4(std::uint32_t address, const std::uint32_t (&in)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(in[0]),
                 "r"(in[1]), "r"(in[2]), "r"(in[3])
                 : "memory");
}

/// The same with each matrix transposed on the way.
__device__ __forceinline__ void storeMatrix4Transposed(std::uint32_t address, const std::uint32_t (&in)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(in[0]),
                 "r"(in[1]), "r"(in[2]), "r"(in[3])
                 : "memory");
}

/// A box from shared memory into a two-dimensional tensor, as far as it lies within; part of the thread's next group.
__device__ __forceinline__ void storeBox2(const void *map, std::uint32_t source, std::int32_t c0, std::int32_t c1)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(source),
                 "r"(c0), "r"(c1)
                 : "memory");
}

__device__ __forceinline__ void storeCommit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until at most `kPending` of this thread's groups of stores still read their shared memory.
template <int kPending>
__device__ __forceinline__ void storeWaitRead()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// Waits until this thread's stores are complete.
__device__ __forceinline__ void storeWait()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// High word of swizzledMatrix(): the swizzle, and the distance of eight rows from the next eight.
inline constexpr std::uint32_t kSwizzledMatrixHigh = std::uint32_t{1} << 30U | 1024 / 16;

/// A matrix in shared memory with the 128-byte swizzle, as wgmma reads it: rows of 128 bytes, eight of them 1024 bytes
/// apart from the next eight.
__device__ __forceinline__ std::uint64_t swizzledMatrix(std::uint32_t address)
{
    constexpr std::uint64_t kUnused = std::uint64_t{1} << 16U; // stride between repetitions that a tile this wide lacks
    return std::uint64_t{kSwizzledMatrixHigh} << 32U | kUnused | ((address & 0x3FFFFU) >> 4U);
}

__device__ __forceinline__ void wgmmaFence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmmaCommit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int kPending>
__device__ __forceinline__ void wgmmaWait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Behind a wait: nothing that reads the sums moves in front of it.
template <int kCount>
__device__ __forceinline__ void settle(float (&sums)[kCount])
{
    static_assert(kCount % 4 == 0, "in fours: the compiler does not unroll a loop of 128 of these");
#pragma unroll
    for (int i = 0; i < kCount; i += 4)
        asm volatile("" : "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])::"memory");
}

/// d[64x256] += a[64x16] * b[16x256] by four warps: bf16 from shared memory, fp32 sums. Both have their inputs
/// contiguous, or (kTransposed = 1) a its outputs.
template <int kTransposed>
__device__ __forceinline__ void wgmma64x256x16(float (&d)[128], std::uint64_t a, std::uint64_t b)
{
    // clang-format off
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, "
        "%72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, "
        "%88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, "
        "%104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, "
        "%120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1, %130, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
          "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
          "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
          "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
          "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
          "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
          "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
          "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
          "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
        : "l"(a), "l"(b), "n"(kTransposed));
    // clang-format on
}

/// d[64x128] += a[64x16] * b[16x128], the same for half as many columns.
template <int kTransposedA, int kTransposedB = 0>
__device__ __forceinline__ void wgmma64x128x16(float (&d)[64], std::uint64_t a, std::uint64_t b)
{
    // clang-format off
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, "
        "%8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, "
        "%40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, "
        "%56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, %66, %67;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "n"(kTransposedA), "n"(kTransposedB));
    // clang-format on
}

} // namespace palimpsest::kernels::ptx
