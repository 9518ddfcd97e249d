// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bf16.h"
#include "kernels/chip.h"
#include "kernels/kv_pages.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// One head's tile of queries against a run of key blocks, with an online softmax in fp32 (Milakov and Gimelshein 2018;
/// Dao 2023): what canvas and causal attention share.
///
/// Warps come in pairs: both have the same 16 queries; of the scores each computes half the keys, of the output half
/// the columns, so that 512 columns fit the registers. Scores pass through shared memory as bf16.
///
///     Q [rows][kD]  K [kKeys][kD] --mma--> S --exp--> P [rows][kKeys]  V [kKeys][kD] --mma--> O (registers)
///
/// K of the next block is fetched while P is made and multiplied, V of the next while the next scores are.
namespace palimpsest::kernels {

template <int kHeadDim, int kRowGroups, int kBlockKeys>
struct AttentionShape
{
    static constexpr int kD = kHeadDim; ///< head size rounded up to 64, 128, 256 or 512; columns behind it are zero
    static constexpr int kGroups = kRowGroups;
    static constexpr int kRows = kRowGroups * 16;
    static constexpr int kKeys = kBlockKeys;
    static constexpr int kThreads = kRowGroups * 64;
    static constexpr int kHalfKeys = kKeys / 2;
    static constexpr int kHalfColumns = kD / 2;
    static constexpr int kProbabilityPitch = kKeys + 8; // rows in different banks
    static constexpr int kResident = kD > 256 ? 1 : 2;  // blocks on a multiprocessor that registers must allow
    static_assert(kKeys == 32 || kKeys == 64);

    struct Shared
    {
        Bf16 queries[kRows * kD];
        Bf16 keys[kKeys * kD];
        Bf16 values[kKeys * kD];
        Bf16 probabilities[kRows * kProbabilityPitch];
        float exchange[2][kRows];
    };
};

/// Keys of one block: `first` is the position of slot 0; slots at or behind `validEnd` hold nothing.
struct KeyBlock
{
    const Bf16 *keys;
    const Bf16 *values;
    int first;
    int validEnd;
};

/// Positions [begin, end) that a query sees.
struct VisibleRange
{
    int begin;
    int end;
};

template <typename Shape>
struct AttentionTile
{
    using Shared = typename Shape::Shared;
    static constexpr int kColumnTiles = Shape::kHalfColumns / 8;
    static constexpr int kKeyTiles = Shape::kHalfKeys / 8;

    Shared &shared;
    int headDim;
    int lane;
    int group; ///< which 16 queries
    int half;  ///< which keys and columns
    float output[kColumnTiles][4];
    // Of the two rows lane / 4 and lane / 4 + 8 of the group.
    float maximum[2];
    float sum[2]; ///< over this lane's keys

    __device__ AttentionTile(Shared &sharedMemory, int columns)
        : shared(sharedMemory),
          headDim(columns),
          lane(static_cast<int>(threadIdx.x) % 32),
          group(static_cast<int>(threadIdx.x) / 32 % Shape::kGroups),
          half(static_cast<int>(threadIdx.x) / 32 / Shape::kGroups)
    {
#pragma unroll
        for (auto &tile : output)
            for (float &value : tile)
                value = 0.0F;
        for (int i = 0; i < 2; ++i) {
            maximum[i] = -INFINITY;
            sum[i] = 0.0F;
        }
    }

    /// Row of the tile that accumulator index i of this lane belongs to.
    __device__ int rowOf(int i) const
    {
        return group * 16 + lane / 4 + i * 8;
    }

    /// 16-byte chunks of a row are permuted by the row's number, so that eight rows lie in different banks.
    __device__ static int place(int row, int chunk)
    {
        return row * Shape::kD + (chunk ^ (row & 7)) * 8;
    }

