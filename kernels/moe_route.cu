// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_route.h"

#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>

namespace palimpsest::kernels {

namespace {

// First launch: a block multiplies 16 tokens by up to 128 experts over a slice of 256 inputs, 32 inputs a warp, and
// adds its warps' sums. Many small blocks: the whole product is 0.1 G multiplications, what counts is to start all
// loads at once.
constexpr int kTileTokens = 16;
constexpr int kTileExperts = 128;
constexpr int kExpertTiles = kTileExperts / 8;
constexpr int kProjectWarps = 8;
constexpr int kSliceInputs = kProjectWarps * 32;
constexpr int kSumPitch = kTileExperts + 8; // so that the 8 rows of a fragment fall into different banks
constexpr std::int64_t kManyTokens = 2048;  // from here on the token tiles fill the device, slices are summed in place
// Few tiles are spread over these many blocks, each taking several slices: half of an H200's multiprocessors, so that a
// dense product beside them finds the other half empty. More would take too long that way.
constexpr std::int64_t kFewBlocks = 66;
constexpr std::int64_t kFewTiles = 16;
// Blocks that an H200 holds at a time, two a multiprocessor; of more tiles a block takes several, one after the other.
constexpr std::int64_t kManyBlocks = 2 * 132;

// Second launch: a warp chooses for a token; the last block to finish brings the slots in order.
constexpr int kChooseWarps = 16;
constexpr int kChooseThreads = kChooseWarps * 32;
constexpr int kBlockSlots = kChooseWarps * static_cast<int>(kMostSlotsPerToken); // at most
constexpr int kBlocksAtOnce = 64;                                                // whose counts the last block holds

constexpr std::int64_t sliceCount(std::int64_t hidden)
{
    return (hidden + kSliceInputs - 1) / kSliceInputs;
}

/// The workspace: a counter, then what the blocks that choose leave for the last of them: how many slots of each expert
/// they have [blocks][experts] and each slot's place among those of its block and expert [slots]; then partial sums of
/// squares [parts][tokens] and partial logits [parts][tokens][experts].
struct Workspace
{
    unsigned *finishedBlocks;
    std::uint16_t *counts;
    std::uint16_t *ranks;
    float *squares;
    float *logits;
};

constexpr std::int64_t kCounterBytes = 16;

std::int64_t partCount(std::int64_t tokens, std::int64_t hidden)
{
    return tokens >= kManyTokens ? 1 : sliceCount(hidden);
}

/// Of one of the arrays of 16-bit numbers, for at most `tokens` tokens.
std::int64_t countBytes(std::int64_t tokens)
{
    return (tokens + kChooseWarps - 1) / kChooseWarps * kMostRoutedExperts * 2;
}

static_assert(kChooseWarps * kMostSlotsPerToken <= kMostRoutedExperts, "a block's ranks fit where its counts would");

Workspace workspaceOf(const MoeRouteArgs &args, std::int64_t parts)
{
    auto *base = static_cast<std::uint8_t *>(args.workspace);
    const std::int64_t bytes = countBytes(args.tokens);
    auto *squares = reinterpret_cast<float *>(base + kCounterBytes + 2 * bytes);
    return {reinterpret_cast<unsigned *>(base), reinterpret_cast<std::uint16_t *>(base + kCounterBytes),
            reinterpret_cast<std::uint16_t *>(base + kCounterBytes + bytes), squares, squares + parts * args.tokens};
}

/// value = high + middle + low, each a bf16; the remainder is below 2^-24 of the value.
struct Split
{
    float high;
    float middle;
    float low;
};

__device__ Split split(float value)
{
    Split parts;
    parts.high = ptx::fromBf16(ptx::toBf16(value));
    const float rest = value - parts.high; // exact, as is the next
    parts.middle = ptx::fromBf16(ptx::toBf16(rest));
    parts.low = rest - parts.middle;
    return parts;
}

/// One token's part of the A fragments of a warp's 32 inputs, split in three. Lane t of a group of four holds inputs 8
/// t to 8 t + 7; the order of the inputs is the same for both operands, so any will do, and this one is a 16-byte load.
struct TokenPart
{
    std::uint32_t pairs[3][4]; // [low, middle, high][inputs 2 i, 2 i + 1]
    float squares = 0.0F;

