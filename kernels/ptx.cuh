// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"

#include <cstdint>

/// Instructions that every supported chip has (compute capability 8.0 and up), one function each, and the moves between
/// bf16 and fp32.
namespace palimpsest::kernels::ptx {

/// Two fp32 rounded to nearest even; `low` ends in the low half.
__device__ __forceinline__ std::uint32_t packBf16(float low, float high)
{
    std::uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

__device__ __forceinline__ Bf16 toBf16(float value)
{
    return static_cast<Bf16>(packBf16(value, 0.0F) & 0xFFFFU);
}

__device__ __forceinline__ float fromBf16(Bf16 value)
{
    return __uint_as_float(static_cast<std::uint32_t>(value) << 16U);
}

__device__ __forceinline__ float lowBf16(std::uint32_t pair)
{
    return __uint_as_float(pair << 16U);
}

__device__ __forceinline__ float highBf16(std::uint32_t pair)
{
    return __uint_as_float(pair & 0xFFFF0000U);
}

/// Two fp32 rounded to the nearest IEEE binary16, what is too large to the largest finite one; `low` ends in the low
/// half.
__device__ __forceinline__ std::uint32_t packFp16(float low, float high)
{
    std::uint32_t packed;
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

__device__ __forceinline__ float fromFp16(std::uint16_t value)
{
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value));
    return wide;
}

__device__ __forceinline__ float lowFp16(std::uint32_t pair)
{
    return fromFp16(static_cast<std::uint16_t>(pair & 0xFFFFU));
}

__device__ __forceinline__ float highFp16(std::uint32_t pair)
{
    return fromFp16(static_cast<std::uint16_t>(pair >> 16U));
}

__device__ __forceinline__ std::uint32_t sharedAddress(const void *pointer)
{
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// The value of the warp's first lane. What is the same in all lanes anyway is then known to be so, and may be kept in
/// uniform registers, where matrix instructions take their descriptors from. For whole warps.
template <typename T>
__device__ __forceinline__ T uniform(T value)
{
    return __shfl_sync(0xFFFFFFFFU, value, 0);
}

/// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void loadMatrix4(std::uint32_t (&out)[4], std::uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void loadMatrix4Transposed(std::uint32_t (&out)[4], std::uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
}

/// c[16x8] += a[16x16] * b[16x8], bf16 operands, fp32 sum.
__device__ __forceinline__ void mma16816(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// 2 to the power of x; exactly 1 for 0, and 0 for what is below 2^-126.
__device__ __forceinline__ float exp2Approximate(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

__device__ __forceinline__ float4 loadShared16(std::uint32_t address)
{
    float4 value;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

__device__ __forceinline__ void storeShared(std::uint32_t address, float value)
{
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

__device__ __forceinline__ float loadShared(std::uint32_t address)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
    return value;
}

/// Adds and returns what was there; orders what the block's other threads wrote and read around it (behind a barrier)
/// for the whole device.
__device__ __forceinline__ unsigned addAcquireRelease(unsigned *target, unsigned value)
{
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(target), "r"(value) : "memory");
    return before;
}

/// A barrier (1 to 15; 0 is __syncthreads()) for `threads` of the block's threads, whole warps. Not bar.sync, which is
/// for threads that all come to the same instruction: warps with different tasks meet here.
__device__ __forceinline__ void namedBarrier(int barrier, int threads)
{
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Copies 16 bytes to shared memory in the background; with `valid` false nothing is read and zeros are written.
__device__ __forceinline__ void copyAsync16(std::uint32_t target, const void *source, bool valid)
{
    const int bytes = valid ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
}

/// The same for what the other blocks on this multiprocessor copy too: by way of the first-level cache.
__device__ __forceinline__ void copyAsyncShared16(std::uint32_t target, const void *source)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
}

__device__ __forceinline__ void copyAsyncCommit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `kPending` of this thread's groups are under way.
template <int kPending>
__device__ __forceinline__ void copyAsyncWait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Waits until the kernels before this one in the stream have ended and their writes can be seen. Every block must call
/// it before it reads or writes what they may use; see launchDependent() in launch.h.
__device__ __forceinline__ void waitForPrevious()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the blocks of the next kernel start as soon as there is room for them.
__device__ __forceinline__ void letNextStart()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void beginDependent()
{
    letNextStart();
    waitForPrevious();
}

} // namespace palimpsest::kernels::ptx
