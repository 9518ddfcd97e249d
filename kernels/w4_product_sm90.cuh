// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bulk_copy.cuh"
#include "kernels/w4_product.cuh"

namespace palimpsest::kernels::w4 {

constexpr int kMostStages = 16;

struct BulkBarriers
{
    std::uint64_t full[kMostStages];  // an arrival for each lane that feeds and one for the bytes announced
    std::uint64_t empty[kMostStages]; // one arrival a multiplying warp
};

/// A stage of a ring and the parity of its current round.
struct RingPlace
{
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ void advance(int stages)
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
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
        __syncwarp();
        if (m_lane == 0)
            ptx::barrierArrive(ptx::sharedAddress(&m_barriers.empty[m_place.stage]));
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
/// stage are one copy of the engine; the tokens, scattered rows of 256 bytes, are 16-byte copies of the lanes: as
/// copies of the engine they took 80 cycles each and were slower than the weights.
template <int kGroup>
class StageFeeder
{
public:
    __device__ StageFeeder(const Problem &problem, const Schedule &schedule, BulkBarriers &barriers,
                           std::int32_t (&inputRows)[kTileTokens], std::uint8_t *stages, int lane)
        : m_problem(problem),
          m_schedule(schedule),
          m_barriers(barriers),
          m_inputRows(inputRows),
          m_stages(stages),
          m_lane(lane)
    {
    }

    /// The first stages' weights do not wait for the launch that makes the tokens.
    __device__ void run()
    {
        Item item = itemOfRound(m_schedule, m_problem, 0);
        const int early = item.tokens == 0 ? 0 : min(m_problem.stages, stagesOf(m_problem));
        for (int stage = 0; stage < early; ++stage)
            copyWeights(item, stage, stage);
        ptx::waitForPredecessor();
        for (int round = 0; item.tokens > 0; item = itemOfRound(m_schedule, m_problem, ++round)) {
            __syncwarp();
            for (int token = m_lane; token < item.tokens; token += 32)
                m_inputRows[token] = inputRow(m_problem, item.firstPosition + token);
            __syncwarp();
            for (int stage = 0; stage < stagesOf(m_problem); ++stage) {
                if (round > 0 || stage >= early) {
                    ptx::barrierWait(ptx::sharedAddress(&m_barriers.empty[m_place.stage]), m_place.parity);
                    copyWeights(item, stage, m_place.stage);
                }
                copyTokens(item, stage);
                m_place.advance(m_problem.stages);
            }
        }
    }

private:
    [[nodiscard]] __device__ std::uint32_t stageAddress(int place) const
    {
        return ptx::sharedAddress(m_stages + place * stageBytes<kGroup>(m_problem.warps));
    }

    __device__ void copyWeights(const Item &item, int stage, int place) const
    {
        if (m_lane != 0)
            return;
        const int groups = min(kStageColumns, m_problem.columns - stage * kStageColumns) / kGroup;
        const auto groupBytes = static_cast<std::uint32_t>(item.blocks * kBlockBytes<kGroup>);
        const std::uint32_t full = ptx::sharedAddress(&m_barriers.full[place]);
        const std::uint64_t policy = item.sharesWeights ? ptx::evictNormalPolicy() : ptx::evictFirstPolicy();
        ptx::barrierExpect(full, groupBytes * static_cast<std::uint32_t>(groups));
        for (int group = 0; group < groups; ++group)
            ptx::copyBulk(stageAddress(place) + group * m_problem.warps * kBlockBytes<kGroup>,
                          weightsAt<kGroup>(m_problem, item, stage * kStageGroups<kGroup> + group), groupBytes, full,
                          policy);
    }

    __device__ void copyTokens(const Item &item, int stage) const
    {
        constexpr int kRowsAtOnce = 32 / kPieces;
        const int column = m_lane % kPieces * 8;
        const int firstColumn = stage * kStageColumns;
        std::uint32_t target = stageAddress(m_place.stage) + stageWeightBytes<kGroup>(m_problem.warps) +
                               m_lane / kPieces * kPitch + column * 2;
        const Bf16 *input = m_problem.input + firstColumn + column;
        if (firstColumn + column < m_problem.columns) {
#pragma unroll 4
            for (int token = m_lane / kPieces; token < item.tokens; token += kRowsAtOnce) {
                ptx::copyAsync16(target, input + static_cast<std::int64_t>(m_inputRows[token]) * m_problem.columns,
                                 true);
                target += kRowsAtOnce * kPitch;
            }
        }
        ptx::barrierArriveAfterCopies(ptx::sharedAddress(&m_barriers.full[m_place.stage]));
    }

    const Problem &m_problem;
    const Schedule &m_schedule;
    BulkBarriers &m_barriers;
    std::int32_t (&m_inputRows)[kTileTokens];
    std::uint8_t *m_stages;
    RingPlace m_place{.stage = 0, .parity = 1}; // an unused stage counts as emptied
    int m_lane;
};

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
            ptx::barrierInit(ptx::sharedAddress(&barriers.empty[stage]), static_cast<std::uint32_t>(problem.warps));
        }
        ptx::barrierInitFence();
    }
    if (problem.overlap == 0)
        ptx::waitForPredecessor();
    buildSchedule(schedule, problem);
    ptx::allowDependents();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (warp == problem.warps) {
        StageFeeder<kGroup>(problem, schedule, barriers, inputRows, stages, lane).run();
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