    __device__ void load(const float *x, const float *scale)
    {
        float values[8];
        float factors[8];
        reinterpret_cast<float4 *>(values)[0] = reinterpret_cast<const float4 *>(x)[0];
        reinterpret_cast<float4 *>(values)[1] = reinterpret_cast<const float4 *>(x)[1];
        reinterpret_cast<float4 *>(factors)[0] = reinterpret_cast<const float4 *>(scale)[0];
        reinterpret_cast<float4 *>(factors)[1] = reinterpret_cast<const float4 *>(scale)[1];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            squares += values[2 * i] * values[2 * i];
            squares += values[2 * i + 1] * values[2 * i + 1];
            const Split even = split(values[2 * i] * factors[2 * i]);
            const Split odd = split(values[2 * i + 1] * factors[2 * i + 1]);
            pairs[0][i] = ptx::packBf16(even.low, odd.low);
            pairs[1][i] = ptx::packBf16(even.middle, odd.middle);
            pairs[2][i] = ptx::packBf16(even.high, odd.high);
        }
    }
};

/// A load that stays where it is written: left to itself the compiler moves each down to its use, one latency after the
/// other.
__device__ __forceinline__ uint4 loadNow(const Bf16 *source)
{
    uint4 value;
    asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "l"(source));
    return value;
}

struct ProjectSums
{
    float logits[kProjectWarps][kTileTokens][kSumPitch];
    float squares[kProjectWarps][kTileTokens];
};

/// A warp's 32 inputs of a slice for all experts of the tile; beyond the last input everything is zero.
__device__ void loadWeights(uint4 (&weights)[kExpertTiles], const MoeRouteArgs &args, int firstExpert,
                            std::int64_t firstInput, int warp, int lane)
{
    const std::int64_t input = firstInput + warp * 32 + (lane & 3) * 8;
#pragma unroll
    for (int n = 0; n < kExpertTiles; ++n) {
        const int expert = firstExpert + n * 8 + (lane >> 2);
        weights[n] = make_uint4(0, 0, 0, 0);
        if (input < args.hidden && expert < args.experts)
            weights[n] = loadNow(args.weights + expert * args.hidden + input);
    }
}

__device__ void projectWarp(const MoeRouteArgs &args, ProjectSums &sums, const uint4 (&weights)[kExpertTiles],
                            std::int64_t firstToken, std::int64_t firstInput, int warp, int lane)
{
    const int group = lane >> 2;
    const std::int64_t input = firstInput + warp * 32 + (lane & 3) * 8;
    const bool inside = input < args.hidden;
    TokenPart upper = {};
    TokenPart lower = {};
    if (inside) { // tokens beyond the last repeat it; their sums are not used
        upper.load(args.x + min(firstToken + group, args.tokens - 1) * args.hidden + input, args.scale + input);
        lower.load(args.x + min(firstToken + group + 8, args.tokens - 1) * args.hidden + input, args.scale + input);
    }
#pragma unroll
    for (int n = 0; n < kExpertTiles; ++n) {
        float sum[4] = {};
#pragma unroll
        for (int part = 0; part < 3; ++part) { // the small parts first
            const std::uint32_t first[4] = {upper.pairs[part][0], lower.pairs[part][0], upper.pairs[part][1],
                                            lower.pairs[part][1]};
            const std::uint32_t second[4] = {upper.pairs[part][2], lower.pairs[part][2], upper.pairs[part][3],
                                             lower.pairs[part][3]};
            ptx::mma16816(sum, first, weights[n].x, weights[n].y);
            ptx::mma16816(sum, second, weights[n].z, weights[n].w);
        }
        const int column = n * 8 + (lane & 3) * 2;
        *reinterpret_cast<float2 *>(&sums.logits[warp][group][column]) = make_float2(sum[0], sum[1]);
        *reinterpret_cast<float2 *>(&sums.logits[warp][group + 8][column]) = make_float2(sum[2], sum[3]);
    }
    for (TokenPart *part : {&upper, &lower}) {
        part->squares += __shfl_xor_sync(kWholeWarp, part->squares, 1);
        part->squares += __shfl_xor_sync(kWholeWarp, part->squares, 2);
    }
    if ((lane & 3) == 0) {
        sums.squares[warp][group] = upper.squares;
        sums.squares[warp][group + 8] = lower.squares;
    }
}

