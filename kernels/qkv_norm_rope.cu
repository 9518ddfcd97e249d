// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/qkv_norm_rope.h"

#include "kernels/launch.h"
#include "kernels/ptx.cuh"
#include "kernels/reduce.cuh"
#include "kernels/vector_aligned.h"

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

/// Blocks of as many rows each for whose registers a multiprocessor has room. On an H200 1024 rows of 32 heads took 17
/// us with three blocks of a row, 16 with five and 15 with four of two rows.
constexpr int blocksAtOnce(int rows)
{
    return rows == 1 ? 5 : 4;
}

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

/// A lane's part of a head as it lies in memory: elements [first, first + kElements) of either half, so that a rotation
/// stays inside the lane.
template <typename Element>
struct PackedPart
{
    static constexpr int kVectors = kElements * static_cast<int>(sizeof(Element)) / 16;
    uint4 low[kVectors];
    uint4 high[kVectors];

    __device__ __forceinline__ void load(const Element *head, int first, int headDim)
    {
#pragma unroll
        for (int i = 0; i < kVectors; ++i) {
            low[i] = reinterpret_cast<const uint4 *>(head + first)[i];
            high[i] = reinterpret_cast<const uint4 *>(head + first + headDim / 2)[i];
        }
    }

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < kVectors; ++i)
            low[i] = high[i] = make_uint4(0, 0, 0, 0);
    }
};

/// The same in fp32. A power of two of lanes shares a head; those behind its end hold zeros. Fused or rounded one by
/// one as it says here, so that a row's bits do not depend on the kernel that it goes through.
struct HeadPart
{
    float low[kElements];
    float high[kElements];

    template <typename Element>
    __device__ __forceinline__ explicit HeadPart(const PackedPart<Element> &packed)
    {
        loadElements(low, reinterpret_cast<const Element *>(packed.low));
        loadElements(high, reinterpret_cast<const Element *>(packed.high));
    }

    /// Without a weight. All lanes of the warp.
    __device__ __forceinline__ void normalise(int lanes, int headDim, float epsilon)
    {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < kElements; ++i)
            sum = __fadd_rn(sum, fmaf(low[i], low[i], __fmul_rn(high[i], high[i])));
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            sum += __shfl_xor_sync(kWholeWarp, sum, distance);
        const float inverse = 1.0F / sqrtf(sum / static_cast<float>(headDim) + epsilon);
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            low[i] = __fmul_rn(low[i], inverse);
            high[i] = __fmul_rn(high[i], inverse);
        }
    }

    /// By a head's weight.
    __device__ __forceinline__ void multiply(const float *weight, int first, int headDim)
    {
        float factors[kElements];
        loadElements(factors, weight + first);
#pragma unroll
        for (int i = 0; i < kElements; ++i)
            low[i] = __fmul_rn(low[i], factors[i]);
        loadElements(factors, weight + first + headDim / 2);
#pragma unroll
        for (int i = 0; i < kElements; ++i)
            high[i] = __fmul_rn(high[i], factors[i]);
    }

    /// By a row's angles, [pairs].
    __device__ __forceinline__ void rotate(const float2 *angles, int first, int pairs)
    {
#pragma unroll
        for (int i = 0; i < kElements; i += 2) {
            const float4 two = *reinterpret_cast<const float4 *>(angles + first + i);
            if (first + i < pairs)
                rotateOne(i, two.x, two.y);
            if (first + i + 1 < pairs)
                rotateOne(i + 1, two.z, two.w);
        }
    }

    template <typename Element>
    __device__ __forceinline__ void store(Element *head, int first, int headDim) const
    {
        storeElements(head + first, low);
        storeElements(head + first + headDim / 2, high);
    }

