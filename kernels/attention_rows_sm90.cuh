// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_ring_sm90.cuh"
#include "kernels/ptx_wgmma.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// What a warpgroup of the attention kernels of compute capability 9.0 holds of 64 queries. A thread has rows lane / 4
/// and lane / 4 + 8 of its warp's 16, as wgmma lays them out.
namespace palimpsest::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Low word of a matrix descriptor; 16 bytes further on is 1 more. Uniform, or every product would fetch its descriptor
/// from ordinary registers, which takes longer than the product.
__device__ __forceinline__ std::uint32_t matrixWord(std::uint32_t address)
{
    return ptx::uniform(static_cast<std::uint32_t>(ptx::swizzledMatrix(address)));
}

__device__ __forceinline__ std::uint64_t matrixAt(std::uint32_t word)
{
    return std::uint64_t{ptx::kSwizzledMatrixHigh} << 32U | word;
}

/// Positions [begin, end) that a query sees.
struct Visible
{
    int begin;
    int end;
};

/// Of this thread's two rows: the largest score so far, and the sum of the weights relative to it.
struct RowSoftmax
{
    float maximum[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0.0F, 0.0F};

    __device__ static int warpRow() { return static_cast<int>(threadIdx.x) % 128 / 32 * 16; }
    __device__ static int row(int i) { return warpRow() + static_cast<int>(threadIdx.x) % 32 / 4 + i * 8; }

    /// Scores to weights relative to the maximum so far, and the factor that brings what was summed before to it. A row
    /// that sees nothing of the page keeps its state exactly: factor 1, weights 0.
    __device__ void weigh(float (&scores)[32], const PageSpan &page, const Visible (&visible)[2], float (&factor)[2])
    {
        constexpr float kLog2E = 1.44269504F;
        int begin[2];
        int end[2];
        bool isCut = false;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            begin[i] = visible[i].begin - page.first;
            end[i] = min(visible[i].end, page.validEnd) - page.first;
            isCut = isCut || begin[i] > 0 || end[i] < kPage;
        }
        if (__any_sync(kWholeWarp, isCut))
            hide(scores, begin, end);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            float largest = maximum[i];
            float second = scores[i * 2];
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                largest = fmaxf(largest, scores[j * 4 + i * 2 + 1]);
                second = fmaxf(second, scores[j * 4 + i * 2]);
            }
            largest = fmaxf(largest, second);
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 2));
            const float reference = largest == -INFINITY ? 0.0F : __fmul_rn(largest, kLog2E);
            // Not contracted: an unchanged maximum must give exactly 1.
            factor[i] = ptx::exp2Approximate(__fmul_rn(maximum[i], kLog2E) - reference);
            maximum[i] = largest;
            float added = 0.0F;
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                float &left = scores[j * 4 + i * 2];
                float &right = scores[j * 4 + i * 2 + 1];
                left = ptx::exp2Approximate(fmaf(left, kLog2E, -reference));
                right = ptx::exp2Approximate(fmaf(right, kLog2E, -reference));
                added += left + right;
            }
            sum[i] = sum[i] * factor[i] + added;
        }
    }

    /// Behind the last page: the four threads of a row add what they have.
    __device__ void finish()
    {
        for (float &value : sum) {
            value += __shfl_xor_sync(kWholeWarp, value, 1);
            value += __shfl_xor_sync(kWholeWarp, value, 2);
        }
    }

private:
    /// Slots of the page outside [begin, end) do not count.
    __device__ static void hide(float (&scores)[32], const int (&begin)[2], const int (&end)[2])
    {
        const int slot = static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            const int key = j / 4 * 8 + slot + j % 2;
            const int i = j / 2 % 2;
            if (key < begin[i] || key >= end[i])
                scores[j] = -INFINITY;
        }
    }
};

/// Weights as bf16: wgmma's left operand.
__device__ __forceinline__ void packWeights(std::uint32_t (&packed)[4][4], const float (&weights)[32])
{
#pragma unroll
    for (int j = 0; j < 16; ++j)
        packed[j / 4][j % 4] = ptx::packBf16(weights[j * 2], weights[j * 2 + 1]);
}

/// Output of 64 queries in kColumns columns.
template <int kColumns>
struct OutputTile
{
    float sums[kColumns / 2];
    int firstRow;        ///< of the block's queries
    int firstColumn;     ///< of the head's
    std::uint32_t lines; ///< shared memory to store by way of, [64][kColumns] bf16, once the warpgroup is done

    __device__ OutputTile(int row, int column, std::uint32_t place) : firstRow(row), firstColumn(column), lines(place)
    {
#pragma unroll
        for (float &value : sums)
            value = 0.0F;
    }

    __device__ int rowOf(int i) const
    {
        return firstRow + RowSoftmax::row(i);
    }

    /// Most pages bring no row of a warp a new maximum.
    __device__ void rescale(const float (&factor)[2])
    {
        if (!__any_sync(kWholeWarp, factor[0] != 1.0F || factor[1] != 1.0F))
            return;
#pragma unroll
        for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sums[j * 4 + i] *= factor[i / 2];
        }
    }

    /// Calls body(i, column, two neighbouring sums) for this thread's part.
    template <typename Body>
    __device__ void forEachPair(int headDim, Body body) const
    {
        const int first = firstColumn + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
        for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
            for (int i = 0; i < 2; ++i)
                if (first + j * 8 < headDim)
                    body(i, first + j * 8, sums[j * 4 + i * 2], sums[j * 4 + i * 2 + 1]);
        }
    }

    /// Stores the block's first `rows` rows, divided by the weights' sums, in whole lines. `out`: row 0, column 0 of
    /// the head.
    __device__ void store(Bf16 *out, std::int64_t stride, int rows, int headDim, const float (&sum)[2]) const
    {
        constexpr int kPieces = kColumns / 8; // 16 bytes, of a row
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warpRow = RowSoftmax::warpRow();
        const std::uint32_t own = lines + static_cast<std::uint32_t>(warpRow) * kColumns * 2;
        const auto pieceAt = [&](int row, int piece) { // eight rows lie in different banks
            return own + static_cast<std::uint32_t>(row * kPieces + (piece ^ (row & 7))) * 16U;
        };
        const float inverse[2] = {1.0F / sum[0], 1.0F / sum[1]};
#pragma unroll
        for (int j = 0; j < kPieces; j += 2) {
            const float *v = sums + j * 4;
            const std::uint32_t pairs[4] = {ptx::packBf16(v[0] * inverse[0], v[1] * inverse[0]),
                                            ptx::packBf16(v[2] * inverse[1], v[3] * inverse[1]),
                                            ptx::packBf16(v[4] * inverse[0], v[5] * inverse[0]),
                                            ptx::packBf16(v[6] * inverse[1], v[7] * inverse[1])};
            ptx::storeMatrix4(pieceAt(lane % 16, j + lane / 16), pairs);
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < kPieces / 2; ++k) {
            const int row = (k * 32 + lane) / kPieces;
            const int column = firstColumn + (k * 32 + lane) % kPieces * 8;
            const float4 line = ptx::loadShared16(pieceAt(row, (k * 32 + lane) % kPieces));
            if (firstRow + warpRow + row < rows && column < headDim)
                *reinterpret_cast<float4 *>(out + (firstRow + warpRow + row) * stride + column) = line;
        }
    }
};

#endif

} // namespace palimpsest::kernels