/// Of one thread, while a tile's slices are added.
struct ProjectTotals
{
    static constexpr int kThreads = kProjectWarps * 32;
    static constexpr int kOutputs = kTileTokens * kTileExperts / kThreads;
    float logits[kOutputs] = {};
    float squares = 0.0F;

    /// Adds the warps' sums in their order.
    __device__ void add(const ProjectSums &sums, int thread)
    {
#pragma unroll
        for (int j = 0; j < kOutputs; ++j) {
            const int at = thread + j * kThreads;
            float sum = 0.0F;
#pragma unroll
            for (int warp = 0; warp < kProjectWarps; ++warp)
                sum += sums.logits[warp][at / kTileExperts][at % kTileExperts];
            logits[j] += sum;
        }
        if (thread < kTileTokens) {
            float sum = 0.0F;
            for (int warp = 0; warp < kProjectWarps; ++warp)
                sum += sums.squares[warp][thread];
            squares += sum;
        }
    }

    __device__ void store(const MoeRouteArgs &args, const Workspace &workspace, int part, std::int64_t firstToken,
                          int firstExpert, int thread) const
    {
#pragma unroll
        for (int j = 0; j < kOutputs; ++j) {
            const int at = thread + j * kThreads;
            const std::int64_t token = firstToken + at / kTileExperts;
            const int expert = firstExpert + at % kTileExperts;
            if (token < args.tokens && expert < args.experts)
                workspace.logits[(part * args.tokens + token) * args.experts + expert] = logits[j];
        }
        if (firstExpert == 0 && thread < kTileTokens && firstToken + thread < args.tokens)
            workspace.squares[part * args.tokens + firstToken + thread] = squares;
    }
};

/// Grid: groups of token tiles, blocks that share the slices, expert tiles. With one part, all slices are added here,
/// else each is a part; either way an output is ((slice 0 + slice 1) + slice 2) ..., a slice the sum of its warps in
/// their order.
template <int kResident>
__global__ void __launch_bounds__(kProjectWarps * 32, kResident)
    projectKernel(const MoeRouteArgs args, const Workspace workspace, int parts, int tilesOfBlock)
{
    extern __shared__ __align__(16) std::uint8_t shared[];
    auto &sums = *reinterpret_cast<ProjectSums *>(shared);
    ptx::letNextStart();
    const int thread = static_cast<int>(threadIdx.x);
    const int firstExpert = static_cast<int>(blockIdx.z) * kTileExperts;
    const auto slices = static_cast<int>((args.hidden + kSliceInputs - 1) / kSliceInputs);
    const std::int64_t firstToken = static_cast<std::int64_t>(blockIdx.x) * tilesOfBlock * kTileTokens;
    const std::int64_t endToken = min(args.tokens, firstToken + static_cast<std::int64_t>(tilesOfBlock) * kTileTokens);

    ProjectTotals totals;
    for (auto slice = static_cast<int>(blockIdx.y); slice < slices; slice += static_cast<int>(gridDim.y)) {
        const std::int64_t firstInput = static_cast<std::int64_t>(slice) * kSliceInputs;
        uint4 weights[kExpertTiles];
        loadWeights(weights, args, firstExpert, firstInput, thread / 32, thread % 32);
        if (!args.besidePrevious)
            ptx::waitForPrevious(); // weights do not depend on it
        for (std::int64_t token = firstToken; token < endToken; token += kTileTokens) {
            projectWarp(args, sums, weights, token, firstInput, thread / 32, thread % 32);
            __syncthreads();
            totals.add(sums, thread);
            __syncthreads();
            if (parts == 1 && slice + 1 < slices)
                continue; // one tile: its sums go on
            totals.store(args, workspace, parts == 1 ? 0 : slice, token, firstExpert, thread);
            totals = {};
        }
    }
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && thread == 0)
        *workspace.finishedBlocks = 0;
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