private:
    __device__ __forceinline__ void rotateOne(int i, float cosine, float sine)
    {
        const float turned = fmaf(low[i], cosine, -__fmul_rn(high[i], sine));
        high[i] = fmaf(high[i], cosine, __fmul_rn(low[i], sine));
        low[i] = turned;
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

/// Where a head of a row goes; `index` counts queries, then keys, then values.
template <typename Element>
__device__ Element *targetOf(const QkvNormRopeArgs &args, const Matrices<Element> &matrices, std::int64_t row,
                             std::int64_t index)
{
    if (index < args.heads)
        return matrices.queries + (row * args.heads + index) * args.headDim;
    const std::int64_t sequence = row / args.rowStride;
    const std::int64_t offset = row % args.rowStride;
    const std::int64_t kvHead = index - args.heads;
    const SequenceView &view = args.views[sequence];
    return kvHead < args.kvHeads ? matrices.keys + placeOf(args, view, sequence, offset, kvHead)
                                 : matrices.values + placeOf(args, view, sequence, offset, kvHead - args.kvHeads);
}

/// What the heads of a block share.
template <int kRows>
struct SharedFactors
{
    alignas(16) float weights[2][kMostHeadDim];         ///< of queries, of keys
    alignas(16) float2 angles[kRows][kMostHeadDim / 2]; ///< of each row

    /// Begins to fetch the weights: each thread four numbers, half of the threads for either.
    __device__ void fetchWeights(const QkvNormRopeArgs &args)
    {
        static_assert(kHeadThreads * 4 == 2 * kMostHeadDim);
        const int which = static_cast<int>(threadIdx.x) / (kHeadThreads / 2);
        const int first = static_cast<int>(threadIdx.x) % (kHeadThreads / 2) * 4;
        if (first < args.headDim)
            ptx::copyAsyncShared16(ptx::sharedAddress(&weights[which][first]),
                                   (which == 0 ? args.queryWeight : args.keyWeight) + first);
        ptx::copyAsyncCommit();
    }

    /// A row's angles; all are there behind the next barrier of the block.
    __device__ void readAngles(const QkvNormRopeArgs &args, std::int64_t row, int place)
    {
        static_assert(kHeadThreads == kMostHeadDim / 2);
        const auto thread = static_cast<int>(threadIdx.x);
        if (thread < args.pairs)
            angles[place][thread] = args.angles[row * args.pairs + thread];
    }
};

/// Which head of a row a lane works on, counting queries, then keys, then values, and which elements of it.
struct LanePlace
{
    std::int64_t index;
    std::int64_t source; ///< the head that is read: values may be the keys before their norm
    int first;           ///< of its elements in either half
    bool isValue;
    bool isKey;
    bool isBusy; ///< or behind the last head, or behind its end

    __device__ LanePlace(const QkvNormRopeArgs &args, int lanes)
    {
        const auto thread = static_cast<int>(threadIdx.x);
        index = static_cast<std::int64_t>(blockIdx.y) * (kHeadThreads / lanes) + thread / lanes;
        first = thread % lanes * kElements;
        isValue = index >= args.heads + args.kvHeads;
        isKey = !isValue && index >= args.heads;
        isBusy = index < args.heads + 2 * args.kvHeads && first < args.headDim / 2;
        source = isValue && !args.hasValues ? index - args.kvHeads : index;
    }
};

// A block takes as many heads of kRows rows as its lanes hold. All that is read is under way before the first of it is
// used: weights before the launch before this one has ended, angles beside the heads. What heads share lies in shared
// memory, which leaves registers for more blocks on a multiprocessor or for two rows at once.
template <typename Element, int kRows>
__global__ __launch_bounds__(kHeadThreads, blocksAtOnce(kRows)) //
    void qkvNormRopeKernel(const QkvNormRopeArgs args, const Matrices<Element> matrices, const int lanes)
{
    __shared__ SharedFactors<kRows> factors;
    ptx::letNextStart();
    factors.fetchWeights(args);
    const LanePlace place(args, lanes);
    const auto headDim = static_cast<int>(args.headDim);
    const std::int64_t width = (args.heads + (args.hasValues ? 2 : 1) * args.kvHeads) * args.headDim;
    const std::int64_t firstRow = std::int64_t{blockIdx.x} * kRows;
    const std::int64_t rows = min(std::int64_t{kRows}, args.sequences * args.rowStride - firstRow);
    ptx::waitForPrevious();
    PackedPart<Element> packed[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        packed[i].clear();
        if (place.isBusy && i < rows)
            packed[i].load(matrices.qkv + (firstRow + i) * width + place.source * args.headDim, place.first, headDim);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
        if (i < rows)
            factors.readAngles(args, firstRow + i, i);
    ptx::copyAsyncWait<0>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const std::int64_t row = firstRow + i;
        if (i >= rows || row % args.rowStride >= args.views[row / args.rowStride].rows)
            continue;
        HeadPart head(packed[i]);
        head.normalise(lanes, headDim, args.epsilon);
        if (!place.isBusy)
            continue;
        if (!place.isValue) {
            head.multiply(factors.weights[place.isKey ? 1 : 0], place.first, headDim);
            head.rotate(factors.angles[i], place.first, static_cast<int>(args.pairs));
        }
        head.store(targetOf(args, matrices, row, place.index), place.first, headDim);
    }
}

/// Blocks that share a row's heads.
std::int64_t blocksOfRow(const QkvNormRopeArgs &args, int lanes)
{
    const std::int64_t headsOfBlock = kHeadThreads / lanes;
    return (args.heads + 2 * args.kvHeads + headsOfBlock - 1) / headsOfBlock;
}

template <int kRows, typename Element>
cudaError_t launchRows(const QkvNormRopeArgs &args, const Matrices<Element> &matrices, int lanes, cudaStream_t stream)
{
    const dim3 grid(static_cast<unsigned>((args.sequences * args.rowStride + kRows - 1) / kRows),
                    static_cast<unsigned>(blocksOfRow(args, lanes)));
    return launchDependent(qkvNormRopeKernel<Element, kRows>, {.grid = grid, .threads = kHeadThreads}, stream, args,
                           matrices, lanes);
}

template <typename Element>
cudaError_t launchHeads(const QkvNormRopeArgs &args, const Matrices<Element> &matrices, cudaStream_t stream)
{
    static_assert(kMostHeadDim <= 32 * 2 * kElements);
    int lanes = 1; // that share a head
    while (lanes * 2 * kElements < args.headDim)
        lanes *= 2;
    int multiprocessors = 0;
    const cudaError_t status = currentMultiprocessors(multiprocessors);
    if (status != cudaSuccess)
        return status;
    if constexpr (sizeof(Element) == sizeof(Bf16)) {
        const std::int64_t blocks = args.sequences * args.rowStride * blocksOfRow(args, lanes);
        if (blocks > std::int64_t{multiprocessors} * blocksAtOnce(1))
            return launchRows<2>(args, matrices, lanes, stream);
    }
    return launchRows<1>(args, matrices, lanes, stream);
}

/// Whether a launch may have as many rows.
bool isGrid(std::int64_t sequences, std::int64_t rowStride)
{
    return sequences >= 0 && rowStride >= 0 && (sequences == 0 || rowStride <= INT32_MAX / sequences);
}

} // namespace

