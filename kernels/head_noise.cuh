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
/// largest; groups that can win are gathered from several blocks until there are two for each lane of a warp (where
/// most can, all are drawn as they lie):
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
    PhiloxRow words; ///< of the groups' numbers

    __device__ NoiseRow(const CanvasLogits &itsCanvas, const SampleSettings &itsSettings, std::int64_t itsRow,
                        std::uint32_t position)
        : canvas(itsCanvas),
          settings(itsSettings),
          row(itsRow),
          words(position, settings.step, settings.stream,
                make_uint2(ptx::uniform(settings.seedLow), ptx::uniform(settings.seedHigh)))
    {
    }
};

/// Four neighbouring ids; `first` is a multiple of four.
struct IdGroup
{
    std::int32_t first;
    float bound; ///< at least the largest of their processed logits
};

/// One of eight words. A loop over places that are known at compile time keeps them in registers.
__device__ __forceinline__ std::uint32_t wordAt(const uint4 (&words)[2], int place)
{
    const std::uint32_t all[8] = {words[0].x, words[0].y, words[0].z, words[0].w,
                                  words[1].x, words[1].y, words[1].z, words[1].w};
    std::uint32_t word = all[0];
#pragma unroll
    for (int i = 1; i < 8; ++i)
        word = place == i ? all[i] : word;
    return word;
}

/// The best of a warp's `best` and of those of the groups' ids whose words are not below the floor of their group.
/// Rare.
///
/// Logarithms in double take longer than all the rest: only where fast ones leave a doubt, and in a loop, since eight
/// copies of them would not stay in the instruction cache. What is added to a value is rounded before, so that the
/// bounds hold whatever the value's own rounding is.
__device__ __forceinline__ Candidate bestOfDrawn(const NoiseRow &noise, const IdGroup (&groups)[2],
                                                 const uint4 (&words)[2], const std::uint32_t (&floors)[2],
                                                 const Candidate &best)
{
    float upper[8];
    float lower = -INFINITY;
    std::uint32_t waiting = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float4 four = processedFour(noise.canvas, noise.settings, noise.row, groups[i].first);
        const float values[4] = {four.x, four.y, four.z, four.w};
        const std::uint32_t drawn[4] = {words[i].x, words[i].y, words[i].z, words[i].w};
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            const float rough = roughGumbelFromWord(drawn[c]);
            const bool passes = drawn[c] >= floors[i];
            upper[i * 4 + c] = passes ? values[c] + (rough + kRoughGumbelError) : -INFINITY;
            lower = fmaxf(lower, passes ? values[c] + (rough - kRoughGumbelError) : -INFINITY);
        }
    }
    const float least = fmaxf(best.value, warpMaximum(lower));
#pragma unroll
    for (int i = 0; i < 8; ++i)
        waiting |= upper[i] > -INFINITY && upper[i] >= least ? 1U << static_cast<unsigned>(i) : 0U;
    Candidate mine = best;
#pragma unroll 1
    for (; waiting != 0; waiting &= waiting - 1) {
        const int place = __ffs(static_cast<int>(waiting)) - 1;
        const std::int32_t id = (place < 4 ? groups[0].first : groups[1].first) + place % 4;
        const float value = processedAt(noise.canvas, noise.settings, noise.row, id);
        const Candidate candidate{value + gumbelFromWord(wordAt(words, place)), id};
        if (mine.losesTo(candidate))
            mine = candidate;
    }
    return __any_sync(kWholeWarp, best.losesTo(mine)) ? warpBest(mine) : best;
}