/// Softmax over one token's logits, expert = lane + 32 i; beyond the last expert the probability is -1.
template <int kExpertsPerLane>
__device__ void probabilitiesOf(float (&values)[kExpertsPerLane], const MoeRouteArgs &args, const Workspace &workspace,
                                int parts, std::int64_t token, int lane)
{
    float squares = 0.0F;
    for (int first = 0; first < parts; first += 32) {
        const int mine = first + lane;
        const float part = mine < parts ? workspace.squares[mine * args.tokens + token] : 0.0F;
        for (int i = 0; i < min(32, parts - first); ++i)
            squares += __shfl_sync(kWholeWarp, part, i);
    }
#pragma unroll
    for (float &value : values)
        value = 0.0F;
    const float *logits = workspace.logits + token * args.experts + lane;
    const std::int64_t partStride = args.tokens * args.experts;
    constexpr int kPartsAtOnce = 12; // the latency of their loads is what this takes
    for (int first = 0; first < parts; first += kPartsAtOnce) {
        float loaded[kPartsAtOnce][kExpertsPerLane];
#pragma unroll
        for (int part = 0; part < kPartsAtOnce; ++part)
#pragma unroll
            for (int i = 0; i < kExpertsPerLane; ++i)
                loaded[part][i] = first + part < parts && lane + 32 * i < args.experts
                                      ? logits[(first + part) * partStride + 32 * i]
                                      : 0.0F;
#pragma unroll
        for (int part = 0; part < kPartsAtOnce; ++part)
#pragma unroll
            for (int i = 0; i < kExpertsPerLane; ++i)
                values[i] += loaded[part][i];
    }
    const auto hidden = static_cast<float>(args.hidden);
    const float factor = 1.0F / sqrtf(squares / hidden + args.epsilon) / sqrtf(hidden);
    float largest = -INFINITY;
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i) {
        values[i] = lane + 32 * i < args.experts ? values[i] * factor : -INFINITY;
        largest = fmaxf(largest, values[i]);
    }
    largest = warpMaximum(largest);
    float total = 0.0F;
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i) {
        values[i] = lane + 32 * i < args.experts ? expf(values[i] - largest) : 0.0F;
        total += values[i];
    }
    total = warpSum(total);
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i)
        values[i] = lane + 32 * i < args.experts ? values[i] / total : -1.0F;
}

/// Takes the most probable expert, of equal ones the lowest, out of `values`.
template <int kExpertsPerLane>
__device__ void takeLargest(float (&values)[kExpertsPerLane], int lane, float &probability, int &expert)
{
    float best = -2.0F;
    int mine = 0;
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i)
        if (values[i] > best) {
            best = values[i];
            mine = lane + 32 * i;
        }
    // Probabilities are not negative, so their bits are in their order; taken ones and places beyond the last become 0.
    const unsigned bits = best >= 0.0F ? __float_as_uint(best) : 0U;
    const unsigned largest = __reduce_max_sync(kWholeWarp, bits);
    const bool isCandidate = best >= 0.0F && bits == largest;
    expert = static_cast<int>(__reduce_min_sync(kWholeWarp, isCandidate ? static_cast<unsigned>(mine) : ~0U));
    probability = __uint_as_float(largest);
#pragma unroll
    for (int i = 0; i < kExpertsPerLane; ++i)
        if (lane + 32 * i == expert)
            values[i] = -2.0F;
}

