// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/w4_product.cuh"

namespace palimpsest::kernels::w4 {

constexpr int kPortableStages = 3; // of four row blocks and 64 tokens are 76 KiB; the smallest chip has 99 for a block

/// Stages filled by all threads with cp.async, two stages ahead of the products, across items.
template <int kGroup>
class PortableFeed
{
public:
    __device__ PortableFeed(const Problem &problem, const Schedule &schedule, std::uint8_t *stages)
        : m_problem(problem), m_schedule(schedule), m_stages(stages), m_item(itemOfRound(schedule, problem, 0))
    {
        for (int i = 0; i < kPortableStages - 1; ++i)
            issue();
    }

    __device__ const std::uint8_t *acquire()
    {
        ptx::copyAsyncWait<kPortableStages - 2>();
        __syncthreads(); // everyone's copies have arrived, and everyone has left the stage that is filled next
        issue();
        const std::uint8_t *stage = m_stages + m_read * stageBytes<kGroup>(m_problem.warps);
        m_read = (m_read + 1) % kPortableStages;
        return stage;
    }

    __device__ void release() {}

private:
    __device__ void issue()
    {
        if (m_item.tokens > 0) {
            copyStage(m_stages + m_write * stageBytes<kGroup>(m_problem.warps));
            if (++m_stage == stagesOf(m_problem)) {
                m_stage = 0;
                m_item = itemOfRound(m_schedule, m_problem, ++m_round);
            }
        }
        ptx::copyAsyncCommit(); // also when empty, so that the count of pending groups stays what acquire() takes it
                                // for
        m_write = (m_write + 1) % kPortableStages;
    }

    __device__ void copyStage(std::uint8_t *stage) const
    {
        const auto thread = static_cast<int>(threadIdx.x);
        const auto threads = static_cast<int>(blockDim.x);
        const int firstColumn = m_stage * kStageColumns;
        const int columns = min(kStageColumns, m_problem.columns - firstColumn);
        const int weightBytes = m_item.blocks * kBlockBytes<kGroup>;
        for (int group = 0; group < columns / kGroup; ++group) {
            const std::uint8_t *weights = weightsAt<kGroup>(m_problem, m_item, firstColumn / kGroup + group);
            const std::uint32_t target = ptx::sharedAddress(stage + group * m_problem.warps * kBlockBytes<kGroup>);
            for (int at = thread * 16; at < weightBytes; at += threads * 16)
                ptx::copyAsync16(target + at, weights + at, true);
        }
        const std::uint32_t tokens = ptx::sharedAddress(stage + stageWeightBytes<kGroup>(m_problem.warps));
        for (int i = thread; i < m_item.tokens * kPieces; i += threads) {
            if (i % kPieces * 8 >= columns)
                continue;
            const std::int64_t row = inputRow(m_problem, m_item.firstPosition + i / kPieces);
            const Bf16 *source = m_problem.input + row * m_problem.columns + firstColumn;
            ptx::copyAsync16(tokens + i / kPieces * kPitch + i % kPieces * 16, source + i % kPieces * 8, true);
        }
    }

    const Problem &m_problem;
    const Schedule &m_schedule;
    std::uint8_t *m_stages;
    Item m_item; // whose stages are being filled
    int m_round = 0;
    int m_stage = 0; // of the item
    int m_write = 0;
    int m_read = 0;
};

template <int kGroup, typename Epilogue>
__global__ void __launch_bounds__(kPortableWarps * 32) portableKernel(const __grid_constant__ Problem problem)
{
    extern __shared__ __align__(128) std::uint8_t stages[];
    __shared__ Schedule schedule;
    buildSchedule(schedule, problem);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    PortableFeed<kGroup> feed(problem, schedule, stages);
    for (int round = 0;; ++round) {
        const Item item = itemOfRound(schedule, problem, round);
        if (item.tokens == 0)
            break;
        consume<kGroup, Epilogue>(problem, item, feed, warp, lane);
    }
}

} // namespace palimpsest::kernels::w4
