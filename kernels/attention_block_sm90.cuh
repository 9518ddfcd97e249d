// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_narrow_sm90.cuh"
#include "kernels/attention_wide_sm90.cuh"
#include "kernels/launch.h"
#include "kernels/tensor_map.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

/// A block of the attention kernels of compute capability 9.0, which shape it has, and the launch of all of them.
namespace palimpsest::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Which pages a block's queries meet, and where the queries lie.
struct BlockWork
{
    int queryColumn;
    int queryRow;
    int pages;
};

/// A block's work. visibleTo(row of the block) says what a query sees, pageAt(i) where the pages lie; finish(output,
/// softmax) stores what came out. Ends for a whole cluster together.
template <typename Shape, typename PageAt, typename VisibleTo, typename Finish>
__device__ __forceinline__ void attend(const AttentionMaps &maps, const Shared<Shape> &shared, int columnBlock,
                                       const BlockWork &work, PageAt pageAt, VisibleTo visibleTo, Finish finish)
{
    Feed<Shape> feed(maps, shared, columnBlock);
    const auto fetch = [&] {
        feed.fetchQueries(work.queryColumn, work.queryRow);
        feed.fetchPages(work.pages, pageAt);
    };
    if constexpr (Shape::kWide)
        attendWide(shared, columnBlock, work.pages, pageAt, visibleTo, fetch, finish);
    else
        attendNarrow(shared, columnBlock, work.pages, pageAt, visibleTo, fetch, finish);
    if (shared.cluster > 1) {
        __syncwarp();          // lanes may have stored different numbers of rows
        ptx::clusterBarrier(); // until then the others may arrive at this block's barriers
    }
}

#endif

/// A pool's map; its number of pages is not known here, and no page outside it is asked for.
inline bool describePool(CUtensorMap &map, const Bf16 *pool, std::int64_t headDim, int rows)
{
    constexpr cuuint64_t kEnough = 0x7FFFFFFF;
    return describe<2>(map, pool, {static_cast<cuuint64_t>(headDim), kEnough}, {headDim},
                       {64, static_cast<cuuint32_t>(rows)});
}

/// Maps of keys [pages * 64, headDim] and of values.
template <typename Shape>
bool describePools(CUtensorMap &keys, CUtensorMap &values, const KvPool &pool, std::int64_t headDim)
{
    return describePool(keys, pool.keys, headDim, 64) && describePool(values, pool.values, headDim, Shape::kValueRows);
}

template <typename Args>
bool describeQueries(CUtensorMap &map, const Args &args)
{
    const std::int64_t width = args.heads * args.headDim;
    return describe<2>(map, args.queries,
                       {static_cast<cuuint64_t>(width), static_cast<cuuint64_t>(args.sequences * args.rowStride)},
                       {width}, {64, kTileQueries});
}

/// Tiles of the queries of one head in one sequence.
inline std::int64_t tilesOf(std::int64_t rows, int queries)
{
    return (rows + queries - 1) / queries;
}

/// Calls body.operator()<Shape>(). `tiles`: how many there are of 64 queries in all heads, sequences and parts.
template <typename Body>
cudaError_t withHopperShape(std::int64_t headDim, std::int64_t tiles, Body body)
{
    // Measured on an H200: blocks for every multiprocessor count for more than what blocks share.
    constexpr std::int64_t kMultiprocessors = 132;
    if (headDim <= 64)
        return body.template operator()<NarrowShape<64>>();
    if (headDim <= 128)
        return body.template operator()<NarrowShape<128>>();
    const bool isFew = 2 * tiles <= kMultiprocessors;
    if (headDim > 256)
        return isFew ? body.template operator()<WideShape<2>>() : body.template operator()<WideShape<1>>();
    if (isFew)
        return body.template operator()<NarrowShape<256, 1, 2>>();
    return tiles <= kMultiprocessors ? body.template operator()<NarrowShape<256>>()
                                     : body.template operator()<NarrowShape<256, 2>>();
}

/// Launches a block for each tile of queries and head (and half of the columns), times `parts` and the sequences, in
/// clusters of neighbouring heads.
template <typename Shape, typename Args, typename... Parameters, typename... Arguments>
cudaError_t launchAttention(void (*kernel)(Parameters...), const Args &args, unsigned parts, cudaStream_t stream,
                            Arguments &&...arguments)
{
    const cudaError_t set =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kSharedBytes);
    if (set != cudaSuccess)
        return set;
    const std::int64_t blocks = tilesOf(args.rowStride, Shape::kQueries) * Shape::kColumnBlocks * args.heads;
    const int cluster = args.heads / args.kvHeads % Shape::kMostCluster == 0 ? Shape::kMostCluster : 1;
    return launchDependent(kernel,
                           {.grid = dim3(static_cast<unsigned>(blocks), parts, static_cast<unsigned>(args.sequences)),
                            .threads = Shape::kThreads,
                            .sharedBytes = Shape::kSharedBytes,
                            .cluster = static_cast<unsigned>(cluster)},
                           stream, std::forward<Arguments>(arguments)..., cluster);
}

} // namespace palimpsest::kernels
