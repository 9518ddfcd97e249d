// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/cuda/activations.h"
#include "engine/cuda/kv_cache.h"
#include "engine/cuda/stage_clock.h"
#include "engine/cuda/step_inputs.h"
#include "engine/cuda/weight_layout.h"
#include "engine/model_config.h"
#include "kernels/embed.h"
#include "kernels/head_sample.h"
#include "kernels/moe_route.h"
#include "kernels/rms_norm.h"
#include "kernels/self_condition.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace palimpsest::cuda {

/// The two roles of one set of weights (design, section 2).
enum class Role { Encoder, Decoder };

/// Called behind a layer with its number, for tests that look between layers; layer -1 is the input of the first.
using LayerProbe = std::function<void(std::int64_t layer)>;

/// Launches passes of the model on the device's stream, and nothing else: no allocation, no waiting, so that a pass may
/// be captured in a graph. What it reads and writes outlives the work. Operands in bf16; Fp32Forward has its own way
/// with what is multiplied.
class Forward
{
public:
    struct Parts
    {
        const ModelConfig &config;
        const ModelPointers &weights;
        PagePools &pools;
        const Activations &activations;
        const StepInputs &inputs;
    };

    Forward(Device &device, const Parts &parts) : m_device(device), m_parts(parts), m_ropes(parts.config) {}
    virtual ~Forward() = default;
    Forward(const Forward &) = delete;
    Forward &operator=(const Forward &) = delete;

    void setClock(StageClock *clock) noexcept { m_clock = clock; }
    void setProbe(const LayerProbe *probe) noexcept { m_probe = probe; }

    /// Keys and values of a prompt's rows into the cache. The last layer ends with them, which is all the encoder is
    /// for, unless `wholeLayers`.
    void encode(const StepShape &shape, bool wholeLayers = false);
    /// A denoising step: `soft` goes in as the state of the last step and comes out as this one's; results in
    /// `samples`.
    void denoise(const StepShape &shape);
    /// The rotations of the shape's rows, which the layers read.
    void angles(const StepShape &shape);
    /// The layers alone, from what is in `x` and, normalised for layer `first`, in `normed`.
    void layers(Role role, const StepShape &shape, std::int64_t first, std::int64_t end, bool keysOnly);
    /// Normalises `x` for `layer`; behind the last one that is the final norm.
    virtual void normaliseFor(std::int64_t layer, const StepShape &shape);

protected:
    virtual void decoderInput(const StepShape &shape);
    virtual void project(std::int64_t layer, Role role, const StepShape &shape);
    virtual void attend(std::int64_t layer, Role role, const StepShape &shape);
    virtual void feedForward(std::int64_t layer, Role role, const StepShape &shape);
    /// Logits and results of all canvases, and their soft embeddings.
    virtual void head(const StepShape &shape);
    /// The norm that comes with the last write of x before `layer`.
    [[nodiscard]] virtual kernels::NormOutput nextNorm(std::int64_t layer) const;

    // What both ways share.
    void route(std::int64_t layer, const StepShape &shape);
    [[nodiscard]] kernels::EmbedArgs canvasEmbedding(const StepShape &shape) const;
    /// Samples `count` canvases from `first` on, whose logits lie at the beginning of `logits`.
    kernels::CanvasLogits sample(std::int64_t first, std::int64_t count, const StepShape &shape);
    [[nodiscard]] float embeddingScale() const noexcept;
    [[nodiscard]] float epsilon() const noexcept { return static_cast<float>(m_parts.config.rmsNormEpsilon); }
    void mark(const char *stage);
    void launched(cudaError_t status, const char *what);
    [[nodiscard]] const Parts &parts() const noexcept { return m_parts; }
    [[nodiscard]] const LayerWeights &weightsOf(std::int64_t layer) const
    {
        return m_parts.weights.layers[static_cast<std::size_t>(layer)];
    }
    [[nodiscard]] const float2 *anglesOf(std::int64_t layer) const
    {
        return m_parts.activations.angles[m_ropes.ofLayer[static_cast<std::size_t>(layer)]];
    }
    [[nodiscard]] cudaStream_t stream() const noexcept { return m_device.stream(); }

private:
    /// Whether the launch behind a product may run beside it (kernels::DenseGemmArgs::besideNext).
    enum class Next { Afterwards, Beside };

    /// The output matrix behind attend(), added to x.
    void addAttention(std::int64_t layer, const StepShape &shape);
    [[nodiscard]] kernels::MoeRouteArgs routing(std::int64_t layer, const StepShape &shape) const;
    void experts(std::int64_t layer, const StepShape &shape);
    void gatedMlp(const GatedMlpWeights &weights, const Bf16 *in, std::int64_t rows, Next next);
    /// Leaves the product in `product`, in summands; returns how many.
    int outputProduct(const Bf16 *in, const Bf16 *weight, std::int64_t inputs, std::int64_t rows,
                      Next next = Next::Afterwards);

    Device &m_device;
    Parts m_parts;
    RopeSets m_ropes;
    StageClock *m_clock = nullptr;
    const LayerProbe *m_probe = nullptr;
};

} // namespace palimpsest::cuda
