// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cpu/attention.h"
#include "engine/cpu/compute.h"
#include "engine/cpu/mixture.h"
#include "engine/cpu/model_weights.h"

#include <cstdint>
#include <vector>

namespace palimpsest::cpu {

/// The two roles of one set of weights (design, section 2).
enum class Role { Encoder, Decoder };

/// Where the rows' keys and values go and which keys each row sees: a prompt's cache, or canvases behind theirs.
class KeyStore
{
public:
    virtual ~KeyStore() = default;
    /// Keeps one row's keys (normed, rotated) and values of a layer; rows in parallel.
    virtual void write(std::int64_t layer, std::int64_t row, const float *keys, const float *values) = 0;
    /// What the rows see in that layer, their own keys included; called after all rows were written.
    [[nodiscard]] virtual std::vector<QueryGroup> groups(std::int64_t layer) const = 0;
};

/// Intermediate results, recorded where a test asks for them.
struct Trace
{
    std::vector<float> input;                     ///< what layer 0 reads, [rows, hidden]
    std::vector<std::vector<float>> layerOutputs; ///< after layer_scalar, [rows, hidden] each
    std::vector<Routing> routings;                ///< one a layer
    std::vector<float> lastHidden;                ///< after the final norm
    std::vector<float> logits;                    ///< after the soft-cap, [rows, vocabulary]; canvases only
};

/// All layers over a matrix of rows.
class LayerStack
{
public:
    LayerStack(const ModelConfig &config, const ModelWeights &weights, Compute &compute);

    /// Runs all layers in place on `x` [rows, hidden]; `positions` are the rows' absolute positions. The encoder role
    /// ends with the last layer's keys and values, which is all that it is for, unless a trace is asked for.
    void run(Role role, Matrix &x, const std::vector<std::int64_t> &positions, KeyStore &store, Trace *trace);

private:
    void attend(std::int64_t layer, Matrix &x, KeyStore &store, bool keysOnly);
    void prepareHeads(std::int64_t layer, KeyStore &store);
    void feedForward(std::int64_t layer, Role role, Matrix &x, Trace *trace);
    void computeAngles(const std::vector<std::int64_t> &positions);

    const ModelConfig &m_config;
    const ModelWeights &m_weights;
    Compute &m_compute;
    float m_epsilon;

    // Activations of the layer at work, [rows, ...].
    Matrix m_normed;
    Matrix m_queries;
    Matrix m_keys;
    Matrix m_values;
    Matrix m_attended;
    Matrix m_projected;
    Matrix m_denseInput;
    Matrix m_routerInput;
    Matrix m_expertInput;
    Matrix m_routerLogits;
    Matrix m_denseInner;
    Matrix m_denseOutput;
    Routing m_routing;
    Mixture m_mixture;

    /// cos and sin of position * frequency, per distinct set of frequencies: [rows, pairs].
    struct Angles
    {
        std::vector<float> frequencies;
        Matrix cosine;
        Matrix sine;
    };
    std::vector<Angles> m_angles;
    std::vector<std::size_t> m_anglesOfLayer;
};

} // namespace palimpsest::cpu
