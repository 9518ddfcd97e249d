// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/dense_gemm.h"
#include "kernels/gelu.cuh"
#include "kernels/ptx.cuh"
#include "kernels/ptx_sm90.cuh"

#include <cuda.h>

#include <cstdint>

/// How the Hopper product stores 16-bit outputs.
namespace palimpsest::kernels::hopper_gemm {

/// Whether outputs go by way of shared memory. Straight from the sums, which are transposed, a warp would write half
/// sectors of 16 bytes.
constexpr bool isStaged(GemmEpilogue epilogue)
{
    return epilogue != GemmEpilogue::Float;
}

/// Shared memory for that: two chunks of rows for each warpgroup, a row being its 64 outputs (gated: 32).
template <int kWarpgroups, GemmEpilogue kEpilogue>
struct Staging
{
    static constexpr bool kGated = kEpilogue == GemmEpilogue::GatedGelu;
    static constexpr int kOutputs = kGated ? 32 : 64;
    static constexpr int kRowBytes = kOutputs * 2;                ///< as wide as the swizzle
    static constexpr int kChunkRows = kWarpgroups == 3 ? 32 : 64; ///< what the stages leave room for
    static constexpr int kChunkBytes = kChunkRows * kRowBytes;
    static constexpr int kBytes = isStaged(kEpilogue) ? kWarpgroups * 2 * kChunkBytes : 0;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A warpgroup's sums on their way out: transposed chunk by chunk into shared memory, whence the copy engine takes
/// whole rows of 64 or 128 bytes while the next products begin.
template <int kWarpgroups, int kTileRows, GemmEpilogue kEpilogue>
class StagedStore
{
public:
    /// `memory`: Staging::kBytes, aligned to 1024.
    __device__ StagedStore(const CUtensorMap &map, std::uint32_t memory)
        : m_map(map), m_chunks(memory + group() * 2 * S::kChunkBytes)
    {
        // A matrix is eight rows and eight outputs; of four, lane l gives the place of row l % 8 of matrix l / 8. They
        // are two with the outputs of the warp, then two with the next rows; gated ones four after the other. Swizzled
        // as the copy engine reads it.
        const unsigned warp = threadIdx.x % 128 / 32;
        const unsigned lane = threadIdx.x % 32;
        if constexpr (S::kGated)
            m_place = lane * S::kRowBytes + ((warp ^ lane / 2 % 4) << 4U);
        else
            m_place = (lane / 16 * 8 + lane % 8) * S::kRowBytes + ((warp * 2 + lane / 8 % 2 ^ lane % 8) << 4U);
    }

    /// `block` of outputs. Rows and outputs that the tensor map does not have are not stored.
    __device__ void store(const float (&sums)[kTileRows / 2], std::int64_t rows, int firstRow, int block) const
    {
        const int firstOutput = (block * kWarpgroups + static_cast<int>(group())) * S::kOutputs;
#pragma unroll
        for (int chunk = 0; chunk < kTileRows / S::kChunkRows; ++chunk) {
            const int row = firstRow + chunk * S::kChunkRows;
            if (row >= rows)
                return;
            const std::uint32_t target = m_chunks + chunk % 2 * S::kChunkBytes;
            if (isLeader()) { // the chunk has been read; a tile's first one may be either
                if (chunk == 0)
                    ptx::storeWaitRead<0>();
                else
                    ptx::storeWaitRead<1>();
            }
            meet();
#pragma unroll
            for (int i = 0; i < S::kChunkRows / kRowsAtOnce; ++i) {
                const float *const first = sums + (chunk * S::kChunkRows + i * kRowsAtOnce) / 2;
                ptx::storeMatrix4Transposed(target + m_place + i * kRowsAtOnce * S::kRowBytes,
                                            {matrix(first, 0), matrix(first, 1), matrix(first, 2), matrix(first, 3)});
            }
            ptx::proxyFence();
            meet();
            if (isLeader()) {
                ptx::storeBox2(&m_map, target, firstOutput, row);
                ptx::storeCommit();
            }
        }
    }

    /// Before the block ends.
    __device__ void finish() const
    {
        if (isLeader())
            ptx::storeWait();
    }

private:
    using S = Staging<kWarpgroups, kEpilogue>;
    static constexpr int kRowsAtOnce = S::kGated ? 32 : 16; ///< that four matrices hold

    static __device__ unsigned group()
    {
        return threadIdx.x / 128;
    }
    static __device__ bool isLeader()
    {
        return threadIdx.x % 128 == 0;
    }
    static __device__ void meet()
    {
        ptx::namedBarrier(1 + static_cast<int>(group()), 128);
    }
    /// This lane's two rows of one output in matrix number `index`. A thread that multiplies for a gated product holds
    /// the gate's sums in front of those that they gate.
    static __device__ std::uint32_t matrix(const float *first, int index)
    {
        const float *const s = first + index * (S::kGated ? 4 : 2);
        if constexpr (S::kGated)
            return ptx::packBf16(geluTanh(s[0]) * s[2], geluTanh(s[1]) * s[3]);
        else
            return kEpilogue == GemmEpilogue::Fp16 ? ptx::packFp16(s[0], s[1]) : ptx::packBf16(s[0], s[1]);
    }

    const CUtensorMap &m_map;
    std::uint32_t m_chunks; ///< shared address
    std::uint32_t m_place;  ///< of this lane in a chunk
};

#endif

} // namespace palimpsest::kernels::hopper_gemm
