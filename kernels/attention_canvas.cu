// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/attention_canvas.h"

#include "kernels/attention_parts.cuh"
#include "kernels/attention_tile.cuh"
#include "kernels/attention_variants.h"
#include "kernels/launch.h"

namespace palimpsest::kernels {

namespace {

template <typename Shape>
__global__ __launch_bounds__(Shape::kThreads,
                             Shape::kResident) void canvasAttentionKernel(const CanvasAttentionArgs args,
                                                                          const AttentionWorkspace workspace)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto &shared = *reinterpret_cast<typename Shape::Shared *>(memory);
    const auto sequence = static_cast<std::int64_t>(blockIdx.z);
    const SequenceView view = args.views[sequence];
    const AttentionParts parts(view, workspace.rule);
    const int part = static_cast<int>(blockIdx.y);
    const auto head = static_cast<std::int64_t>(blockIdx.x) % args.heads;
    const int firstRow = static_cast<int>(static_cast<std::int64_t>(blockIdx.x) / args.heads) * Shape::kRows;
    if (part >= parts.count || firstRow >= view.rows)
        return;
    const std::int64_t kvHead = head / (args.heads / args.kvHeads);
    const std::int64_t row = sequence * args.rowStride + firstRow;
    const auto headDim = static_cast<int>(args.headDim);

    AttentionTile<Shape> tile(shared, headDim);
    tile.template fetch<Shape::kRows>(shared.queries, args.queries + (row * args.heads + head) * headDim,
                                      args.heads * headDim, view.rows - firstRow);
    constexpr int kBlocksOfPage = kPage / Shape::kKeys;
    const auto blockAt = [&](int i) {
        const int index = part * parts.partPages + i / kBlocksOfPage;
        const int slot = i % kBlocksOfPage * Shape::kKeys;
        const bool cached = index < parts.cachedPages;
        const Bf16 *keys = cached ? args.cache.keys : args.scratch.keys;
        const Bf16 *values = cached ? args.cache.values : args.scratch.values;
        const int inScratch = index - parts.cachedPages;
        const std::int64_t page =
            cached ? view.pageTable[parts.firstPage + index] : sequence * scratchPages(args.rowStride) + inScratch;
        const std::int64_t place = ((page * args.kvHeads + kvHead) * kPage + slot) * headDim;
        const int first = cached ? (parts.firstPage + index) * kPage : view.length + inScratch * kPage;
        return KeyBlock{keys + place, values + place, first + slot, cached ? view.length : view.length + view.rows};
    };
    const VisibleRange everything{view.firstVisible, view.length + view.rows};
    const VisibleRange visible[2] = {everything, everything};
    const int pages = min(parts.partPages, parts.pages - part * parts.partPages);
    tile.run(pages * kBlocksOfPage, visible, blockAt);

