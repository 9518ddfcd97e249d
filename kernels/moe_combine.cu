// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/moe_combine.h"

#include "kernels/moe_combine_ring.h"
#include "kernels/moe_combine_token.cuh"
#include "kernels/row_vectors.cuh"
#include "kernels/vector_aligned.h"

#include <cstdint>
#include <type_traits>

namespace palimpsest::kernels {

namespace {

/// A vector of a slot as it lies in memory.
template <typename Slot>
using Packed = std::conditional_t<sizeof(Slot) == 2, uint2, float4>;

/// The weighted sum of a token's slots, in their order. Two are under way at once where there are registers for that.
template <int kVectors, typename Slot>
__device__ __forceinline__ void readSlots(RowVectors<kVectors> &row, const Slot *slots, const float *weights, int count,
                                          std::int64_t hidden)
{
    constexpr int kAtOnce = kVectors <= 3 ? 2 : 1;
    row.forEach([](float4 &v, int) { v = make_float4(0.0F, 0.0F, 0.0F, 0.0F); });
    for (int begin = 0; begin < count; begin += kAtOnce) {
        Packed<Slot> read[kAtOnce][kVectors];
        float factors[kAtOnce];
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j)
            if (begin + j < count) {
                factors[j] = weights[begin + j];
                row.forEachPlace([&](float4 &, int index, int place) {
                    read[j][place] =
                        streamed(reinterpret_cast<const Packed<Slot> *>(slots + (begin + j) * hidden) + index);
                });
            }
#pragma unroll
        for (int j = 0; j < kAtOnce; ++j)
            if (begin + j < count)
                row.forEachPlace([&](float4 &v, int, int place) {
                    v = combine::addScaled(v, combine::widened(read[j][place]), factors[j]);
                });
    }
}

/// Norms' weights in shared memory, on their way before the launch before this one has ended.
template <int kVectors>
struct WeightsOfOne
{
    using Weight = EarlyWeight<kVectors>;
    using Memory = float4[3][Weight::kPlaces];

    Weight dense;
    Weight experts;
    Weight sum;
    const MoeCombineArgs &args;
    Memory &memory;

    __device__ WeightsOfOne(const MoeCombineArgs &of, Memory &in)
        : dense(of.denseWeight, of.hidden, in[0]),
          experts(of.expertWeight, of.hidden, in[1]),
          sum(of.sumWeight, of.hidden, in[2]),
          args(of),
          memory(in)
    {
    }

    __device__ Weight next() const { return Weight(args.norms[0].weight, args.hidden, memory[0]); }
    __device__ void await() const { awaitEarlyWeights(); }
};

/// One block a token; its rows stay in registers between the norms.
template <int kVectors>
__global__ void __launch_bounds__(kRowThreads) combineKernel(const MoeCombineArgs args)
{
    __shared__ combine::Scratch scratch;
    __shared__ typename WeightsOfOne<kVectors>::Memory memory;
    ptx::letNextStart();
    const WeightsOfOne<kVectors> weights(args, memory);
    ptx::waitForPrevious();
    const std::int64_t token = blockIdx.x;
    const std::int64_t first = token * args.hidden;
    const auto slotCount = static_cast<int>(args.slotsPerToken);

    const EarlyRow<kVectors> residual(args.x + first, args.hidden);
    combine::Branches<kVectors> branches(args.hidden);
    readParts(branches.dense, args.dense + first, args.denseParts, args.tokens * args.hidden);
    const std::int64_t firstSlot = token * slotCount;
    if (args.slotsBf16 != nullptr)
        readSlots(branches.experts, args.slotsBf16 + firstSlot * args.hidden, args.slotWeights + firstSlot, slotCount,
                  args.hidden);
    else
        readSlots(branches.experts, args.slotsFloat + firstSlot * args.hidden, args.slotWeights + firstSlot, slotCount,
                  args.hidden);
    branches.denseInverse = branches.dense.inverseRms(args.epsilon, scratch[0]);
    combine::finishToken({args, first, scratch}, branches, residual, weights);
}

bool isAligned(const MoeCombineArgs &args)
{
    return isVectorAligned(args.dense) && isVectorAligned(args.x) && isVectorAligned(args.slotWeights) &&
           isVectorAlignedOrNull(args.slotsBf16) && isVectorAlignedOrNull(args.slotsFloat) &&
           isVectorAlignedOrNull(args.denseWeight) && isVectorAlignedOrNull(args.expertWeight) &&
           isVectorAlignedOrNull(args.sumWeight);
}

} // namespace

cudaError_t moeCombine(const MoeCombineArgs &args, cudaStream_t stream)
{
    if (!rowsAreAllowed(args.tokens, args.hidden) || args.slotsPerToken < 1 || args.slotsPerToken > INT32_MAX ||
        args.denseParts < 1 || (args.slotsBf16 != nullptr) == (args.slotsFloat != nullptr))
        return cudaErrorInvalidValue;
    if (args.tokens == 0)
        return cudaSuccess;
    if (!isAligned(args))
        return cudaErrorInvalidValue;
    int chunks = 0; // of the ring, where the chip has it and it takes the arguments
    const cudaError_t status = combine::chunksOfRing(chunks, args);
    if (status != cudaSuccess)
        return status;
    if (chunks > 0)
        return combine::launchRing(args, chunks, stream);
    return PALIMPSEST_LAUNCH_ROWS(combineKernel, args.tokens, args.hidden, stream, args);
}

} // namespace palimpsest::kernels
