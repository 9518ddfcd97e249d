// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/dense_gemm.h"
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
    return epilogue == GemmEpilogue::HalfWidth || epilogue == GemmEpilogue::Fp16;
}

/// Shared memory for that: two chunks of rows for each warpgroup, a row being its 64 outputs.
template <int kWarpgroups>
struct Staging
{
    static constexpr int kRowBytes = 128;
    static constexpr int kChunkRows = kWarpgroups == 3 ? 32 : 64; ///< what the stages leave room for
    static constexpr int kChunkBytes = kChunkRows * kRowBytes;
    static constexpr int kBytes = kWarpgroups * 2 * kChunkBytes;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A warpgroup's sums on their way out: transposed chunk by chunk into shared memory, whence the copy engine takes
/// whole lines of 128 bytes while the next products begin.
template <int kWarpgroups, int kTileRows, GemmEpilogue kEpilogue>
class StagedStore
{
public:
    /// `memory`: Staging::kBytes, aligned to 1024.
    __device__ StagedStore(const CUtensorMap &map, std::uint32_t memory)
        : m_map(map), m_chunks(memory + group() * 2 * S::kChunkBytes)
    {
        // A matrix is eight rows and eight outputs; of four, lane l gives the place of row l % 8 of matrix l / 8: two
        // with the outputs of the warp, then two with the next rows. Swizzled as the copy engine reads it.
        const unsigned lane = threadIdx.x % 32;
        const unsigned unit = threadIdx.x % 128 / 32 * 2 + lane / 8 % 2;
        m_place = (lane / 16 * 8 + lane % 8) * S::kRowBytes + ((unit ^ lane % 8) << 4U);
    }

    /// Rows and outputs that the tensor map does not have are not stored.
    __device__ void store(const float (&sums)[kTileRows / 2], std::int64_t rows, int firstRow, int firstOutput) const
    {
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
            for (int i = 0; i < S::kChunkRows / 16; ++i) {
                const float *const s = sums + (chunk * S::kChunkRows + i * 16) / 2;
                ptx::storeMatrix4Transposed(target + m_place + i * 16 * S::kRowBytes,
                                            {pack(s[0], s[1]), pack(s[2], s[3]), pack(s[4], s[5]), pack(s[6], s[7])});
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
    using S = Staging<kWarpgroups>;

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
    static __device__ std::uint32_t pack(float first, float second)
    {
        return kEpilogue == GemmEpilogue::Fp16 ? ptx::packFp16(first, second) : ptx::packBf16(first, second);
    }

    const CUtensorMap &m_map;
    std::uint32_t m_chunks; ///< shared address
    std::uint32_t m_place;  ///< of this lane in a chunk
};

#endif

} // namespace palimpsest::kernels::hopper_gemm
