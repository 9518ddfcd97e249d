// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/head_sample.h"
#include "kernels/self_condition.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::RowSample;
using kernels::SampleSettings;

/// Several canvases with one product for the dense rows of all: the same bits as each canvas alone. gpu_head_sample
/// compares a canvas alone with the softmax in double.
namespace {

struct Batch
{
    std::int64_t rows; ///< of a canvas
    std::int64_t vocabulary;
    std::int64_t hidden;
    std::vector<std::int64_t> dense; ///< rows of each canvas that no few ids carry
};

std::string nameOf(const Batch &batch)
{
    std::string name = "canvases of " + std::to_string(batch.rows) + " rows with";
    for (const std::int64_t dense : batch.dense)
        name += " " + std::to_string(dense);
    return name + " dense ones, " + std::to_string(batch.vocabulary) + " x " + std::to_string(batch.hidden);
}

/// Device memory filled with one block of random numbers after the other, the same.
template <typename T>
void fillRepeating(const DeviceArray<T> &array, const std::vector<T> &block)
{
    for (std::size_t start = 0; start < array.count(); start += block.size())
        ok(cudaMemcpy(array.data() + start, block.data(), std::min(block.size(), array.count() - start) * sizeof(T),
                      cudaMemcpyHostToDevice),
           "fill");
}

class Canvases
{
public:
    explicit Canvases(const Batch &batch)
        : m_batch(batch),
          m_name(nameOf(batch)),
          m_table(static_cast<std::size_t>(batch.vocabulary * batch.hidden)),
          m_logits(static_cast<std::size_t>(batch.rows * batch.vocabulary)),
          m_settings(std::vector<SampleSettings>{{.temperature = 0.4F, .seedLow = 3, .step = 2, .stream = 258}}),
          m_sampleWorkspace(static_cast<std::size_t>(kernels::headSampleWorkspace(batch.rows, batch.vocabulary))),
          m_samples(static_cast<std::size_t>(batch.rows)),
          m_random(testSeed())
    {
        fillRepeating(m_table, roundedToBf16(randomFloats(1U << 18U, m_random)));
        for (std::size_t canvas = 0; canvas < batch.dense.size(); ++canvas)
            m_blocks.push_back(randomFloats((1U << 18U) + 8 * 37, m_random, 2.0F)); // rows differ
    }

    /// All canvases with one product.
    std::vector<float> together()
    {
        const std::int64_t rows = m_batch.rows * std::ssize(m_batch.dense);
        const DeviceArray<float> out(static_cast<std::size_t>(rows * m_batch.hidden));
        const DeviceArray<unsigned char> workspace(workspaceBytes(rows));
        const DeviceArray<std::int32_t> counts(m_batch.dense.size());
        kernels::SelfConditionArgs args = argsFor(out, workspace);
        args.batchRows = rows;
        for (std::size_t canvas = 0; canvas < m_batch.dense.size(); ++canvas) {
            sample(canvas);
            args.firstRow = static_cast<std::int64_t>(canvas) * m_batch.rows;
            args.denseRows = counts.data() + canvas;
            ok(kernels::selfConditionRows(args, nullptr), m_name);
        }
        ok(kernels::selfConditionProduct(args, nullptr), m_name);
        (void)workspace.host(m_name + ", workspace");
        const auto found = counts.host(m_name + ", counts");
        for (std::size_t canvas = 0; canvas < found.size(); ++canvas)
            require(found[canvas] == m_batch.dense[canvas],
                    m_name + ": " + std::to_string(found[canvas]) + " dense rows in canvas " + std::to_string(canvas));
        return out.host(m_name);
    }

    std::vector<float> alone(std::size_t canvas)
    {
        const DeviceArray<float> out(static_cast<std::size_t>(m_batch.rows * m_batch.hidden));
        const DeviceArray<unsigned char> workspace(workspaceBytes(m_batch.rows));
        sample(canvas);
        ok(kernels::selfCondition(argsFor(out, workspace), nullptr), m_name);
        (void)workspace.host(m_name + ", workspace");
        return out.host(m_name);
    }

private:
    [[nodiscard]] std::size_t workspaceBytes(std::int64_t rows) const
    {
        return static_cast<std::size_t>(kernels::selfConditionWorkspace(rows, m_batch.vocabulary, m_batch.hidden));
    }

