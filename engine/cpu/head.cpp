// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/head.h"

#include "engine/half_precision.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace palimpsest::cpu {

namespace {

/// A row is gathered if at most this many ids carry more than kGatherFloor of its mass each (gathering 900 of 8192
/// costs as much as the dense product) ...
constexpr std::int64_t kMostGathered = 640;
constexpr float kGatherFloor = 0x1p-26F;
/// ... and all others together carry less than this. The dense product's own rounding error is of that size.
constexpr double kDroppedMass = 0x1p-20;

/// Vocabulary rows that the dense product widens and multiplies at a time: 128 KiB for 64 columns.
constexpr std::int64_t kVocabularyChunk = 512;

/// Canvas positions whose logits exist at one time. Half a canvas saves 4 MiB at a vocabulary of 8192 and 128 MiB at
/// 262144 for widening the embedding once more, 1 % of a step.
constexpr std::int64_t kHeadRows = 128;

} // namespace

Matrix &CpuSelfConditioning::beginUpdate(std::int64_t positions, std::int64_t hidden)
{
    m_embedding.resize(positions, hidden);
    m_active = true;
    return m_embedding;
}

Head::Head(const ModelConfig &config, const ModelWeights &weights, Compute &compute)
    : m_config(config),
      m_weights(weights),
      m_compute(compute),
      m_stride((config.vocabSize + kPanelColumns - 1) / kPanelColumns * kPanelColumns)
{
}

void Head::run(const Matrix &hidden, std::int64_t firstRow, const DenoiseJob &job, Trace *trace)
{
    const auto positions = static_cast<std::int64_t>(job.canvas.size());
    Matrix *embedding = nullptr;
    if (job.conditioning != nullptr)
        embedding = &static_cast<CpuSelfConditioning *>(job.conditioning)->beginUpdate(positions, m_config.hiddenSize);
    for (m_first = 0; m_first < positions; m_first += kHeadRows) {
        const std::int64_t rows = std::min(kHeadRows, positions - m_first);
        m_rows.resize(rows, hidden.columns());
        std::copy_n(hidden.row(firstRow + m_first), rows * hidden.columns(), m_rows.row(0));
        m_logits.resize(rows, m_stride);
        m_blockMaxima.resize(rows, m_stride / kPanelColumns);
        multiply(job, trace);
        sampleRows(job);
        if (embedding != nullptr)
            conditionRows(*embedding);
    }
}

// A panel of the product is one block of the vocabulary: its logits are processed while they are in the first-level
// cache.
void Head::multiply(const DenoiseJob &job, Trace *trace)
{
    const LogitProcessing processing{.softcap = static_cast<float>(m_config.finalLogitSoftcap),
                                     .temperature = job.temperature,
                                     .bias = job.logitBias,
                                     .vocabSize = m_config.vocabSize};
    const RowKernels &kernels = m_compute.kernels();
    if (trace != nullptr)
        trace->logits.resize(job.canvas.size() * static_cast<std::size_t>(m_config.vocabSize));
    Section product(m_compute);
    product.addProduct(m_rows, m_weights.head,
                       [&](std::int64_t panel, std::int64_t first, std::int64_t rows, const float *tile) {
                           for (std::int64_t row = 0; row < rows; ++row)
                               m_blockMaxima.row(first + row)[panel] =
                                   processBlock(kernels, processing, panel, tile + row * kPanelColumns,
                                                m_logits.row(first + row) + panel * kPanelColumns);
                           if (trace != nullptr)
                               recordLogits(*trace, panel, m_first + first, rows, tile);
                       });
    product.run();
}

void Head::recordLogits(Trace &trace, std::int64_t panel, std::int64_t firstRow, std::int64_t rows,
                        const float *tile) const
{
    const std::int64_t firstId = panel * kPanelColumns;
    const std::int64_t columns = std::min(kPanelColumns, m_config.vocabSize - firstId);
    for (std::int64_t row = 0; row < rows; ++row)
        m_compute.kernels().softcap(trace.logits.data() + (firstRow + row) * m_config.vocabSize + firstId,
                                    tile + row * kPanelColumns, static_cast<float>(m_config.finalLogitSoftcap),
                                    columns);
}

void Head::sampleRows(const DenoiseJob &job)
{
    m_rowWeights.resize(static_cast<std::size_t>(m_rows.rows()));
    // Row by row: a row of logits fits the second-level cache, and rows differ in cost.
    m_compute.pool().run(m_rows.rows(), [&](std::int64_t row, int) {
        const RowNoise noise{.address = job.noise, .position = static_cast<std::uint32_t>(m_first + row)};
        m_rowWeights[static_cast<std::size_t>(row)] =
            sampleRow(m_compute.kernels(), noise, {m_logits.row(row), static_cast<std::size_t>(m_stride)},
                      {m_blockMaxima.row(row), static_cast<std::size_t>(m_stride / kPanelColumns)},
                      job.results[static_cast<std::size_t>(m_first + row)]);
    });
}

void Head::conditionRows(Matrix &embedding)
{
    std::vector<std::uint8_t> gathered(static_cast<std::size_t>(m_rows.rows()));
    m_compute.pool().run(m_rows.rows(), [&](std::int64_t row, int) {
        gathered[static_cast<std::size_t>(row)] = gatherRow(row, embedding.row(m_first + row)) ? 1 : 0;
    });
    m_denseRows.clear();
    for (std::int64_t row = 0; row < m_rows.rows(); ++row)
        if (gathered[static_cast<std::size_t>(row)] == 0)
            m_denseRows.push_back(row);
    if (!m_denseRows.empty())
        denseRowsProduct(embedding);
}

