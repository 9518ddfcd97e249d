// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_bench.h"
#include "kernels/head_sample.h"
#include "kernels/self_condition.h"

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

class Head
{
public:
    Head()
        : m_table(randomBf16(static_cast<std::size_t>(kVocabulary * kHidden), 0.02F)),
          m_settings(std::vector<kernels::SampleSettings>{{.temperature = 0.6F, .seedLow = 1, .step = 3, .stream = 2}}),
          m_workspace(static_cast<std::size_t>(kernels::headSampleWorkspace(kRows, kVocabulary))),
          m_softWorkspace(
              static_cast<std::size_t>(kernels::selfConditionWorkspace(kMostCanvases * kRows, kVocabulary, kHidden))),
          m_results(kRows),
          m_soft(static_cast<std::size_t>(kMostCanvases * kRows * kHidden)),
          m_dense(1),
          m_logits(static_cast<std::size_t>(kRows * kVocabulary))
    {
    }

    /// In all rows but the first `dense` one id stands out.
    void setLogits(float spread, std::int64_t dense)
    {
        std::mt19937 random(2);
        const auto block = gpu_check::randomFloats(1U << 20U, random, spread);
        for (std::size_t start = 0; start < m_logits.count(); start += block.size())
            gpu_check::ok(cudaMemcpy(m_logits.data() + start, block.data(), block.size() * 4, cudaMemcpyHostToDevice),
                          "logits");
        const float peak = 40.0F;
        for (std::int64_t row = dense; row < kRows; ++row)
            gpu_check::ok(cudaMemcpy(m_logits.data() + row * kVocabulary + row * 977, &peak, 4, cudaMemcpyHostToDevice),
                          "peak");
    }

    double sampleTime()
    {
        return microsecondsEach(
            5, [&](int, cudaStream_t stream) { return kernels::headSample(canvas(), m_results.data(), stream); });
    }

    double conditionTime()
    {
        return microsecondsEach(3,
                                [&](int, cudaStream_t stream) { return kernels::selfCondition(condition(), stream); });
    }

    /// Canvases with these logits each, and one product.
    double batchTime(std::int64_t canvases)
    {
        kernels::SelfConditionArgs args = condition();
        args.batchRows = canvases * kRows;
        return microsecondsEach(3, [&](int, cudaStream_t stream) {
            cudaError_t status = cudaSuccess;
            for (std::int64_t i = 0; i < canvases && status == cudaSuccess; ++i) {
                args.firstRow = i * kRows;
                status = kernels::selfConditionRows(args, stream);
            }
            return status == cudaSuccess ? kernels::selfConditionProduct(args, stream) : status;
        });
    }

    [[nodiscard]] std::int32_t denseRows() const { return m_dense.host("dense rows")[0]; }

private:
    [[nodiscard]] kernels::CanvasLogits canvas() const
    {
        return {.rows = kRows,
                .vocabSize = kVocabulary,
                .logits = m_logits.data(),
                .softcap = 30.0F,
                .settings = m_settings.data(),
                .workspace = m_workspace.data()};
    }
    [[nodiscard]] kernels::SelfConditionArgs condition() const
    {
        return {.canvas = canvas(),
                .hidden = kHidden,
                .table = m_table->data(),
                .out = m_soft.data(),
                .workspace = m_softWorkspace.data(),
                .denseRows = m_dense.data()};
    }

    std::unique_ptr<DeviceArray<Bf16>> m_table;
    DeviceArray<kernels::SampleSettings> m_settings;
    DeviceArray<unsigned char> m_workspace;
    DeviceArray<unsigned char> m_softWorkspace;
    DeviceArray<kernels::RowSample> m_results;
    DeviceArray<float> m_soft;
    DeviceArray<std::int32_t> m_dense;
    DeviceArray<float> m_logits;
};

} // namespace

int main()
{
    gpu_check::requireDevice();
    printCard();
    Head head;
    for (const float spread : {1.0F, 3.7F}) { // flat, and as in a model's first steps
        head.setLogits(spread, kRows);
        std::printf("logits of deviation %.1f: headSample %.1f us\n", static_cast<double>(spread), head.sampleTime());
    }
    for (const std::int64_t dense : {0, 1, 16, 128, 129, 256}) {
        head.setLogits(3.7F, dense);
        const double sample = head.sampleTime();
        const double one = head.conditionTime();
        std::printf("%d rows of 256 dense: headSample %.1f us, selfCondition %.1f us, of two canvases %.1f, of four "
                    "%.1f\n",
                    head.denseRows(), sample, one, head.batchTime(2), head.batchTime(4));
    }
    return 0;
}
