// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/row_kernels.h"
#include "engine/cpu/thread_pool.h"
#include "engine/cpu/weight_panels.h"
#include "engine/model_config.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace palimpsest::cpu {

/// Floats on a cache-line boundary, zeroed at first; grows, never shrinks, contents are lost when it grows.
class AlignedFloats
{
public:
    AlignedFloats() = default;
    explicit AlignedFloats(std::int64_t count) { resize(count); }

    void resize(std::int64_t count);
    [[nodiscard]] float *data() noexcept { return m_data.get(); }
    [[nodiscard]] const float *data() const noexcept { return m_data.get(); }

private:
    struct Free
    {
        void operator()(float *data) const noexcept { ::operator delete[](data, std::align_val_t{64}); }
    };
    std::unique_ptr<float[], Free> m_data;
    std::int64_t m_count = 0;
};

/// A matrix of activations [rows, columns], row-major. Its storage reaches to a multiple of PanelGemm::kFixedRows rows,
/// so that any run of rows may be an input of a product.
class Matrix
{
public:
    void resize(std::int64_t rows, std::int64_t columns);
    [[nodiscard]] float *row(std::int64_t index) noexcept { return m_values.data() + index * m_columns; }
    [[nodiscard]] const float *row(std::int64_t index) const noexcept { return m_values.data() + index * m_columns; }
    [[nodiscard]] std::int64_t rows() const noexcept { return m_rows; }
    [[nodiscard]] std::int64_t columns() const noexcept { return m_columns; }

private:
    AlignedFloats m_values;
    std::int64_t m_rows = 0;
    std::int64_t m_columns = 0;
};

/// Rows that one task of a product takes: a widened panel is used for that many before the next one is widened.
inline constexpr std::int64_t kTileRows = 256;

/// Scratch memory of one worker.
struct Workspace
{
    AlignedFloats panel;       ///< a widened weight panel, [inputs][64]
    AlignedFloats secondPanel; ///< the up panel beside the gate panel
    AlignedFloats tile;        ///< a product's output, [kTileRows][64]
    AlignedFloats secondTile;
    AlignedFloats gathered; ///< rows of one expert, or of one attention tile
    AlignedFloats inner;    ///< gated rows of one expert, or an attention tile's output
};

/// Threads, products, row loops and scratch memory: what all parts of the model compute with.
class Compute
{
public:
    Compute(const ModelConfig &config, int threads);

    [[nodiscard]] ThreadPool &pool() noexcept { return m_pool; }
    [[nodiscard]] PanelGemm &gemm() noexcept { return m_gemm; }
    [[nodiscard]] const RowKernels &kernels() const noexcept { return *m_kernels; }
    [[nodiscard]] Workspace &workspace(int worker) { return m_workspaces[static_cast<std::size_t>(worker)]; }

    /// Calls body(row) for all rows, in parallel.
    void forRows(std::int64_t rows, const std::function<void(std::int64_t row)> &body);

private:
    ThreadPool m_pool;
    PanelGemm m_gemm;
    const RowKernels *m_kernels;
    std::vector<Workspace> m_workspaces;
};

/// Several kinds of independent work that run side by side, so that no thread waits between them.
class Section
{
public:
    explicit Section(Compute &compute) : m_compute(compute) {}

    using Body = std::function<void(std::int64_t item, int worker)>;
    /// Items run in the order they are added; put the long ones first.
    void add(std::int64_t count, Body body);

    /// Receives a finished tile: output columns [64 * panel, ...) of rows [firstRow, firstRow + rows), tile [rows][64].
    using Epilogue =
        std::function<void(std::int64_t panel, std::int64_t firstRow, std::int64_t rows, const float *tile)>;
    /// Adds the product in * weights^T; `in` and `weights` must outlive run().
    void addProduct(const Matrix &in, const WeightPanels &weights, Epilogue epilogue);
    /// The same with the result stored to `out` (resized here).
    void addProduct(const Matrix &in, const WeightPanels &weights, Matrix &out);
    /// gelu(gate x) * (up x) into `out` (resized here).
    void addGatedProduct(const Matrix &in, const WeightPanels &gate, const WeightPanels &up, Matrix &out);

    void run();

private:
    [[nodiscard]] std::int64_t tileRows(std::int64_t rows, std::int64_t panels) const;

    struct Part
    {
        std::int64_t first = 0;
        Body body;
    };
    Compute &m_compute;
    std::vector<Part> m_parts;
    std::int64_t m_count = 0;
};

/// Stores columns [64 * panel, ...) of a tile into `out`, leaving out what is padding.
void storeTile(Matrix &out, std::int64_t panel, std::int64_t firstRow, std::int64_t rows, const float *tile);

} // namespace palimpsest::cpu
