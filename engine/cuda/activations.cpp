// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/activations.h"

#include "kernels/attention_canvas.h"
#include "kernels/dense_gemm.h"
#include "kernels/moe_route.h"
#include "kernels/self_condition.h"

#include <algorithm>

namespace palimpsest::cuda {

namespace {

/// Hands out pieces of a block, or only counts them.
class Places
{
public:
    explicit Places(std::byte *base) : m_base(reinterpret_cast<std::uintptr_t>(base)) {}

    template <typename T>
    void put(T *&pointer, std::int64_t count)
    {
        pointer = reinterpret_cast<T *>(bytes(count * static_cast<std::int64_t>(sizeof(T))));
    }
    void putBytes(void *&pointer, std::int64_t count) { pointer = bytes(count); }
    [[nodiscard]] std::int64_t end() const noexcept { return m_end; }

private:
    void *bytes(std::int64_t count)
    {
        const auto at = m_base + static_cast<std::uintptr_t>(m_end);
        m_end += alignedBytes(count);
        return reinterpret_cast<void *>(at);
    }

    std::uintptr_t m_base;
    std::int64_t m_end = 0;
};

/// The widest of all layers.
struct LayerWidths
{
    std::int64_t qkv = 0;
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t scratch = 0; ///< elements of a canvas's keys in scratch pages, all sequences
    std::int64_t productParts = 1;
    std::int64_t attentionBytes = 0;
};

LayerWidths widthsOf(const ModelConfig &config, const ActivationSizes &sizes)
{
    LayerWidths most;
    const auto parts = [&](std::int64_t inputs) {
        return kernels::denseGemmParts(config.hiddenSize, inputs, kernels::WeightLayout::OutputMajor);
    };
    most.productParts = parts(config.denseIntermediateSize);
    for (const LayerConfig &layer : config.layers) {
        const std::int64_t queries = config.attentionHeads * layer.headDim;
        const std::int64_t keys = layer.kvHeads * layer.headDim;
        most.qkv = std::max(most.qkv, queries + (layer.hasValueProjection ? 2 : 1) * keys);
        most.queries = std::max(most.queries, queries);
        most.keys = std::max(most.keys, keys);
        most.productParts = std::max<std::int64_t>(most.productParts, parts(queries));
        if (sizes.sequences == 0)
            continue;
        kernels::CanvasAttentionArgs attention;
        attention.sequences = sizes.sequences;
        attention.rowStride = sizes.canvasRows;
        attention.mostCached = config.maxPositions;
        attention.heads = config.attentionHeads;
        attention.kvHeads = layer.kvHeads;
        attention.headDim = layer.headDim;
        most.attentionBytes = std::max(most.attentionBytes, kernels::canvasAttentionWorkspace(attention));
    }
    most.scratch = sizes.sequences * kernels::scratchPages(sizes.canvasRows) * kernels::kPagePositions * most.keys;
    return most;
}

} // namespace

std::int64_t activationRows(std::int64_t rows) noexcept
{
    constexpr std::int64_t kLeastRows = 256;
    std::int64_t power = kLeastRows;
    while (power < rows)
        power *= 2;
    return power;
}

RopeSets::RopeSets(const ModelConfig &config)
{
    std::vector<const LayerConfig *> known;
    for (const LayerConfig &layer : config.layers) {
        const auto same = std::ranges::find_if(known, [&layer](const LayerConfig *other) {
            return other->headDim == layer.headDim && other->ropeTheta == layer.ropeTheta &&
                   other->rotatedPairs == layer.rotatedPairs;
        });
        ofLayer.push_back(static_cast<std::size_t>(same - known.begin()));
        if (same == known.end()) {
            known.push_back(&layer);
            pairs.push_back(layer.rotatedPairs);
        }
    }
}

ActivationSizes ActivationSizes::unitedWith(const ActivationSizes &other) const noexcept
{
    return {.rows = std::max(rows, other.rows),
            .sequences = std::max(sequences, other.sequences),
            .canvasRows = std::max(canvasRows, other.canvasRows)};
}

namespace {

/// How many rows have logits at a time.
std::int64_t headRows(const ActivationSizes &sizes, Precision precision)
{
    return precision == Precision::Fp32 ? sizes.canvasRows : std::min(sizes.rows, sizes.sequences * sizes.canvasRows);
}

void placeBf16(Places &places, Activations &a, const ModelConfig &config, const ActivationSizes &sizes,
               const LayerWidths &widths)
{
    const std::int64_t rows = sizes.rows;
    const std::int64_t hidden = config.hiddenSize;
    const std::int64_t slots = rows * config.expertsPerToken;
    places.put(a.normed, rows * hidden);
    places.put(a.expertInput, rows * hidden);
    places.put(a.qkv, rows * widths.qkv);
    places.put(a.queries, rows * widths.queries);
    places.put(a.attended, rows * widths.queries);
    places.put(a.denseInner, rows * config.denseIntermediateSize);
    places.put(a.expertInner, slots * config.expertIntermediateSize);
    places.put(a.expertOutput, slots * hidden);
    if (sizes.canvasRows == 0)
        return;
    places.putBytes(a.attentionWorkspace, widths.attentionBytes);
    places.put(a.scratch.keys, widths.scratch);
    places.put(a.scratch.values, widths.scratch);
    // Of all canvases: their dense rows are multiplied together.
    places.putBytes(a.conditionWorkspace,
                    kernels::selfConditionWorkspace(headRows(sizes, Precision::Bf16), config.vocabSize, hidden));
}

void placeFp32(Places &places, Fp32Activations &a, const ModelConfig &config, const ActivationSizes &sizes,
               const LayerWidths &widths)
{
    const std::int64_t rows = sizes.rows;
    const std::int64_t hidden = config.hiddenSize;
    const std::int64_t slots = rows * config.expertsPerToken;
    places.put(a.normed, rows * hidden);
    places.put(a.expertInput, rows * hidden);
    places.put(a.qkv, rows * widths.qkv);
    places.put(a.queries, rows * widths.queries);
    places.put(a.attended, rows * widths.queries);
    places.put(a.denseInner, rows * config.denseIntermediateSize);
    places.put(a.expertInner, slots * config.expertIntermediateSize);
    places.put(a.expertOutput, slots * hidden);
    if (sizes.canvasRows == 0)
        return;
    places.put(a.scratch.keys, widths.scratch);
    places.put(a.scratch.values, widths.scratch);
    places.put(a.probabilities, sizes.canvasRows * config.vocabSize);
}

} // namespace

kernels::LogitType logitType(const ModelConfig &config, Precision precision) noexcept
{
    return precision != Precision::Fp32 && config.finalLogitSoftcap > 0.0 ? kernels::LogitType::Fp16
                                                                          : kernels::LogitType::Fp32;
}

Activations layOutActivations(const ModelConfig &config, Precision precision, const ActivationSizes &sizes,
                              std::byte *base)
{
    const LayerWidths widths = widthsOf(config, sizes);
    const std::int64_t rows = sizes.rows;
    const std::int64_t hidden = config.hiddenSize;
    const std::int64_t slots = rows * config.expertsPerToken;
    Activations a;
    Places places(base);
    places.put(a.x, rows * hidden);
    places.put(a.product, widths.productParts * rows * hidden);
    for (const std::int64_t pairs : RopeSets(config).pairs)
        places.put(a.angles.emplace_back(), rows * pairs);
    places.put(a.expertIds, slots);
    places.put(a.slotWeights, slots);
    places.put(a.expertOffsets, config.expertCount + 1);
    places.put(a.slots, slots);
    places.putBytes(a.routeWorkspace, kernels::moeRouteWorkspaceBytes(rows, hidden, config.expertCount));
    if (sizes.canvasRows > 0) {
        places.put(a.soft, rows * hidden);
        a.logitType = logitType(config, precision);
        const std::int64_t headed = headRows(sizes, precision);
        places.putBytes(a.logits, headed * config.vocabSize * (a.logitType == kernels::LogitType::Fp16 ? 2 : 4));
        places.putBytes(a.headWorkspace, kernels::headSampleWorkspace(headed, config.vocabSize));
        places.put(a.samples, rows);
        places.put(a.denseRows, sizes.sequences);
    }
    if (precision == Precision::Fp32)
        placeFp32(places, a.fp32, config, sizes, widths);
    else
        placeBf16(places, a, config, sizes, widths);
    a.bytes = places.end();
    return a;
}

} // namespace palimpsest::cuda
