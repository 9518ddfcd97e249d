// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bulk_copy.cuh"
#include "kernels/ring_place.cuh"
#include "kernels/w4_product.cuh"

namespace palimpsest::kernels::w4 {

struct BulkBarriers
{
    std::uint64_t full[kMostStages];  // an arrival for each lane that feeds and one for the bytes announced
    std::uint64_t empty[kMostStages]; // each multiplying warp's
};

#if __CUDA_ARCH__ >= 900

/// What a multiplying warp sees of the ring.
template <int kGroup>
class BulkFeed
{
public:
    __device__ BulkFeed(const Problem &problem, BulkBarriers &barriers, const std::uint8_t *stages, int lane)
        : m_problem(problem), m_barriers(barriers), m_stages(stages), m_lane(lane)
    {
    }

    __device__ const std::uint8_t *acquire()
    {
        ptx::barrierWait(ptx::sharedAddress(&m_barriers.full[m_place.stage]), m_place.parity);
        return m_stages + m_place.stage * stageBytes<kGroup>(m_problem.warps);
    }

    __device__ void release()
    {
        ptx::barrierArriveOfWarp(ptx::sharedAddress(&m_barriers.empty[m_place.stage]), m_lane);
        m_place.advance(m_problem.stages);
    }

private:
    const Problem &m_problem;
    BulkBarriers &m_barriers;
    const std::uint8_t *m_stages;
    RingPlace m_place;
    int m_lane;
};

/// The feeding warp: fills the stages of all this block's items, as far ahead as the ring is long. The weights of a
/// stage are one copy of the engine; the tokens, scattered rows of 256 bytes, are 16-byte copies of the lanes:
/// as copies of the engine they took 80 cycles each and were slower than the weights.
template <int kGroup>
__device__ void feedStages(const Problem &problem, const Schedule &schedule, BulkBarriers &barriers,
                           std::int32_t (&inputRows)[kTileTokens], std::uint8_t *stages, int lane)
{
    constexpr int kRowsAtOnce = 32 / kPieces;
    const int columnOfLane = lane % kPieces * 8;
    ptx::waitForPrevious();
    RingPlace place{.stage = 0, .parity = 1}; // an unused stage counts as emptied
    for (int round = 0;; ++round) {
        const Item item = itemOfRound(schedule, problem, round);
        if (item.tokens == 0)
            break;
        __syncwarp();
        for (int token = lane; token < item.tokens; token += 32)
            inputRows[token] = inputRow(problem, item.firstPosition + token);
        __syncwarp();
        const auto groupBytes = static_cast<std::uint32_t>(item.blocks * kBlockBytes<kGroup>);
        const std::uint64_t policy = item.sharesWeights ? ptx::evictNormalPolicy() : ptx::evictFirstPolicy();
        const std::uint8_t *source = weightsAt<kGroup>(problem, item, 0);
        const std::int64_t groupStride = static_cast<std::int64_t>(problem.rowBlocks) * kBlockBytes<kGroup>;
        for (int firstColumn = 0; firstColumn < problem.columns; firstColumn += kStageColumns) {
            const int columns = min(kStageColumns, problem.columns - firstColumn);
            const std::uint32_t full = ptx::sharedAddress(&barriers.full[place.stage]);
            const std::uint32_t weights = ptx::sharedAddress(stages + place.stage * stageBytes<kGroup>(problem.warps));
            ptx::barrierWait(ptx::sharedAddress(&barriers.empty[place.stage]), place.parity);
            if (lane == 0) {
                ptx::barrierExpect(full, groupBytes * static_cast<std::uint32_t>(columns / kGroup));
                ptx::copyBulk(weights, source, groupBytes, full, policy);
                if (columns > kGroup)
                    ptx::copyBulk(weights + problem.warps * kBlockBytes<kGroup>, source + groupStride, groupBytes, full,
                                  policy);
            }
            std::uint32_t target =
                weights + stageWeightBytes<kGroup>(problem.warps) + lane / kPieces * kPitch + columnOfLane * 2;
            const Bf16 *input = problem.input + firstColumn + columnOfLane;
            if (columnOfLane < columns) {
#pragma unroll 4
                for (int token = lane / kPieces; token < item.tokens; token += kRowsAtOnce) {
                    ptx::copyAsync16(target, input + static_cast<std::int64_t>(inputRows[token]) * problem.columns,
                                     true);
                    target += kRowsAtOnce * kPitch;
                }
            }
            ptx::barrierArriveAfterCopies(full);
            source += kStageGroups<kGroup> * groupStride;
            place.advance(problem.stages);
        }
    }
}

#endif

template <int kGroup, typename Epilogue>
__global__ void __launch_bounds__((kCopyEngineWarps + 1) * 32, 1) bulkKernel(const __grid_constant__ Problem problem)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) std::uint8_t stages[];
    __shared__ Schedule schedule;
    __shared__ BulkBarriers barriers;
    __shared__ std::int32_t inputRows[kTileTokens];
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < problem.stages; ++stage) {
            ptx::barrierInit(ptx::sharedAddress(&barriers.full[stage]), 33);
            ptx::barrierInit(ptx::sharedAddress(&barriers.empty[stage]),
                             static_cast<unsigned>(problem.warps) * ptx::kWarpArrivals);
        }
        ptx::barrierInitFence();
    }
    if (problem.overlap == 0)
        ptx::waitForPrevious();
    buildSchedule(schedule, problem);
    ptx::letNextStart();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (warp == problem.warps) {
        feedStages<kGroup>(problem, schedule, barriers, inputRows, stages, lane);
        return;
    }
    BulkFeed<kGroup> feed(problem, barriers, stages, lane);
    for (int round = 0;; ++round) {
        const Item item = itemOfRound(schedule, problem, round);
        if (item.tokens == 0)
            break;
        consume<kGroup, Epilogue>(problem, item, feed, warp, lane);
    }
#endif
}

} // namespace palimpsest::kernels::w4
