// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/attention.h"

#include <algorithm>
#include <array>
#include <limits>

namespace palimpsest::cpu {

namespace {

/// Most queries of one task: a whole canvas, so that few products do much.
constexpr std::int64_t kMostQueries = kTileRows;
static_assert(kMostQueries % PanelGemm::kFixedRows == 0);

/// One head's queries [firstRow, firstRow + rows) of a group against all blocks of the group.
struct Tile
{
    const QueryGroup &group;
    const KvLayout &layout;
    std::int64_t firstRow; ///< within the group
    std::int64_t rows;
    std::int64_t kvHead;
    std::array<VisibleRange, kMostQueries> visible{};
    std::array<AttentionRow, kMostQueries> state{};

    void prepare()
    {
        for (std::int64_t row = 0; row < rows; ++row) {
            visible.at(static_cast<std::size_t>(row)) = group.visible(firstRow + row);
            state.at(static_cast<std::size_t>(row)) = {-std::numeric_limits<float>::infinity(), 0.0F};
        }
    }

    [[nodiscard]] bool sees(const KeyBlock &block) const
    {
        return std::any_of(visible.begin(), visible.begin() + rows, [&](const VisibleRange &range) {
            return range.begin < block.end && range.end > block.firstPosition;
        });
    }
};

// Adds one block to the tile's running output. queries and output [rows][headDim], scores and product [rows][64].
void addBlock(Tile &tile, const KeyBlock &block, Compute &compute, int worker, const float *queries, float *output,
              float *scores, float *product)
{
    const RowKernels &kernels = compute.kernels();
    const KvLayout &layout = tile.layout;
    compute.gemm().multiply(worker, queries, layout.headDim, block.block->keys(layout, tile.kvHead), scores, tile.rows,
                            layout.headDim, kBlockPositions);
    std::array<float, kMostQueries> factors{};
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        const VisibleRange &range = tile.visible.at(static_cast<std::size_t>(row));
        const std::int64_t begin = std::max<std::int64_t>(0, range.begin - block.firstPosition);
        const std::int64_t end = std::min(range.end, block.end) - block.firstPosition;
        factors.at(static_cast<std::size_t>(row)) = kernels.softmaxBlock(scores + row * kBlockPositions, begin, end,
                                                                         &tile.state.at(static_cast<std::size_t>(row)));
    }
    for (std::int64_t panel = 0; panel < layout.valuePanels; ++panel) {
        compute.gemm().multiply(worker, scores, kBlockPositions, block.block->values(layout, tile.kvHead, panel),
                                product, tile.rows, kBlockPositions, layout.valueColumns);
        const std::int64_t firstColumn = panel * layout.valueColumns;
        const std::int64_t columns = std::min(layout.valueColumns, layout.headDim - firstColumn);
        for (std::int64_t row = 0; row < tile.rows; ++row)
            kernels.rescaleAdd(output + row * layout.headDim + firstColumn, product + row * layout.valueColumns,
                               factors.at(static_cast<std::size_t>(row)), columns);
    }
}

} // namespace

void addAttention(Section &section, Compute &compute, const std::vector<QueryGroup> &groups, const KvLayout &layout,
                  std::int64_t heads, const Matrix &queries, Matrix &out)
{
    out.resize(queries.rows(), queries.columns());
    for (const QueryGroup &group : groups) {
        std::int64_t tileQueries = kMostQueries;
        while (tileQueries > PanelGemm::kFixedRows &&
               heads * ((group.rows + tileQueries - 1) / tileQueries) < 2 * compute.pool().threadCount())
            tileQueries /= 2;
        const std::int64_t tiles = (group.rows + tileQueries - 1) / tileQueries;
        section.add(heads * tiles, [&compute, &group, &queries, &out, layout, heads, tiles,
                                    tileQueries](std::int64_t item, int worker) {
            const std::int64_t head = item / tiles;
            Tile tile{.group = group,
                      .layout = layout,
                      .firstRow = item % tiles * tileQueries,
                      .rows = 0,
                      .kvHead = head / (heads / layout.kvHeads)};
            tile.rows = std::min(tileQueries, group.rows - tile.firstRow);
            tile.prepare();

            const std::int64_t headDim = layout.headDim;
            Workspace &workspace = compute.workspace(worker);
            workspace.gathered.resize(kMostQueries * headDim);
            workspace.inner.resize(kMostQueries * headDim);
            float *ownQueries = workspace.gathered.data();
            float *tileOutput = workspace.inner.data();
            const std::int64_t firstRow = group.firstRow + tile.firstRow;
            for (std::int64_t row = 0; row < tile.rows; ++row)
                std::copy_n(queries.row(firstRow + row) + head * headDim, headDim, ownQueries + row * headDim);
            std::fill_n(tileOutput, tile.rows * headDim, 0.0F);
            for (const KeyBlock &block : group.blocks)
                if (tile.sees(block))
                    addBlock(tile, block, compute, worker, ownQueries, tileOutput, workspace.tile.data(),
                             workspace.secondTile.data());
            for (std::int64_t row = 0; row < tile.rows; ++row) {
                float *result = out.row(firstRow + row) + head * headDim;
                std::copy_n(tileOutput + row * headDim, headDim, result);
                compute.kernels().scale(result, 1.0F / tile.state.at(static_cast<std::size_t>(row)).sum, headDim);
            }
        });
    }
}

} // namespace palimpsest::cpu
