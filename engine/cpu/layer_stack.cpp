// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/layer_stack.h"

#include <algorithm>
#include <cmath>

namespace palimpsest::cpu {

namespace {

std::vector<float> contents(const Matrix &matrix)
{
    return {matrix.row(0), matrix.row(0) + matrix.rows() * matrix.columns()};
}

} // namespace

LayerStack::LayerStack(const ModelConfig &config, const ModelWeights &weights, Compute &compute)
    : m_config(config), m_weights(weights), m_compute(compute), m_epsilon(static_cast<float>(config.rmsNormEpsilon))
{
    for (const LayerWeights &layer : weights.layers) {
        const std::vector<float> &frequencies = layer.attention.inverseFrequencies;
        const auto same = std::ranges::find(m_angles, frequencies, &Angles::frequencies);
        m_anglesOfLayer.push_back(static_cast<std::size_t>(same - m_angles.begin()));
        if (same == m_angles.end()) {
            m_angles.emplace_back();
            m_angles.back().frequencies = frequencies;
        }
    }
}

void LayerStack::run(Role role, Matrix &x, const std::vector<std::int64_t> &positions, KeyStore &store, Trace *trace)
{
    computeAngles(positions);
    if (trace != nullptr)
        trace->input = contents(x);
    const auto layers = static_cast<std::int64_t>(m_config.layers.size());
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const bool keysOnly = role == Role::Encoder && layer + 1 == layers && trace == nullptr;
        attend(layer, x, store, keysOnly);
        if (keysOnly)
            return;
        feedForward(layer, role, x, trace);
        if (trace != nullptr)
            trace->layerOutputs.push_back(contents(x));
    }
}

void LayerStack::computeAngles(const std::vector<std::int64_t> &positions)
{
    for (Angles &angles : m_angles) {
        const auto pairs = static_cast<std::int64_t>(angles.frequencies.size());
        angles.cosine.resize(static_cast<std::int64_t>(positions.size()), pairs);
        angles.sine.resize(static_cast<std::int64_t>(positions.size()), pairs);
        m_compute.forRows(static_cast<std::int64_t>(positions.size()), [&](std::int64_t row) {
            const auto position = static_cast<float>(positions[static_cast<std::size_t>(row)]);
            for (std::int64_t i = 0; i < pairs; ++i) {
                const float angle = position * angles.frequencies[static_cast<std::size_t>(i)];
                angles.cosine.row(row)[i] = std::cos(angle);
                angles.sine.row(row)[i] = std::sin(angle);
            }
        });
    }
}

void LayerStack::attend(std::int64_t layer, Matrix &x, KeyStore &store, bool keysOnly)
{
    const LayerWeights &weights = m_weights.layers[static_cast<std::size_t>(layer)];
    const LayerConfig &shape = m_config.layers[static_cast<std::size_t>(layer)];
    const RowKernels &kernels = m_compute.kernels();
    m_normed.resize(x.rows(), x.columns());
    m_compute.forRows(x.rows(), [&](std::int64_t row) {
        kernels.rmsNorm(m_normed.row(row), x.row(row), weights.inputNorm.data(), x.columns(), m_epsilon);
    });

    Section project(m_compute);
    project.addProduct(m_normed, weights.attention.query, m_queries);
    project.addProduct(m_normed, weights.attention.key, m_keys);
    if (shape.hasValueProjection)
        project.addProduct(m_normed, weights.attention.value, m_values);
    else
        m_values.resize(x.rows(), m_keys.columns());
    project.run();
    prepareHeads(layer, store);
    if (keysOnly)
        return;

    const std::vector<QueryGroup> groups = store.groups(layer);
    Section attention(m_compute);
    addAttention(attention, m_compute, groups, KvLayout(shape), m_config.attentionHeads, m_queries, m_attended);
    attention.run();
    Section output(m_compute);
    output.addProduct(m_attended, weights.attention.output, m_projected);
    output.run();
    m_compute.forRows(x.rows(), [&](std::int64_t row) {
        kernels.addRmsNorm(x.row(row), m_projected.row(row), weights.postAttentionNorm.data(), x.columns(), m_epsilon);
    });
}

