// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/philox.cuh"
#include "kernels/processed_logits.cuh"
#include "kernels/ptx.cuh"

#include <cstdint>

/// Gumbel noise for the ids of a row that can still win, and for no others.
///
/// Noise is at most kLargestGumbel, so an id can win only if its processed logit comes that close to the best value so
/// far. In the first steps of a canvas nearly all blocks of 256 ids hold one that does, and about 3 % of the ids do.
/// For each group of four ids, which share a draw, the first launch has left how far they lie below their block's
/// largest; groups that can win are gathered from several blocks until there are two for each lane of a warp:
///
///     block maxima --> distances of the blocks that may win --> queue --64 at a time--> Philox --> best
///
/// Logits are read again only where a word is large enough for its group: some tens of a row's.
namespace palimpsest::kernels {

/// A row of a canvas as its noise is drawn. All members are the same in the whole warp.
struct NoiseRow
{
    const CanvasLogits &canvas;
    const SampleSettings &settings;
    std::int64_t row;
};

/// Four neighbouring ids.
struct IdGroup
{
    std::int32_t first;
    float bound; ///< at least the largest of their processed logits
};

/// The best of a warp's `best` and of two groups in each lane with their noise. valueAt(i, c) gives the processed logit
/// of id c of group i and is asked for few. For whole warps, which share `best`; the order of calls does not matter.
template <typename ValueAt>
__device__ __forceinline__ Candidate bestOfGroups(const NoiseRow &noise, const IdGroup (&groups)[2], Candidate best,
                                                  ValueAt valueAt)
{
    const SampleSettings &settings = noise.settings;
    const uint2 key = make_uint2(ptx::uniform(settings.seedLow), ptx::uniform(settings.seedHigh));
    std::uint32_t words[2][4];
    bool passes = false;
    std::uint32_t floors[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) { // both side by side: one alone waits for its own latencies
        const uint4 drawn =
            philox4x32(make_uint4(static_cast<std::uint32_t>(groups[i].first) / 4U,
                                  static_cast<std::uint32_t>(noise.row), settings.step, settings.stream),
                       key);
        words[i][0] = drawn.x;
        words[i][1] = drawn.y;
        words[i][2] = drawn.z;
        words[i][3] = drawn.w;
        floors[i] = best.value == -INFINITY ? 0U : wordFloor(best.value - groups[i].bound);
        passes |= max(max(drawn.x, drawn.y), max(drawn.z, drawn.w)) >= floors[i];
    }
    if (!__any_sync(kWholeWarp, passes))
        return best;

    // Rare from here on. Logarithms in double take longer than all the rest: only where fast ones leave a doubt. What
    // is added to a value is rounded first, so that the bounds hold whatever the value's own rounding is.
    float upper[2][4];
    float lower = -INFINITY;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            upper[i][c] = -INFINITY;
            if (words[i][c] < floors[i])
                continue;
            const float value = valueAt(i, c);
            const float rough = roughGumbelFromWord(words[i][c]);
            upper[i][c] = value + (rough + kRoughGumbelError);
            lower = fmaxf(lower, value + (rough - kRoughGumbelError));
        }
    const float least = fmaxf(best.value, warpMaximum(lower));
    Candidate mine = best;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (upper[i][c] == -INFINITY || upper[i][c] < least)
                continue;
            const Candidate candidate{valueAt(i, c) + gumbelFromWord(words[i][c]), groups[i].first + c};
            if (mine.losesTo(candidate))
                mine = candidate;
        }
    return __any_sync(kWholeWarp, best.losesTo(mine)) ? warpBest(mine) : best;
}

/// The best id of one block with its noise. For whole warps.
__device__ inline Candidate bestOfBlock(const NoiseRow &noise, std::int64_t block, float blockMaximum)
{
    const LogitVector vector = processedBlock(noise.canvas, noise.settings, noise.row, block);
    const auto first = static_cast<std::int32_t>(block * kLogitBlock);
    const IdGroup groups[2] = {{first + LogitVector::idOffset(0), blockMaximum},
                               {first + LogitVector::idOffset(4), blockMaximum}};
    return bestOfGroups(noise, groups, {-INFINITY, kNoId}, [&](int i, int c) { return vector.values[i * 4 + c]; });
}

