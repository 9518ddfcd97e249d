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

constexpr int kHeadThreads = 256;
constexpr int kElements = 8; // of each half of a head in one lane: 16 bytes of bf16

/// Eight neighbouring elements.
__device__ __forceinline__ void loadElements(float (&values)[kElements], const float *from)
{
#pragma unroll
    for (int i = 0; i < kElements; i += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(from + i);
        values[i] = four.x;
        values[i + 1] = four.y;
        values[i + 2] = four.z;
        values[i + 3] = four.w;
    }
}

__device__ __forceinline__ void loadElements(float (&values)[kElements], const Bf16 *from)
{
    const uint4 packed = *reinterpret_cast<const uint4 *>(from);
    const std::uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        values[2 * i] = ptx::lowBf16(pairs[i]);
        values[2 * i + 1] = ptx::highBf16(pairs[i]);
    }
}

__device__ __forceinline__ void storeElements(float *to, const float (&values)[kElements])
{
#pragma unroll
    for (int i = 0; i < kElements; i += 4)
        *reinterpret_cast<float4 *>(to + i) = make_float4(values[i], values[i + 1], values[i + 2], values[i + 3]);
}

__device__ __forceinline__ void storeElements(Bf16 *to, const float (&values)[kElements])
{
    *reinterpret_cast<uint4 *>(to) =
        make_uint4(ptx::packBf16(values[0], values[1]), ptx::packBf16(values[2], values[3]),
                   ptx::packBf16(values[4], values[5]), ptx::packBf16(values[6], values[7]));
}

/// A lane's rotations: of the elements [first, first + kElements), as far as they rotate.
struct Angles
{
    float2 values[kElements];

    __device__ __forceinline__ Angles(const float2 *angles, int first, int pairs)
    {
        if (pairs % kElements == 0) { // then all of a lane's elements rotate or none, and rows are aligned
            if (first < pairs) {
#pragma unroll
                for (int i = 0; i < kElements; i += 2) {
                    const float4 two = *reinterpret_cast<const float4 *>(angles + first + i);
                    values[i] = make_float2(two.x, two.y);
                    values[i + 1] = make_float2(two.z, two.w);
                }
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < kElements; ++i)
            if (first + i < pairs)
                values[i] = angles[first + i];
    }
};

/// A lane's part of a head, or of its weight: elements [first, first + kElements) of either half, so that a rotation
/// stays inside the lane. A power of two of lanes shares a head; those behind its end hold zeros.
struct HeadPart
{
    float low[kElements];
    float high[kElements];

    template <typename Element>
    __device__ __forceinline__ void load(const Element *head, int first, int headDim)
    {
        loadElements(low, head + first);
        loadElements(high, head + first + headDim / 2);
    }

    __device__ __forceinline__ void fill(float value)
    {
#pragma unroll
        for (int i = 0; i < kElements; ++i)
            low[i] = high[i] = value;
    }

