// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/qkv_norm_rope.h"

#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"

namespace palimpsest::kernels {

namespace {

constexpr int kMostHeadDim = 512;
constexpr int kAngleThreads = 128;
constexpr int kHeadWarps = 8;

__global__ __launch_bounds__(kAngleThreads) void ropeAnglesKernel(const RopeAnglesArgs args)
{
    ptx::beginDependent();
    const std::int64_t row = blockIdx.x;
    const SequenceView &view = args.views[row / args.rowStride];
    const std::int64_t offset = row % args.rowStride;
    if (offset >= view.rows)
        return;
    const float position = static_cast<float>(view.length + offset);
    for (std::int64_t i = threadIdx.x; i < args.pairs; i += kAngleThreads) {
        float2 angle;
        sincosf(position * args.frequencies[i], &angle.y, &angle.x);
        args.angles[row * args.pairs + i] = angle;
    }
}

/// A lane's rotations.
template <int kPairsOfPairs>
struct Angles
{
    float2 even[kPairsOfPairs];
    float2 odd[kPairsOfPairs];

    __device__ __forceinline__ void load(const float2 *angles, int pairs)
    {
#pragma unroll
        for (int i = 0; i < kPairsOfPairs; ++i) {
            const int element = 2 * (static_cast<int>(threadIdx.x) % 32 + i * 32);
            if (element < pairs)
                even[i] = angles[element];
            if (element + 1 < pairs)
                odd[i] = angles[element + 1];
        }
    }
};

// One warp normalises one head of one row. Lane l holds the pairs of elements (2j, 2j + 1) and (2j + half, 2j + half +
// 1) for j = l, l + 32, ..., so that a rotation stays inside a lane. Everything that is read is under way before the
// first value is used: weights before the launch before this one has ended, angles beside the head.
template <int kPairsOfPairs>
struct Head
{
    float2 low[kPairsOfPairs];
    float2 high[kPairsOfPairs];

    template <typename Body>
    __device__ __forceinline__ static void forEach(int headDim, Body body)
    {
#pragma unroll
        for (int i = 0; i < kPairsOfPairs; ++i) {
            const int j = static_cast<int>(threadIdx.x) % 32 + i * 32;
            if (j < headDim / 4)
                body(i, 2 * j);
        }
    }

    __device__ __forceinline__ void load(const float *head, int headDim)
    {
        forEach(headDim, [&](int i, int element) {
            low[i] = *reinterpret_cast<const float2 *>(head + element);
            high[i] = *reinterpret_cast<const float2 *>(head + element + headDim / 2);
        });
    }

    __device__ __forceinline__ void load(const Bf16 *head, int headDim)
    {
        forEach(headDim, [&](int i, int element) {
            const auto first = *reinterpret_cast<const std::uint32_t *>(head + element);
            const auto second = *reinterpret_cast<const std::uint32_t *>(head + element + headDim / 2);
            low[i] = make_float2(ptx::lowBf16(first), ptx::highBf16(first));
            high[i] = make_float2(ptx::lowBf16(second), ptx::highBf16(second));
        });
    }

    /// As a weight: null is 1.
    __device__ __forceinline__ void loadWeight(const float *weight, int headDim)
    {
        if (weight != nullptr)
            return load(weight, headDim);
#pragma unroll
        for (int i = 0; i < kPairsOfPairs; ++i)
            low[i] = high[i] = make_float2(1.0F, 1.0F);
    }

    __device__ __forceinline__ void normalise(int headDim, float epsilon, const Head &weight)
    {
        float sum = 0.0F;
        forEach(headDim, [&](int i, int) {
            sum += (low[i].x * low[i].x + low[i].y * low[i].y) + (high[i].x * high[i].x + high[i].y * high[i].y);
        });
        const float inverse = 1.0F / sqrtf(warpSum(sum) / static_cast<float>(headDim) + epsilon);
        forEach(headDim, [&](int i, int) {
            low[i] = make_float2(low[i].x * inverse * weight.low[i].x, low[i].y * inverse * weight.low[i].y);
            high[i] = make_float2(high[i].x * inverse * weight.high[i].x, high[i].y * inverse * weight.high[i].y);
        });
    }

    __device__ __forceinline__ static void rotatePair(float &first, float &second, const float2 &angle)
    {
        const float turned = first * angle.x - second * angle.y;
        second = second * angle.x + first * angle.y;
        first = turned;
    }

    __device__ __forceinline__ void rotate(int headDim, const Angles<kPairsOfPairs> &angles, int pairs)
    {
        forEach(headDim, [&](int i, int element) {
            if (element < pairs)
                rotatePair(low[i].x, high[i].x, angles.even[i]);
            if (element + 1 < pairs)
                rotatePair(low[i].y, high[i].y, angles.odd[i]);
        });
    }

    __device__ __forceinline__ void store(float *head, int headDim) const
    {
        forEach(headDim, [&](int i, int element) {
            *reinterpret_cast<float2 *>(head + element) = low[i];
            *reinterpret_cast<float2 *>(head + element + headDim / 2) = high[i];
        });
    }

