// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/bulk_copy.cuh"
#include "kernels/dependent_launch.cuh"
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
///
/// One warp for all copies of a multiprocessor: its addresses advance in registers.
template <int kGroup>
__device__ void feedStages(const Problem &problem, const Schedule &schedule, BulkBarriers &barriers,
                           std::uint8_t *stages, int lane)
{
    constexpr int kRowsAtOnce = 32 / kPieces;
    constexpr int kPasses = kTileTokens / kRowsAtOnce;
    const int stageCount = stagesOf(problem);
    const std::uint32_t blockOffset = problem.warps * kBlockBytes<kGroup>;
    const std::uint32_t tokenOffset =
        stageWeightBytes<kGroup>(problem.warps) + lane / kPieces * kPitch + lane % kPieces * 16;
    const std::uint32_t firstStage = ptx::sharedAddress(stages);
    const std::uint32_t full = ptx::sharedAddress(barriers.full);
    const std::uint32_t empty = ptx::sharedAddress(barriers.empty);
    const std::int64_t groupStride = static_cast<std::int64_t>(problem.rowBlocks) * kBlockBytes<kGroup>;

    Item item = itemOfRound(schedule, problem, 0);
    if (item.tokens == 0)
        return;
    const std::uint8_t *weights = nullptr;
    std::uint64_t policy = 0;
    const auto beginWeights = [&] {
        weights = weightsAt<kGroup>(problem, item, 0);
        policy = item.sharesWeights ? ptx::evictNormalPolicy() : ptx::evictFirstPolicy();
    };
    const auto copyWeights = [&](int stage, int place) {
        if (lane == 0) {
            const int groups = min(kStageGroups<kGroup>, problem.columns / kGroup - stage * kStageGroups<kGroup>);
            const auto groupBytes = static_cast<std::uint32_t>(item.blocks * kBlockBytes<kGroup>);
            const std::uint32_t target = firstStage + place * stageBytes<kGroup>(problem.warps);
            ptx::barrierExpect(full + place * 8, groupBytes * static_cast<std::uint32_t>(groups));
            ptx::copyBulk(target, weights, groupBytes, full + place * 8, policy);
            if (groups == 2)
                ptx::copyBulk(target + blockOffset, weights + groupStride, groupBytes, full + place * 8, policy);
        }
        weights += kStageGroups<kGroup> * groupStride;
    };

    // The first stages' weights do not wait for the launch that makes the tokens.
    const int early = min(problem.stages, stageCount);
    beginWeights();
    for (int stage = 0; stage < early; ++stage)
        copyWeights(stage, stage);
    waitForPredecessor();

    RingPlace place{.stage = 0, .parity = 1}; // an unused stage counts as emptied
    for (int round = 0; item.tokens > 0;) {
        const Bf16 *rows[kPasses];
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
            const int token = pass * kRowsAtOnce + lane / kPieces;
            const std::int64_t row = token < item.tokens ? inputRow(problem, item.firstPosition + token) : 0;
            rows[pass] = problem.input + row * problem.columns + lane % kPieces * 8;
        }
        for (int stage = 0; stage < stageCount; ++stage) {
            if (round > 0 || stage >= early) {
                ptx::barrierWait(empty + place.stage * 8, place.parity);
                copyWeights(stage, place.stage);
            }
            const std::uint32_t target = firstStage + place.stage * stageBytes<kGroup>(problem.warps) + tokenOffset;
            const int column = stage * kStageColumns;
            if (column + lane % kPieces * 8 < problem.columns) {
#pragma unroll
                for (int pass = 0; pass < kPasses; ++pass) {
                    if (pass * kRowsAtOnce >= item.tokens)
                        break;
                    if (pass * kRowsAtOnce + lane / kPieces < item.tokens)
                        ptx::copyAsync16(target + pass * kRowsAtOnce * kPitch, rows[pass] + column, true);
                }
            }
            ptx::barrierArriveAfterCopies(full + place.stage * 8);
            place.advance(problem.stages);
        }
        item = itemOfRound(schedule, problem, ++round);
        beginWeights();
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
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < problem.stages; ++stage) {
            ptx::barrierInit(ptx::sharedAddress(&barriers.full[stage]), 33);
            ptx::barrierInit(ptx::sharedAddress(&barriers.empty[stage]), static_cast<std::uint32_t>(problem.warps));
        }
        ptx::barrierInitFence();
    }
    if (problem.overlap == 0)
        waitForPredecessor();
    buildSchedule(schedule, problem);
    allowDependents();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (warp == problem.warps) {
        feedStages<kGroup>(problem, schedule, barriers, stages, lane);
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