    /// All lanes of the warp.
    __device__ __forceinline__ void normalise(int lanes, int headDim, float epsilon, const HeadPart &weight)
    {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < kElements; ++i)
            sum += low[i] * low[i] + high[i] * high[i];
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(kWholeWarp, sum, distance);
        const float inverse = 1.0F / sqrtf(sum / static_cast<float>(headDim) + epsilon);
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            low[i] = low[i] * inverse * weight.low[i];
            high[i] = high[i] * inverse * weight.high[i];
        }
    }

    __device__ __forceinline__ void rotate(const Angles &angles, int first, int pairs)
    {
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            if (first + i >= pairs)
                continue;
            const float2 angle = angles.values[i];
            const float turned = low[i] * angle.x - high[i] * angle.y;
            high[i] = high[i] * angle.x + low[i] * angle.y;
            low[i] = turned;
        }
    }

    template <typename Element>
    __device__ __forceinline__ void store(Element *head, int first, int headDim) const
    {
        storeElements(head + first, low);
        storeElements(head + first + headDim / 2, high);
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

// A block takes as many heads of one row as its lanes hold: queries, then keys, then values. All that is read is under
// way before the first of it is used: weights before the launch before this one has ended, angles beside the head.
template <typename Element>
__global__ __launch_bounds__(kHeadThreads) void qkvNormRopeKernel(const QkvNormRopeArgs args,
                                                                  const Matrices<Element> matrices, const int lanes)
{
    ptx::letNextStart();
    const auto thread = static_cast<int>(threadIdx.x);
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.y) * (kHeadThreads / lanes) + thread / lanes;
    const bool isValue = index >= args.heads + args.kvHeads;
    const bool isKey = !isValue && index >= args.heads;
    const int headDim = static_cast<int>(args.headDim);
    const int first = thread % lanes * kElements;
    const bool isBusy = index < args.heads + 2 * args.kvHeads && first < headDim / 2;
    HeadPart weight;
    if (isBusy && !isValue)
        weight.load(isKey ? args.keyWeight : args.queryWeight, first, headDim);
    else
        weight.fill(1.0F);
    ptx::waitForPrevious();
    const std::int64_t row = blockIdx.x;
    const std::int64_t sequence = row / args.rowStride;
    const std::int64_t offset = row % args.rowStride;
    const SequenceView &view = args.views[sequence];
    const auto pairs = static_cast<int>(args.pairs);
    const std::int64_t source = isValue && !args.hasValues ? index - args.kvHeads : index;
    const std::int64_t width = (args.heads + (args.hasValues ? 2 : 1) * args.kvHeads) * args.headDim;
    HeadPart head;
    if (isBusy)
        head.load(matrices.qkv + row * width + source * args.headDim, first, headDim);
    else
        head.fill(0.0F);
    const Angles angles(args.angles + row * args.pairs, first, isBusy && !isValue ? pairs : 0);
    if (offset >= view.rows)
        return;
    head.normalise(lanes, headDim, args.epsilon, weight);
    if (!isBusy)
        return;
    if (isValue)
        return head.store(matrices.values + placeOf(args, view, sequence, offset, index - args.heads - args.kvHeads),
                          first, headDim);
    head.rotate(angles, first, pairs);
    head.store(isKey ? matrices.keys + placeOf(args, view, sequence, offset, index - args.heads)
                     : matrices.queries + (row * args.heads + index) * args.headDim,
               first, headDim);
}

template <typename Element>
cudaError_t launchHeads(const QkvNormRopeArgs &args, const Matrices<Element> &matrices, cudaStream_t stream)
{
    static_assert(kMostHeadDim <= 32 * 2 * kElements);
    int lanes = 1; // that share a head
    while (lanes * 2 * kElements < args.headDim)
        lanes *= 2;
    const std::int64_t heads = args.heads + 2 * args.kvHeads;
    const std::int64_t headsOfBlock = kHeadThreads / lanes;
    const dim3 grid(static_cast<unsigned>(args.sequences * args.rowStride),
                    static_cast<unsigned>((heads + headsOfBlock - 1) / headsOfBlock));
    return launchDependent(qkvNormRopeKernel<Element>, {.grid = grid, .threads = kHeadThreads}, stream, args, matrices,
                           lanes);
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
    const auto aligned = [](const void *pointer) {
        return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
    };
    const auto allAligned = [&](const auto &matrices) {
        return aligned(matrices.qkv) && aligned(matrices.queries) && aligned(matrices.keys) && aligned(matrices.values);
    };
    if (args.views == nullptr || args.queryWeight == nullptr || args.keyWeight == nullptr ||
        (args.pairs > 0 && args.angles == nullptr) || complete(half) == complete(wide) || !allAligned(half) ||
        !allAligned(wide) || !aligned(args.queryWeight) || !aligned(args.keyWeight) || !aligned(args.angles))
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0)
        return cudaSuccess;
    return complete(wide) ? launchHeads(args, wide, stream) : launchHeads(args, half, stream);
}

} // namespace palimpsest::kernels