    __device__ __forceinline__ void store(Bf16 *head, int headDim) const
    {
        forEach(headDim, [&](int i, int element) {
            *reinterpret_cast<std::uint32_t *>(head + element) = ptx::packBf16(low[i].x, low[i].y);
            *reinterpret_cast<std::uint32_t *>(head + element + headDim / 2) = ptx::packBf16(high[i].x, high[i].y);
        });
    }
};

/// Elements from the start of a pool to one position of one kv head.
__device__ std::int64_t placeOf(const QkvNormRopeArgs &args, const SequenceView &view, std::int64_t sequence,
                                std::int64_t offset, std::int64_t kvHead)
{
    std::int64_t page = 0;
    std::int64_t slot = 0;
    if (args.target == KvTarget::Cache) {
        const std::int64_t position = view.length + offset;
        page = view.pageTable[position / kPagePositions];
        slot = position % kPagePositions;
    } else {
        page = sequence * scratchPages(args.rowStride) + offset / kPagePositions;
        slot = offset % kPagePositions;
    }
    return ((page * args.kvHeads + kvHead) * kPagePositions + slot) * args.headDim;
}

/// Where a launch reads and writes, of either width.
template <typename Element>
struct Matrices
{
    const Element *qkv;
    Element *queries;
    Element *keys;
    Element *values;
};

// A block takes eight heads of one row: queries, then keys, then values.
template <typename Element, int kPairsOfPairs>
__global__ __launch_bounds__(kHeadWarps * 32) void qkvNormRopeKernel(const QkvNormRopeArgs args,
                                                                     const Matrices<Element> matrices)
{
    ptx::letNextStart();
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.y) * kHeadWarps + threadIdx.x / 32;
    const bool isValue = index >= args.heads + args.kvHeads;
    const bool isKey = !isValue && index >= args.heads;
    const int headDim = static_cast<int>(args.headDim);
    Head<kPairsOfPairs> weight;
    weight.loadWeight(isValue ? nullptr : isKey ? args.keyWeight : args.queryWeight, headDim);
    ptx::waitForPrevious();
    const std::int64_t row = blockIdx.x;
    const std::int64_t sequence = row / args.rowStride;
    const std::int64_t offset = row % args.rowStride;
    const SequenceView &view = args.views[sequence];
    if (index >= args.heads + 2 * args.kvHeads)
        return;
    const auto pairs = static_cast<int>(args.pairs);
    const std::int64_t source = isValue && !args.hasValues ? index - args.kvHeads : index;
    const std::int64_t width = (args.heads + (args.hasValues ? 2 : 1) * args.kvHeads) * args.headDim;
    Head<kPairsOfPairs> head;
    head.load(matrices.qkv + row * width + source * args.headDim, headDim);
    Angles<kPairsOfPairs> angles;
    if (!isValue)
        angles.load(args.angles + row * args.pairs, pairs);
    if (offset >= view.rows)
        return;
    head.normalise(headDim, args.epsilon, weight);
    if (isValue)
        return head.store(matrices.values + placeOf(args, view, sequence, offset, index - args.heads - args.kvHeads),
                          headDim);
    head.rotate(headDim, angles, pairs);
    head.store(isKey ? matrices.keys + placeOf(args, view, sequence, offset, index - args.heads)
                     : matrices.queries + (row * args.heads + index) * args.headDim,
               headDim);
}

template <typename Element>
cudaError_t launchHeads(const QkvNormRopeArgs &args, const Matrices<Element> &matrices, cudaStream_t stream)
{
    const std::int64_t heads = args.heads + 2 * args.kvHeads;
    const dim3 grid(static_cast<unsigned>(args.sequences * args.rowStride),
                    static_cast<unsigned>((heads + kHeadWarps - 1) / kHeadWarps));
    const LaunchShape shape{.grid = grid, .threads = kHeadWarps * 32};
    constexpr int kMost = kMostHeadDim / 2 / 2 / 32;
    return args.headDim <= kMostHeadDim / 2
               ? launchDependent(qkvNormRopeKernel<Element, kMost / 2>, shape, stream, args, matrices)
               : launchDependent(qkvNormRopeKernel<Element, kMost>, shape, stream, args, matrices);
}

} // namespace

cudaError_t ropeAngles(const RopeAnglesArgs &args, cudaStream_t stream)
{
    if (args.sequences < 0 || args.rowStride < 0 || args.pairs < 0 || args.views == nullptr ||
        (args.pairs > 0 && (args.frequencies == nullptr || args.angles == nullptr)))
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0 || args.pairs == 0)
        return cudaSuccess;
    return launchDependent(
        ropeAnglesKernel,
        {.grid = dim3(static_cast<unsigned>(args.sequences * args.rowStride)), .threads = kAngleThreads}, stream, args);
}

cudaError_t qkvNormRope(const QkvNormRopeArgs &args, cudaStream_t stream)
{
    if (args.sequences < 0 || args.rowStride < 0 || args.heads <= 0 || args.kvHeads <= 0 || args.headDim <= 0 ||
        args.headDim % 16 != 0 || args.headDim > kMostHeadDim || args.pairs < 0 || args.pairs > args.headDim / 2)
        return cudaErrorInvalidValue;
    const Matrices<Bf16> half{args.qkv, args.queries, args.pool.keys, args.pool.values};
    const Matrices<float> wide{args.qkvFloat, args.queriesFloat, args.poolFloat.keys, args.poolFloat.values};
    const auto complete = [](const auto &matrices) {
        return matrices.qkv != nullptr && matrices.queries != nullptr && matrices.keys != nullptr &&
               matrices.values != nullptr;
    };
    if (args.views == nullptr || args.queryWeight == nullptr || args.keyWeight == nullptr ||
        (args.pairs > 0 && args.angles == nullptr) || complete(half) == complete(wide))
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0)
        return cudaSuccess;
    return complete(wide) ? launchHeads(args, wide, stream) : launchHeads(args, half, stream);
}

} // namespace palimpsest::kernels
