// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_canvas.h"

#include <cstdint>

/// How canvas attention cuts long rows of keys, and where the parts' results lie until they are added.
namespace palimpsest::kernels {

/// Into how many parts the keys of a row are cut.
struct PartRule
{
    int pagesOfPart; ///< one part for each so many pages begun, of even lengths
    int mostParts;
};

// Tuned on an H200 for 16 heads and one canvas of 256 rows. Portable: with 512 cached positions (12 pages) two parts
// are 128 blocks on 132 multiprocessors; more parts cost more in their addition. Hopper: the same number of blocks
// comes from sharing columns; adding parts takes 4 us, 25 for four canvases, which pays only in long contexts. No
// window of 1024 positions is cut.
inline constexpr PartRule kPortableParts{.pagesOfPart = 6, .mostParts = 4};
inline constexpr PartRule kHopperParts{.pagesOfPart = 24, .mostParts = 2};
inline constexpr int kMostParts = kPortableParts.mostParts; ///< of either
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

    __device__ AttentionParts(const SequenceView &view, PartRule rule)
    {
        firstPage = view.firstVisible / kPage;
        cachedPages = view.length > view.firstVisible ? pagesFor(view.length) - firstPage : 0;
        pages = cachedPages + pagesFor(view.rows);
        const int wanted = min(rule.mostParts, (pages + rule.pagesOfPart - 1) / rule.pagesOfPart);
        partPages = (pages + wanted - 1) / wanted;
        count = (pages + partPages - 1) / partPages;
    }
};

inline int mostParts(const CanvasAttentionArgs &args, PartRule rule)
{
    // One page more: a window can begin inside one.
    const std::int64_t pages = (args.mostCached + kPage - 1) / kPage + 1 + (args.rowStride + kPage - 1) / kPage;
    const std::int64_t parts = (pages + rule.pagesOfPart - 1) / rule.pagesOfPart;
    return static_cast<int>(parts < rule.mostParts ? parts : rule.mostParts);
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
    PartRule rule;
};

inline AttentionWorkspace workspaceOf(const CanvasAttentionArgs &args, PartRule rule)
{
    const int parts = mostParts(args, rule);
    const std::int64_t rows = args.sequences * args.rowStride * args.heads * parts;
    auto *outputs = static_cast<float *>(args.workspace);
    return {outputs, reinterpret_cast<PartStats *>(outputs + rows * args.headDim), parts, rule};
}

} // namespace palimpsest::kernels
