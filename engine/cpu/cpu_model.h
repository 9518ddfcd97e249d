// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"
#include "engine/cpu/compute.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/head.h"
#include "engine/cpu/kv_blocks.h"
#include "engine/cpu/layer_stack.h"
#include "engine/cpu/model_weights.h"

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace palimpsest::cpu {

/// The CPU backend. Public beside `makeCpuBackend` so that tests can look inside.
class CpuModel final : public Backend
{
public:
    CpuModel(std::shared_ptr<const Checkpoint> checkpoint, CpuBackendSettings settings, const LoadProgress &progress);

    [[nodiscard]] const ModelConfig &config() const noexcept override { return m_config; }
    [[nodiscard]] const BackendInfo &info() const noexcept override { return m_info; }
    [[nodiscard]] std::unique_ptr<Sequence> newSequence() override;
    [[nodiscard]] std::unique_ptr<Sequence> fork(const Sequence &source, std::int64_t length) override;
    bool encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop) override;
    [[nodiscard]] std::unique_ptr<SelfConditioning> newSelfConditioning() override;
    void denoise(std::span<const DenoiseJob> jobs) override;

    /// Records the next call's intermediate results (of its last chunk) until set to null.
    void setTrace(Trace *trace) noexcept { m_trace = trace; }

private:
    void checkIds(std::span<const TokenId> ids) const;
    void denoiseTogether(std::span<const DenoiseJob> jobs);
    void encodeChunk(CpuSequence &sequence, std::span<const TokenId> ids);
    void addSelfConditioning(std::span<const DenoiseJob> jobs);
    void normaliseFinal(Matrix &x);

    ModelConfig m_config;
    Compute m_compute;
    ModelWeights m_weights;
    LayerStack m_layers;
    Head m_head;
    BackendInfo m_info;
    Trace *m_trace = nullptr;

    Matrix m_x; ///< the residual stream of the call at work
    Matrix m_soft;
    Matrix m_softInner;
    Matrix m_softOutput;
    std::vector<std::size_t> m_shapeOfLayer; ///< index of the layer's (kvHeads, headDim) among the distinct ones
    std::vector<std::vector<std::unique_ptr<KvBlock>>> m_canvasBlocks; ///< keys of running canvases, [shape][block]
};

} // namespace palimpsest::cpu
