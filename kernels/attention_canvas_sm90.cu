// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/attention_block_sm90.cuh"
#include "kernels/attention_variants.h"
#include "kernels/chip.h"

namespace palimpsest::kernels {

namespace {

template <typename Shape>
__global__ __launch_bounds__(Shape::kThreads, 1) void canvasHopperKernel(const __grid_constant__ AttentionMaps maps,
                                                                         const CanvasAttentionArgs args,
                                                                         const AttentionWorkspace workspace,
                                                                         const int cluster)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    ptx::letNextStart();
    const Shared<Shape> shared = prepareShared<Shape>(maps, cluster);
    ptx::waitForPrevious();
    const BlockPlace<Shape> place(args.heads, args.kvHeads);
    const auto sequence = static_cast<std::int64_t>(blockIdx.z);
    const int part = static_cast<int>(blockIdx.y);
    const SequenceView view = args.views[sequence];
    const AttentionParts parts(view, workspace.rule);
    const int firstRow = place.tile * Shape::kQueries;
    if (part >= parts.count || firstRow >= view.rows)
        return; // the whole cluster
    const auto headDim = static_cast<int>(args.headDim);
    const std::int64_t row = sequence * args.rowStride + firstRow;
    const int pages = min(parts.partPages, parts.pages - part * parts.partPages);
    const auto pageAt = [&](int i) {
        const int index = part * parts.partPages + i;
        const bool cached = index < parts.cachedPages;
        const int inScratch = index - parts.cachedPages;
        const int page = cached ? view.pageTable[parts.firstPage + index]
                                : static_cast<int>(sequence * scratchPages(args.rowStride)) + inScratch;
        return PageSpan{cached, (page * static_cast<int>(args.kvHeads) + place.kvHead) * kPage,
                        cached ? (parts.firstPage + index) * kPage : view.length + inScratch * kPage,
                        cached ? view.length : view.length + view.rows};
    };
    const auto visibleTo = [&](int) {
        return Visible{view.firstVisible, view.length + view.rows};
    };
    const BlockWork work{place.head * headDim, static_cast<int>(row), pages};
    attend(
        maps, shared, place.columnBlock, work, pageAt, visibleTo, [&](const auto &output, const RowSoftmax &softmax) {
            const int rows = view.rows - firstRow;
            if (parts.count == 1) {
                output.store(args.out + (row * args.heads + place.head) * headDim, args.heads * headDim, rows, headDim,
                             softmax.sum);
                return;
            }
            output.forEachPair(headDim, [&](int i, int column, float first, float second) {
                if (output.rowOf(i) >= rows)
                    return;
                const std::int64_t index = ((row + output.rowOf(i)) * args.heads + place.head) * workspace.parts + part;
                *reinterpret_cast<float2 *>(workspace.outputs + index * headDim + column) = make_float2(first, second);
                if (column == 0)
                    workspace.stats[index] = {softmax.maximum[i], softmax.sum[i]};
            });
        });
#endif
}

} // namespace

bool hasHopperAttention()
{
    ChipChoices chip;
    return currentChip(chip) == cudaSuccess && chip.wgmma;
}

cudaError_t canvasAttentionHopper(const CanvasAttentionArgs &args, const AttentionWorkspace &workspace,
                                  cudaStream_t stream)
{
    const std::int64_t tiles = tilesOf(args.rowStride, kTileQueries) * args.heads * workspace.parts * args.sequences;
    return withHopperShape(args.headDim, tiles, [&]<typename Shape>() {
        AttentionMaps maps;
        if (!describeQueries(maps.queries, args) ||
            !describePools<Shape>(maps.scratchKeys, maps.scratchValues, args.scratch, args.headDim) ||
            !describePools<Shape>(maps.cacheKeys, maps.cacheValues, args.mostCached > 0 ? args.cache : args.scratch,
                                  args.headDim))
            return cudaErrorInvalidValue;
        return launchAttention<Shape>(canvasHopperKernel<Shape>, args, static_cast<unsigned>(workspace.parts), stream,
                                      maps, args, workspace);
    });
}

} // namespace palimpsest::kernels
