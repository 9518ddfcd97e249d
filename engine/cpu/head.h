// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/cpu/compute.h"
#include "engine/cpu/layer_stack.h"
#include "engine/cpu/model_weights.h"
#include "engine/cpu/row_sampler.h"

#include <cstdint>
#include <span>
#include <vector>

namespace palimpsest::cpu {

/// The soft embedding of one canvas: softmax(processed logits) times the embedding matrix, [positions, hidden].
class CpuSelfConditioning final : public SelfConditioning
{
public:
    void reset() override { m_active = false; }

    [[nodiscard]] bool active() const noexcept { return m_active; }
    [[nodiscard]] const Matrix &embedding() const noexcept { return m_embedding; }
    [[nodiscard]] Matrix &beginUpdate(std::int64_t positions, std::int64_t hidden);

private:
    Matrix m_embedding;
    bool m_active = false;
};

/// From the last hidden state to what the loop needs, one canvas at a time.
///
/// Self-conditioning is computed here, at the end of a step, rather than at the beginning of the next: what has to be
/// kept is [canvas, hidden] instead of [canvas, vocabulary]. Rows whose probability sits on few tokens (nearly all of
/// them after the first steps) gather those tokens' embeddings; only the rest goes through the dense product with the
/// vocabulary.
class Head
{
public:
    Head(const ModelConfig &config, const ModelWeights &weights, Compute &compute);

    /// `hidden` rows [firstRow, firstRow + positions) are the canvas of `job`, after the final norm.
    void run(const Matrix &hidden, std::int64_t firstRow, const DenoiseJob &job, Trace *trace);

private:
    void multiply(const DenoiseJob &job, Trace *trace);
    void sampleRows(const DenoiseJob &job);
    void conditionRows(Matrix &embedding);
    /// False if the row needs the dense product.
    bool gatherRow(std::int64_t row, float *out) const;
    void denseRowsProduct(Matrix &embedding);
    void denseTile(std::span<const std::int64_t> targets, int worker, Matrix &embedding);
    void widenEmbedding(std::int64_t start, std::int64_t depth, std::int64_t column, float *panel) const;
    void recordLogits(Trace &trace, std::int64_t panel, std::int64_t firstRow, std::int64_t rows,
                      const float *tile) const;

    const ModelConfig &m_config;
    const ModelWeights &m_weights;
    Compute &m_compute;
    std::int64_t m_stride;    ///< vocabulary rounded up to whole blocks
    std::int64_t m_first = 0; ///< first canvas position of the rows at work
    Matrix m_rows;            ///< hidden rows at work
    Matrix m_logits;          ///< processed logits, later their exponentials, [positions, stride]
    Matrix m_blockMaxima;     ///< [positions, stride / 64]
    std::vector<RowWeights> m_rowWeights;
    std::vector<std::int64_t> m_denseRows; ///< of the rows at work
};

} // namespace palimpsest::cpu
