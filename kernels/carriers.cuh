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
    const int inclusive = warpPrefix(value);
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

/// Looks for the carriers of a row; its functions are for all threads of a block together.
class CarrierSearch
{
public:
    /// `scratch` and `sums`: [kSampleWarps], shared, as is `carriers`.
    __device__ CarrierSearch(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                             Carriers &carriers, int *scratch, float *sums)
        : m_canvas(canvas),
          m_settings(settings),
          m_sample(sampleWorkspace(canvas)),
          m_stats(m_sample.rows[row]),
          m_row(row),
          m_floor(m_stats.sum * kGatherFloor),
          m_carriers(carriers),
          m_scratch(scratch),
          m_sums(sums)
    {
    }

    /// Lists the carriers; false if there are too many or the others weigh too much.
    __device__ bool list(int &count)
    {
        if (!listBlocks())
            return false;
        countIds(count);
        if (count > kMostGathered || m_dropped > kDroppedMass * m_stats.sum)
            return false;
        listIds();
        return true;
    }

private:
    /// Blocks whose largest weight is below the floor are dropped whole, by their sum. False if too many are left: each
    /// holds an id at least.
    __device__ bool listBlocks()
    {
        const float *maxima = m_sample.maxima + m_row * m_sample.blockCount;
        const BlockSums *blockSums = m_sample.sums + m_row * m_sample.blockCount;
        float droppedHere = 0.0F;
        for (std::int64_t first = 0; first < m_sample.blockCount; first += kSampleThreads) {
            const std::int64_t block = first + threadIdx.x;
            bool carries = false;
            if (block < m_sample.blockCount) {
                const float factor = __expf(fmaxf(maxima[block] - m_stats.maximum, -100.0F));
                carries = factor >= m_floor;
                droppedHere += carries ? 0.0F : blockSums[block].sum * factor;
            }
            int found = 0;
            const int place = m_blocks + blockPrefix(carries ? 1 : 0, m_scratch, found);
            m_blocks += found;
            if (carries && place < kMostGathered)
                m_carriers.blocks[place] = static_cast<std::int32_t>(block);
        }
        m_dropped = blockSum<kSampleThreads>(droppedHere, m_sums);
        return m_blocks <= kMostGathered;
    }

    /// How many ids of each block carry, and where they go; what the others weigh.
    __device__ void countIds(int &count)
    {
        forEachBlock([&](const LogitVector &vector, int index) {
            int above = 0;
            float below = 0.0F;
            for (const float weight : vector.values) {
                above += weight >= m_floor ? 1 : 0;
                below += weight >= m_floor ? 0.0F : weight;
            }
            below = warpSum(below);
            above = static_cast<int>(__reduce_add_sync(kWholeWarp, static_cast<unsigned>(above)));
            if (threadIdx.x % 32 == 0) {
                m_carriers.firstOfBlock[index] = above;
                m_carriers.droppedOfBlock[index] = below;
            }
        });
        __syncthreads();
        const bool hasBlock = static_cast<int>(threadIdx.x) < m_blocks;
        const int first = blockPrefix(hasBlock ? m_carriers.firstOfBlock[threadIdx.x] : 0, m_scratch, count);
        if (hasBlock)
            m_carriers.firstOfBlock[threadIdx.x] = first;
        for (int index = 0; index < m_blocks; ++index)
            m_dropped += m_carriers.droppedOfBlock[index];
        __syncthreads();
    }

    /// In the order of the ids: blocks, then lanes, then a lane's eight.
    __device__ void listIds()
    {
        const float inverse = 1.0F / m_stats.sum;
        forEachBlock([&](const LogitVector &vector, int index) {
            int here = 0;
            for (const float weight : vector.values)
                here += weight >= m_floor ? 1 : 0;
            int at = m_carriers.firstOfBlock[index] + warpPrefix(here) - here;
            for (int element = 0; element < 8; ++element) {
                const float weight = vector.values[element];
                if (weight < m_floor)
                    continue;
                m_carriers.ids[at] = m_carriers.blocks[index] * kLogitBlock + LogitVector::idOffset(element);
                m_carriers.weights[at] = weight * inverse;
                ++at;
            }
        });
        __syncthreads();
    }

    /// Calls body(vector of exp(x - maximum), index in carriers.blocks), one warp for each listed block.
    template <typename Body>
    __device__ void forEachBlock(Body body)
    {
        for (int index = static_cast<int>(threadIdx.x) / 32; index < m_blocks; index += kSampleWarps) {
            LogitVector vector = processedBlock(m_canvas, m_settings, m_row, m_carriers.blocks[index]);
            for (float &value : vector.values)
                value = __expf(fmaxf(value - m_stats.maximum, -100.0F));
            body(vector, index);
        }
    }

    const CanvasLogits &m_canvas;
    const SampleSettings &m_settings;
    const SampleWorkspace m_sample;
    const RowStats m_stats;
    std::int64_t m_row;
    float m_floor;
    Carriers &m_carriers;
    int *m_scratch;
    float *m_sums;
    int m_blocks = 0; ///< listed
    float m_dropped = 0.0F;
};

/// Lists the carriers; false if there are too many or the others weigh too much. Known to the whole block.
__device__ inline bool listCarriers(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                    Carriers &carriers, int &count)
{
    __shared__ int scratch[kSampleWarps];
    __shared__ float sums[kSampleWarps];
    return CarrierSearch(canvas, settings, row, carriers, scratch, sums).list(count);
}

} // namespace palimpsest::kernels