/// Groups of one warp that may win.
struct NoiseQueue
{
    static constexpr int kDrawn = 64;       ///< at a time
    static constexpr int kBlocksAtOnce = 4; ///< whose distances are read at a time
    IdGroup groups[kDrawn + kBlocksAtOnce * 64];
};

/// Draws for the last groups of the queue, or for all if they are fewer. For whole warps.
__device__ __forceinline__ Candidate bestOfQueue(const NoiseRow &noise, const NoiseQueue &queue, int filled,
                                                 Candidate best)
{
    __syncwarp();
    // A lane for which there is none repeats the last one, which changes nothing.
    const int place = max(filled - NoiseQueue::kDrawn, 0) + static_cast<int>(threadIdx.x) % 32;
    const IdGroup groups[2] = {queue.groups[min(place, filled - 1)], queue.groups[min(place + 32, filled - 1)]};
    best = bestOfGroups(noise, groups, best, [&](int i, int c) {
        return processedAt(noise.canvas, noise.settings, noise.row, groups[i].first + c);
    });
    __syncwarp(); // read before the places are filled again
    return best;
}

/// The best id of the blocks [begin, end) that are this warp's, or `best` if none beats it. `shared`: the best value of
/// any warp of the row so far, in the order of integers; it skips more and decides nothing. For whole warps.
__device__ inline Candidate bestOfBlocks(const NoiseRow &noise, std::int64_t begin, std::int64_t end, Candidate best,
                                         int &shared, NoiseQueue &queue)
{
    constexpr int kAtOnce = NoiseQueue::kBlocksAtOnce;
    const SampleWorkspace workspace = sampleWorkspace(noise.canvas);
    const float *maxima = workspace.maxima + noise.row * workspace.blockCount;
    const uchar2 *distances = workspace.distances + noise.row * workspace.blockCount * 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int filled = 0;
    const auto draw = [&] {
        const Candidate found = bestOfQueue(noise, queue, filled, best);
        filled = max(filled - NoiseQueue::kDrawn, 0);
        if (lane == 0 && found.value > best.value)
            atomicMax(&shared, orderedInteger(found.value));
        best = found;
    };
    const auto collect = [&](const IdGroup &group) {
        const bool mayWin = group.bound > -INFINITY && group.bound + kLargestGumbel >= best.value;
        const unsigned winners = __ballot_sync(kWholeWarp, mayWin);
        if (mayWin)
            queue.groups[filled + __popc(winners & ((1U << static_cast<unsigned>(lane)) - 1U))] = group;
        filled += __popc(winners);
    };
    // A warp's blocks are those of its number, kSampleWarps apart; 32 at a time, of which only those that may win are
    // read.
    for (std::int64_t first = begin + threadIdx.x / 32; first < end; first += 32 * kSampleWarps) {
        const std::int64_t mine = first + static_cast<std::int64_t>(lane) * kSampleWarps;
        const float maximum = mine < end ? maxima[mine] : -INFINITY;
        unsigned waiting = __ballot_sync(kWholeWarp, maximum > -INFINITY && maximum + kLargestGumbel >= best.value);
        while (waiting != 0) {
            std::int32_t blocks[kAtOnce];
            float largest[kAtOnce];
            uchar2 steps[kAtOnce];
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const int from = __ffs(static_cast<int>(waiting)) - 1; // -1: none is left
                waiting &= waiting - 1;
                blocks[i] = static_cast<std::int32_t>(first) + from * kSampleWarps;
                largest[i] = from < 0 ? -INFINITY : __shfl_sync(kWholeWarp, maximum, from);
                steps[i] = from < 0 ? uchar2{} : distances[static_cast<std::int64_t>(blocks[i]) * 32 + lane];
            }
            const float others = floatOfOrdered(__shfl_sync(kWholeWarp, *static_cast<volatile int *>(&shared), 0));
            if (best.value < others) // an equal value with a lower id must still win
                best = {others, kNoId};
#pragma unroll
            for (int i = 0; i < kAtOnce; ++i) {
                const std::int32_t id = blocks[i] * kLogitBlock;
                collect({id + LogitVector::idOffset(0), upperBound(largest[i], steps[i].x)});
                collect({id + LogitVector::idOffset(4), upperBound(largest[i], steps[i].y)});
            }
            while (filled >= NoiseQueue::kDrawn)
                draw();
        }
    }
    if (filled > 0)
        draw();
    return best;
}

} // namespace palimpsest::kernels