// Norms and rotations per head; v is normed without a weight and, where a layer has no v projection, is the k
// projection before its norm.
void LayerStack::prepareHeads(std::int64_t layer, KeyStore &store)
{
    const AttentionWeights &weights = m_weights.layers[static_cast<std::size_t>(layer)].attention;
    const LayerConfig &shape = m_config.layers[static_cast<std::size_t>(layer)];
    const Angles &angles = m_angles[m_anglesOfLayer[static_cast<std::size_t>(layer)]];
    const RowKernels &kernels = m_compute.kernels();
    const std::int64_t headDim = shape.headDim;
    m_compute.forRows(m_queries.rows(), [&](std::int64_t row) {
        const auto rotate = [&](float *head) {
            kernels.rotate(head, angles.cosine.row(row), angles.sine.row(row), shape.rotatedPairs, headDim / 2);
        };
        for (std::int64_t head = 0; head < m_config.attentionHeads; ++head) {
            float *query = m_queries.row(row) + head * headDim;
            kernels.rmsNorm(query, query, weights.queryNorm.data(), headDim, m_epsilon);
            rotate(query);
        }
        for (std::int64_t head = 0; head < shape.kvHeads; ++head) {
            float *key = m_keys.row(row) + head * headDim;
            float *value = m_values.row(row) + head * headDim;
            kernels.rmsNorm(value, shape.hasValueProjection ? value : key, nullptr, headDim, m_epsilon);
            kernels.rmsNorm(key, key, weights.keyNorm.data(), headDim, m_epsilon);
            rotate(key);
        }
        store.write(layer, row, m_keys.row(row), m_values.row(row));
    });
}

void LayerStack::feedForward(std::int64_t layer, Role role, Matrix &x, Trace *trace)
{
    const LayerWeights &weights = m_weights.layers[static_cast<std::size_t>(layer)];
    const RowKernels &kernels = m_compute.kernels();
    const std::int64_t hidden = x.columns();
    const auto chosen = static_cast<std::size_t>(m_config.expertsPerToken);
    for (Matrix *input : {&m_denseInput, &m_routerInput, &m_expertInput})
        input->resize(x.rows(), hidden);
    m_compute.forRows(x.rows(), [&](std::int64_t row) {
        kernels.rmsNorm(m_denseInput.row(row), x.row(row), weights.preFeedForwardNorm.data(), hidden, m_epsilon);
        kernels.rmsNorm(m_routerInput.row(row), x.row(row), weights.routerScale.data(), hidden, m_epsilon);
        kernels.rmsNorm(m_expertInput.row(row), x.row(row), weights.preFeedForwardNorm2.data(), hidden, m_epsilon);
    });

    Section first(m_compute);
    first.addGatedProduct(m_denseInput, weights.mlp.gate, weights.mlp.up, m_denseInner);
    first.addProduct(m_routerInput, weights.router, m_routerLogits);
    first.run();

    m_routing.experts.resize(static_cast<std::size_t>(x.rows()) * chosen);
    m_routing.weights.resize(m_routing.experts.size());
    m_compute.forRows(x.rows(), [&](std::int64_t row) {
        const std::size_t at = static_cast<std::size_t>(row) * chosen;
        chooseExperts({m_routerLogits.row(row), static_cast<std::size_t>(m_routerLogits.columns())},
                      weights.perExpertScale, std::span(m_routing.experts).subspan(at, chosen),
                      std::span(m_routing.weights).subspan(at, chosen));
    });
    if (trace != nullptr)
        trace->routings.push_back(m_routing);

    Section second(m_compute);
    m_mixture.addExperts(second, m_compute, weights.experts, m_expertInput, m_routing, m_config.expertsPerToken);
    second.addProduct(m_denseInner, weights.mlp.down, m_denseOutput);
    second.run();

    const float scalar = role == Role::Encoder ? weights.encoderScalar : weights.decoderScalar;
    m_compute.forRows(x.rows(), [&](std::int64_t row) {
        float *dense = m_denseOutput.row(row);
        float *experts = m_projected.row(row); // free by now
        kernels.rmsNorm(dense, dense, weights.postFeedForwardNorm1.data(), hidden, m_epsilon);
        m_mixture.combine(kernels, m_routing, row, experts);
        kernels.addRmsNorm(dense, experts, weights.postFeedForwardNorm2.data(), hidden, m_epsilon);
        kernels.addRmsNorm(x.row(row), dense, weights.postFeedForwardNorm.data(), hidden, m_epsilon);
        kernels.scale(x.row(row), scalar, hidden);
    });
}

} // namespace palimpsest::cpu
