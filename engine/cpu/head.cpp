// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/head.h"

#include "engine/half_precision.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace palimpsest::cpu {

namespace {

/// A row is gathered if at most this many ids carry more than kGatherFloor of its mass each ...
constexpr std::int64_t kMostGathered = 192;
constexpr float kGatherFloor = 0x1p-26F;
/// ... and all others together carry less than this. The dense product's own rounding error is of that size.
constexpr double kDroppedMass = 0x1p-20;

/// Vocabulary rows that the dense product widens and multiplies at a time: 128 KiB for 64 columns.
constexpr std::int64_t kVocabularyChunk = 512;

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
    m_rows.resize(positions, hidden.columns());
    std::copy_n(hidden.row(firstRow), positions * hidden.columns(), m_rows.row(0));
    m_logits.resize(positions, m_stride);
    m_blockMaxima.resize(positions, m_stride / kPanelColumns);
    Section product(m_compute);
    product.addProduct(m_rows, m_weights.head,
                       [this](std::int64_t panel, std::int64_t first, std::int64_t rows, const float *tile) {
                           storeTile(m_logits, panel, first, rows, tile);
                       });
    product.run();
    if (trace != nullptr) {
        for (std::int64_t row = 0; row < positions; ++row) {
            std::vector<float> logits(m_logits.row(row), m_logits.row(row) + m_config.vocabSize);
            m_compute.kernels().softcap(logits.data(), static_cast<float>(m_config.finalLogitSoftcap),
                                        m_config.vocabSize);
            trace->logits.insert(trace->logits.end(), logits.begin(), logits.end());
        }
    }
    sampleRows(job);
    if (job.conditioning != nullptr)
        conditionRows(
            static_cast<CpuSelfConditioning *>(job.conditioning)->beginUpdate(positions, m_config.hiddenSize));
}

void Head::sampleRows(const DenoiseJob &job)
{
    m_rowWeights.resize(job.canvas.size());
    // Row by row: a row of logits fits the second-level cache, and rows differ in cost.
    m_compute.pool().run(static_cast<std::int64_t>(job.canvas.size()), [&](std::int64_t row, int) {
        const RowSamplerInput input{.softcap = static_cast<float>(m_config.finalLogitSoftcap),
                                    .temperature = job.temperature,
                                    .bias = job.logitBias,
                                    .noise = job.noise,
                                    .position = static_cast<std::uint32_t>(row)};
        const std::span logits(m_logits.row(row), static_cast<std::size_t>(m_stride));
        const std::span maxima(m_blockMaxima.row(row), static_cast<std::size_t>(m_stride / kPanelColumns));
        m_rowWeights[static_cast<std::size_t>(row)] = sampleRow(m_compute.kernels(), input, logits, m_config.vocabSize,
                                                                maxima, job.results[static_cast<std::size_t>(row)]);
    });
}

void Head::conditionRows(Matrix &embedding)
{
    std::vector<std::uint8_t> gathered(static_cast<std::size_t>(embedding.rows()));
    m_compute.pool().run(embedding.rows(), [&](std::int64_t row, int) {
        gathered[static_cast<std::size_t>(row)] = gatherRow(row, embedding.row(row)) ? 1 : 0;
    });
    m_denseRows.clear();
    for (std::int64_t row = 0; row < embedding.rows(); ++row)
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

// out[rows, hidden] = e[rows, V] * embedding[V, hidden] / sum for the rows in m_denseRows: tiles of rows, the
// vocabulary in chunks that are added up in order.
void Head::denseRowsProduct(Matrix &embedding)
{
    const auto rowCount = static_cast<std::int64_t>(m_denseRows.size());
    const std::int64_t hidden = m_config.hiddenSize;
    const RowKernels &kernels = m_compute.kernels();
    const TensorView &table = m_weights.embedding;
    // Tiles of 64 rows widen the embedding least often; smaller ones where that would leave threads without work.
    std::int64_t tileRows = PanelGemm::kFixedRows;
    while (tileRows > PanelGemm::kRowGranule &&
           (rowCount + tileRows - 1) / tileRows < 2 * m_compute.pool().threadCount())
        tileRows /= 2;
    m_compute.pool().run((rowCount + tileRows - 1) / tileRows, [&](std::int64_t item, int worker) {
        Workspace &workspace = m_compute.workspace(worker);
        workspace.gathered.resize(PanelGemm::kFixedRows * kVocabularyChunk);
        workspace.panel.resize(kVocabularyChunk * kPanelColumns);
        const std::int64_t first = item * tileRows;
        const std::int64_t rows = std::min(tileRows, rowCount - first);
        const auto target = [&](std::int64_t i) {
            return m_denseRows[static_cast<std::size_t>(first + i)];
        };
        for (std::int64_t i = 0; i < rows; ++i)
            std::fill_n(embedding.row(target(i)), hidden, 0.0F);
        for (std::int64_t start = 0; start < m_config.vocabSize; start += kVocabularyChunk) {
            const std::int64_t depth = std::min(kVocabularyChunk, m_config.vocabSize - start);
            for (std::int64_t i = 0; i < rows; ++i)
                std::copy_n(m_logits.row(target(i)) + start, depth, workspace.gathered.data() + i * depth);
            for (std::int64_t column = 0; column < hidden; column += kPanelColumns) {
                const std::int64_t columns = std::min(kPanelColumns, hidden - column);
                for (std::int64_t k = 0; k < depth; ++k) {
                    const std::byte *from =
                        table.bytes.data() + ((start + k) * hidden + column) * dtypeSize(table.dtype);
                    float *to = workspace.panel.data() + k * kPanelColumns;
                    if (table.dtype == Dtype::BF16)
                        kernels.unpackBf16(to, reinterpret_cast<const std::uint16_t *>(from), columns);
                    else
                        std::memcpy(to, from, static_cast<std::size_t>(columns) * sizeof(float));
                }
                m_compute.gemm().multiply(worker, workspace.gathered.data(), depth, workspace.panel.data(),
                                          workspace.tile.data(), rows, depth, kPanelColumns);
                for (std::int64_t i = 0; i < rows; ++i)
                    kernels.add(embedding.row(target(i)) + column, workspace.tile.data() + i * kPanelColumns, columns);
            }
        }
        for (std::int64_t i = 0; i < rows; ++i)
            kernels.scale(embedding.row(target(i)),
                          static_cast<float>(1.0 / m_rowWeights[static_cast<std::size_t>(target(i))].sum), hidden);
    });
}

} // namespace palimpsest::cpu
