// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/cuda_model.h"

#include "engine/cuda/fp32_forward.h"
#include "engine/cuda/memory_need.h"
#include "engine/error.h"

#include <algorithm>
#include <string>

namespace palimpsest::cuda {

namespace {

/// Rows of a step at most: canvases beyond go into a next pass, so that activations stay within what a prompt's chunk
/// takes.
constexpr std::int64_t kMostStepRows = 2048;
/// Canvases shorter than the model's are rounded up to a multiple of this, so that few graphs serve all lengths.
constexpr std::int64_t kCanvasGranule = 32;
constexpr std::int64_t kLeastContextBucket = 256;

std::int64_t roundedUp(std::int64_t value, std::int64_t granule)
{
    return (value + granule - 1) / granule * granule;
}

/// Contexts are counted in powers of two, so that a graph lasts until the context has doubled.
std::int64_t contextBucket(std::int64_t positions)
{
    std::int64_t bucket = positions == 0 ? 0 : kLeastContextBucket;
    while (bucket < positions)
        bucket *= 2;
    return bucket;
}

} // namespace

const float *CudaSelfConditioning::signal(const Device &device) const
{
    return m_active && m_epoch == device.epoch() ? m_memory.as<float>() : nullptr;
}

float *CudaSelfConditioning::beginUpdate(const std::shared_ptr<Device> &device, std::int64_t bytes)
{
    if (m_memory.bytes() < bytes || m_epoch != device->epoch()) {
        m_memory = DeviceBuffer(device, bytes, "self-conditioning");
        m_epoch = device->epoch();
    }
    m_active = true;
    return m_memory.as<float>();
}

CudaModel::State::State(const std::shared_ptr<Device> &device, const ModelConfig &config, Precision precision)
    : pools(std::make_shared<PagePools>(device, config, precision)), inputs(device), graphs(device)
{
}

CudaModel::CudaModel(std::shared_ptr<const Checkpoint> checkpoint, CudaBackendSettings settings,
                     const LoadProgress &progress)
    : m_checkpoint(std::move(checkpoint)),
      m_config(m_checkpoint->config()),
      m_settings(settings),
      m_precision(precisionFor(m_config, settings.precision)),
      m_device(std::make_shared<Device>(settings.device))
{
    load(progress);
    m_info.kind = "cuda";
    m_info.deviceName = m_device->name();
    m_info.weightBytes = m_state->weights.memory.bytes();
}

void CudaModel::load(const LoadProgress &progress)
{
    m_state = std::make_unique<State>(m_device, m_config, m_precision);
    m_state->weights = uploadWeights(*m_checkpoint, m_device, memoryNeed(*m_checkpoint, m_precision), progress);
    ensureActivations(leastActivations(m_config));
    m_device->synchronise();
}

void CudaModel::ensureDevice()
{
    const bool loaded = m_state != nullptr && m_state->weights.memory.bytes() > 0;
    if (loaded && !m_device->lost())
        return;
    if (m_restarted)
        throw Error(ErrorKind::Backend, m_device->name() + ": the device failed again after a restart; start the "
                                                           "program anew");
    m_restarted = true;
    m_device->restart(); // first, so that what is thrown away is not freed into the new epoch
    m_state.reset();
    load({});
}

void CudaModel::ensureActivations(const ActivationSizes &sizes)
{
    State &state = *m_state;
    const ActivationSizes wanted = state.sizes.unitedWith(sizes);
    if (wanted == state.sizes)
        return;
    state.graphs.clear();
    state.sizes = {};
    state.activationMemory = {}; // before the larger one: the peak is one of them
    state.activationMemory =
        DeviceBuffer(m_device, layOutActivations(m_config, m_precision, wanted, nullptr).bytes, "a step's activations");
    state.activations = layOutActivations(m_config, m_precision, wanted, state.activationMemory.as<std::byte>());
    const std::int64_t resultBytes = wanted.rows * static_cast<std::int64_t>(sizeof(kernels::RowSample));
    state.results = PinnedBuffer(m_device, resultBytes, "a step's results");
    state.sizes = wanted;
}

std::unique_ptr<Forward> CudaModel::forward()
{
    const Forward::Parts parts{.config = m_config,
                               .weights = m_state->weights.pointers,
                               .pools = *m_state->pools,
                               .activations = m_state->activations,
                               .inputs = m_state->inputs};
    if (m_precision == Precision::Fp32)
        return std::make_unique<Fp32Forward>(*m_device, parts);
    return std::make_unique<Forward>(*m_device, parts);
}

CudaSequence &CudaModel::own(const Sequence &sequence) const
{
    // Sequences are this backend's own by contract, and no caller keeps a const one that was not made non-const here.
    auto &mine = const_cast<CudaSequence &>(static_cast<const CudaSequence &>(sequence));
    if (!mine.belongsTo(*m_state->pools))
        throw Error(ErrorKind::Backend,
                    m_device->name() + ": the device was restarted after a failure; begin this generation anew");
    return mine;
}

std::unique_ptr<Sequence> CudaModel::newSequence()
{
    ensureDevice();
    return std::make_unique<CudaSequence>(m_state->pools);
}

std::unique_ptr<Sequence> CudaModel::fork(const Sequence &source, std::int64_t length)
{
    ensureDevice();
    const auto &mine = static_cast<const CudaSequence &>(source);
    return mine.belongsTo(*m_state->pools) ? mine.fork(length) : nullptr;
}

std::unique_ptr<SelfConditioning> CudaModel::newSelfConditioning()
{
    return std::make_unique<CudaSelfConditioning>();
}

void CudaModel::checkIds(std::span<const TokenId> ids) const
{
    for (const TokenId id : ids)
        if (id < 0 || id >= m_config.vocabSize)
            throw Error(ErrorKind::InvalidArgument,
                        "token id " + std::to_string(id) + " is outside the vocabulary of " +
                            std::to_string(m_config.vocabSize),
                        "ids");
}

bool CudaModel::encode(Sequence &sequence, std::span<const TokenId> ids, std::stop_token stop)
{
    ensureDevice();
    CudaSequence &cache = own(sequence);
    checkIds(ids);
    if (cache.length() + std::ssize(ids) > m_config.maxPositions)
        throw Error(ErrorKind::ContextLength, std::to_string(cache.length() + std::ssize(ids)) +
                                                  " tokens do not fit the model's context of " +
                                                  std::to_string(m_config.maxPositions));
    while (!ids.empty()) {
        if (stop.stop_requested())
            return false;
        const auto chunk = ids.first(std::min(ids.size(), static_cast<std::size_t>(m_settings.encodeChunk)));
        encodeChunk(cache, chunk);
        ids = ids.subspan(chunk.size());
    }
    return true;
}

void CudaModel::encodeChunk(CudaSequence &sequence, std::span<const TokenId> ids)
{
    const std::int64_t rows = std::ssize(ids);
    ensureActivations({.rows = activationRows(rows), .sequences = 0, .canvasRows = 0});
    sequence.reserve(rows);
    const StepShape shape{.sequences = 1, .rowStride = rows, .mostCached = contextBucket(sequence.length())};
    m_state->inputs.begin(shape, 0);
    m_state->inputs.putSequence(0, sequence, ids, m_config.slidingWindow);
    m_state->inputs.upload();
    const std::unique_ptr<Forward> pass = forward();
    LayerProbe probe;
    if (m_trace != nullptr) {
        probe = probeInto(*m_trace, rows);
        pass->setProbe(&probe);
    }
    pass->encode(shape, m_trace != nullptr);
    m_device->synchronise();
    sequence.advance(rows);
}

void CudaModel::denoise(std::span<const DenoiseJob> jobs)
{
    ensureDevice();
    const auto mostJobs = static_cast<std::size_t>(
        std::max<std::int64_t>(1, kMostStepRows / std::max<std::int64_t>(1, m_config.canvasLength)));
    for (const DenoiseJob &job : jobs) {
        checkIds(job.canvas);
        (void)own(*job.prefix);
    }
    while (!jobs.empty()) {
        const auto group = jobs.first(std::min(jobs.size(), mostJobs));
        denoiseGroup(group, nullptr);
        jobs = jobs.subspan(group.size());
    }
    m_restarted = false;
}

StepShape CudaModel::prepareStep(std::span<const DenoiseJob> jobs)
{
    StepShape shape{.sequences = std::ssize(jobs), .rowStride = 0, .mostCached = 0};
    std::int64_t biasCount = 0;
    for (const DenoiseJob &job : jobs) {
        shape.rowStride = std::max(shape.rowStride, std::ssize(job.canvas));
        shape.mostCached = std::max(shape.mostCached, job.prefix->length());
        biasCount += std::ssize(job.logitBias);
    }
    if (shape.rowStride < m_config.canvasLength)
        shape.rowStride = std::min(m_config.canvasLength, roundedUp(shape.rowStride, kCanvasGranule));
    shape.mostCached = contextBucket(shape.mostCached);
    ensureActivations(
        {.rows = activationRows(shape.rows()), .sequences = shape.sequences, .canvasRows = shape.rowStride});

    StepInputs &inputs = m_state->inputs;
    inputs.begin(shape, biasCount);
    for (std::int64_t i = 0; i < shape.sequences; ++i) {
        const DenoiseJob &job = jobs[static_cast<std::size_t>(i)];
        inputs.putSequence(i, own(*job.prefix), job.canvas, m_config.slidingWindow);
        inputs.putSettings(i, job);
    }
    inputs.upload();
    return shape;
}

void CudaModel::denoiseGroup(std::span<const DenoiseJob> jobs, StageClock *clock)
{
    const StepShape shape = prepareStep(jobs);
    bringSignals(jobs, shape);
    const std::unique_ptr<Forward> pass = forward();
    LayerProbe probe;
    if (m_trace != nullptr) {
        probe = probeInto(*m_trace, shape.rows());
        pass->setProbe(&probe);
    }
    pass->setClock(clock);
    if (m_settings.graphs && clock == nullptr && m_trace == nullptr) {
        dropStaleGraphs();
        m_state->graphs.run(shape, [&] { pass->denoise(shape); });
    } else {
        pass->denoise(shape);
    }
    keepSignals(jobs, shape);
    readResults(jobs, shape);
    if (m_trace != nullptr) {
        m_trace->logits = lastLogits(shape, std::ssize(jobs.back().canvas));
        m_trace->denseRows = toHost(m_state->activations.denseRows, shape.sequences);
    }
}

void CudaModel::dropStaleGraphs()
{
    const State &state = *m_state;
    const std::uint64_t generation =
        state.inputs.generation() + state.pools->sliding.generation() + state.pools->full.generation();
    if (generation != state.graphGeneration)
        m_state->graphs.clear();
    m_state->graphGeneration = generation;
}

void CudaModel::bringSignals(std::span<const DenoiseJob> jobs, const StepShape &shape)
{
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        float *const target =
            m_state->activations.soft + static_cast<std::int64_t>(i) * shape.rowStride * m_config.hiddenSize;
        const std::size_t bytes = jobs[i].canvas.size() * static_cast<std::size_t>(m_config.hiddenSize) * sizeof(float);
        const auto *conditioning = static_cast<const CudaSelfConditioning *>(jobs[i].conditioning);
        const float *const signal = conditioning == nullptr ? nullptr : conditioning->signal(*m_device);
        m_device->check(signal == nullptr
                            ? cudaMemsetAsync(target, 0, bytes, m_device->stream())
                            : cudaMemcpyAsync(target, signal, bytes, cudaMemcpyDeviceToDevice, m_device->stream()),
                        "bring the self-conditioning");
    }
}

