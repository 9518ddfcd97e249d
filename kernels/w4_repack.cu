// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/w4_repack.h"

#include "kernels/ptx.cuh"

#include <cuda_fp16.h>

namespace palimpsest::kernels {

namespace {

constexpr int kThreads = 128;

/// The row of the matrix that is row `row` (0..15) of tile `tile` of a block; may lie beyond the matrix.
__device__ std::int64_t sourceRow(const W4RepackArgs &args, std::int64_t block, int tile, int row)
{
    const int group = row & 7;
    const int half = row >> 3;
    if (args.order == W4RowOrder::GateUp)
        return half * (args.rows / 2) + block * 16 + 2 * group + tile;
    return block * kW4BlockRows + 4 * group + 2 * tile + half;
}

__device__ std::uint32_t nibble(const W4RepackArgs &args, const std::uint8_t *matrix, std::int64_t row,
                                std::int64_t column)
{
    if (row >= args.rows)
        return 0;
    const std::uint32_t byte = matrix[(row * args.columns + column) / 2];
    return (column & 1) != 0 ? byte >> 4 : byte & 15U;
}

__device__ std::uint32_t parameter(const W4RepackArgs &args, std::int64_t matrix, std::int64_t row, std::int64_t group)
{
    if (row >= args.rows)
        return 0;
    const std::int64_t at = (matrix * args.rows + row) * (args.columns / args.groupSize) + group;
    const float zero = __half2float(__ushort_as_half(args.zero[at]));
    const bool whole = zero >= 0.0F && zero <= 15.0F && zero == rintf(zero);
    if (!whole && args.invalidZeros != nullptr)
        *args.invalidZeros = 1; // every writer writes the same
    return args.scale[at] | static_cast<std::uint32_t>(ptx::toBf16(whole ? zero * (-1.0F / 64.0F) : 0.0F)) << 16;
}

/// One thread block writes one block of the layout: threads [0, groupSize) a lane's 16 bytes each, 32 more a parameter.
__global__ void __launch_bounds__(kThreads)
    repackKernel(const W4RepackArgs args, std::int64_t rowBlocks, std::int64_t blockBytes)
{
    const std::int64_t groups = args.columns / args.groupSize;
    const std::int64_t index = blockIdx.x;
    const std::int64_t matrix = index / (rowBlocks * groups);
    const std::int64_t group = index / rowBlocks % groups;
    const std::int64_t block = index % rowBlocks;
    const int groupSize = static_cast<int>(args.groupSize);
    std::uint8_t *target = args.blocks + index * blockBytes;
    const int thread = static_cast<int>(threadIdx.x);

    if (thread < groupSize) {
        const std::uint8_t *source = args.packed + matrix * args.rows * args.columns / 2;
        const int lane = thread & 31;
        std::uint32_t words[4] = {};
        for (int word = 0; word < 4; ++word) {
            const std::int64_t firstColumn = group * groupSize + (thread >> 5) * 32 + (word >> 1) * 16 + (lane & 3) * 2;
            for (int r = 0; r < 4; ++r) {
                const std::int64_t row = sourceRow(args, block, word & 1, (lane >> 2) + (r & 1) * 8);
                const std::int64_t column = firstColumn + (r >> 1) * 8;
                words[word] |= nibble(args, source, row, column) << (4 * r);
                words[word] |= nibble(args, source, row, column + 1) << (16 + 4 * r);
            }
        }
        reinterpret_cast<uint4 *>(target)[thread] = make_uint4(words[0], words[1], words[2], words[3]);
    }
    if (thread < kW4BlockRows) {
        const int tile = (thread >> 1) & 1;
        const int row = (thread >> 2) + (thread & 1) * 8;
        reinterpret_cast<std::uint32_t *>(target + groupSize * 16)[thread] =
            parameter(args, matrix, sourceRow(args, block, tile, row), group);
    }
}

} // namespace

cudaError_t w4Repack(const W4RepackArgs &args, cudaStream_t stream)
{
    const auto misaligned = [](const void *p) {
        return (reinterpret_cast<std::uintptr_t>(p) & 15U) != 0;
    };
    if ((args.groupSize != 64 && args.groupSize != 128) || args.columns <= 0 || args.columns % args.groupSize != 0 ||
        args.rows < 0 || args.matrices < 0 || misaligned(args.packed) || misaligned(args.blocks) ||
        (args.order == W4RowOrder::GateUp && args.rows % kW4BlockRows != 0))
        return cudaErrorInvalidValue;
    const std::int64_t blocks = args.matrices * w4RowBlocks(args.rows) * (args.columns / args.groupSize);
    if (blocks == 0)
        return cudaSuccess;
    if (blocks > INT32_MAX || args.packed == nullptr || args.scale == nullptr || args.zero == nullptr ||
        args.blocks == nullptr)
        return cudaErrorInvalidValue;
    repackKernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(args, w4RowBlocks(args.rows),
                                                                         w4BlockBytes(args.groupSize));
    return cudaGetLastError();
}

} // namespace palimpsest::kernels
