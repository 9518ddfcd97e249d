// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/compute.h"

#include <algorithm>
#include <set>

namespace palimpsest::cpu {

void AlignedFloats::resize(std::int64_t count)
{
    if (count <= m_count)
        return;
    m_data.reset(new (std::align_val_t{64}) float[static_cast<std::size_t>(count)]());
    m_count = count;
}

void Matrix::resize(std::int64_t rows, std::int64_t columns)
{
    m_rows = rows;
    m_columns = columns;
    m_values.resize((rows + PanelGemm::kFixedRows) * columns);
}

Compute::Compute(const ModelConfig &config, int threads)
    : m_pool(threads), m_gemm(threads), m_kernels(&rowKernels()), m_workspaces(static_cast<std::size_t>(threads))
{
    std::set<std::int64_t> depths{config.hiddenSize, config.denseIntermediateSize, config.expertIntermediateSize,
                                  kPanelColumns};
    for (const LayerConfig &layer : config.layers) {
        depths.insert(layer.headDim);
        depths.insert(layer.headDim * config.attentionHeads);
    }
    for (const std::int64_t depth : depths)
        m_gemm.checkRowIndependence(depth);
    const std::int64_t deepest = *depths.rbegin();
    for (Workspace &workspace : m_workspaces) {
        workspace.panel.resize(deepest * kPanelColumns);
        workspace.secondPanel.resize(deepest * kPanelColumns);
        workspace.tile.resize(kTileRows * kPanelColumns);
        workspace.secondTile.resize(kTileRows * kPanelColumns);
    }
}

void Compute::forRows(std::int64_t rows, const std::function<void(std::int64_t row)> &body)
{
    constexpr std::int64_t kRowsPerItem = 16;
    m_pool.run((rows + kRowsPerItem - 1) / kRowsPerItem, [&](std::int64_t item, int) {
        const std::int64_t last = std::min(rows, (item + 1) * kRowsPerItem);
        for (std::int64_t row = item * kRowsPerItem; row < last; ++row)
            body(row);
    });
}

void Section::add(std::int64_t count, Body body)
{
    if (count == 0)
        return;
    m_parts.push_back({m_count, std::move(body)});
    m_count += count;
}

std::int64_t Section::tileRows(std::int64_t rows, std::int64_t panels) const
{
    // Whole tiles of 256 rows widen each panel least often; smaller ones where that would leave threads without work.
    const auto threads = static_cast<std::int64_t>(m_compute.pool().threadCount());
    std::int64_t tile = kTileRows;
    while (tile > 32 && panels * ((rows + tile - 1) / tile) < 2 * threads)
        tile /= 2;
    return tile;
}

void Section::addProduct(const Matrix &in, const WeightPanels &weights, Epilogue epilogue)
{
    const std::int64_t tile = tileRows(in.rows(), weights.panelCount());
    const std::int64_t tiles = (in.rows() + tile - 1) / tile;
    add(weights.panelCount() * tiles,
        [this, &in, &weights, tile, tiles, epilogue = std::move(epilogue)](std::int64_t item, int worker) {
            Workspace &workspace = m_compute.workspace(worker);
            const std::int64_t firstRow = item % tiles * tile;
            const std::int64_t rows = std::min(tile, in.rows() - firstRow);
            const float *panel = weights.panel(item / tiles, workspace.panel.data(), m_compute.kernels());
            m_compute.gemm().multiply(worker, in.row(firstRow), in.columns(), panel, workspace.tile.data(), rows,
                                      weights.inputs(), kPanelColumns);
            epilogue(item / tiles, firstRow, rows, workspace.tile.data());
        });
}

void Section::addProduct(const Matrix &in, const WeightPanels &weights, Matrix &out)
{
    out.resize(in.rows(), weights.outputs());
    addProduct(in, weights, [&out](std::int64_t panel, std::int64_t firstRow, std::int64_t rows, const float *tile) {
        storeTile(out, panel, firstRow, rows, tile);
    });
}

void Section::addGatedProduct(const Matrix &in, const WeightPanels &gate, const WeightPanels &up, Matrix &out)
{
    out.resize(in.rows(), gate.outputs());
    const std::int64_t tile = tileRows(in.rows(), gate.panelCount());
    const std::int64_t tiles = (in.rows() + tile - 1) / tile;
    add(gate.panelCount() * tiles, [this, &in, &gate, &up, &out, tile, tiles](std::int64_t item, int worker) {
        Workspace &workspace = m_compute.workspace(worker);
        const RowKernels &kernels = m_compute.kernels();
        const std::int64_t firstRow = item % tiles * tile;
        const std::int64_t rows = std::min(tile, in.rows() - firstRow);
        const std::int64_t index = item / tiles;
        const auto product = [&](const WeightPanels &weights, AlignedFloats &panel, AlignedFloats &to) {
            m_compute.gemm().multiply(worker, in.row(firstRow), in.columns(),
                                      weights.panel(index, panel.data(), kernels), to.data(), rows, weights.inputs(),
                                      kPanelColumns);
        };
        product(gate, workspace.panel, workspace.tile);
        product(up, workspace.secondPanel, workspace.secondTile);
        kernels.gatedGelu(workspace.tile.data(), workspace.tile.data(), workspace.secondTile.data(),
                          rows * kPanelColumns);
        storeTile(out, index, firstRow, rows, workspace.tile.data());
    });
}

void Section::run()
{
    m_compute.pool().run(m_count, [this](std::int64_t item, int worker) {
        auto part = std::ranges::upper_bound(m_parts, item, {}, &Part::first);
        --part;
        part->body(item - part->first, worker);
    });
}

void storeTile(Matrix &out, std::int64_t panel, std::int64_t firstRow, std::int64_t rows, const float *tile)
{
    const std::int64_t firstColumn = panel * kPanelColumns;
    const std::int64_t columns = std::min(kPanelColumns, out.columns() - firstColumn);
    for (std::int64_t row = 0; row < rows; ++row)
        std::copy_n(tile + row * kPanelColumns, columns, out.row(firstRow + row) + firstColumn);
}

} // namespace palimpsest::cpu