    [[nodiscard]] kernels::CanvasLogits logits() const
    {
        return {.rows = m_batch.rows,
                .vocabSize = m_batch.vocabulary,
                .logits = m_logits.data(),
                .softcap = 30.0F,
                .settings = m_settings.data(),
                .workspace = m_sampleWorkspace.data()};
    }

    [[nodiscard]] kernels::SelfConditionArgs argsFor(const DeviceArray<float> &out,
                                                     const DeviceArray<unsigned char> &workspace) const
    {
        return {.canvas = logits(),
                .hidden = m_batch.hidden,
                .table = m_table.data(),
                .out = out.data(),
                .workspace = workspace.data()};
    }

    /// Brings a canvas's logits, as the engine does one after the other. The dense rows lie between the others.
    void sample(std::size_t canvas)
    {
        ok(cudaDeviceSynchronize(), m_name);
        fillRepeating(m_logits, m_blocks[canvas]);
        const float peak = 60.0F;
        for (std::int64_t row = 0; row < m_batch.rows; ++row)
            if ((row * 7 + 3) % m_batch.rows >= m_batch.dense[canvas])
                ok(cudaMemcpy(m_logits.data() + row * m_batch.vocabulary + row * 977 % m_batch.vocabulary, &peak, 4,
                              cudaMemcpyHostToDevice),
                   "peak");
        ok(kernels::headSample(logits(), m_samples.data(), nullptr), m_name);
    }

    Batch m_batch;
    std::string m_name;
    DeviceArray<Bf16> m_table;
    DeviceArray<float> m_logits;
    DeviceArray<SampleSettings> m_settings;
    DeviceArray<unsigned char> m_sampleWorkspace;
    DeviceArray<RowSample> m_samples;
    std::mt19937 m_random;
    std::vector<std::vector<float>> m_blocks;
};

void run(const Batch &batch)
{
    Canvases canvases(batch);
    const std::vector<float> together = canvases.together();
    const auto length = static_cast<std::ptrdiff_t>(batch.rows * batch.hidden);
    for (std::size_t canvas = 0; canvas < batch.dense.size(); ++canvas) {
        const auto first = together.begin() + static_cast<std::ptrdiff_t>(canvas) * length;
        requireSameBits(std::vector<float>(first, first + length), canvases.alone(canvas),
                        nameOf(batch) + ", canvas " + std::to_string(canvas));
    }
    require(std::ranges::none_of(together, [](float value) { return std::isnan(value); }), nameOf(batch) + ": NaN");
}

void checkRefusals()
{
    const DeviceArray<float> some(64);
    const DeviceArray<Bf16> table(64);
    const DeviceArray<unsigned char> workspace(std::size_t{1} << 16U);
    const kernels::SelfConditionArgs good{.canvas = {.rows = 2, .vocabSize = 8},
                                          .hidden = 8,
                                          .table = table.data(),
                                          .out = some.data(),
                                          .workspace = workspace.data()};
    const auto refused = [&](auto change) {
        kernels::SelfConditionArgs args = good;
        change(args);
        return kernels::selfConditionProduct(args, nullptr) == cudaErrorInvalidValue;
    };
    require(refused([](auto &args) { args.firstRow = 1; }), "a canvas that ends behind its batch");
    require(refused([](auto &args) { args.batchRows = 1; }), "a canvas larger than its batch");
    require(refused([](auto &args) { args.firstRow = -1; }), "a canvas that begins before its batch");
    require(refused([](auto &args) { args.batchRows = 65536; }), "too many rows");
    require(refused([](auto &args) { args.table = nullptr; }), "no table");
    require(kernels::selfConditionRows(good, nullptr) == cudaErrorInvalidValue, "no logits");
}

} // namespace

int main()
{
    requireDevice();
    // A batch's few dense rows have a launch of their own up to 128, as a canvas's alone have.
    run({80, 8192, 136, {37, 0, 80, 1}});
    run({80, 8192, 136, {64, 0, 64}});
    run({80, 8192, 136, {0, 0, 0}});
    run({160, 8192, 128, {1, 160, 0, 128, 129}});
    run({16, 8192, 8, {0, 3, 16, 5, 0, 0, 16, 1}});
    run({256, 65536, 2816, {5, 256, 0, 130}}); // in six parts
    run({256, 65536, 2816, {0, 7, 0, 90}});
    checkRefusals();
    return finish("self_condition of several canvases");
}
