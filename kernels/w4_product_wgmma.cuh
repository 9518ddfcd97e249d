// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

// The product of 4-bit weights with the warpgroup instructions of compute capability 9.0.
//
// A multiplying warp owns a block of 32 rows, as in the other variants; a warpgroup's four blocks are two tiles of 64
// rows whose fragments its warps unpack into registers, exactly those of mma.m16n8k16. Tokens come out of shared
// memory:
//
//     weights --copy engine--> stage: [<= 8 row blocks] --> registers, unpacked once for all tokens: A
//     tokens  --copy engine--> stage: [<= 72 tokens][128 columns], 128-byte swizzle ---------------: B
//               or cp.async
//
// The sums of 16 columns are added in the same order as everywhere, in fp32, and a group's sum is scaled in fp32.
// While a warpgroup's products run, it unpacks its next weights; while it scales, the other one's products run.

#include "kernels/ptx_wgmma.cuh"
#include "kernels/ptx_wgmma_rows.cuh"
#include "kernels/w4_feed_wgmma.cuh"
#include "kernels/w4_product.cuh"

#include <type_traits>

namespace palimpsest::kernels::w4 {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// What a multiplying warp sees of the ring: it may take the next stage before it gives the last one back.
template <int kGroup>
class WarpgroupRing
{
public:
    __device__ WarpgroupRing(WarpgroupBarriers &barriers, const std::uint8_t *stages, int count, int lane)
        : m_full(ptx::sharedAddress(barriers.full)),
          m_empty(ptx::sharedAddress(barriers.empty)),
          m_stages(stages),
          m_count(count),
          m_lane(lane)
    {
    }

    __device__ const std::uint8_t *acquire()
    {
        ptx::barrierWait(m_full + static_cast<std::uint32_t>(m_next.stage) * 8U, m_next.parity);
        const std::uint8_t *stage = m_stages + m_next.stage * kWarpgroupStageBytes<kGroup>;
        m_next.advance(m_count);
        return stage;
    }

    __device__ void release()
    {
        ptx::barrierArriveOfWarp(m_empty + static_cast<std::uint32_t>(m_oldest.stage) * 8U, m_lane);
        m_oldest.advance(m_count);
    }

private:
    std::uint32_t m_full; // shared addresses
    std::uint32_t m_empty;
    const std::uint8_t *m_stages;
    RingPlace m_next;
    RingPlace m_oldest;
    int m_count;
    int m_lane;
};

/// A warp's weights of one group, still packed, and the tokens they meet.
template <int kGroup>
struct GroupOperands
{
    uint4 nibbles[kGroup / 32];
    std::uint32_t tokens; // low word of the matrix descriptor
    uint4 parameters;
    __nv_bfloat162 zeros[2][2];

    __device__ GroupOperands(const std::uint8_t *stage, int groupOfStage, int warp, int lane)
    {
        const std::uint8_t *block = stage + (groupOfStage * kWarpgroupBlocks + warp) * kBlockBytes<kGroup>;
        parameters = reinterpret_cast<const uint4 *>(block + kGroup * 16)[lane >> 2];
#pragma unroll
        for (int k = 0; k < kGroup / 32; ++k)
            nibbles[k] = reinterpret_cast<const uint4 *>(block)[k * 32 + lane];
        // Known to be uniform, or every product would fetch its descriptor from ordinary registers.
        tokens = ptx::uniform(static_cast<std::uint32_t>(ptx::swizzledMatrix(
            ptx::sharedAddress(stage) + static_cast<std::uint32_t>(stageWeightBytes<kGroup>(kWarpgroupBlocks) +
                                                                   groupOfStage * kGroup / 64 * kHalfStage))));
        zeros[0][0] = zeroOf(parameters.x);
        zeros[0][1] = zeroOf(parameters.y);
        zeros[1][0] = zeroOf(parameters.z);
        zeros[1][1] = zeroOf(parameters.w);
    }

    /// The A fragments [16 columns] of a tile's columns from 16 * first on.
    template <int kCount>
    __device__ void unpackColumns(std::uint32_t (&a)[kCount][4], int tile, int first) const
    {
#pragma unroll
        for (int k = 0; k < kCount; k += 2) {
            const uint4 &packed = nibbles[(first + k) / 2];
            unpack(a[k], tile == 0 ? packed.x : packed.y, zeros[tile]);
            unpack(a[k + 1], tile == 0 ? packed.z : packed.w, zeros[tile]);
        }
    }

    /// Descriptor of columns [16 k, 16 k + 16).
    __device__ std::uint64_t tokensAt(int k) const
    {
        constexpr std::uint64_t kHighWord = ptx::kSwizzledMatrixHigh;
        return kHighWord << 32U | (tokens + static_cast<std::uint32_t>((k / 4 * kHalfStage + k % 4 * 32) / 16));
    }
};

/// total += scale * sum, as everywhere; the scales of rows g and g + 8.
template <int kTiles>
__device__ void addScaled(float (&total)[kTiles][4], const float (&sums)[kTiles * 4], std::uint32_t upper,
                          std::uint32_t lower)
{
    const float scales[2] = {scaleOf(upper), scaleOf(lower)};
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
        for (int c = 0; c < 4; ++c)
            total[n][c] = fmaf(sums[n * 4 + c], scales[c >> 1], total[n][c]);
    }
}

