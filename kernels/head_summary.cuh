// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/head_sample.h"
#include "kernels/processed_logits.cuh"
#include "kernels/reduce.cuh"

#include <cstdint>

/// What a row's result has beside the sampled id: entropy and the five best ids, from what is known of its blocks.
namespace palimpsest::kernels {

/// Sum over the block in double, in a fixed tree. `scratch`: [kSampleWarps].
__device__ inline double blockSumDouble(double value, double *scratch)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    if (threadIdx.x % 32 == 0)
        scratch[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0.0;
#pragma unroll
    for (int warp = 0; warp < kSampleWarps; ++warp)
        total += scratch[warp];
    return total;
}

/// The five best of the warp's candidates, in order; lane l gets number l of them. `candidate(i)` is this lane's i-th.
template <int kEach, typename CandidateAt>
__device__ Candidate warpBestFive(CandidateAt candidateAt)
{
    Candidate last{INFINITY, -1};
    Candidate mine{-INFINITY, kNoId};
    for (int place = 0; place < kSampleAlternatives; ++place) {
        Candidate best{-INFINITY, kNoId};
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const Candidate candidate = candidateAt(i);
            if (candidate.losesTo(last) && best.losesTo(candidate))
                best = candidate;
        }
        last = warpBest(best);
        if (static_cast<int>(threadIdx.x) % 32 == place)
            mine = last;
    }
    return mine;
}

/// The best ids of a row, number l of them in lane l of every warp. They lie in the five blocks with the largest maxima
/// (on a tie the earlier block): each of those gives its five best, and the five best of all are taken.
__device__ inline Candidate findAlternatives(const CanvasLogits &canvas, const SampleSettings &settings,
                                             std::int64_t row, const float *maxima, std::int64_t blockCount)
{
    constexpr int kBest = kSampleAlternatives;
    constexpr int kFound = kSampleWarps * kBest;
    static_assert(kBest <= kSampleWarps && kFound <= 64);
    __shared__ Candidate found[kFound];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto publish = [&](const Candidate &candidate) {
        __syncthreads(); // the list may still be read
        if (lane < kBest)
            found[warp * kBest + lane] = candidate;
        __syncthreads();
    };
    const auto ofList = [&](int i) {
        return lane + i * 32 < kFound ? found[lane + i * 32] : Candidate{-INFINITY, kNoId};
    };

    Candidate best{-INFINITY, kNoId}; // of the blocks, first of this warp's share
    for (std::int64_t first = warp * 128; first < blockCount; first += kSampleWarps * 128) {
        const Candidate before = best;
        best = warpBestFive<5>([&](int i) {
            const std::int64_t block = first + lane + i * 32;
            if (i == 4) // what the blocks before these gave
                return lane < kBest ? before : Candidate{-INFINITY, kNoId};
            return block < blockCount ? Candidate{maxima[block], static_cast<std::int32_t>(block)}
                                      : Candidate{-INFINITY, kNoId};
        });
    }
    publish(best);
    best = warpBestFive<2>(ofList);

    const float blockMaximum = __shfl_sync(kWholeWarp, best.value, warp % kBest);
    const std::int32_t block = __shfl_sync(kWholeWarp, best.id, warp % kBest);
    best = {-INFINITY, kNoId};
    if (warp < kBest && blockMaximum > -INFINITY) {
        const LogitVector vector = processedBlock(canvas, settings, row, block);
        best = warpBestFive<8>([&](int i) {
            return Candidate{vector.values[i], block * kLogitBlock + LogitVector::idOffset(i)};
        });
    }
    publish(best);
    return warpBestFive<2>(ofList);
}

/// All of a row's result but the sampled id.
__device__ inline void summarise(const CanvasLogits &canvas, const SampleSettings &settings, std::int64_t row,
                                 RowSample &result)
{
    __shared__ double sums[kSampleWarps];
    __shared__ double weightedSums[kSampleWarps];
    const SampleWorkspace workspace = sampleWorkspace(canvas);
    const float *maxima = workspace.maxima + row * workspace.blockCount;
    const BlockSums *blockSums = workspace.sums + row * workspace.blockCount;
    const Candidate alternative = findAlternatives(canvas, settings, row, maxima, workspace.blockCount);
    const float maximum = __shfl_sync(kWholeWarp, alternative.value, 0);
    double sum = 0.0;
    double weighted = 0.0;
    for (std::int64_t block = threadIdx.x; block < workspace.blockCount; block += kSampleThreads) {
        if (maxima[block] == -INFINITY)
            continue;
        const float distance = maxima[block] - maximum;
        const auto factor = static_cast<double>(expf(distance));
        const auto blockSum = static_cast<double>(blockSums[block].sum);
        sum += blockSum * factor;
        weighted +=
            (static_cast<double>(blockSums[block].weighted) + blockSum * static_cast<double>(distance)) * factor;
    }
    sum = blockSumDouble(sum, sums);
    weighted = blockSumDouble(weighted, weightedSums);
    if (threadIdx.x < kSampleAlternatives) { // fewer than five ids are allowed: 0 with probability 0
        const bool exists = alternative.value > -INFINITY;
        result.alternativeIds[threadIdx.x] = exists ? alternative.id : 0;
        result.alternativeProbabilities[threadIdx.x] =
            exists ? expf(alternative.value - maximum) / static_cast<float>(sum) : 0.0F;
    }
    if (threadIdx.x != 0)
        return;
    workspace.rows[row] = {maximum, static_cast<float>(sum)};
    result.argmax = alternative.value > -INFINITY ? alternative.id : 0;
    result.entropyNats = static_cast<float>(log(sum) - weighted / sum); // log p = (x - max) - log sum
}

} // namespace palimpsest::kernels
