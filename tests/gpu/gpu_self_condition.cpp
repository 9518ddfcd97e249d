// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/head_sample.h"
#include "kernels/self_condition.h"

#include <numeric>
#include <type_traits>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::LogitType;
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
    LogitType type = LogitType::Fp16;
};

std::string nameOf(const Batch &batch)
{
    std::string name = "canvases of " + std::to_string(batch.rows) + " rows with";
    for (const std::int64_t dense : batch.dense)
        name += " " + std::to_string(dense);
    return name + " dense ones, " + std::to_string(batch.vocabulary) + " x " + std::to_string(batch.hidden) +
           (batch.type == LogitType::Fp16 ? " in 16 bits" : "");
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

/// Raw logits of all canvases, T being what holds one. The dense rows lie between the others.
template <typename T>
class Canvases
{
public:
    explicit Canvases(const Batch &batch)
        : m_batch(batch),
          m_name(nameOf(batch)),
          m_table(static_cast<std::size_t>(batch.vocabulary * batch.hidden)),
          m_logits(static_cast<std::size_t>(allRows() * batch.vocabulary)),
          m_settings(settings(batch.dense.size())),
          m_sampleWorkspace(static_cast<std::size_t>(kernels::headSampleWorkspace(allRows(), batch.vocabulary))),
          m_samples(static_cast<std::size_t>(allRows()))
    {
        std::mt19937 random(testSeed());
        fillRepeating(m_table, roundedToBf16(randomFloats(1U << 18U, random)));
        std::vector<T> block; // rows differ
        for (const float value : randomFloats((1U << 18U) + 8 * 37, random, 2.0F))
            block.push_back(bits(value));
        fillRepeating(m_logits, block);
        const T peak = bits(60.0F);
        for (std::int64_t row = 0; row < allRows(); ++row) {
            const std::int64_t position = row % batch.rows;
            if ((position * 7 + 3) % batch.rows >= batch.dense[static_cast<std::size_t>(row / batch.rows)])
                ok(cudaMemcpy(m_logits.data() + row * batch.vocabulary + position * 977 % batch.vocabulary, &peak,
                              sizeof peak, cudaMemcpyHostToDevice),
                   "peak");
        }
    }

    /// Of `count` canvases from `first` on, with one product; by a graph that is replayed if `captured`.
    std::vector<float> softEmbeddings(std::size_t first, std::size_t count, bool captured = false)
    {
        const std::int64_t rows = m_batch.rows * static_cast<std::int64_t>(count);
        const DeviceArray<float> out(static_cast<std::size_t>(rows * m_batch.hidden));
        const DeviceArray<unsigned char> workspace(
            static_cast<std::size_t>(kernels::selfConditionWorkspace(rows, m_batch.vocabulary, m_batch.hidden)));
        const DeviceArray<std::int32_t> counts(count);
        const kernels::CanvasLogits canvases{.rows = m_batch.rows,
                                             .canvases = static_cast<std::int64_t>(count),
                                             .vocabSize = m_batch.vocabulary,
                                             .logits = m_logits.data() + static_cast<std::int64_t>(first) *
                                                                             m_batch.rows * m_batch.vocabulary,
                                             .type = m_batch.type,
                                             .softcap = 30.0F,
                                             .settings = m_settings.data() + first,
                                             .workspace = m_sampleWorkspace.data()};
        const kernels::SelfConditionArgs args{.canvas = canvases,
                                              .hidden = m_batch.hidden,
                                              .table = m_table.data(),
                                              .out = out.data(),
                                              .workspace = workspace.data(),
                                              .denseRows = counts.data()};
        const auto launch = [&](cudaStream_t stream) {
            ok(kernels::headSample(canvases, m_samples.data(), stream), m_name);
            ok(kernels::selfCondition(args, stream), m_name);
        };
        if (captured)
            replayTwice(launch);
        else
            launch(nullptr);
        (void)workspace.host(m_name + ", workspace");
        const auto found = counts.host(m_name + ", counts");
        for (std::size_t canvas = 0; canvas < found.size(); ++canvas)
            require(found[canvas] == m_batch.dense[first + canvas], m_name + ": " + std::to_string(found[canvas]) +
                                                                        " dense rows in canvas " +
                                                                        std::to_string(first + canvas));
        return out.host(m_name);
    }

private:
    template <typename Launch>
    static void replayTwice(const Launch &launch)
    {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t exec = nullptr;
        ok(cudaStreamCreate(&stream), "stream");
        ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
        launch(stream);
        ok(cudaStreamEndCapture(stream, &graph), "end capture");
        ok(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
        for (int i = 0; i < 2; ++i)
            ok(cudaGraphLaunch(exec, stream), "replay");
        ok(cudaStreamSynchronize(stream), "replay");
        ok(cudaGraphExecDestroy(exec), "graph");
        ok(cudaGraphDestroy(graph), "graph");
        ok(cudaStreamDestroy(stream), "stream");
    }

    static T bits(float value)
    {
        if constexpr (std::is_same_v<T, float>)
            return value;
        else
            return toFp16(value);
    }

    static std::vector<SampleSettings> settings(std::size_t count)
    {
        std::vector<SampleSettings> made;
        for (std::uint32_t canvas = 0; canvas < count; ++canvas)
            made.push_back({.temperature = 0.4F, .seedLow = 3, .step = 2, .stream = canvas << 8U | 2U});
        return made;
    }

    [[nodiscard]] std::int64_t allRows() const { return m_batch.rows * std::ssize(m_batch.dense); }

    Batch m_batch;
    std::string m_name;
    DeviceArray<Bf16> m_table;
    DeviceArray<T> m_logits;
    DeviceArray<SampleSettings> m_settings;
    DeviceArray<unsigned char> m_sampleWorkspace;
    DeviceArray<RowSample> m_samples;
};

template <typename T>
void runAs(const Batch &batch)
{
    Canvases<T> canvases(batch);
    const std::vector<float> together = canvases.softEmbeddings(0, batch.dense.size());
    const auto length = static_cast<std::ptrdiff_t>(batch.rows * batch.hidden);
    for (std::size_t canvas = 0; canvas < batch.dense.size(); ++canvas) {
        const auto first = together.begin() + static_cast<std::ptrdiff_t>(canvas) * length;
        requireSameBits(std::vector<float>(first, first + length), canvases.softEmbeddings(canvas, 1),
                        nameOf(batch) + ", canvas " + std::to_string(canvas));
    }
    requireSameBits(canvases.softEmbeddings(0, batch.dense.size(), true), together, nameOf(batch) + ", captured");
    require(std::ranges::none_of(together, [](float value) { return std::isnan(value); }), nameOf(batch) + ": NaN");
}

void run(const Batch &batch)
{
    if (batch.type == LogitType::Fp32)
        runAs<float>(batch);
    else
        runAs<std::uint16_t>(batch);
}

/// What the dense product takes as weights, seen through a table whose columns pick single ids: exact to bf16, but ids
/// with less than 2^-16 of the largest probability's square are powers of two, and their sum stays.
template <typename T>
class SmallWeights
{
public:
    explicit SmallWeights(float softcap)
        : m_softcap(softcap),
          m_what(std::string("small weights, ") + (kHalves ? "16 bits" : "32 bits") + ", soft-cap " +
                 std::to_string(softcap)),
          m_weights(kVocabulary),
          m_logits(drawn())
    {
        const double sum = std::accumulate(m_weights.begin(), m_weights.end(), 0.0);
        m_limit = std::exp2(std::floor(std::log2(0x1p-16 / sum)));
    }

    void check() const
    {
        const std::vector<float> found = embedding();
        int small = 0;
        for (std::size_t column = 0; column < kTop; ++column) {
            const double wanted = m_weights[idOf(column)];
            const double weight = static_cast<double>(found[column]) / static_cast<double>(found[kTop]);
            const std::string which =
                m_what + ", column " + std::to_string(column) + ": " + std::to_string(weight / wanted);
            if (wanted < m_limit * 0.999) {
                ++small;
                int exponent = 0;
                const double significand = std::frexp(weight, &exponent);
                require(significand - 0.5 < 1e-6 || significand > 1.0 - 1e-6, which + ", no power of two");
                require(weight / wanted > 0.679 && weight / wanted < 1.36, which);
            } else if (wanted > m_limit * 1.001) {
                require(std::abs(weight / wanted - 1.0) < 0x1p-8 + 1e-4, which);
            }
        }
        require(small > 90 && small < 130, m_what + ": " + std::to_string(small) + " small ones");
        // Some 7000 ids a factor of e: their sum is at random off by 0.0016 of itself, rounded to nearest by 0.02.
        const double kept = static_cast<double>(found[kSmall]) / static_cast<double>(found[kTop]) / smallSum();
        require(std::abs(kept - 1.0) < 0.008, m_what + ": the sum of small ones times " + std::to_string(kept));
    }

private:
    static constexpr bool kHalves = std::is_same_v<T, std::uint16_t>;
    static constexpr std::size_t kVocabulary = 262144;
    static constexpr std::size_t kHidden = 136;
    static constexpr std::size_t kTop = kHidden - 2; ///< columns: single ids, the largest, all small ones
    static constexpr std::size_t kSmall = kHidden - 1;
    static constexpr float kTemperature = 0.7F;

    static std::size_t idOf(std::size_t column) { return column * 1913 + 5; }

    /// Draws the raw logits, and computes their weights relative to the largest.
    std::vector<T> drawn()
    {
        std::mt19937 random(testSeed());
        std::uniform_real_distribution<float> below(-14.0F, 12.0F);
        std::vector<T> logits(kVocabulary);
        for (std::size_t id = 0; id < kVocabulary; ++id) {
            const float value = id == idOf(kTop) ? (m_softcap > 0.0F ? 20.0F : 17.0F) : below(random);
            if constexpr (kHalves)
                logits[id] = toFp16(value);
            else
                logits[id] = value;
            m_weights[id] = processed(logits[id]);
        }
        const double largest = m_weights[idOf(kTop)];
        for (double &weight : m_weights)
            weight = std::exp(weight - largest);
        return logits;
    }
    [[nodiscard]] double processed(T logit) const
    {
        double value = 0.0;
        if constexpr (kHalves)
            value = static_cast<double>(fromFp16(logit));
        else
            value = static_cast<double>(logit);
        const auto cap = static_cast<double>(m_softcap);
        return (cap > 0.0 ? cap * std::tanh(value / cap) : value) / static_cast<double>(kTemperature);
    }
    [[nodiscard]] bool isSmall(std::size_t id) const { return m_weights[id] < m_limit * 0.999; }
    [[nodiscard]] double smallSum() const
    {
        double sum = 0.0;
        for (std::size_t id = 0; id < kVocabulary; ++id)
            sum += isSmall(id) ? m_weights[id] : 0.0;
        return sum;
    }
    [[nodiscard]] std::vector<Bf16> table() const
    {
        std::vector<Bf16> made(kVocabulary * kHidden);
        for (std::size_t column = 0; column <= kTop; ++column)
            made[idOf(column) * kHidden + column] = toBf16(1.0F);
        for (std::size_t id = 0; id < kVocabulary; ++id)
            if (isSmall(id))
                made[id * kHidden + kSmall] = toBf16(1.0F);
        return made;
    }
    [[nodiscard]] std::vector<float> embedding() const
    {
        const DeviceArray<T> logits(m_logits);
        const DeviceArray<Bf16> deviceTable(table());
        const DeviceArray<SampleSettings> settings(std::vector<SampleSettings>{{.temperature = kTemperature}});
        const DeviceArray<unsigned char> sampleWorkspace(
            static_cast<std::size_t>(kernels::headSampleWorkspace(1, kVocabulary)));
        const DeviceArray<unsigned char> workspace(
            static_cast<std::size_t>(kernels::selfConditionWorkspace(1, kVocabulary, kHidden)));
        const DeviceArray<RowSample> samples(1);
        const DeviceArray<float> out(kHidden);
        const kernels::CanvasLogits canvas{.rows = 1,
                                           .vocabSize = kVocabulary,
                                           .logits = logits.data(),
                                           .type = kHalves ? LogitType::Fp16 : LogitType::Fp32,
                                           .softcap = m_softcap,
                                           .settings = settings.data(),
                                           .workspace = sampleWorkspace.data()};
        ok(kernels::headSample(canvas, samples.data(), nullptr), m_what);
        ok(kernels::selfCondition({.canvas = canvas,
                                   .hidden = kHidden,
                                   .table = deviceTable.data(),
                                   .out = out.data(),
                                   .workspace = workspace.data()},
                                  nullptr),
           m_what);
        return out.host(m_what);
    }

    float m_softcap;
    std::string m_what;
    std::vector<double> m_weights; ///< of each id, in double
    std::vector<T> m_logits;
    double m_limit = 0.0; ///< weights below are powers of two
};

void checkRefusals()
{
    const DeviceArray<float> some(64);
    const DeviceArray<Bf16> table(64);
    const DeviceArray<SampleSettings> settings(2);
    const DeviceArray<unsigned char> workspace(std::size_t{1} << 16U);
    const kernels::SelfConditionArgs good{.canvas = {.rows = 2,
                                                     .vocabSize = 8,
                                                     .logits = some.data(),
                                                     .settings = settings.data(),
                                                     .workspace = workspace.data()},
                                          .hidden = 8,
                                          .table = table.data(),
                                          .out = some.data(),
                                          .workspace = workspace.data()};
    const auto refused = [&](const std::string &what, auto change) {
        kernels::SelfConditionArgs args = good;
        change(args);
        require(kernels::selfConditionRows(args, nullptr) == cudaErrorInvalidValue &&
                    kernels::selfConditionProduct(args, nullptr) == cudaErrorInvalidValue,
                "refused: " + what);
    };
    refused("12 ids", [](auto &args) { args.canvas.vocabSize = 12; });
    refused("12 columns", [](auto &args) { args.hidden = 12; });
    refused("too many rows", [](auto &args) { args.canvas.rows = 65536; });
    refused("too many rows of all canvases", [](auto &args) { args.canvas.canvases = 32768; });
    refused("less than no canvas", [](auto &args) { args.canvas.canvases = -1; });
    refused("a table between vectors", [](auto &args) { ++args.table; });
    refused("a result between vectors", [](auto &args) { ++args.out; });
    refused("logits between vectors", [&](auto &args) { args.canvas.logits = some.data() + 1; });
    refused("a sampler's workspace between vectors", [&](auto &args) { args.canvas.workspace = workspace.data() + 8; });
    refused("no table", [](auto &args) { args.table = nullptr; });
    refused("no logits", [](auto &args) { args.canvas.logits = nullptr; });
    refused("no settings", [](auto &args) { args.canvas.settings = nullptr; });
    kernels::SelfConditionArgs empty = good;
    empty.canvas.canvases = 0;
    require(kernels::selfCondition(empty, nullptr) == cudaSuccess, "no canvases are nothing to do");
}

} // namespace

int main()
{
    requireDevice();
    // A batch's few dense rows have a launch of their own up to 128, as a canvas's alone have.
    run({80, 8192, 136, {37, 0, 80, 1}});
    run({80, 8192, 136, {37, 0, 80, 1}, LogitType::Fp32});
    run({33, 8184, 136, {20, 33}}); // a block that is not whole
    run({80, 8192, 136, {64, 0, 64}});
    run({80, 8192, 136, {0, 0, 0}});
    run({160, 8192, 128, {1, 160, 0, 128, 129}});
    run({16, 8192, 8, {0, 3, 16, 5, 0, 0, 16, 1}});
    run({256, 65536, 2816, {5, 256, 0, 130}}); // in six parts
    run({256, 65536, 2816, {3, 140}, LogitType::Fp32});
    run({256, 65536, 2816, {0, 7, 0, 90}});
    SmallWeights<std::uint16_t>(30.0F).check();
    SmallWeights<std::uint16_t>(0.0F).check();
    SmallWeights<float>(30.0F).check();
    checkRefusals();
    return finish("self_condition of several canvases");
}
