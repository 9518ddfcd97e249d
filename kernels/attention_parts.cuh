// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_canvas.h"

#include <cstdint>

/// How canvas attention cuts long rows of keys, and where the parts' results lie until they are added.
namespace palimpsest::kernels {

// Pages of one part at least, and parts at most: tuned on an H200 for 16 heads, one canvas of 256 rows and 512 cached
// positions (12 pages: two parts, 128 blocks on 132 multiprocessors). More parts cost more in the combination.
inline constexpr int kLeastPartPages = 6;
inline constexpr int kMostParts = 4;
inline constexpr int kPage = static_cast<int>(kPagePositions);
inline constexpr int kMostHeadDim = 512;

__host__ __device__ constexpr int pagesFor(int positions)
{
    return (positions + kPage - 1) / kPage;
}

/// How a sequence's keys are cut: cached pages from that of firstVisible on, then its scratch pages.
struct AttentionParts
{
    int firstPage;
    int cachedPages;
    int pages;
    int partPages;
    int count;

    __device__ explicit AttentionParts(const SequenceView &view)
    {
        firstPage = view.firstVisible / kPage;
        cachedPages = view.length > view.firstVisible ? pagesFor(view.length) - firstPage : 0;
        pages = cachedPages + pagesFor(view.rows);
        partPages = max(kLeastPartPages, (pages + kMostParts - 1) / kMostParts);
        count = (pages + partPages - 1) / partPages;
    }
};

inline int mostParts(const CanvasAttentionArgs &args)
{
    // One page more: a window can begin inside one.
    const std::int64_t pages = (args.mostCached + kPage - 1) / kPage + 1 + (args.rowStride + kPage - 1) / kPage;
    const std::int64_t parts = (pages + kLeastPartPages - 1) / kLeastPartPages;
    return static_cast<int>(parts < kMostParts ? parts : kMostParts);
}

/// Of one row, head and part: what is in the workspace, [sequences * rowStride, heads, parts].
struct PartStats
{
    float maximum;
    float sum;
};

struct AttentionWorkspace
{
    float *outputs; ///< [sequences * rowStride, heads, parts, headDim], relative to the part's maximum
    PartStats *stats;
    int parts;
};

inline AttentionWorkspace workspaceOf(const CanvasAttentionArgs &args)
{
    const int parts = mostParts(args);
    const std::int64_t rows = args.sequences * args.rowStride * args.heads * parts;
    auto *outputs = static_cast<float *>(args.workspace);
    return {outputs, reinterpret_cast<PartStats *>(outputs + rows * args.headDim), parts};
}

} // namespace palimpsest::kernels