void CudaModel::keepSignals(std::span<const DenoiseJob> jobs, const StepShape &shape)
{
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (jobs[i].conditioning == nullptr)
            continue;
        const float *const source =
            m_state->activations.soft + static_cast<std::int64_t>(i) * shape.rowStride * m_config.hiddenSize;
        const std::size_t bytes = jobs[i].canvas.size() * static_cast<std::size_t>(m_config.hiddenSize) * sizeof(float);
        float *const target = static_cast<CudaSelfConditioning *>(jobs[i].conditioning)
                                  ->beginUpdate(m_device, static_cast<std::int64_t>(bytes));
        m_device->check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, m_device->stream()),
                        "keep the self-conditioning");
    }
}

void CudaModel::readResults(std::span<const DenoiseJob> jobs, const StepShape &shape)
{
    static_assert(kernels::kSampleAlternatives == kAlternativeCount);
    const auto *const samples = m_state->results.as<const kernels::RowSample>();
    m_device->check(cudaMemcpyAsync(m_state->results.as<kernels::RowSample>(), m_state->activations.samples,
                                    static_cast<std::size_t>(shape.rows()) * sizeof(kernels::RowSample),
                                    cudaMemcpyDeviceToHost, m_device->stream()),
                    "read a step's results");
    m_device->check(cudaStreamSynchronize(m_device->stream()), "compute a denoising step");
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto *const rows = samples + static_cast<std::int64_t>(i) * shape.rowStride;
        for (std::size_t position = 0; position < jobs[i].results.size(); ++position) {
            const kernels::RowSample &from = rows[position];
            PositionResult &to = jobs[i].results[position];
            to.argmax = from.argmax;
            to.sampled = from.sampled;
            to.entropyNats = from.entropyNats;
            for (int a = 0; a < kAlternativeCount; ++a)
                to.alternatives.at(static_cast<std::size_t>(a)) = {from.alternativeIds[a],
                                                                   from.alternativeProbabilities[a]};
        }
    }
}

std::unique_ptr<Backend> makeCudaBackend(std::shared_ptr<const Checkpoint> checkpoint, CudaBackendSettings settings,
                                         const LoadProgress &progress)
{
    return std::make_unique<CudaModel>(std::move(checkpoint), settings, progress);
}

} // namespace palimpsest::cuda