/// The whole warp; lane j gets choice j, the others keep what is in `chosen`.
template <int kExpertsPerLane>
__device__ void chooseExperts(const MoeRouteArgs &args, const Workspace &workspace, int parts, std::int64_t token,
                              int lane, std::int32_t &chosen)
{
    float values[kExpertsPerLane];
    probabilitiesOf<kExpertsPerLane>(values, args, workspace, parts, token, lane);
    const auto choices = static_cast<int>(args.slotsPerToken);
    float total = 0.0F;
    float mine = 0.0F;
    int myExpert = 0;
    for (int j = 0; j < choices; ++j) {
        float probability = 0.0F;
        int expert = 0;
        takeLargest(values, lane, probability, expert);
        total += probability;
        if (lane == j) {
            mine = probability;
            myExpert = expert;
        }
    }
    if (lane < choices) {
        args.expertIds[token * choices + lane] = myExpert;
        chosen = myExpert;
        args.slotWeights[token * choices + lane] = mine / total * args.perExpertScale[myExpert];
    }
}

/// A block's own choices, in order of their slots, and how many there are of each expert.
struct BlockChoices
{
    std::int32_t experts[kBlockSlots];
    unsigned counts[kMostRoutedExperts];
};

/// What the last block sorts with.
struct SortState
{
    std::uint16_t before[kBlocksAtOnce][kMostRoutedExperts]; // counts, then the slots of an expert in earlier blocks
    std::int32_t next[kMostRoutedExperts];                   // where the slots of the next blocks go
    std::int32_t warpTotals[kChooseWarps];
};

/// Leaves this block's counts and ranks for the last block. Counting by atomics is exact in any order.
__device__ void countChoices(const MoeRouteArgs &args, const Workspace &workspace, BlockChoices &choices)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const std::int64_t firstSlot = static_cast<std::int64_t>(blockIdx.x) * kChooseWarps * args.slotsPerToken;
    const std::int64_t left = args.tokens * args.slotsPerToken - firstSlot;
    const auto slots = static_cast<int>(min(left, static_cast<std::int64_t>(kChooseWarps) * args.slotsPerToken));
    if (thread < slots) {
        const int expert = choices.experts[thread];
        int rank = 0;
#pragma unroll 8
        for (int other = 0; other < thread; ++other)
            rank += choices.experts[other] == expert ? 1 : 0;
        workspace.ranks[firstSlot + thread] = static_cast<std::uint16_t>(rank);
        atomicAdd(&choices.counts[expert], 1U);
    }
    __syncthreads();
    for (int expert = thread; expert < experts; expert += kChooseThreads)
        workspace.counts[static_cast<std::int64_t>(blockIdx.x) * experts + expert] =
            static_cast<std::uint16_t>(choices.counts[expert]);
}

/// Sum over all blocks of the counts of this thread's expert; other blocks wrote them: past the first-level cache.
__device__ int countOf(const MoeRouteArgs &args, const Workspace &workspace, int expert)
{
    int total = 0;
#pragma unroll 16
    for (unsigned block = 0; block < gridDim.x; ++block)
        total += __ldcg(workspace.counts + static_cast<std::int64_t>(block) * args.experts + expert);
    return total;
}

/// Where each expert's slots begin; all threads, experts <= threads.
__device__ void placeExperts(const MoeRouteArgs &args, const Workspace &workspace, SortState &state)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const int warp = thread / 32;
    const int lane = thread % 32;
    const int total = thread < experts ? countOf(args, workspace, thread) : 0;
    int sum = total;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(kWholeWarp, sum, distance);
        sum += lane >= distance ? other : 0;
    }
    if (lane == 31)
        state.warpTotals[warp] = sum;
    __syncthreads();
    int place = sum - total;
    for (int w = 0; w < warp; ++w)
        place += state.warpTotals[w];
    if (thread < experts) {
        state.next[thread] = place;
        args.expertOffsets[thread] = place;
        if (thread == experts - 1)
            args.expertOffsets[experts] = place + total;
    }
}

