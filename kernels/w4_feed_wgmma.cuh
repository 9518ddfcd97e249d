// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

// How the stages of the warpgroup product (w4_product_wgmma.cuh) are filled.

#include "kernels/bulk_copy.cuh"
#include "kernels/ptx_sm90.cuh"
#include "kernels/ring_place.cuh"
#include "kernels/w4_product.cuh"

#include <cuda.h>

#include <cstdint>

namespace palimpsest::kernels::w4 {

constexpr int kWarpgroups = 2; // that multiply; one more feeds
constexpr int kWarpgroupWarps = 4;
constexpr int kFeeders = 128;
constexpr int kRowsAtOnce =
    kFeeders / kPieces;           // of tokens that the feeders copy together: one row of a swizzle atom each
constexpr int kStagesLanding = 2; // whose tokens are under way while later ones are begun
constexpr int kTokenBytes = kWarpgroupTokens * kStageColumns * 2;
constexpr int kHalfStage = kTokenBytes / 2; // a matrix of 64 columns is as wide as the swizzle
static_assert(kHalfStage % 1024 == 0);
static_assert(kWarpgroups * kWarpgroupWarps == kWarpgroupBlocks && kRowsAtOnce == 8);

template <int kGroup>
constexpr int kWarpgroupStageBytes = stageWeightBytes<kGroup>(kWarpgroupBlocks) + kTokenBytes;

/// How the copy engine fetches 64 columns of 8, 16, ... 72 neighbouring tokens.
struct TokenBoxes
{
    CUtensorMap ofTiles[kWarpgroupTokens / 8];
};

struct WarpgroupBarriers
{
    std::uint64_t full[kMostStages];  // the feeder's arrivals
    std::uint64_t empty[kMostStages]; // each multiplying warp's
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Announces a stage's weights and as many bytes more, and has the copy engine fetch the weights; one thread.
template <int kGroup>
__device__ void fetchWeights(const Problem &problem, const Item &item, WarpgroupBarriers &barriers,
                             const std::uint8_t *stages, int stage, int place, std::uint32_t otherBytes)
{
    const int firstGroup = stage * kStageGroups<kGroup>;
    const int groups = min(kStageGroups<kGroup>, problem.columns / kGroup - firstGroup);
    const auto bytes = static_cast<std::uint32_t>(item.blocks * kBlockBytes<kGroup>);
    const std::uint64_t policy = item.sharesWeights ? ptx::evictNormalPolicy() : ptx::evictFirstPolicy();
    const std::uint32_t full = ptx::sharedAddress(&barriers.full[place]);
    const std::uint32_t target = ptx::sharedAddress(stages + place * kWarpgroupStageBytes<kGroup>);
    ptx::barrierExpect(full, bytes * static_cast<std::uint32_t>(groups) + otherBytes);
    for (int group = 0; group < groups; ++group)
        ptx::copyBulk(target + group * kWarpgroupBlocks * kBlockBytes<kGroup>,
                      weightsAt<kGroup>(problem, item, firstGroup + group), bytes, full, policy);
}

/// Feeds tokens that lie in order: the copy engine fetches them too, in boxes of an item's tokens and 64 columns. A box
/// is as high as whole matrix tiles are; what it holds behind the item's last token belongs to others and is not
/// stored.
template <int kGroup>
class BoxFeeder
{
public:
    static constexpr int kArrivals = 1; ///< at a full barrier
    static constexpr int kRegisters = 40;
    static constexpr int kOthersRegisters = 232; ///< which leaves that to the multiplying warpgroups

    __device__ BoxFeeder(const Problem &problem, const TokenBoxes &boxes, const Schedule &schedule,
                         WarpgroupBarriers &barriers, std::uint8_t *stages, int thread)
        : m_problem(problem),
          m_boxes(boxes),
          m_schedule(schedule),
          m_barriers(barriers),
          m_stages(stages),
          m_isFirst(thread == 0),
          m_isFeeding(thread < 32) // a whole warp asks for the items
    {
    }