cudaError_t ropeAngles(const RopeAnglesArgs &args, cudaStream_t stream)
{
    if (!isGrid(args.sequences, args.rowStride) || args.pairs < 0 || args.views == nullptr ||
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
    if (!isGrid(args.sequences, args.rowStride) || args.heads <= 0 || args.kvHeads <= 0 || args.headDim <= 0 ||
        args.headDim % 16 != 0 || args.headDim > kMostHeadDim || args.pairs < 0 || args.pairs > args.headDim / 2)
        return cudaErrorInvalidValue;
    const Matrices<Bf16> half{args.qkv, args.queries, args.pool.keys, args.pool.values};
    const Matrices<float> wide{args.qkvFloat, args.queriesFloat, args.poolFloat.keys, args.poolFloat.values};
    const auto complete = [](const auto &matrices) {
        return matrices.qkv != nullptr && matrices.queries != nullptr && matrices.keys != nullptr &&
               matrices.values != nullptr;
    };
    const auto allAligned = [](const auto &matrices) {
        return isVectorAlignedOrNull(matrices.qkv) && isVectorAlignedOrNull(matrices.queries) &&
               isVectorAlignedOrNull(matrices.keys) && isVectorAlignedOrNull(matrices.values);
    };
    if (args.views == nullptr || !isVectorAligned(args.queryWeight) || !isVectorAligned(args.keyWeight) ||
        !isVectorAlignedOrNull(args.angles) || (args.pairs > 0 && args.angles == nullptr) ||
        complete(half) == complete(wide) || !allAligned(half) || !allAligned(wide))
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0)
        return cudaSuccess;
    return complete(wide) ? launchHeads(args, wide, stream) : launchHeads(args, half, stream);
}

} // namespace palimpsest::kernels