/// One item's products by one warpgroup. Its two tiles of 64 rows take turns: while the products of one span of columns
/// run, the next one's weights are unpacked, and the first tile's sums are scaled while the second one's grow.
template <int kGroup, int kTiles, typename Epilogue>
__device__ void multiplyItem(const Problem &problem, const Item &item, WarpgroupRing<kGroup> &ring, int warp, int lane)
{
    constexpr int kSpan = kTiles <= 8 ? 4 : 2; // times 16 columns; the most that registers allow
    constexpr int kSpans = kGroup / 16 / kSpan;
    const int groups = problem.columns / kGroup;
    const typename Epilogue::template Places<kTiles> places(problem, item,
                                                            lane); // its latency passes behind the products
    float total[2][kTiles][4] = {};
    float sums[2][kTiles * 4] = {};
    std::uint32_t a[2][kSpan][4]; // [place]
    const std::uint8_t *stage = ring.acquire();
    GroupOperands<kGroup> operands(stage, 0, warp, lane);
    operands.unpackColumns(a[0], 0, 0);
    for (int group = 0; group < groups; ++group) {
        const int next = group + 1;
        const uint4 parameters = operands.parameters;
#pragma unroll
        for (int step = 0; step < 2 * kSpans; ++step) {
            const int tile = step / kSpans;
            const int span = step % kSpans;
            ptx::wgmmaFence();
#pragma unroll
            for (int k = 0; k < kSpan; ++k)
                ptx::wgmmaRows(sums[tile], a[step % 2][k], operands.tokensAt(span * kSpan + k), span + k);
            ptx::wgmmaCommit();
            ptx::wgmmaWait<1>(); // what read the other place
            if (step + 1 < 2 * kSpans) {
                operands.unpackColumns(a[(step + 1) % 2], (step + 1) / kSpans, (step + 1) % kSpans * kSpan);
            } else if (next < groups) {
                if (next % kStageGroups<kGroup> == 0)
                    stage = ring.acquire();
                operands = GroupOperands<kGroup>(stage, next % kStageGroups<kGroup>, warp, lane);
                operands.unpackColumns(a[0], 0, 0);
            }
            if (step == kSpans) {
                ptx::settle(sums[0]);
                addScaled(total[0], sums[0], parameters.x, parameters.y);
            }
        }
        ptx::wgmmaWait<0>();
        ptx::settle(sums[1]);
        if (next % kStageGroups<kGroup> == 0 || next == groups)
            ring.release();
        addScaled(total[1], sums[1], parameters.z, parameters.w);
    }
    if (warp < item.blocks)
        Epilogue::store(problem, item, item.firstBlock + warp, places, total, lane);
}

template <int kGroup, typename Epilogue>
__device__ void multiply(const Problem &problem, const Item &item, WarpgroupRing<kGroup> &ring, int warp, int lane)
{
    if (warp / kWarpgroupWarps * kWarpgroupWarps >= item.blocks) { // nothing for this warpgroup
        for (int stage = 0; stage < stagesOf(problem); ++stage) {
            (void)ring.acquire();
            ring.release();
        }
        return;
    }
    switch ((item.tokens + 7) / 8) {
    case 1:
    case 2:
        return multiplyItem<kGroup, 2, Epilogue>(problem, item, ring, warp, lane);
    case 3:
    case 4:
        return multiplyItem<kGroup, 4, Epilogue>(problem, item, ring, warp, lane);
    case 5:
        return multiplyItem<kGroup, 5, Epilogue>(problem, item, ring, warp, lane);
    case 6:
        return multiplyItem<kGroup, 6, Epilogue>(problem, item, ring, warp, lane);
    case 7:
        return multiplyItem<kGroup, 7, Epilogue>(problem, item, ring, warp, lane);
    case 8:
        return multiplyItem<kGroup, 8, Epilogue>(problem, item, ring, warp, lane);
    default:
        return multiplyItem<kGroup, 9, Epilogue>(problem, item, ring, warp, lane);
    }
}

#endif

template <int kGroup, typename Epilogue, bool kGathers>
__global__ void __launch_bounds__(kWarpgroups * 128 + kFeeders, 1)
    warpgroupKernel(const __grid_constant__ Problem problem, const __grid_constant__ TokenBoxes boxes)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    using Feeder = std::conditional_t<kGathers, GatherFeeder<kGroup>, BoxFeeder<kGroup>>;
    extern __shared__ std::uint8_t memory[];
    std::uint8_t *const stages = memory + (1024U - ptx::sharedAddress(memory) % 1024U) % 1024U; // as the swizzle wants
    __shared__ Schedule schedule;
    __shared__ WarpgroupBarriers barriers;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < problem.stages; ++stage) {
            ptx::barrierInit(ptx::sharedAddress(&barriers.full[stage]), Feeder::kArrivals);
            ptx::barrierInit(ptx::sharedAddress(&barriers.empty[stage]), kWarpgroupBlocks * ptx::kWarpArrivals);
        }
        ptx::barrierInitFence();
    }
    if (problem.overlap == 0)
        ptx::waitForPrevious();
    buildSchedule(schedule, problem);
    ptx::letNextStart();
    const int warp = ptx::uniform(static_cast<int>(threadIdx.x) / 32);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (warp >= kWarpgroups * kWarpgroupWarps) {
        ptx::lowerRegisters<Feeder::kRegisters>();
        Feeder(problem, boxes, schedule, barriers, stages, static_cast<int>(threadIdx.x) - kWarpgroups * 128).run();
    } else {
        ptx::raiseRegisters<Feeder::kOthersRegisters>();
        WarpgroupRing<kGroup> ring(barriers, stages, problem.stages, lane);
        for (int round = 0;; ++round) {
            const Item item = itemOfRound(schedule, problem, round);
            if (item.tokens == 0)
                break;
            multiply<kGroup, Epilogue>(problem, item, ring, warp, lane);
        }
    }
#endif
}

} // namespace palimpsest::kernels::w4