    /// Fetches `kTileRows` rows of headDim elements, `stride` apart; rows from validRows on become zero.
    template <int kTileRows>
    __device__ void fetch(Bf16 *target, const Bf16 *source, std::int64_t stride, int validRows) const
    {
        constexpr int kChunks = Shape::kD / 8;
#pragma unroll 4
        for (int i = static_cast<int>(threadIdx.x); i < kTileRows * kChunks; i += Shape::kThreads) {
            const int row = i / kChunks;
            const int chunk = i % kChunks;
            const bool valid = row < validRows && chunk * 8 < headDim;
            ptx::copyAsync16(ptx::sharedAddress(target + place(row, chunk)),
                             valid ? source + row * stride + chunk * 8 : source, valid);
        }
        ptx::copyAsyncCommit();
    }

    __device__ void fetchKeys(const KeyBlock &block) const
    {
        fetch<Shape::kKeys>(shared.keys, block.keys, headDim, block.validEnd - block.first);
    }

    __device__ void fetchValues(const KeyBlock &block) const
    {
        fetch<Shape::kKeys>(shared.values, block.values, headDim, block.validEnd - block.first);
    }

    __device__ void computeScores(float (&scores)[kKeyTiles][4]) const
    {
#pragma unroll
        for (auto &tile : scores)
            for (float &value : tile)
                value = 0.0F;
#pragma unroll 4
        for (int k = 0; k < Shape::kD; k += 16) {
            std::uint32_t a[4];
            ptx::loadMatrix4(a, ptx::sharedAddress(shared.queries + place(group * 16 + lane % 16, k / 8 + lane / 16)));
#pragma unroll
            for (int key = 0; key < Shape::kHalfKeys; key += 16) {
                std::uint32_t b[4];
                const int row = half * Shape::kHalfKeys + key + lane / 16 * 8 + lane % 8;
                ptx::loadMatrix4(b, ptx::sharedAddress(shared.keys + place(row, k / 8 + lane / 8 % 2)));
                ptx::mma16816(scores[key / 8], a, b[0], b[1]);
                ptx::mma16816(scores[key / 8 + 1], a, b[2], b[3]);
            }
        }
    }