bool Head::gatherRow(std::int64_t row, float *out) const
{
    const RowKernels &kernels = m_compute.kernels();
    const RowWeights &weights = m_rowWeights[static_cast<std::size_t>(row)];
    const float *e = m_logits.row(row);
    const auto sum = static_cast<float>(weights.sum);
    const float floor = sum * kGatherFloor;
    double dropped = 0.0;
    std::int64_t count = 0;
    kernels.partition(e, floor, m_stride, &dropped, &count);
    if (count > kMostGathered || dropped > kDroppedMass * weights.sum)
        return false;

    std::fill_n(out, m_config.hiddenSize, 0.0F);
    const TensorView &table = m_weights.embedding;
    for (std::int64_t block = 0; block < m_stride / kPanelColumns; ++block) {
        // Blocks far below the maximum hold nothing above the floor: e^-19 is less than 2^-26, and sum >= 1.
        if (m_blockMaxima.row(row)[block] < weights.maximum - 19.0F)
            continue;
        for (std::int64_t id = block * kPanelColumns; id < (block + 1) * kPanelColumns; ++id) {
            if (e[id] < floor)
                continue;
            const std::byte *from = table.bytes.data() + id * m_config.hiddenSize * dtypeSize(table.dtype);
            if (table.dtype == Dtype::BF16)
                kernels.addScaledBf16(out, reinterpret_cast<const std::uint16_t *>(from), e[id] / sum,
                                      m_config.hiddenSize);
            else
                kernels.addScaled(out, reinterpret_cast<const float *>(from), e[id] / sum, m_config.hiddenSize);
        }
    }
    return true;
}

// Widens embedding rows [start, start + depth), columns [column, column + 64), into a panel [depth][64].
void Head::widenEmbedding(std::int64_t start, std::int64_t depth, std::int64_t column, float *panel) const
{
    const TensorView &table = m_weights.embedding;
    const std::int64_t hidden = m_config.hiddenSize;
    const std::int64_t columns = std::min(kPanelColumns, hidden - column);
    for (std::int64_t k = 0; k < depth; ++k) {
        const std::byte *from = table.bytes.data() + ((start + k) * hidden + column) * dtypeSize(table.dtype);
        float *to = panel + k * kPanelColumns;
        if (table.dtype == Dtype::BF16)
            m_compute.kernels().unpackBf16(to, reinterpret_cast<const std::uint16_t *>(from), columns);
        else
            std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(float));
    }
}

// out[rows, hidden] = e[rows, V] * embedding[V, hidden] / sum for the rows in m_denseRows, the vocabulary in chunks
// that are added up in order. Large tiles of rows widen the embedding least often.
void Head::denseRowsProduct(Matrix &embedding)
{
    const auto rowCount = static_cast<std::int64_t>(m_denseRows.size());
    std::int64_t tileRows = kHeadRows;
    while (tileRows > PanelGemm::kRowGranule && (rowCount + tileRows - 1) / tileRows < m_compute.pool().threadCount())
        tileRows /= 2;
    m_compute.pool().run((rowCount + tileRows - 1) / tileRows, [&](std::int64_t item, int worker) {
        const std::int64_t first = item * tileRows;
        denseTile(std::span(m_denseRows)
                      .subspan(static_cast<std::size_t>(first),
                               static_cast<std::size_t>(std::min(tileRows, rowCount - first))),
                  worker, embedding);
    });
}

void Head::denseTile(std::span<const std::int64_t> targets, int worker, Matrix &embedding)
{
    const RowKernels &kernels = m_compute.kernels();
    const auto rows = static_cast<std::int64_t>(targets.size());
    const std::int64_t hidden = m_config.hiddenSize;
    Workspace &workspace = m_compute.workspace(worker);
    workspace.gathered.resize(kHeadRows * kVocabularyChunk);
    workspace.panel.resize(kVocabularyChunk * kPanelColumns);
    for (const std::int64_t target : targets)
        std::fill_n(embedding.row(m_first + target), hidden, 0.0F);
    for (std::int64_t start = 0; start < m_config.vocabSize; start += kVocabularyChunk) {
        const std::int64_t depth = std::min(kVocabularyChunk, m_config.vocabSize - start);
        // Into a dense copy even where the rows lie side by side: oneDNN multiplies strided rows with another kernel,
        // and which rows share a tile depends on the number of threads.
        for (std::int64_t i = 0; i < rows; ++i)
            std::copy_n(m_logits.row(targets[static_cast<std::size_t>(i)]) + start, depth,
                        workspace.gathered.data() + i * depth);
        for (std::int64_t column = 0; column < hidden; column += kPanelColumns) {
            widenEmbedding(start, depth, column, workspace.panel.data());
            m_compute.gemm().multiply(worker, workspace.gathered.data(), depth, workspace.panel.data(),
                                      workspace.tile.data(), rows, depth, kPanelColumns);
            for (std::int64_t i = 0; i < rows; ++i)
                kernels.add(embedding.row(m_first + targets[static_cast<std::size_t>(i)]) + column,
                            workspace.tile.data() + i * kPanelColumns, std::min(kPanelColumns, hidden - column));
        }
    }
    for (const std::int64_t target : targets)
        kernels.scale(embedding.row(m_first + target),
                      static_cast<float>(1.0 / m_rowWeights[static_cast<std::size_t>(target)].sum), hidden);
}

} // namespace palimpsest::cpu