/// The best of a warp's `best` and of two groups in each lane with their noise. For whole warps, which share `best`;
/// the order of calls does not matter.
__device__ __forceinline__ Candidate bestOfGroups(const NoiseRow &noise, const IdGroup (&groups)[2],
                                                  const Candidate &best)
{
    uint4 words[2];
    std::uint32_t floors[2];
    bool passes = false;
#pragma unroll
    for (int i = 0; i < 2; ++i) { // both side by side: one alone waits for its own latencies
        words[i] = noise.words.at(static_cast<std::uint32_t>(groups[i].first) / 4U);
        // A sum is rounded to at most half a last place of the best value's, where it reaches it.
        const float needed = best.value - groups[i].bound - 0x1p-22F * fabsf(best.value);
        floors[i] = best.value == -INFINITY ? 0U : wordFloor(needed);
        passes |= max(max(words[i].x, words[i].y), max(words[i].z, words[i].w)) >= floors[i];
    }
    return __any_sync(kWholeWarp, passes) ? bestOfDrawn(noise, groups, words, floors, best) : best;
}

/// The best id of one block with its noise. For whole warps.
__device__ inline Candidate bestOfBlock(const NoiseRow &noise, std::int32_t block, float blockMaximum)
{
    const std::int32_t first = block * kLogitBlock;
    const IdGroup groups[2] = {{first + LogitVector::idOffset(0), blockMaximum},
                               {first + LogitVector::idOffset(4), blockMaximum}};
    return bestOfGroups(noise, groups, {-INFINITY, kNoId});
}

/// Groups of one warp that may win.
class NoiseQueue
{
public:
    /// Up to one of each lane, with room for as many more as one draw leaves.
    __device__ __forceinline__ void add(bool mayWin, const IdGroup &group)
    {
        const unsigned winners = __ballot_sync(kWholeWarp, mayWin);
        const unsigned before = (1U << (threadIdx.x % 32)) - 1U;
        if (mayWin)
            m_groups[m_filled + __popc(winners & before)] = group;
        m_filled += __popc(winners);
    }
    [[nodiscard]] __device__ __forceinline__ bool isFull() const { return m_filled >= kDrawn; }
    [[nodiscard]] __device__ __forceinline__ bool isEmpty() const { return m_filled == 0; }

    /// Takes the last 64 groups, or all if they are fewer: a lane for which there is none repeats the last one, which
    /// changes nothing.
    __device__ __forceinline__ void take(IdGroup (&groups)[2])
    {
        __syncwarp();
        const int place = max(m_filled - kDrawn, 0) + static_cast<int>(threadIdx.x) % 32;
        groups[0] = m_groups[min(place, m_filled - 1)];
        groups[1] = m_groups[min(place + 32, m_filled - 1)];
        m_filled = max(m_filled - kDrawn, 0);
        __syncwarp(); // read before the places are filled again
    }

    static constexpr int kDrawn = 64;
    static constexpr int kPlaces = kDrawn + 32;

    __device__ explicit NoiseQueue(IdGroup *groups) : m_groups(groups) {}

private:
    IdGroup *m_groups; ///< [kPlaces], shared memory
    int m_filled = 0;
};

/// Which of four distances are at most `most`, which is below 128 as they are: the highest bit of their bytes.
__device__ __forceinline__ std::uint32_t atMost(std::uint32_t distances, std::uint32_t most)
{
    return ((most * 0x01010101U | 0x80808080U) - distances) & 0x80808080U;
}