    __device__ void run()
    {
        if (!m_isFeeding)
            return;
        // Weights do not depend on the launch before this one: the first item's are fetched while it ends.
        Item item = itemOfRound(m_schedule, m_problem, 0);
        const int ahead = item.tokens > 0 ? min(stagesOf(m_problem), m_problem.stages) : 0;
        for (int stage = 0; stage < ahead && m_isFirst; ++stage)
            fetchStageWeights(item, stage, stage);
        ptx::waitForPrevious();
        RingPlace place{.stage = 0, .parity = 1}; // an unused stage counts as emptied
        for (int round = 0; item.tokens > 0; item = itemOfRound(m_schedule, m_problem, ++round)) {
            for (int stage = 0; stage < stagesOf(m_problem); ++stage) {
                if (m_isFirst) {
                    ptx::barrierWait(ptx::sharedAddress(&m_barriers.empty[place.stage]), place.parity);
                    if (round > 0 || stage >= ahead)
                        fetchStageWeights(item, stage, place.stage);
                    fetchTokens(item, stage, place.stage);
                }
                place.advance(m_problem.stages);
            }
        }
    }

private:
    static constexpr int kBoxColumns = 64;

    __device__ static int tilesOf(const Item &item) { return (item.tokens + 7) / 8; }
    __device__ int boxesOf(int stage) const
    {
        return min(kStageColumns, m_problem.columns - stage * kStageColumns) / kBoxColumns;
    }

    __device__ void fetchStageWeights(const Item &item, int stage, int place) const
    {
        const int tokenBytes = boxesOf(stage) * tilesOf(item) * 8 * kBoxColumns * 2;
        fetchWeights<kGroup>(m_problem, item, m_barriers, m_stages, stage, place,
                             static_cast<std::uint32_t>(tokenBytes));
    }

    __device__ void fetchTokens(const Item &item, int stage, int place) const
    {
        const std::uint32_t target = ptx::sharedAddress(m_stages + place * kWarpgroupStageBytes<kGroup>) +
                                     static_cast<std::uint32_t>(stageWeightBytes<kGroup>(kWarpgroupBlocks));
        for (int box = 0; box < boxesOf(stage); ++box)
            ptx::copyBox2(target + static_cast<std::uint32_t>(box * kHalfStage), &m_boxes.ofTiles[tilesOf(item) - 1],
                          ptx::sharedAddress(&m_barriers.full[place]), stage * kStageColumns + box * kBoxColumns,
                          item.firstPosition);
    }

    const Problem &m_problem;
    const TokenBoxes &m_boxes;
    const Schedule &m_schedule;
    WarpgroupBarriers &m_barriers;
    std::uint8_t *m_stages;
    bool m_isFirst;
    bool m_isFeeding;
};

/// Feeds tokens that have to be looked up, with a whole warpgroup. Sixteen neighbouring lanes copy the 256 bytes of a
/// token's row by cp.async; a lane's rows are eight apart, so that its place in the swizzle is the same in all of them.
/// A stage is reported when its copies have landed, some stages later: what cp.async wrote needs a fence of the writing
/// thread before wgmma may read it.
template <int kGroup>
class GatherFeeder
{
public:
    /// At a full barrier: its warps', and one for what is announced.
    static constexpr int kArrivals = kFeeders / 32 * static_cast<int>(ptx::kWarpArrivals) + 1;
    static constexpr int kRegisters = 72;
    static constexpr int kOthersRegisters = 216;

    __device__ GatherFeeder(const Problem &problem, const TokenBoxes &, const Schedule &schedule,
                            WarpgroupBarriers &barriers, std::uint8_t *stages, int thread)
        : m_problem(problem), m_schedule(schedule), m_barriers(barriers), m_stages(stages), m_thread(thread)
    {
        const int row = thread / kPieces;
        const int piece = thread % kPieces;
        m_column = piece * 8;
        m_target = static_cast<std::uint32_t>(stageWeightBytes<kGroup>(kWarpgroupBlocks) + piece / 8 * kHalfStage +
                                              row * 128 + (piece % 8 ^ row) * 16);
    }

