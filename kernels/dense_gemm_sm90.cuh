// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The dense product of compute capability 9.0. The weight is the tall operand: a warpgroup multiplies 64 of its rows
// with 256 rows of x, so that a canvas reads each weight once and a wgmma (m64n256k16) reads the least shared memory
// for its work. A block is one producer warp (a warpgroup where it adds parts) and one to three such warpgroups; the
// pipeline's stages hold 64 inputs:
//
//     weight rows [kWarpgroups * 64][64]  --TMA-->  8 to 24 KiB   (one block's own)
//     x rows      [256][64]               --TMA-->  32 KiB        (out of the second-level cache)
//
// y arrives transposed in the accumulators: a thread holds 2 outputs of 64 rows.
//
// Where there are too few outputs to give every multiprocessor a block, a block takes half a canvas instead: x rows
// [128][64], 16 KiB. Three warpgroups with half a canvas are three quarters of a tall block: they fill the last round
// of some products better.
//
// There are no more blocks than multiprocessors, and a block takes tile after tile: the next one's first stages are
// fetched while the sums are stored. Tiles with the same weights and other rows are neighbours in that order, so that
// all of them but one find the weights in the second-level cache.

#include "kernels/bulk_copy.cuh"
#include "kernels/dense_gemm.h"
#include "kernels/dense_gemm_store_sm90.cuh"
#include "kernels/ptx.cuh"
#include "kernels/ptx_sm90.cuh"
#include "kernels/ptx_wgmma.cuh"
#include "kernels/ring_place.cuh"

#include <cuda.h>

#include <cstdint>

namespace palimpsest::kernels::hopper_gemm {

constexpr int kTileInputs = 64;
constexpr int kGroupOutputs = 64;
constexpr int kInputBytes = kTileInputs * 2;
constexpr int kGroupBytes = kGroupOutputs * kInputBytes;
static_assert(kInputBytes == 128, "a row of a tile is one line of the 128-byte swizzle");

template <int kWarpgroups, int kTileRows>
struct Pipeline
{
    // What fits 227 KiB.
    static constexpr int kStages = kWarpgroups == 3 ? 5 : kTileRows == 128 ? 6 : kWarpgroups == 1 ? 5 : 4;
    static constexpr int kXBytes = kTileRows * kInputBytes;
    static constexpr int kStageBytes = kXBytes + kWarpgroups * kGroupBytes;
    static constexpr int kBarrierBytes = 2 * kStages * 8;
    static constexpr int kStagesBytes = kStages * kStageBytes;
    /// With what outputs are staged in, whose places are aligned as the stages are.
    static constexpr int sharedBytes(int stagingBytes)
    {
        return 1024 + kStagesBytes + stagingBytes + kBarrierBytes; // 1024: room to align
    }
    static_assert(sharedBytes(Staging<kWarpgroups, GemmEpilogue::HalfWidth>::kBytes) <= 227 * 1024);
};

/// One producer warp; or a whole warpgroup, which hands its registers to those that hold two sets of sums.
constexpr int threadsOf(int warpgroups, bool addParts)
{
    return warpgroups * 128 + (addParts ? 128 : 32);
}

struct Sizes
{
    std::int64_t rows;
    std::int64_t outputs; ///< columns of the stored matrix
    int inputTiles;
    int outputBlocks;
    int parts;
    bool addParts;
    int fetchedRows; ///< of a tile of x: all, or fewer where x has no more (rows that are not there cost as much time)
    const std::int32_t *activeRows;
    bool besideNext;
    float *out; ///< of an epilogue that is not staged
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The barriers of the pipeline as shared addresses.
template <int kWarpgroups, int kTileRows>
struct Barriers
{
    std::uint32_t first;
    __device__ std::uint32_t full(int stage) const { return first + static_cast<std::uint32_t>(stage) * 8U; }
    __device__ std::uint32_t empty(int stage) const { return full(Pipeline<kWarpgroups, kTileRows>::kStages + stage); }
};

/// A block's share of a product.
struct Tile
{
    int rows;  ///< number of the tile of rows
    int block; ///< of outputs
    int part;  ///< of the inputs; 0 where all parts are added here
    int begin; ///< tiles of inputs
    int end;
};

/// The tiles in the order in which the grid takes them: rows, outputs, parts.
class Tiles
{
public:
    __device__ Tiles(const Sizes &sizes, std::int64_t rows, int tileRows)
        : m_sizes(sizes), m_rowTiles(static_cast<int>((rows + tileRows - 1) / tileRows))
    {
    }