/// The best id of the tiles [begin, end) that are this warp's, or `best` if none beats it. `shared`: the best value of
/// any warp of the row so far, in the order of integers; it skips more and decides nothing. For whole warps.
///
/// A tile is four blocks; a lane has the distances of eight consecutive groups, a quarter of a block's half.
__device__ inline Candidate bestOfTiles(const NoiseRow &noise, int begin, int end, Candidate best, int &shared,
                                        NoiseQueue queue)
{
    // Tiles that are read at a time. More of them cost registers, and that time even where nothing can win: settled
    // 107, 112 and 139 us with 2, 4 and 8.
    constexpr int kAtOnce = 2;
    constexpr unsigned kFewerQueued = 104; // of a tile's 256
    const SampleWorkspace workspace = sampleWorkspace(noise.canvas);
    const auto blockCount = static_cast<int>(workspace.blockCount);
    const float *maxima = workspace.maxima + noise.row * workspace.blockCount;
    const auto *distances =
        reinterpret_cast<const uint2 *>(workspace.distances + noise.row * distanceStride(workspace.blockCount));
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto draw = [&](const IdGroup(&groups)[2]) {
        const Candidate found = bestOfGroups(noise, groups, best);
        if (lane == 0 && found.value > best.value)
            atomicMax(&shared, orderedInteger(found.value));
        best = found;
    };
    // A warp's tiles are those of its number, kSampleWarps apart.
    for (int first = begin + static_cast<int>(threadIdx.x) / 32; first < end; first += kAtOnce * kSampleWarps) {
        const float others = floatOfOrdered(__shfl_sync(kWholeWarp, *static_cast<volatile int *>(&shared), 0));
        if (best.value < others) // an equal value with a lower id must still win
            best = {others, kNoId};
        float maximum[kAtOnce];
        int most[kAtOnce]; // steps below its block's maximum from which an id may still win; negative: none may
        uint2 steps[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int tile = first + i * kSampleWarps;
            const int block = tile * kTileBlocks + lane / 8;
            maximum[i] = tile < end && block < blockCount ? maxima[block] : -INFINITY;
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            most[i] = stepsThatMayWin(maximum[i], best.value, kLargestGumbel);
            steps[i] = make_uint2(0, 0);
            if (most[i] >= 0)
                steps[i] = distances[(first + i * kSampleWarps) * 32 + lane];
        }
#pragma unroll 1
        for (int i = 0; i < kAtOnce; ++i) { // the first of the arrays; not unrolled, to have one copy of draw()
            const auto byte = static_cast<std::uint32_t>(max(most[0], 0));
            // Bits 0, 8, 16 and 24: the groups of the first word; four bits further on: those of the second.
            std::uint32_t winners = most[0] < 0 ? 0U : atMost(steps[0].x, byte) >> 7U | atMost(steps[0].y, byte) >> 3U;
            const std::int32_t id = (first + i * kSampleWarps) * (kTileBlocks * kLogitBlock) + lane * 32;
            const auto groupAt = [&](int place) { // of this lane's eight
                const std::uint32_t word = place < 4 ? steps[0].x : steps[0].y;
                return IdGroup{id + place * 4,
                               upperBound(maximum[0], word >> static_cast<unsigned>(place % 4 * 8) & 0xFFU)};
            };
            // Where many may win, all are drawn as they lie: the queue costs more than the draws that it saves.
            const auto count = __reduce_add_sync(kWholeWarp, static_cast<unsigned>(__popc(winners)));
            int place = count >= kFewerQueued ? 0 : 8;
            if (place == 0)
                winners = 0;
            while (count > 0) { // one copy of draw() for both
                IdGroup groups[2];
                if (place < 8) {
                    groups[0] = groupAt(place);
                    groups[1] = groupAt(place + 1);
                    place += 2;
                } else {
                    while (!queue.isFull() && __any_sync(kWholeWarp, winners != 0)) {
                        const int bit = max(__ffs(static_cast<int>(winners)) - 1, 0);
                        queue.add(winners != 0, groupAt(bit / 8 + bit % 8));
                        winners &= winners - 1;
                    }
                    if (!queue.isFull())
                        break;
                    queue.take(groups);
                }
                draw(groups);
            }
#pragma unroll
            for (int next = 1; next < kAtOnce; ++next) {
                maximum[next - 1] = maximum[next];
                most[next - 1] = most[next];
                steps[next - 1] = steps[next];
            }
        }
    }
    if (!queue.isEmpty()) {
        IdGroup groups[2];
        queue.take(groups);
        draw(groups);
    }
    return best;
}

} // namespace palimpsest::kernels
