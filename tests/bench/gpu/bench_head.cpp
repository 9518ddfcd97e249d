// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/head_sample.h"
#include "kernels/self_condition.h"

#include <cstring>
#include <type_traits>

using namespace palimpsest;
using namespace palimpsest::gpu_bench;
using gpu_check::DeviceArray;
using kernels::Bf16;

/// What follows the head product at the 26B shapes: sampling, and the soft embedding of a canvas and of a batch.
namespace {

constexpr std::int64_t kRows = 256;
constexpr std::int64_t kHidden = 2816;
constexpr std::int64_t kVocabulary = 262144;
constexpr std::int64_t kMostCanvases = 4;

/// T: what holds a logit.
template <typename T>
class Head
{
public:
    Head()
        : m_table(randomBf16(static_cast<std::size_t>(kVocabulary * kHidden), 0.02F)),
          m_settings(std::vector<kernels::SampleSettings>(kMostCanvases,
                                                          {.temperature = 0.6F, .seedLow = 1, .step = 3, .stream = 2})),
          m_workspace(static_cast<std::size_t>(kernels::headSampleWorkspace(kMostCanvases * kRows, kVocabulary))),
          m_softWorkspace(
              static_cast<std::size_t>(kernels::selfConditionWorkspace(kMostCanvases * kRows, kVocabulary, kHidden))),
          m_results(kMostCanvases * kRows),
          m_soft(static_cast<std::size_t>(kMostCanvases * kRows * kHidden)),
          m_dense(kMostCanvases),
          m_logits(static_cast<std::size_t>(kMostCanvases * kRows * kVocabulary))
    {
    }

    /// In all rows of a canvas but the first `dense` one id stands out.
    void setLogits(float spread, std::int64_t dense)
    {
        std::mt19937 random(2);
        std::vector<T> block;
        for (const float value : gpu_check::randomFloats(1U << 20U, random, spread))
            block.push_back(bits(value));
        for (std::size_t start = 0; start < m_logits.count(); start += block.size())
            gpu_check::ok(
                cudaMemcpy(m_logits.data() + start, block.data(), block.size() * sizeof(T), cudaMemcpyHostToDevice),
                "logits");
        const T peak = bits(40.0F);
        for (std::int64_t row = 0; row < kMostCanvases * kRows; ++row)
            if (row % kRows >= dense)
                gpu_check::ok(cudaMemcpy(m_logits.data() + row * kVocabulary + row % kRows * 977, &peak, sizeof peak,
                                         cudaMemcpyHostToDevice),
                              "peak");
    }

    double sampleTime(std::int64_t canvases)
    {
        return microsecondsEach(3, [&](int, cudaStream_t stream) {
            return kernels::headSample(logits(canvases), m_results.data(), stream);
        });
    }

    /// Of gathering and weights alone, and of all, behind a sampler that leaves what they read.
    double rowsTime(std::int64_t canvases) { return timeBehindSampler(canvases, kernels::selfConditionRows); }
    double conditionTime(std::int64_t canvases) { return timeBehindSampler(canvases, kernels::selfCondition); }

    [[nodiscard]] std::int32_t denseRows() const { return m_dense.host("dense rows")[0]; }

private:
    using Condition = cudaError_t (*)(const kernels::SelfConditionArgs &, cudaStream_t);

    double timeBehindSampler(std::int64_t canvases, Condition call)
    {
        gpu_check::ok(kernels::headSample(logits(canvases), m_results.data(), nullptr), "sample");
        gpu_check::ok(cudaDeviceSynchronize(), "sample");
        return microsecondsEach(3, [&](int, cudaStream_t stream) { return call(condition(canvases), stream); });
    }
    static T bits(float value)
    {
        if constexpr (kType == kernels::LogitType::Fp32)
            return value;
        else
            return gpu_check::toFp16(value);
    }
    [[nodiscard]] kernels::CanvasLogits logits(std::int64_t canvases) const
    {
        return {.rows = kRows,
                .canvases = canvases,
                .vocabSize = kVocabulary,
                .logits = m_logits.data(),
                .type = kType,
                .softcap = 30.0F,
                .settings = m_settings.data(),
                .workspace = m_workspace.data()};
    }
    [[nodiscard]] kernels::SelfConditionArgs condition(std::int64_t canvases) const
    {
        return {.canvas = logits(canvases),
                .hidden = kHidden,
                .table = m_table->data(),
                .out = m_soft.data(),
                .workspace = m_softWorkspace.data(),
                .denseRows = m_dense.data()};
    }

    static constexpr auto kType = std::is_same_v<T, float> ? kernels::LogitType::Fp32 : kernels::LogitType::Fp16;
    std::unique_ptr<DeviceArray<Bf16>> m_table;
    DeviceArray<kernels::SampleSettings> m_settings;
    DeviceArray<unsigned char> m_workspace;
    DeviceArray<unsigned char> m_softWorkspace;
    DeviceArray<kernels::RowSample> m_results;
    DeviceArray<float> m_soft;
    DeviceArray<std::int32_t> m_dense;
    DeviceArray<T> m_logits;
};

template <typename T>
void measure(const std::vector<std::int64_t> &denseRows)
{
    Head<T> head;
    for (const float spread : {1.0F, 2.25F, 3.7F}) { // flat, as with random weights, as in a model's first steps
        head.setLogits(spread, kRows);
        std::printf("logits of %zu bits, deviation %.1f: headSample %.1f us, of four canvases %.1f\n", sizeof(T) * 8,
                    static_cast<double>(spread), head.sampleTime(1), head.sampleTime(4));
    }
    for (const std::int64_t dense : denseRows) {
        head.setLogits(3.7F, dense);
        const double rows = head.rowsTime(1);
        std::printf("%d rows of 256 dense: headSample %.1f us, four %.1f; selfConditionRows %.1f, four %.1f; "
                    "selfCondition %.1f, two %.1f, four %.1f\n",
                    head.denseRows(), head.sampleTime(1), head.sampleTime(4), rows, head.rowsTime(4),
                    head.conditionTime(1), head.conditionTime(2), head.conditionTime(4));
    }
}

} // namespace

/// Argument: "sustained" to repeat each call for a while and print its energy.
int main(int count, char **arguments)
{
    gpu_check::requireDevice();
    printCard();
    printsSustained() = count > 1 && std::strcmp(arguments[1], "sustained") == 0;
    measure<std::uint16_t>({0, 1, 16, 128, 129, 256});
    measure<float>({0, 256});
    return 0;
}