    [[nodiscard]] __device__ int count() const
    {
        return m_rowTiles * m_sizes.outputBlocks * (m_sizes.addParts ? 1 : m_sizes.parts);
    }
    [[nodiscard]] __device__ int beginOfPart(int part) const
    {
        return static_cast<int>(static_cast<std::int64_t>(m_sizes.inputTiles) * part / m_sizes.parts);
    }
    [[nodiscard]] __device__ Tile at(int index) const
    {
        const int rest = index / m_rowTiles;
        const int part = rest / m_sizes.outputBlocks;
        return {.rows = index % m_rowTiles,
                .block = rest % m_sizes.outputBlocks,
                .part = part,
                .begin = beginOfPart(part),
                .end = m_sizes.addParts ? m_sizes.inputTiles : beginOfPart(part + 1)};
    }

private:
    const Sizes &m_sizes;
    int m_rowTiles;
};

template <int kWarpgroups, int kTileRows, WeightLayout kLayout, GemmEpilogue kEpilogue>
__device__ void produce(const CUtensorMap &weightMap, const CUtensorMap &xMap, const Sizes &sizes, const Tiles &tiles,
                        std::uint32_t stages, Barriers<kWarpgroups, kTileRows> barriers)
{
    using P = Pipeline<kWarpgroups, kTileRows>;
    const auto stageAt = [&](int stage) {
        return stages + static_cast<std::uint32_t>(stage * P::kStageBytes);
    };
    const auto fetchWeight = [&](const Tile &tile, int inputTile, int stage) {
        const std::uint32_t full = barriers.full(stage);
        const std::uint32_t weight = stageAt(stage) + P::kXBytes;
        const int input = inputTile * kTileInputs;
        const int firstOutput = tile.block * kWarpgroups * kGroupOutputs;
        ptx::barrierExpect(full,
                           static_cast<std::uint32_t>(sizes.fetchedRows * kInputBytes + kWarpgroups * kGroupBytes));
        if constexpr (kLayout == WeightLayout::InputMajor) {
            for (int group = 0; group < kWarpgroups; ++group)
                ptx::copyBox2(weight + static_cast<std::uint32_t>(group * kGroupBytes), &weightMap, full,
                              firstOutput + group * kGroupOutputs, input);
        } else if constexpr (kEpilogue == GemmEpilogue::GatedGelu) {
            ptx::copyBox4(weight, &weightMap, full, input, 0, 0, firstOutput / 16);
        } else {
            ptx::copyBox2(weight, &weightMap, full, input, firstOutput);
        }
    };
    // Weights do not depend on the kernel before this one: the first stages' are fetched while it ends.
    const Tile first = tiles.at(static_cast<int>(blockIdx.x));
    int ahead = min(first.end - first.begin, P::kStages);
    for (int stage = 0; stage < ahead; ++stage)
        fetchWeight(first, first.begin + stage, stage);
    ptx::waitForPrevious();
    if (sizes.besideNext)
        ptx::letNextStart();
    RingPlace place{.stage = 0, .parity = 1}; // a fresh barrier counts as having ended the phase before its first
    for (int index = static_cast<int>(blockIdx.x); index < tiles.count(); index += static_cast<int>(gridDim.x)) {
        const Tile tile = tiles.at(index);
        for (int inputTile = tile.begin; inputTile < tile.end; ++inputTile) {
            ptx::barrierWait(barriers.empty(place.stage), place.parity);
            if (ahead > 0)
                --ahead;
            else
                fetchWeight(tile, inputTile, place.stage);
            ptx::copyBox2(stageAt(place.stage), &xMap, barriers.full(place.stage), inputTile * kTileInputs,
                          tile.rows * kTileRows);
            place.advance(P::kStages);
        }
    }
}

/// The multiplying side of the pipeline, for a warpgroup.
template <int kWarpgroups, int kTileRows, WeightLayout kLayout>
class Consumer
{
public:
    using Sums = float[kTileRows / 2];

