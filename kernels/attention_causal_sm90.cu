// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "kernels/attention_block_sm90.cuh"
#include "kernels/attention_variants.h"

namespace palimpsest::kernels {

namespace {

template <typename Shape>
__global__ __launch_bounds__(Shape::kThreads, 1) void causalHopperKernel(const __grid_constant__ AttentionMaps maps,
                                                                         const CausalAttentionArgs args,
                                                                         const int cluster)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    ptx::letNextStart();
    const Shared<Shape> shared = prepareShared<Shape>(maps, cluster);
    ptx::waitForPrevious();
    const BlockPlace<Shape> place(args.heads, args.kvHeads);
    const auto sequence = static_cast<std::int64_t>(blockIdx.z);
    const SequenceView view = args.views[sequence];
    // The last rows see most: they come first, so that the grid ends with the shortest blocks.
    const int tiles = static_cast<int>(gridDim.x) / (static_cast<int>(args.heads) * Shape::kColumnBlocks);
    const int firstRow = (tiles - 1 - place.tile) * Shape::kQueries;
    if (firstRow >= view.rows)
        return; // the whole cluster
    const auto headDim = static_cast<int>(args.headDim);
    const std::int64_t row = sequence * args.rowStride + firstRow;
    const int window = args.window > 0 ? static_cast<int>(args.window) : view.length + view.rows;
    const auto visibleTo = [&](int tileRow) {
        const int position = view.length + firstRow + tileRow;
        return Visible{max(0, position - window + 1), position + 1};
    };
    const int firstPage = visibleTo(0).begin / kPage;
    const int rows = view.rows - firstRow;
    const int pages = pagesFor(visibleTo(min(Shape::kQueries, rows) - 1).end) - firstPage;
    const auto pageAt = [&](int i) {
        const int page = view.pageTable[firstPage + i];
        return PageSpan{true, (page * static_cast<int>(args.kvHeads) + place.kvHead) * kPage, (firstPage + i) * kPage,
                        view.length + view.rows};
    };
    const BlockWork work{place.head * headDim, static_cast<int>(row), pages};
    attend(maps, shared, place.columnBlock, work, pageAt, visibleTo,
           [&](const auto &output, const RowSoftmax &softmax) {
               output.store(args.out + (row * args.heads + place.head) * headDim, args.heads * headDim, rows, headDim,
                            softmax.sum);
           });
#endif
}

} // namespace

cudaError_t causalAttentionHopper(const CausalAttentionArgs &args, cudaStream_t stream)
{
    const std::int64_t tiles = tilesOf(args.rowStride, kTileQueries) * args.heads * args.sequences;
    return withHopperShape(args.headDim, tiles, [&]<typename Shape>() {
        AttentionMaps maps{};
        if (!describeQueries(maps.queries, args) ||
            !describePools<Shape>(maps.cacheKeys, maps.cacheValues, args.cache, args.headDim))
            return cudaErrorInvalidValue;
        return launchAttention<Shape>(causalHopperKernel<Shape>, args, 1, stream, maps, args);
    });
}

} // namespace palimpsest::kernels
