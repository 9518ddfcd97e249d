// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/head_sample.h"
#include "kernels/processed_logits.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// The few ids that carry a row's probability, if it has such: its soft embedding is then gathered from their rows of
/// the table.
namespace palimpsest::kernels {

// The same constants as the CPU backend's (engine/cpu/head.cpp).
inline constexpr int kMostGathered = 192;
inline constexpr float kGatherFloor = 0x1p-26F;
inline constexpr float kDroppedMass = 0x1p-20F;

/// Exclusive prefix sum over the block and its total; `scratch`: [kSampleWarps]. Two barriers.
__device__ inline int blockPrefix(int value, int *scratch, int &total)
{
    int inclusive = value;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(kWholeWarp, inclusive, distance);
        if (static_cast<int>(threadIdx.x) % 32 >= distance)
            inclusive += other;
    }
    __syncthreads(); // scratch may still be read from before
    if (threadIdx.x % 32 == 31)
        scratch[threadIdx.x / 32] = inclusive;
    __syncthreads();
    int before = 0;
    total = 0;
#pragma unroll
    for (int warp = 0; warp < kSampleWarps; ++warp) {
        if (warp < static_cast<int>(threadIdx.x) / 32)
            before += scratch[warp];
        total += scratch[warp];
    }
    return before + inclusive - value;
}

/// The ids that carry a row, in ascending order.
struct Carriers
{
    std::int32_t blocks[kMostGathered]; ///< blocks that hold one
    int firstOfBlock[kMostGathered];    ///< number of its ids, then the place of its first one
    float droppedOfBlock[kMostGathered];
    std::int32_t ids[kMostGathered];
    float weights[kMostGathered];
};

/// Calls body(vector of exp(x - maximum), index in carriers.blocks), one warp for each listed block.
template <typename Body>
__device__ void forEachBlock(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                             const Carriers &carriers, int blockCount, float maximum, Body body)
{
    for (int index = static_cast<int>(threadIdx.x) / 32; index < blockCount; index += kSampleWarps) {
        LogitVector vector = processedBlock(canvas, settings, row, carriers.blocks[index]);
        for (float &value : vector.values)
            value = __expf(fmaxf(value - maximum, -100.0F));
        body(vector, index);
    }
}

/// Lists the carriers; false if there are too many or the others weigh too much. Known to the whole block.
__device__ inline bool listCarriers(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                    Carriers &carriers, int &count)
{
    __shared__ int scratch[kSampleWarps];
    __shared__ float sums[kSampleWarps];
    const SampleWorkspace sample = sampleWorkspace(canvas);
    const float *maxima = sample.maxima + row * sample.blockCount;
    const BlockSums *blockSums = sample.sums + row * sample.blockCount;
    const RowStats stats = sample.rows[row];
    const float floor = stats.sum * kGatherFloor;

    // Blocks whose largest weight is below the floor are dropped whole, by their sum.
    float droppedHere = 0.0F;
    int listed = 0;
    for (std::int64_t first = 0; first < sample.blockCount; first += kSampleThreads) {
        const std::int64_t block = first + threadIdx.x;
        bool carries = false;
        if (block < sample.blockCount) {
            const float factor = __expf(fmaxf(maxima[block] - stats.maximum, -100.0F));
            carries = factor >= floor;
            droppedHere += carries ? 0.0F : blockSums[block].sum * factor;
        }
        int found = 0;
        const int place = listed + blockPrefix(carries ? 1 : 0, scratch, found);
        listed += found;
        if (carries && place < kMostGathered)
            carriers.blocks[place] = static_cast<std::int32_t>(block);
    }
    float dropped = blockSum<kSampleThreads>(droppedHere, sums);
    if (listed > kMostGathered)
        return false; // each of them holds an id at least

    forEachBlock(canvas, settings, row, carriers, listed, stats.maximum, [&](const LogitVector &vector, int index) {
        int above = 0;
        float below = 0.0F;
        for (const float weight : vector.values) {
            above += weight >= floor ? 1 : 0;
            below += weight >= floor ? 0.0F : weight;
        }
        below = warpSum(below);
        above = static_cast<int>(__reduce_add_sync(kWholeWarp, static_cast<unsigned>(above)));
        if (threadIdx.x % 32 == 0) {
            carriers.firstOfBlock[index] = above;
            carriers.droppedOfBlock[index] = below;
        }
    });
    __syncthreads();
    const int mine = static_cast<int>(threadIdx.x) < listed ? carriers.firstOfBlock[threadIdx.x] : 0;
    const int first = blockPrefix(mine, scratch, count);
    if (static_cast<int>(threadIdx.x) < listed)
        carriers.firstOfBlock[threadIdx.x] = first;
    for (int index = 0; index < listed; ++index)
        dropped += carriers.droppedOfBlock[index];
    __syncthreads();
    if (count > kMostGathered || dropped > kDroppedMass * stats.sum)
        return false;

    const float inverse = 1.0F / stats.sum;
    forEachBlock(canvas, settings, row, carriers, listed, stats.maximum, [&](const LogitVector &vector, int index) {
        // In the order of the ids: lanes, then a lane's eight.
        int here = 0;
        for (const float weight : vector.values)
            here += weight >= floor ? 1 : 0;
        int inclusive = here;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(kWholeWarp, inclusive, distance);
            if (static_cast<int>(threadIdx.x) % 32 >= distance)
                inclusive += other;
        }
        int at = carriers.firstOfBlock[index] + inclusive - here;
        for (int element = 0; element < 8; ++element) {
            const float weight = vector.values[element];
            if (weight < floor)
                continue;
            carriers.ids[at] = carriers.blocks[index] * kLogitBlock + LogitVector::idOffset(element);
            carriers.weights[at] = weight * inverse;
            ++at;
        }
    });
    __syncthreads();
    return true;
}

} // namespace palimpsest::kernels
