// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/backend.h"
#include "engine/checkpoint.h"
#include "engine/cuda/activations.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/forward.h"
#include "engine/cuda/kv_cache.h"
#include "engine/cuda/step_graphs.h"
#include "engine/cuda/step_inputs.h"
#include "engine/cuda/weight_upload.h"
#include "engine/device_diagnostics.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace palimpsest::cuda {

/// The soft embedding of one canvas between its steps, [positions, hidden] fp32 on the device.
class CudaSelfConditioning final : public SelfConditioning
{
public:
    void reset() override { m_active = false; }

    /// The signal of the last step where there is one that still exists.
    [[nodiscard]] const float *signal(const Device &device) const;
    /// Where the next signal of `bytes` goes.
    [[nodiscard]] float *beginUpdate(const std::shared_ptr<Device> &device, std::int64_t bytes);

private:
    DeviceBuffer m_memory;
    std::uint64_t m_epoch = 0;
    bool m_active = false;
};

/// Intermediate results of one pass, copied to the host, for tests.
struct Trace
{
    std::vector<float> input;                         ///< what layer 0 reads, [rows, hidden]
    std::vector<std::vector<float>> layerOutputs;     ///< after layer_scalar, [rows, hidden] each
    std::vector<std::vector<std::int32_t>> expertIds; ///< one a layer, [rows, expertsPerToken]
    std::vector<std::vector<float>> slotWeights;
    std::vector<float> logits;           ///< raw, [rows, vocabulary], of the last canvas
    std::vector<std::int32_t> denseRows; ///< rows whose soft embedding took the dense product, one a canvas
};

/// The CUDA backend. Public beside `makeCudaBackend` so that tests can look inside.
///
/// After an error that leaves the device unusable the call at work fails, and the next one restarts the device and
/// loads the weights again; contexts from before are gone (`fork` gives null, `denoise` and `encode` refuse them). If
/// that fails or the device is lost again before a step succeeded, every call fails.
class CudaModel final : public Backend, public DeviceDiagnostics
{
public:
    CudaModel(std::shared_ptr<const Checkpoint> checkpoint, CudaBackendSettings settings, const LoadProgress &progress);

    [[nodiscard]] const ModelConfig &config() const noexcept override { return m_config; }
    [[nodiscard]] const BackendInfo &info() const noexcept override { return m_info; }
    [[nodiscard]] std::unique_ptr<Sequence> newSequence() override;
    [[nodiscard]] std::unique_ptr<Sequence> fork(const Sequence &source, std::int64_t length) override;
    bool encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop) override;
    [[nodiscard]] std::unique_ptr<SelfConditioning> newSelfConditioning() override;
    void denoise(std::span<const DenoiseJob> jobs) override;

    [[nodiscard]] std::vector<StageTime> timeStages(std::span<const DenoiseJob> jobs) override;
    [[nodiscard]] DeviceRates measureRates() override;
    [[nodiscard]] DeviceMemory memory() override;

    // For tests.
    [[nodiscard]] Device &device() noexcept { return *m_device; }
    [[nodiscard]] std::int64_t graphReplays() const noexcept { return m_state->graphs.replays(); }
    /// The next calls run kernel by kernel and record what they compute, until set to null.
    void setTrace(Trace *trace) noexcept { m_trace = trace; }
    /// One layer of the decoder alone for the canvas of `job`: `x` [canvas, hidden] goes in and comes out.
    void runLayer(std::int64_t layer, const DenoiseJob &job, std::vector<float> &x, Trace &trace);
    /// A layer's cached keys or values at one position, [kvHeads, headDim].
    [[nodiscard]] std::vector<float> cached(const Sequence &sequence, std::int64_t layer, std::int64_t position,
                                            bool keys);
    /// Overwrites them, rounded to what the cache holds.
    void setCached(const Sequence &sequence, std::int64_t layer, std::int64_t position, bool keys,
                   std::span<const float> values);

private:
    /// Everything that lives in the device's memory; thrown away as a whole when the device is restarted.
    struct State
    {
        State(const std::shared_ptr<Device> &device, const ModelConfig &config, Precision precision);

        DeviceWeights weights;
        std::shared_ptr<PagePools> pools;
        StepInputs inputs;
        DeviceBuffer activationMemory;
        ActivationSizes sizes;
        Activations activations;
        PinnedBuffer results;
        StepGraphs graphs;
        std::uint64_t graphGeneration = 0; ///< sum of the generations of the memory that the graphs refer to
    };

    void load(const LoadProgress &progress);
    void ensureDevice();
    void ensureActivations(const ActivationSizes &sizes);
    [[nodiscard]] CudaSequence &own(const Sequence &sequence) const;
    void checkIds(std::span<const TokenId> ids) const;
    void encodeChunk(CudaSequence &sequence, std::span<const TokenId> ids);
    [[nodiscard]] StepShape prepareStep(std::span<const DenoiseJob> jobs);
    void denoiseGroup(std::span<const DenoiseJob> jobs, StageClock *clock);
    void bringSignals(std::span<const DenoiseJob> jobs, const StepShape &shape);
    void keepSignals(std::span<const DenoiseJob> jobs, const StepShape &shape);
    void readResults(std::span<const DenoiseJob> jobs, const StepShape &shape);
    void dropStaleGraphs();
    [[nodiscard]] std::unique_ptr<Forward> forward();
    [[nodiscard]] LayerProbe probeInto(Trace &trace, std::int64_t rows);
    /// The raw logits of the step's last canvas.
    [[nodiscard]] std::vector<float> lastLogits(const StepShape &shape, std::int64_t rows);
    /// Where they lie: bytes from the start of the layer's pool, and how far it is to the next head.
    struct CachePlace
    {
        std::byte *first = nullptr;
        std::size_t headBytes = 0;
        std::size_t pitch = 0;
        std::size_t heads = 0;
    };
    [[nodiscard]] CachePlace cachePlace(const Sequence &sequence, std::int64_t layer, std::int64_t position, bool keys);
    template <typename T>
    [[nodiscard]] std::vector<T> toHost(const T *source, std::int64_t count);

    std::shared_ptr<const Checkpoint> m_checkpoint;
    ModelConfig m_config;
    CudaBackendSettings m_settings;
    Precision m_precision;
    BackendInfo m_info;
    std::shared_ptr<Device> m_device;
    std::unique_ptr<State> m_state;
    Trace *m_trace = nullptr;
    bool m_restarted = false; ///< and no step has succeeded since
};

} // namespace palimpsest::cuda