    /// Scores of keys that a row does not see become -infinity; leaves each row's largest score in the exchange.
    __device__ void mask(float (&scores)[kKeyTiles][4], const KeyBlock &block, const VisibleRange (&visible)[2]) const
    {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int begin = visible[i].begin - block.first;
            const int end = min(visible[i].end, block.validEnd) - block.first;
            float largest = -INFINITY;
#pragma unroll
            for (int tile = 0; tile < kKeyTiles; ++tile) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    const int slot = half * Shape::kHalfKeys + tile * 8 + lane % 4 * 2 + c;
                    float &score = scores[tile][i * 2 + c];
                    if (slot < begin || slot >= end)
                        score = -INFINITY;
                    largest = fmaxf(largest, score);
                }
            }
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 1));
            largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, 2));
            if (lane % 4 == 0)
                shared.exchange[half][rowOf(i)] = largest;
        }
    }

    /// Turns scores into probabilities relative to the new maximum and rescales what was summed before. A row that sees
    /// nothing of the block keeps its state exactly: its factor is 1 and its probabilities are 0.
    __device__ void weigh(const float (&scores)[kKeyTiles][4])
    {
        constexpr float kLog2E = 1.44269504F;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int row = rowOf(i);
            const float newMaximum = fmaxf(maximum[i], fmaxf(shared.exchange[0][row], shared.exchange[1][row]));
            const float reference = newMaximum == -INFINITY ? 0.0F : newMaximum;
            const float factor = exp2f((maximum[i] - reference) * kLog2E);
            maximum[i] = newMaximum;
            float added = 0.0F;
#pragma unroll
            for (int tile = 0; tile < kKeyTiles; ++tile) {
                const float first = exp2f((scores[tile][i * 2] - reference) * kLog2E);
                const float second = exp2f((scores[tile][i * 2 + 1] - reference) * kLog2E);
                added += first + second;
                *reinterpret_cast<std::uint32_t *>(shared.probabilities + row * Shape::kProbabilityPitch +
                                                   half * Shape::kHalfKeys + tile * 8 + lane % 4 * 2) =
                    ptx::packBf16(first, second);
            }
            sum[i] = sum[i] * factor + added;
#pragma unroll
            for (auto &tile : output) {
                tile[i * 2] *= factor;
                tile[i * 2 + 1] *= factor;
            }
        }
    }

    __device__ void addValues()
    {
#pragma unroll
        for (int key = 0; key < Shape::kKeys; key += 16) {
            std::uint32_t a[4];
            ptx::loadMatrix4(a, ptx::sharedAddress(shared.probabilities +
                                                   (group * 16 + lane % 16) * Shape::kProbabilityPitch + key +
                                                   lane / 16 * 8));
#pragma unroll
            for (int column = 0; column < Shape::kHalfColumns; column += 16) {
                std::uint32_t b[4];
                const int row = key + lane / 8 % 2 * 8 + lane % 8;
                ptx::loadMatrix4Transposed(
                    b, ptx::sharedAddress(shared.values +
                                          place(row, (half * Shape::kHalfColumns + column) / 8 + lane / 16)));
                ptx::mma16816(output[column / 8], a, b[0], b[1]);
                ptx::mma16816(output[column / 8 + 1], a, b[2], b[3]);
            }
        }
    }

    /// All blocks in order. `blockAt(i)` gives block i of `count`; queries have been fetched (one group under way).
    template <typename BlockAt>
    __device__ void run(int count, const VisibleRange (&visible)[2], BlockAt blockAt)
    {
        if (count > 0) {
            fetchKeys(blockAt(0));
            fetchValues(blockAt(0));
        }
        for (int i = 0; i < count; ++i) {
            const KeyBlock block = blockAt(i);
            ptx::copyAsyncWait<1>(); // all but the newest group, this block's values
            __syncthreads();
            float scores[kKeyTiles][4];
            computeScores(scores);
            mask(scores, block, visible);
            __syncthreads(); // keys are free, the maxima are there
            if (i + 1 < count)
                fetchKeys(blockAt(i + 1));
            else
                ptx::copyAsyncCommit(); // an empty group, so that the count below holds
            weigh(scores);
            ptx::copyAsyncWait<1>(); // the values
            __syncthreads();
            addValues();
            __syncthreads(); // values and probabilities are free
            if (i + 1 < count)
                fetchValues(blockAt(i + 1));
        }
        ptx::copyAsyncWait<0>();
        shareSums();
    }

    /// Makes `sum` the whole row's, in both warps of a pair.
    __device__ void shareSums()
    {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            sum[i] += __shfl_xor_sync(kWholeWarp, sum[i], 1);
            sum[i] += __shfl_xor_sync(kWholeWarp, sum[i], 2);
            if (lane % 4 == 0)
                shared.exchange[half][rowOf(i)] = sum[i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 2; ++i)
            sum[i] = shared.exchange[0][rowOf(i)] + shared.exchange[1][rowOf(i)];
    }

    /// Calls body(row of the tile, column, two neighbouring values) for this lane's part of the output.
    template <typename Body>
    __device__ void forEachPair(Body body) const
    {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int tile = 0; tile < kColumnTiles; ++tile) {
                const int column = half * Shape::kHalfColumns + tile * 8 + lane % 4 * 2;
                if (column < headDim)
                    body(i, column, output[tile][i * 2], output[tile][i * 2 + 1]);
            }
        }
    }
};

/// Calls body.template operator()<Shape>() with the shape for a head size on the current device: large tiles where
/// their shared memory fits, small ones elsewhere.
template <typename Body>
[[nodiscard]] cudaError_t withAttentionShape(std::int64_t headDim, Body body)
{
    int most = 0;
    const cudaError_t status = currentSharedBytes(most);
    if (status != cudaSuccess)
        return status;
    const auto choose = [&]<int kD>() {
        using Large = AttentionShape<kD, 4, 64>;
        using Small = AttentionShape<kD, 2, 32>;
        if (sizeof(typename Large::Shared) <= static_cast<std::size_t>(most))
            return body.template operator()<Large>();
        return body.template operator()<Small>();
    };
    if (headDim <= 64)
        return choose.template operator()<64>();
    if (headDim <= 128)
        return choose.template operator()<128>();
    if (headDim <= 256)
        return choose.template operator()<256>();
    return choose.template operator()<512>();
}

} // namespace palimpsest::kernels