    if (parts.count == 1) {
        const float inverse[2] = {1.0F / tile.sum[0], 1.0F / tile.sum[1]};
        tile.forEachPair([&](int i, int column, float first, float second) {
            if (firstRow + tile.rowOf(i) >= view.rows)
                return;
            Bf16 *out = args.out + ((row + tile.rowOf(i)) * args.heads + head) * headDim + column;
            *reinterpret_cast<std::uint32_t *>(out) = ptx::packBf16(first * inverse[i], second * inverse[i]);
        });
        return;
    }
    tile.forEachPair([&](int i, int column, float first, float second) {
        if (firstRow + tile.rowOf(i) >= view.rows)
            return;
        const std::int64_t index = ((row + tile.rowOf(i)) * args.heads + head) * workspace.parts + part;
        *reinterpret_cast<float2 *>(workspace.outputs + index * headDim + column) = make_float2(first, second);
        if (column == 0)
            workspace.stats[index] = {tile.maximum[i], tile.sum[i]};
    });
}

constexpr int kCombineThreads = 128;

// A block per row and head: the parts' outputs, brought to a common maximum, in their order.
__global__ __launch_bounds__(kCombineThreads) void combineKernel(const CanvasAttentionArgs args,
                                                                 const AttentionWorkspace workspace)
{
    ptx::beginDependent();
    const std::int64_t index = blockIdx.x;
    const std::int64_t row = index / args.heads;
    const SequenceView &view = args.views[row / args.rowStride];
    const AttentionParts parts(view, workspace.rule);
    if (parts.count == 1 || row % args.rowStride >= view.rows)
        return;
    const PartStats *stats = workspace.stats + index * workspace.parts;
    float maximum = -INFINITY;
    for (int part = 0; part < parts.count; ++part)
        maximum = fmaxf(maximum, stats[part].maximum);
    float factors[kMostParts];
    float sum = 0.0F;
#pragma unroll
    for (int part = 0; part < kMostParts; ++part) {
        factors[part] = 0.0F;
        if (part < parts.count) {
            factors[part] = expf(stats[part].maximum - maximum);
            sum += stats[part].sum * factors[part];
        }
    }
    const float inverse = 1.0F / sum;
    for (int column = static_cast<int>(threadIdx.x) * 4; column < args.headDim; column += kCombineThreads * 4) {
        float4 total = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#pragma unroll
        for (int part = 0; part < kMostParts; ++part) {
            if (part >= parts.count)
                continue;
            const float4 value = *reinterpret_cast<const float4 *>(
                workspace.outputs + (index * workspace.parts + part) * args.headDim + column);
            total.x += value.x * factors[part];
            total.y += value.y * factors[part];
            total.z += value.z * factors[part];
            total.w += value.w * factors[part];
        }
        *reinterpret_cast<uint2 *>(args.out + index * args.headDim + column) = make_uint2(
            ptx::packBf16(total.x * inverse, total.y * inverse), ptx::packBf16(total.z * inverse, total.w * inverse));
    }
}

cudaError_t launchPortable(const CanvasAttentionArgs &args, const AttentionWorkspace &workspace, cudaStream_t stream)
{
    return withAttentionShape(args.headDim, [&]<typename Shape>() {
        const auto kernel = canvasAttentionKernel<Shape>;
        constexpr int kBytes = sizeof(typename Shape::Shared);
        const cudaError_t set = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
        if (set != cudaSuccess)
            return set;
        const std::int64_t tiles = (args.rowStride + Shape::kRows - 1) / Shape::kRows;
        const dim3 grid(static_cast<unsigned>(tiles * args.heads), static_cast<unsigned>(workspace.parts),
                        static_cast<unsigned>(args.sequences));
        kernel<<<grid, Shape::kThreads, kBytes, stream>>>(args, workspace);
        return cudaGetLastError();
    });
}

} // namespace

std::int64_t canvasAttentionWorkspace(const CanvasAttentionArgs &args)
{
    const int parts = mostParts(args, kPortableParts); // never fewer than by the other rule
    if (parts == 1)
        return 0;
    return args.sequences * args.rowStride * args.heads * parts *
           (args.headDim * static_cast<std::int64_t>(sizeof(float)) + static_cast<std::int64_t>(sizeof(PartStats)));
}

cudaError_t canvasAttention(const CanvasAttentionArgs &args, AttentionVariant variant, cudaStream_t stream)
{
    if (args.sequences < 0 || args.sequences > 65535 || args.rowStride < 0 || args.mostCached < 0 || args.heads <= 0 ||
        args.kvHeads <= 0 || args.heads % args.kvHeads != 0 || args.headDim <= 0 || args.headDim % 16 != 0 ||
        args.headDim > kMostHeadDim)
        return cudaErrorInvalidValue;
    if (args.views == nullptr || args.queries == nullptr || args.out == nullptr || args.scratch.keys == nullptr ||
        args.scratch.values == nullptr ||
        (args.mostCached > 0 && (args.cache.keys == nullptr || args.cache.values == nullptr)) ||
        (args.workspace == nullptr && canvasAttentionWorkspace(args) > 0))
        return cudaErrorInvalidValue;
    if (args.sequences * args.rowStride == 0)
        return cudaSuccess;
    const bool isHopper = variant == AttentionVariant::Best && hasHopperAttention();
    const AttentionWorkspace workspace = workspaceOf(args, isHopper ? kHopperParts : kPortableParts);
    const cudaError_t status =
        isHopper ? canvasAttentionHopper(args, workspace, stream) : launchPortable(args, workspace, stream);
    if (status != cudaSuccess || workspace.parts == 1)
        return status;
    const auto blocks = static_cast<unsigned>(args.sequences * args.rowStride * args.heads);
    return launchDependent(combineKernel, {.grid = dim3(blocks), .threads = kCombineThreads}, stream, args, workspace);
}

cudaError_t canvasAttention(const CanvasAttentionArgs &args, cudaStream_t stream)
{
    return canvasAttention(args, AttentionVariant::Best, stream);
}

} // namespace palimpsest::kernels