    __device__ Consumer(std::uint32_t stages, Barriers<kWarpgroups, kTileRows> barriers)
        : m_stages(stages), m_barriers(barriers)
    {
    }

    /// Sums over the next `count` stages.
    __device__ __forceinline__ void multiply(Sums &sums, int count)
    {
        constexpr int kTransposed = kLayout == WeightLayout::InputMajor ? 1 : 0;
        // Sixteen inputs further on: 32 bytes along a row, or 16 rows of 128 bytes.
        constexpr std::uint32_t kWeightStep = kTransposed != 0 ? 16 * kInputBytes : 32;
        const auto group = static_cast<std::uint32_t>(threadIdx.x / 128);
#pragma unroll
        for (float &sum : sums)
            sum = 0.0F;
        int previous = 0;
        for (int i = 0; i < count; ++i) {
            ptx::barrierWait(m_barriers.full(m_place.stage), m_place.parity);
            const std::uint32_t x = m_stages + static_cast<std::uint32_t>(m_place.stage * P::kStageBytes);
            const std::uint32_t weight = x + P::kXBytes + group * kGroupBytes;
            ptx::wgmmaFence();
#pragma unroll
            for (std::uint32_t k = 0; k < kTileInputs / 16; ++k) {
                const std::uint64_t a = ptx::swizzledMatrix(weight + k * kWeightStep);
                const std::uint64_t b = ptx::swizzledMatrix(x + k * 32);
                if constexpr (kTileRows == 256)
                    ptx::wgmma64x256x16<kTransposed>(sums, a, b);
                else
                    ptx::wgmma64x128x16<kTransposed>(sums, a, b);
            }
            ptx::wgmmaCommit();
            ptx::wgmmaWait<1>(); // the products before these are done with their stage
            if (i > 0)
                release(previous);
            previous = m_place.stage;
            m_place.advance(P::kStages);
        }
        ptx::wgmmaWait<0>();
        release(previous);
    }

private:
    using P = Pipeline<kWarpgroups, kTileRows>;

    __device__ void release(int stage) const
    {
        if (threadIdx.x % 128 == 0)
            ptx::barrierArrive(m_barriers.empty(stage));
    }

    std::uint32_t m_stages; ///< shared address
    Barriers<kWarpgroups, kTileRows> m_barriers;
    RingPlace m_place;
};

/// Stores sums as they are: whole sectors of eight outputs of a row.
template <int kWarpgroups, int kTileRows>
__device__ void store(const float (&sums)[kTileRows / 2], const Sizes &sizes, std::int64_t rows, const Tile &tile)
{
    const int group = static_cast<int>(threadIdx.x) / 128;
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t firstRow = static_cast<std::int64_t>(tile.rows) * kTileRows + lane % 4 * 2;
    const std::int64_t output =
        (static_cast<std::int64_t>(tile.block) * kWarpgroups + group) * kGroupOutputs + warp * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::int64_t row = firstRow + j * 8;
            float *out = sizes.out + (tile.part * sizes.rows + row) * sizes.outputs + output + half * 8;
            if (output + half * 8 < sizes.outputs) {
                if (row < rows)
                    out[0] = sums[j * 4 + half * 2];
                if (row + 1 < rows)
                    out[sizes.outputs] = sums[j * 4 + half * 2 + 1];
            }
        }
    }
}