/// Stable counting sort of the slots by expert; one block, some blocks' slots at a time.
__device__ void sortSlots(const MoeRouteArgs &args, const Workspace &workspace, SortState &state)
{
    const auto thread = static_cast<int>(threadIdx.x);
    const auto experts = static_cast<int>(args.experts);
    const auto slotsOfBlock = static_cast<int>(args.slotsPerToken) * kChooseWarps;
    const std::int64_t slots = args.tokens * args.slotsPerToken;
    placeExperts(args, workspace, state);
    for (int firstBlock = 0; firstBlock < static_cast<int>(gridDim.x); firstBlock += kBlocksAtOnce) {
        const int blocks = min(kBlocksAtOnce, static_cast<int>(gridDim.x) - firstBlock);
        __syncthreads();
#pragma unroll 8
        for (int i = thread; i < blocks * experts; i += kChooseThreads)
            state.before[i / experts][i % experts] =
                __ldcg(workspace.counts + static_cast<std::int64_t>(firstBlock) * experts + i);
        __syncthreads();
        int sum = 0;
        if (thread < experts) {
            for (int block = 0; block < blocks; ++block) {
                const int count = state.before[block][thread];
                state.before[block][thread] = static_cast<std::uint16_t>(sum);
                sum += count;
            }
        }
        __syncthreads();
        const std::int64_t firstSlot = static_cast<std::int64_t>(firstBlock) * slotsOfBlock;
        const auto count = static_cast<int>(min(slots - firstSlot, static_cast<std::int64_t>(blocks) * slotsOfBlock));
#pragma unroll 4
        for (int i = thread; i < count; i += kChooseThreads) {
            const int expert = __ldcg(args.expertIds + firstSlot + i);
            const int rank = __ldcg(workspace.ranks + firstSlot + i);
            args.slots[state.next[expert] + state.before[i / slotsOfBlock][expert] + rank] =
                static_cast<std::int32_t>(firstSlot + i);
        }
        __syncthreads();
        if (thread < experts)
            state.next[thread] += sum;
    }
}

template <int kExpertsPerLane>
__global__ void __launch_bounds__(kChooseThreads)
    chooseKernel(const MoeRouteArgs args, const Workspace workspace, int parts)
{
    __shared__ union {
        BlockChoices choices;
        SortState sort;
    } state;
    __shared__ bool isLast;
    const auto thread = static_cast<int>(threadIdx.x);
    for (int expert = thread; expert < kMostRoutedExperts; expert += kChooseThreads)
        state.choices.counts[expert] = 0;
    ptx::letNextStart();
    if (!args.besidePrevious)
        ptx::waitForPrevious();
    const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kChooseWarps + thread / 32;
    if (token < args.tokens) {
        const auto choices = static_cast<int>(args.slotsPerToken);
        std::int32_t chosen = 0;
        chooseExperts<kExpertsPerLane>(args, workspace, parts, token, thread % 32, chosen);
        if (thread % 32 < choices)
            state.choices.experts[thread / 32 * choices + thread % 32] = chosen;
    }
    __syncthreads();
    countChoices(args, workspace, state.choices);
    __syncthreads();
    if (thread == 0) { // the block's choices are visible before the count says so, the others' after it
        __threadfence();
        isLast = atomicAdd(workspace.finishedBlocks, 1U) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (isLast)
        sortSlots(args, workspace, state.sort);
    ptx::waitForPrevious(); // also if nothing of it was needed: not to end before it
}

bool isAllowed(const MoeRouteArgs &args)
{
    const auto aligned = [](const void *p) {
        return p != nullptr && (reinterpret_cast<std::uintptr_t>(p) & 15U) == 0;
    };
    return args.tokens >= 0 && args.hidden > 0 && args.hidden <= INT32_MAX && args.hidden % 8 == 0 &&
           args.experts > 0 && args.experts <= kMostRoutedExperts && args.slotsPerToken > 0 &&
           args.slotsPerToken <= args.experts && args.slotsPerToken <= kMostSlotsPerToken &&
           args.tokens <= INT32_MAX / args.slotsPerToken && aligned(args.workspace) && aligned(args.x) &&
           aligned(args.scale) && aligned(args.weights) && args.perExpertScale != nullptr &&
           args.expertIds != nullptr && args.slotWeights != nullptr && args.expertOffsets != nullptr &&
           args.slots != nullptr;
}

} // namespace

