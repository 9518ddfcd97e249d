// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/attention_causal.h"

#include "kernels/attention_tile.cuh"
#include "kernels/attention_variants.h"

namespace palimpsest::kernels {

namespace {

constexpr int kPage = static_cast<int>(kPagePositions);
constexpr int kMostHeadDim = 512;

template <typename Shape>
__global__ __launch_bounds__(Shape::kThreads,
                             Shape::kResident) void causalAttentionKernel(const CausalAttentionArgs args)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto &shared = *reinterpret_cast<typename Shape::Shared *>(memory);
    const auto sequence = static_cast<std::int64_t>(blockIdx.y);
    const SequenceView view = args.views[sequence];
    const auto head = static_cast<std::int64_t>(blockIdx.x) % args.heads;
    const int firstRow = static_cast<int>(static_cast<std::int64_t>(blockIdx.x) / args.heads) * Shape::kRows;
    if (firstRow >= view.rows)
        return;
    const std::int64_t kvHead = head / (args.heads / args.kvHeads);
    const std::int64_t row = sequence * args.rowStride + firstRow;
    const auto headDim = static_cast<int>(args.headDim);
    const int window = args.window > 0 ? static_cast<int>(args.window) : view.length + view.rows;
    const auto visibleTo = [&](int tileRow) {
        const int position = view.length + firstRow + tileRow;
        return VisibleRange{max(0, position - window + 1), position + 1};
    };

    AttentionTile<Shape> tile(shared, headDim);
    tile.template fetch<Shape::kRows>(shared.queries, args.queries + (row * args.heads + head) * headDim,
                                      args.heads * headDim, view.rows - firstRow);
    constexpr int kBlocksOfPage = kPage / Shape::kKeys;
    const int firstBlock = visibleTo(0).begin / Shape::kKeys;
    const int lastRow = min(Shape::kRows, view.rows - firstRow) - 1;
    const int blocks = (visibleTo(lastRow).end + Shape::kKeys - 1) / Shape::kKeys - firstBlock;
    const auto blockAt = [&](int i) {
        const int block = firstBlock + i;
        const std::int64_t page = view.pageTable[block / kBlocksOfPage];
        const int slot = block % kBlocksOfPage * Shape::kKeys;
        const std::int64_t place = ((page * args.kvHeads + kvHead) * kPage + slot) * headDim;
        return KeyBlock{args.cache.keys + place, args.cache.values + place, block * Shape::kKeys,
                        view.length + view.rows};
    };
    const VisibleRange visible[2] = {visibleTo(tile.rowOf(0)), visibleTo(tile.rowOf(1))};
    tile.run(blocks, visible, blockAt);

    const float inverse[2] = {1.0F / tile.sum[0], 1.0F / tile.sum[1]};
    tile.forEachPair([&](int i, int column, float first, float second) {
        if (firstRow + tile.rowOf(i) >= view.rows)
            return;
        Bf16 *out = args.out + ((row + tile.rowOf(i)) * args.heads + head) * headDim + column;
        *reinterpret_cast<std::uint32_t *>(out) = ptx::packBf16(first * inverse[i], second * inverse[i]);
    });
}

} // namespace

cudaError_t causalAttention(const CausalAttentionArgs &args, AttentionVariant variant, cudaStream_t stream)
{
    if (args.sequences < 0 || args.sequences > 65535 || args.rowStride < 0 || args.window < 0 || args.heads <= 0 ||
        args.kvHeads <= 0 || args.heads % args.kvHeads != 0 || args.headDim <= 0 || args.headDim % 16 != 0 ||
        args.headDim > kMostHeadDim)
        return cudaErrorInvalidValue;
    if (args.views == nullptr || args.queries == nullptr || args.out == nullptr || args.cache.keys == nullptr ||
        args.cache.values == nullptr)
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0)
        return cudaSuccess;
    if (variant == AttentionVariant::Best && hasHopperAttention())
        return causalAttentionHopper(args, stream);
    return withAttentionShape(args.headDim, [&]<typename Shape>() {
        const auto kernel = causalAttentionKernel<Shape>;
        constexpr int kBytes = sizeof(typename Shape::Shared);
        const cudaError_t set = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
        if (set != cudaSuccess)
            return set;
        const std::int64_t tiles = (args.rowStride + Shape::kRows - 1) / Shape::kRows;
        const dim3 grid(static_cast<unsigned>(tiles * args.heads), static_cast<unsigned>(args.sequences));
        kernel<<<grid, Shape::kThreads, kBytes, stream>>>(args);
        return cudaGetLastError();
    });
}

cudaError_t causalAttention(const CausalAttentionArgs &args, cudaStream_t stream)
{
    return causalAttention(args, AttentionVariant::Best, stream);
}

} // namespace palimpsest::kernels