/// A tile's sums; with kAddParts those of each part by themselves, added in their order, as who reads them apart does.
template <bool kAddParts, int kWarpgroups, int kTileRows, WeightLayout kLayout>
__device__ __forceinline__ void sumTile(Consumer<kWarpgroups, kTileRows, kLayout> &consumer, const Tiles &tiles,
                                        const Tile &tile, int parts, float (&sums)[kTileRows / 2])
{
    if constexpr (kAddParts) {
        consumer.multiply(sums, tiles.beginOfPart(1));
        for (int part = 1; part < parts; ++part) {
            float more[kTileRows / 2];
            consumer.multiply(more, tiles.beginOfPart(part + 1) - tiles.beginOfPart(part));
#pragma unroll
            for (int i = 0; i < kTileRows / 2; ++i)
                sums[i] += more[i];
        }
    } else {
        consumer.multiply(sums, tile.end - tile.begin);
    }
}

#endif

template <int kWarpgroups, int kTileRows, WeightLayout kLayout, GemmEpilogue kEpilogue, bool kAddParts>
__global__ __launch_bounds__(threadsOf(kWarpgroups, kAddParts),
                             1) void hopperKernel(const __grid_constant__ CUtensorMap weightMap,
                                                  const __grid_constant__ CUtensorMap xMap,
                                                  const __grid_constant__ CUtensorMap outMap,
                                                  const __grid_constant__ Sizes sizes)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using P = Pipeline<kWarpgroups, kTileRows>;
    extern __shared__ std::uint8_t shared[];
    if (!sizes.besideNext)
        ptx::letNextStart();
    if (sizes.activeRows != nullptr)
        ptx::waitForPrevious();
    const std::int64_t rows =
        sizes.activeRows == nullptr ? sizes.rows : min(sizes.rows, std::int64_t{*sizes.activeRows});
    const Tiles tiles(sizes, rows, kTileRows);
    if (static_cast<int>(blockIdx.x) >= tiles.count())
        return;
    const std::uint32_t stages = (ptx::sharedAddress(shared) + 1023U) & ~1023U;
    const std::uint32_t staging = stages + P::kStagesBytes;
    const Barriers<kWarpgroups, kTileRows> barriers{staging + Staging<kWarpgroups, kEpilogue>::kBytes};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < P::kStages; ++stage) {
            ptx::barrierInit(barriers.full(stage), 1);
            ptx::barrierInit(barriers.empty(stage), static_cast<std::uint32_t>(kWarpgroups));
        }
        ptx::barrierInitFence();
    }
    __syncthreads();
    if (threadIdx.x >= kWarpgroups * 128) {
        if constexpr (kAddParts)
            ptx::lowerRegisters<24>();
        if (threadIdx.x == kWarpgroups * 128)
            produce<kWarpgroups, kTileRows, kLayout, kEpilogue>(weightMap, xMap, sizes, tiles, stages, barriers);
        return;
    }
    if constexpr (kAddParts)
        ptx::raiseRegisters<160>();
    Consumer<kWarpgroups, kTileRows, kLayout> consumer(stages, barriers);
    const StagedStore<kWarpgroups, kTileRows, kEpilogue> staged(outMap, staging);
    for (int index = static_cast<int>(blockIdx.x); index < tiles.count(); index += static_cast<int>(gridDim.x)) {
        const Tile tile = tiles.at(index);
        float sums[kTileRows / 2];
        sumTile<kAddParts>(consumer, tiles, tile, sizes.parts, sums);
        ptx::waitForPrevious(); // long over; but the kernel before may read what is overwritten here
        if constexpr (isStaged(kEpilogue))
            staged.store(sums, rows, tile.rows * kTileRows, tile.block);
        else
            store<kWarpgroups, kTileRows>(sums, sizes, rows, tile);
    }
    if constexpr (isStaged(kEpilogue))
        staged.finish();
#endif
}

} // namespace palimpsest::kernels::hopper_gemm