std::int64_t moeRouteWorkspaceBytes(std::int64_t tokens, std::int64_t hidden, std::int64_t experts) noexcept
{
    // The most for this many tokens or fewer: just below kManyTokens there are more parts than above.
    const std::int64_t split = tokens < kManyTokens ? tokens : kManyTokens - 1;
    const std::int64_t rows = split * sliceCount(hidden) > tokens ? split * sliceCount(hidden) : tokens;
    return kCounterBytes + 2 * countBytes(tokens) + rows * (experts + 1) * static_cast<std::int64_t>(sizeof(float));
}

cudaError_t moeRouteLogits(const MoeRouteArgs &args, cudaStream_t stream)
{
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    const std::int64_t parts = partCount(args.tokens, args.hidden);
    const std::int64_t tokenTiles = (args.tokens + kTileTokens - 1) / kTileTokens;
    const std::int64_t expertTiles = (args.experts + kTileExperts - 1) / kTileExperts;
    const std::int64_t sharing =
        tokenTiles * expertTiles <= kFewTiles ? std::min(parts, kFewBlocks / (tokenTiles * expertTiles)) : parts;
    const std::int64_t tilesOfBlock =
        parts == 1 ? 1 : (tokenTiles * expertTiles * sharing + kManyBlocks - 1) / kManyBlocks;
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>((tokenTiles + tilesOfBlock - 1) / tilesOfBlock),
                                         static_cast<unsigned>(sharing), static_cast<unsigned>(expertTiles)),
                            .threads = kProjectWarps * 32,
                            .sharedBytes = sizeof(ProjectSums)};
    // Two blocks a multiprocessor where there are many; with one, more registers keep more loads under way.
    const auto kernel = tilesOfBlock > 1 ? projectKernel<2> : projectKernel<1>;
    const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(sizeof(ProjectSums)));
    if (status != cudaSuccess)
        return status;
    return launchDependent(kernel, shape, stream, args, workspaceOf(args, parts), static_cast<int>(parts),
                           static_cast<int>(tilesOfBlock));
}

cudaError_t moeRouteChoose(const MoeRouteArgs &args, cudaStream_t stream)
{
    if (args.tokens == 0 && args.expertOffsets != nullptr && args.experts > 0)
        return cudaMemsetAsync(args.expertOffsets, 0, static_cast<std::size_t>(args.experts + 1) * sizeof(std::int32_t),
                               stream);
    if (!isAllowed(args))
        return cudaErrorInvalidValue;
    const auto parts = static_cast<int>(partCount(args.tokens, args.hidden));
    const Workspace workspace = workspaceOf(args, parts);
    const LaunchShape shape{.grid = dim3(static_cast<unsigned>((args.tokens + kChooseWarps - 1) / kChooseWarps)),
                            .threads = kChooseThreads};
    if (args.experts <= 32)
        return launchDependent(chooseKernel<1>, shape, stream, args, workspace, parts);
    if (args.experts <= 128)
        return launchDependent(chooseKernel<4>, shape, stream, args, workspace, parts);
    return launchDependent(chooseKernel<8>, shape, stream, args, workspace, parts);
}

cudaError_t moeRoute(const MoeRouteArgs &args, cudaStream_t stream)
{
    const cudaError_t status = args.tokens == 0 ? cudaSuccess : moeRouteLogits(args, stream);
    return status == cudaSuccess ? moeRouteChoose(args, stream) : status;
}

} // namespace palimpsest::kernels
