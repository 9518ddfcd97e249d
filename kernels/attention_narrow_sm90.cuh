// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "kernels/attention_rows_sm90.cuh"

#include <cstdint>

/// Attention of heads up to 256 columns on compute capability 9.0: every warpgroup has 64 queries of its own.
namespace palimpsest::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A warpgroup's 64 queries. The scores of a page and the values of the page before are asked for together; beside the
/// values it turns the scores into weights. Only some two products wait behind the one under way: a warpgroup that asks
/// for more stands still, so scores asked for before a softmax do not run beside it (measured: no faster).
template <typename Shape>
struct QueryTile
{
    using Place = SlotPlace<Shape::kSlots>;

    OutputTile<Shape::kColumns> output;
    RowSoftmax softmax;

    __device__ QueryTile(const Shared<Shape> &shared, int columnBlock)
        : output(tile() * kTileQueries, columnBlock * Shape::kColumns, shared.queries(tile())), m_shared(shared)
    {
    }

    __device__ static int tile() { return Shape::kTiles > 1 ? static_cast<int>(threadIdx.x) / 128 : 0; }

    template <typename PageAt>
    __device__ void consume(int pages, const Visible (&visible)[2], PageAt pageAt)
    {
        ptx::barrierWait(m_shared.queriesFull(), 0);
        const std::uint32_t queries = matrixWord(m_shared.queries(tile()));
        float scores[32];
        Place place;
        beginScores(scores, queries, place);
        ptx::wgmmaWait<0>();
        ptx::settle(scores);
        m_shared.release(place.slot);
        place.advance();
        takePages(scores, queries, place, pages, visible, pageAt);
        softmax.finish();
        ptx::namedBarrier(1 + tile(), 128); // all four warps are through with their queries: output takes their place
    }

private:
    template <typename PageAt>
    __device__ void takePages(float (&scores)[32], std::uint32_t queries, Place place, int pages,
                              const Visible (&visible)[2], PageAt pageAt)
    {
        float factor[2];
        std::uint32_t weights[4][4];
        softmax.weigh(scores, pageAt(0), visible, factor);
        packWeights(weights, scores);
        for (int page = 1; page < pages; ++page) {
            const Place keys = place;
            place.advance();
            beginScores(scores, queries, keys);
            beginValues(weights, place);
            ptx::wgmmaWait<1>();
            ptx::settle(scores);
            m_shared.release(keys.slot);
            softmax.weigh(scores, pageAt(page), visible, factor);
            endValues(place);
            output.rescale(factor);
            packWeights(weights, scores);
            place.advance();
        }
        beginValues(weights, place);
        endValues(place);
    }

    __device__ void beginScores(float (&scores)[32], std::uint32_t queries, Place place) const
    {
#pragma unroll
        for (float &score : scores)
            score = 0.0F;
        const std::uint32_t keys = matrixWord(m_shared.slot(place.slot));
        ptx::barrierWait(m_shared.full(place.slot), place.parity);
        ptx::wgmmaFence();
#pragma unroll
        for (std::uint32_t k = 0; k < Shape::kD / 16; ++k) {
            const std::uint32_t step = (k / 4 * kBoxBytes + k % 4 * 32) / 16;
            ptx::wgmma64x64x16(scores, matrixAt(queries + step), matrixAt(keys + step));
        }
        ptx::wgmmaCommit();
    }

    __device__ void beginValues(const std::uint32_t (&weights)[4][4], Place place)
    {
        const std::uint64_t values = ptx::swizzledColumns<64>(m_shared.slot(place.slot));
        const std::uint32_t word = ptx::uniform(static_cast<std::uint32_t>(values));
        const std::uint64_t high = values >> 32U << 32U;
        ptx::barrierWait(m_shared.full(place.slot), place.parity);
        ptx::wgmmaFence();
#pragma unroll
        for (std::uint32_t k = 0; k < 4; ++k)
            ptx::wgmmaColumns(output.sums, weights[k], high | (word + k * 16 * 128 / 16));
        ptx::wgmmaCommit();
    }

    __device__ void endValues(Place place)
    {
        ptx::wgmmaWait<0>();
        ptx::settle(output.sums);
        m_shared.release(place.slot);
    }

    Shared<Shape> m_shared;
};

/// A block's work, see attend(): the warpgroups that multiply, and the warp that fetches for them.
template <typename Shape, typename PageAt, typename VisibleTo, typename Fetch, typename Finish>
__device__ __forceinline__ void attendNarrow(const Shared<Shape> &shared, int columnBlock, int pages, PageAt pageAt,
                                             VisibleTo visibleTo, Fetch fetch, Finish finish)
{
    if (threadIdx.x >= Shape::kTiles * 128) {
        if constexpr (Shape::kTiles == 2)
            ptx::lowerRegisters<40>();
        if (threadIdx.x == Shape::kTiles * 128)
            fetch();
        __syncwarp();
    } else {
        if constexpr (Shape::kTiles == 2)
            ptx::raiseRegisters<232>();
        QueryTile<Shape> tile(shared, columnBlock);
        const Visible visible[2] = {visibleTo(tile.output.rowOf(0)), visibleTo(tile.output.rowOf(1))};
        tile.consume(pages, visible, pageAt);
        finish(tile.output, tile.softmax);
    }
}

#endif

} // namespace palimpsest::kernels