    __device__ void run()
    {
        // Weights do not depend on the launch before this one: the first item's are fetched while it ends.
        Item item = itemOfRound(m_schedule, m_problem, 0);
        const int ahead = item.tokens > 0 ? min(stagesOf(m_problem), m_problem.stages) : 0;
        if (m_thread == 0)
            for (int stage = 0; stage < ahead; ++stage)
                fetchWeights<kGroup>(m_problem, item, m_barriers, m_stages, stage, stage, 0);
        ptx::waitForPrevious();
        RingPlace place{.stage = 0, .parity = 1}; // an unused stage counts as emptied
        int begun = 0;
        for (int round = 0; item.tokens > 0; item = itemOfRound(m_schedule, m_problem, ++round)) {
            Rows rows;
            findRows(rows, item);
            for (int stage = 0; stage < stagesOf(m_problem); ++stage) {
                ptx::barrierWait(ptx::sharedAddress(&m_barriers.empty[place.stage]), place.parity);
                if (m_thread == 0 && (round > 0 || stage >= ahead))
                    fetchWeights<kGroup>(m_problem, item, m_barriers, m_stages, stage, place.stage, 0);
                copyTokens(rows, stage, place.stage);
                ptx::copyAsyncCommit();
                place.advance(m_problem.stages);
                if (++begun > kStagesLanding) {
                    ptx::copyAsyncWait<kStagesLanding>();
                    report();
                }
            }
        }
        ptx::copyAsyncWait<0>();
        for (int left = min(begun, kStagesLanding); left > 0; --left)
            report();
    }

private:
    static constexpr int kRowsOfLane = kWarpgroupTokens / kRowsAtOnce;
    using Rows = std::int32_t[kRowsOfLane]; // of the input; -1 where the item has no more tokens

    __device__ void findRows(Rows &rows, const Item &item) const
    {
#pragma unroll
        for (int i = 0; i < kRowsOfLane; ++i) {
            const int token = m_thread / kPieces + i * kRowsAtOnce;
            rows[i] = token < item.tokens ? inputRow(m_problem, item.firstPosition + token) : -1;
        }
    }

    /// Unrolled, so that nothing but the copies' issue is waited for: a loop that looks the rows up was slower than the
    /// products.
    __device__ void copyTokens(const Rows &rows, int stage, int place) const
    {
        const int column = stage * kStageColumns + m_column;
        if (column >= m_problem.columns)
            return;
        const Bf16 *input = m_problem.input + column;
        const std::uint32_t target = ptx::sharedAddress(m_stages + place * kWarpgroupStageBytes<kGroup>) + m_target;
#pragma unroll
        for (int i = 0; i < kRowsOfLane; ++i)
            if (rows[i] >= 0)
                ptx::copyAsync16(target + i * kRowsAtOnce * 128,
                                 input + static_cast<std::int64_t>(rows[i]) * m_problem.columns, true);
    }

    /// The oldest stage under way has landed.
    __device__ void report()
    {
        ptx::proxyFence();
        ptx::barrierArriveOfWarp(ptx::sharedAddress(&m_barriers.full[m_landed]), m_thread % 32);
        m_landed = m_landed + 1 == m_problem.stages ? 0 : m_landed + 1;
    }

    const Problem &m_problem;
    const Schedule &m_schedule;
    WarpgroupBarriers &m_barriers;
    std::uint8_t *m_stages;
    int m_thread;
    int m_landed = 0;       // the next stage to report
    int m_column;           // of a stage's 128
    std::uint32_t m_target; // in a stage
};

#endif

} // namespace palimpsest::kernels::w4
