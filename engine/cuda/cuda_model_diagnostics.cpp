// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/cuda_model.h"

#include "engine/half_precision.h"
#include "kernels/dense_gemm.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace palimpsest::cuda {

namespace {

/// Median milliseconds of `work` on the device.
double medianMs(Device &device, const std::function<void()> &work)
{
    constexpr int kRepeats = 7;
    std::vector<double> times;
    work(); // warm-up
    for (int i = 0; i < kRepeats; ++i) {
        const std::shared_ptr<Device> borrowed(&device, [](Device *) {});
        StageClock clock(borrowed);
        clock.mark("start");
        work();
        clock.mark("work");
        times.push_back(clock.times().front().ms);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

} // namespace

template <typename T>
std::vector<T> CudaModel::toHost(const T *source, std::int64_t count)
{
    std::vector<T> values(static_cast<std::size_t>(count));
    m_device->synchronise();
    m_device->check(cudaMemcpy(values.data(), source, values.size() * sizeof(T), cudaMemcpyDeviceToHost),
                    "read back values");
    return values;
}

template std::vector<float> CudaModel::toHost(const float *, std::int64_t);
template std::vector<std::uint16_t> CudaModel::toHost(const std::uint16_t *, std::int64_t);
template std::vector<std::int32_t> CudaModel::toHost(const std::int32_t *, std::int64_t);

std::vector<float> CudaModel::lastLogits(const StepShape &shape, std::int64_t rows)
{
    const Activations &a = m_state->activations;
    // A pass in fp32 has one canvas at a time.
    const std::int64_t before = m_precision == Precision::Fp32 ? 0 : (shape.sequences - 1) * shape.rowStride;
    const std::int64_t first = before * m_config.vocabSize;
    const std::int64_t count = rows * m_config.vocabSize;
    if (a.logitType == kernels::LogitType::Fp32)
        return toHost(static_cast<const float *>(a.logits) + first, count);
    const std::vector<std::uint16_t> halves = toHost(static_cast<const std::uint16_t *>(a.logits) + first, count);
    std::vector<float> logits(halves.size());
    std::ranges::transform(halves, logits.begin(), [](std::uint16_t bits) { return fp16ToFloat(bits); });
    return logits;
}

LayerProbe CudaModel::probeInto(Trace &trace, std::int64_t rows)
{
    trace = {};
    return [this, &trace, rows](std::int64_t layer) {
        const Activations &a = m_state->activations;
        std::vector<float> x = toHost(a.x, rows * m_config.hiddenSize);
        if (layer < 0) {
            trace.input = std::move(x);
            return;
        }
        trace.layerOutputs.push_back(std::move(x));
        trace.expertIds.push_back(toHost<std::int32_t>(a.expertIds, rows * m_config.expertsPerToken));
        trace.slotWeights.push_back(toHost<float>(a.slotWeights, rows * m_config.expertsPerToken));
    };
}

std::vector<StageTime> CudaModel::timeStages(std::span<const DenoiseJob> jobs)
{
    ensureDevice();
    StageClock clock(m_device);
    denoiseGroup(jobs, &clock);
    return clock.times();
}

DeviceRates CudaModel::measureRates()
{
    ensureDevice();
    constexpr std::int64_t kCopyBytes = std::int64_t{1} << 30;
    constexpr std::int64_t kSide = 8192;
    constexpr double kMilli = 1e-3;
    DeviceRates rates;
    {
        const DeviceBuffer from(m_device, kCopyBytes, "measuring");
        const DeviceBuffer to(m_device, kCopyBytes, "measuring");
        const double ms = medianMs(*m_device, [&] {
            m_device->check(cudaMemcpyAsync(to.as<std::byte>(), from.as<std::byte>(), kCopyBytes,
                                            cudaMemcpyDeviceToDevice, m_device->stream()),
                            "measure copies");
        });
        rates.copyBytesPerSecond = 2.0 * static_cast<double>(kCopyBytes) / (ms * kMilli);
    }
    // The embedding's own numbers are the operands: zeros would run faster than anything real.
    const std::int64_t rows = std::min(kSide, m_config.vocabSize);
    const DeviceBuffer out(m_device, rows * rows * static_cast<std::int64_t>(sizeof(Bf16)), "measuring");
    kernels::DenseGemmArgs product;
    product.rows = rows;
    product.outputs = rows;
    product.inputs = m_config.hiddenSize;
    product.x = m_state->weights.pointers.embedding;
    product.weight = m_state->weights.pointers.embedding;
    product.epilogue = kernels::GemmEpilogue::HalfWidth;
    product.out = out.as<Bf16>();
    const double ms = medianMs(
        *m_device, [&] { m_device->check(kernels::denseGemm(product, m_device->stream()), "measure products"); });
    rates.productFlops = 2.0 * static_cast<double>(rows) * static_cast<double>(rows) *
                         static_cast<double>(m_config.hiddenSize) / (ms * kMilli);
    return rates;
}

DeviceMemory CudaModel::memory()
{
    ensureDevice();
    std::size_t available = 0;
    std::size_t total = 0;
    m_device->check(cudaMemGetInfo(&available, &total), "ask for the free memory");
    return {.weightBytes = m_state->weights.memory.bytes(),
            .activationBytes = m_state->activationMemory.bytes(),
            .cacheBytes = m_state->pools->sliding.bytes() + m_state->pools->full.bytes(),
            .freeBytes = static_cast<std::int64_t>(available),
            .totalBytes = static_cast<std::int64_t>(total)};
}

void CudaModel::runLayer(std::int64_t layer, const DenoiseJob &job, std::vector<float> &x, Trace &trace)
{
    ensureDevice();
    const StepShape shape = prepareStep({&job, 1});
    x.resize(static_cast<std::size_t>(shape.rows() * m_config.hiddenSize));
    m_device->synchronise();
    // On the model's own stream: a plain copy may still be under way when it returns, and this stream waits for no
    // other.
    m_device->check(cudaMemcpyAsync(m_state->activations.x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice,
                                    m_device->stream()),
                    "send a layer's input");
    const std::unique_ptr<Forward> pass = forward();
    const LayerProbe probe = probeInto(trace, shape.rows());
    pass->setProbe(&probe);
    pass->angles(shape);
    pass->normaliseFor(layer, shape);
    pass->layers(Role::Decoder, shape, layer, layer + 1, false);
    x = trace.layerOutputs.front();
}

CudaModel::CachePlace CudaModel::cachePlace(const Sequence &sequence, std::int64_t layer, std::int64_t position,
                                            bool keys)
{
    const LayerConfig &shape = m_config.layers[static_cast<std::size_t>(layer)];
    const std::int64_t page =
        own(sequence).pages(shape.kind)[static_cast<std::size_t>(position / kernels::kPagePositions)];
    const kernels::KvPool pool = m_state->pools->of(shape.kind).layer(layer);
    const std::size_t element = m_precision == Precision::Fp32 ? sizeof(float) : sizeof(Bf16);
    // The first head's row; the other heads' follow at a distance of a page's positions.
    const std::int64_t offset =
        page * kernels::pageElements(shape.kvHeads, shape.headDim) + position % kernels::kPagePositions * shape.headDim;
    CachePlace place;
    place.first =
        reinterpret_cast<std::byte *>(keys ? pool.keys : pool.values) + offset * static_cast<std::int64_t>(element);
    place.headBytes = static_cast<std::size_t>(shape.headDim) * element;
    place.pitch = place.headBytes * kernels::kPagePositions;
    place.heads = static_cast<std::size_t>(shape.kvHeads);
    return place;
}

std::vector<float> CudaModel::cached(const Sequence &sequence, std::int64_t layer, std::int64_t position, bool keys)
{
    const CachePlace place = cachePlace(sequence, layer, position, keys);
    std::vector<std::byte> bytes(place.headBytes * place.heads);
    m_device->check(cudaMemcpy2D(bytes.data(), place.headBytes, place.first, place.pitch, place.headBytes, place.heads,
                                 cudaMemcpyDeviceToHost),
                    "read the cache");
    if (m_precision != Precision::Fp32) {
        std::vector<float> wide(bytes.size() / sizeof(Bf16));
        bf16ToFloat(bytes.data(), wide);
        return wide;
    }
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

void CudaModel::setCached(const Sequence &sequence, std::int64_t layer, std::int64_t position, bool keys,
                          std::span<const float> values)
{
    const CachePlace place = cachePlace(sequence, layer, position, keys);
    std::vector<Bf16> rounded(values.size());
    std::ranges::transform(values, rounded.begin(), floatToBf16);
    const void *const source =
        m_precision == Precision::Fp32 ? static_cast<const void *>(values.data()) : rounded.data();
    m_device->check(cudaMemcpy2DAsync(place.first, place.pitch, source, place.headBytes, place.headBytes, place.heads,
                                      cudaMemcpyHostToDevice, m_device->stream()),
                    "write the cache");
    m_device->synchronise();
}

} // namespace palimpsest::cuda
