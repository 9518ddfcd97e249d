// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/fp32_attention.h"
#include "kernels/fp32_experts.h"
#include "kernels/fp32_gemm.h"
#include "kernels/probabilities.h"
#include "w4_random.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;

namespace {

// Sums of up to a few thousand fp32 products with one rounding each: some tens of 2^-24.
constexpr double kBound = 4e-6;

std::size_t size(std::int64_t count)
{
    return static_cast<std::size_t>(count);
}

double geluTanh(double x)
{
    return 0.5 * x * (1.0 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

void checkGemm(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, kernels::WeightLayout layout, bool gated)
{
    const std::string what = "fp32Gemm " + std::to_string(rows) + " x " + std::to_string(inputs) + " -> " +
                             std::to_string(outputs) + (gated ? ", gated" : "") +
                             (layout == kernels::WeightLayout::InputMajor ? ", input-major" : "");
    const auto x = randomFloats(size(rows * inputs), testRandom());
    const auto weight = roundedToBf16(randomFloats(size(outputs * inputs), testRandom()));
    const std::int64_t stored = gated ? outputs / 2 : outputs;
    const DeviceArray<float> deviceX(x);
    const DeviceArray<Bf16> deviceWeight(weight);
    const DeviceArray<float> out(size(rows * stored));
    kernels::Fp32GemmArgs args{.rows = rows,
                               .outputs = outputs,
                               .inputs = inputs,
                               .x = deviceX.data(),
                               .weight = deviceWeight.data(),
                               .layout = layout,
                               .gated = gated,
                               .out = out.data()};
    ok(kernels::fp32Gemm(args, nullptr), what);
    const auto found = out.host(what);
    const auto product = [&](std::int64_t row, std::int64_t output) {
        double sum = 0.0;
        for (std::int64_t k = 0; k < inputs; ++k)
            sum += static_cast<double>(x[size(row * inputs + k)]) *
                   static_cast<double>(fromBf16(weight[size(
                       layout == kernels::WeightLayout::OutputMajor ? output * inputs + k : k * outputs + output)]));
        return sum;
    };
    std::vector<double> wanted;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t output = 0; output < stored; ++output)
            wanted.push_back(gated ? geluTanh(product(row, output)) * product(row, stored + output)
                                   : product(row, output));
    requireClose(found, wanted, kBound, what);
    args.rows = 1;
    ok(kernels::fp32Gemm(args, nullptr), what);
    const auto alone = out.host(what);
    requireSameBits(std::vector<float>(alone.begin(), alone.begin() + stored),
                    std::vector<float>(found.begin(), found.begin() + stored), what + ", a row alone");
}

void checkExperts(std::int64_t tokens, std::int64_t slotsPerToken, std::int64_t experts, std::int64_t hidden,
                  std::int64_t inner)
{
    const std::string what = "fp32Experts " + std::to_string(tokens) + " x " + std::to_string(slotsPerToken) + " of " +
                             std::to_string(experts) + ", " + std::to_string(hidden) + " x " + std::to_string(inner);
    const RandomW4 gateUp(experts, 2 * inner, hidden, 128, testRandom());
    const RandomW4 down(experts, hidden, inner, 64, testRandom());
    const auto gateUpBlocks = gateUp.blocks(kernels::W4RowOrder::GateUp);
    const auto downBlocks = down.blocks(kernels::W4RowOrder::Plain);
    const auto input = randomFloats(size(tokens * hidden), testRandom());
    std::vector<std::int32_t> chosen;
    for (std::int64_t slot = 0; slot < tokens * slotsPerToken; ++slot)
        chosen.push_back(static_cast<std::int32_t>(testRandom()() % static_cast<std::uint32_t>(experts)));
    std::vector<std::int32_t> offsets;
    std::vector<std::int32_t> slots;
    for (std::int32_t expert = 0; expert < experts; ++expert) {
        offsets.push_back(static_cast<std::int32_t>(slots.size()));
        for (std::size_t slot = 0; slot < chosen.size(); ++slot)
            if (chosen[slot] == expert)
                slots.push_back(static_cast<std::int32_t>(slot));
    }
    offsets.push_back(static_cast<std::int32_t>(slots.size()));
    const DeviceArray<float> deviceInput(input);
    const DeviceArray<std::int32_t> deviceOffsets(offsets);
    const DeviceArray<std::int32_t> deviceSlots(slots);
    const DeviceArray<float> innerOut(slots.size() * size(inner));
    const DeviceArray<float> out(slots.size() * size(hidden));
    kernels::Fp32ExpertsArgs args{.product = kernels::Fp32ExpertProduct::GateUp,
                                  .tokens = tokens,
                                  .slotsPerToken = slotsPerToken,
                                  .experts = experts,
                                  .hidden = hidden,
                                  .inner = inner,
                                  .input = deviceInput.data(),
                                  .weights = gateUpBlocks->data(),
                                  .expertOffsets = deviceOffsets.data(),
                                  .slots = deviceSlots.data(),
                                  .out = innerOut.data()};
    ok(kernels::fp32Experts(args, nullptr), what);
    args.product = kernels::Fp32ExpertProduct::Down;
    args.input = innerOut.data();
    args.weights = downBlocks->data();
    args.out = out.data();
    ok(kernels::fp32Experts(args, nullptr), what);
    const auto foundInner = innerOut.host(what + ", gate and up");
    const auto found = out.host(what);
    std::vector<float> sampledInner;
    std::vector<float> sampled;
    std::vector<double> wantedInner;
    std::vector<double> wanted;
    for (std::size_t position = 0; position < slots.size(); position += std::max<std::size_t>(1, slots.size() / 12)) {
        const auto slot = size(slots[position]);
        const float *x = input.data() + slots[position] / slotsPerToken * hidden;
        for (std::int64_t i = 0; i < inner; ++i) {
            wantedInner.push_back(geluTanh(gateUp.product(chosen[slot], i, x)) *
                                  gateUp.product(chosen[slot], inner + i, x));
            sampledInner.push_back(foundInner[position * size(inner) + size(i)]);
        }
        for (std::int64_t column = 0; column < hidden; ++column) {
            wanted.push_back(down.product(chosen[slot], column, foundInner.data() + position * size(inner)));
            sampled.push_back(found[slot * size(hidden) + size(column)]);
        }
    }
    requireClose(sampledInner, wantedInner, kBound, what + ", gate and up");
    requireClose(sampled, wanted, kBound, what + ", down");
}

struct AttentionCase
{
    std::int64_t cached;
    std::int64_t rows;
    std::int64_t heads;
    std::int64_t kvHeads;
    std::int64_t headDim;
    std::int64_t window; ///< 0: none
};

/// Keys and values of cache and canvas in pages whose numbers are shuffled.
class Attention
{
public:
    explicit Attention(const AttentionCase &test)
        : m_test(test),
          m_what("fp32Attention " + std::to_string(test.cached) + " + " + std::to_string(test.rows) + ", heads " +
                 std::to_string(test.heads) + " / " + std::to_string(test.kvHeads) + " of " +
                 std::to_string(test.headDim) + ", window " + std::to_string(test.window)),
          m_queries(randomFloats(size(test.rows * test.heads * test.headDim), testRandom(), 0.5F)),
          m_cacheKeys(randomFloats(size(cachePages() * page()), testRandom(), 0.5F)),
          m_cacheValues(randomFloats(m_cacheKeys.size(), testRandom())),
          m_scratchKeys(randomFloats(size(kernels::scratchPages(test.rows) * page()), testRandom(), 0.5F)),
          m_scratchValues(randomFloats(m_scratchKeys.size(), testRandom()))
    {
        for (std::int64_t i = 0; i < cachePages(); ++i)
            m_table.push_back(static_cast<std::int32_t>(i));
        std::shuffle(m_table.begin(), m_table.end(), testRandom());
    }

    void check(kernels::Fp32Visibility visibility)
    {
        const bool isCanvas = visibility == kernels::Fp32Visibility::Canvas;
        // Causal: the rows themselves are in the cache, behind the others.
        const std::int64_t length = isCanvas ? m_test.cached : m_test.cached - m_test.rows;
        if (length < 0)
            return;
        const std::int64_t firstVisible =
            m_test.window > 0 ? std::max<std::int64_t>(0, length - (m_test.window - 1)) : 0;
        const std::vector<float> found = run(visibility, length, firstVisible);
        std::vector<double> wanted;
        for (std::int64_t row = 0; row < m_test.rows; ++row)
            for (std::int64_t head = 0; head < m_test.heads; ++head) {
                const std::int64_t end = isCanvas ? length : length + row + 1;
                const std::int64_t begin =
                    isCanvas ? firstVisible : (m_test.window > 0 ? std::max<std::int64_t>(0, end - m_test.window) : 0);
                const auto one = reference(row, head, begin, end, isCanvas);
                wanted.insert(wanted.end(), one.begin(), one.end());
            }
        requireClose(found, wanted, kBound, m_what + (isCanvas ? ", canvas" : ", causal"));
    }

private:
    [[nodiscard]] std::int64_t page() const { return kernels::pageElements(m_test.kvHeads, m_test.headDim); }
    [[nodiscard]] std::int64_t cachePages() const { return kernels::scratchPages(m_test.cached) + 1; }

    std::vector<float> run(kernels::Fp32Visibility visibility, std::int64_t length, std::int64_t firstVisible)
    {
        const DeviceArray<std::int32_t> table(m_table);
        const DeviceArray<kernels::SequenceView> view(
            std::vector<kernels::SequenceView>{{.pageTable = table.data(),
                                                .length = static_cast<std::int32_t>(length),
                                                .rows = static_cast<std::int32_t>(m_test.rows),
                                                .firstVisible = static_cast<std::int32_t>(firstVisible)}});
        const DeviceArray<float> queries(m_queries);
        const DeviceArray<float> cacheKeys(m_cacheKeys);
        const DeviceArray<float> cacheValues(m_cacheValues);
        const DeviceArray<float> scratchKeys(m_scratchKeys);
        const DeviceArray<float> scratchValues(m_scratchValues);
        const DeviceArray<float> out(m_queries.size());
        ok(kernels::fp32Attention({.sequences = 1,
                                   .rowStride = m_test.rows,
                                   .views = view.data(),
                                   .visibility = visibility,
                                   .window = m_test.window,
                                   .heads = m_test.heads,
                                   .kvHeads = m_test.kvHeads,
                                   .headDim = m_test.headDim,
                                   .queries = queries.data(),
                                   .cache = {cacheKeys.data(), cacheValues.data()},
                                   .scratch = {scratchKeys.data(), scratchValues.data()},
                                   .out = out.data()},
                                  nullptr),
           m_what);
        return out.host(m_what);
    }

    [[nodiscard]] std::vector<double> reference(std::int64_t row, std::int64_t head, std::int64_t begin,
                                                std::int64_t end, bool isCanvas) const
    {
        const std::int64_t kvHead = head / (m_test.heads / m_test.kvHeads);
        const auto place = [&](std::int64_t pageNumber, std::int64_t position) {
            return size(((pageNumber * m_test.kvHeads + kvHead) * kernels::kPagePositions +
                         position % kernels::kPagePositions) *
                        m_test.headDim);
        };
        std::vector<const float *> keys;
        std::vector<const float *> values;
        for (std::int64_t position = begin; position < end; ++position) {
            const std::size_t at = place(m_table[size(position / kernels::kPagePositions)], position);
            keys.push_back(m_cacheKeys.data() + at);
            values.push_back(m_cacheValues.data() + at);
        }
        for (std::int64_t position = 0; isCanvas && position < m_test.rows; ++position) {
            const std::size_t at = place(position / kernels::kPagePositions, position);
            keys.push_back(m_scratchKeys.data() + at);
            values.push_back(m_scratchValues.data() + at);
        }
        const float *query = m_queries.data() + (row * m_test.heads + head) * m_test.headDim;
        std::vector<double> scores;
        for (const float *key : keys) {
            double score = 0.0;
            for (std::int64_t i = 0; i < m_test.headDim; ++i)
                score += static_cast<double>(query[i]) * static_cast<double>(key[i]);
            scores.push_back(score);
        }
        const double maximum = *std::max_element(scores.begin(), scores.end());
        double sum = 0.0;
        std::vector<double> out(size(m_test.headDim));
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const double weight = std::exp(scores[i] - maximum);
            sum += weight;
            for (std::size_t c = 0; c < out.size(); ++c)
                out[c] += weight * static_cast<double>(values[i][c]);
        }
        for (double &value : out)
            value /= sum;
        return out;
    }

    AttentionCase m_test;
    std::string m_what;
    std::vector<float> m_queries;
    std::vector<float> m_cacheKeys;
    std::vector<float> m_cacheValues;
    std::vector<float> m_scratchKeys;
    std::vector<float> m_scratchValues;
    std::vector<std::int32_t> m_table;
};

void checkProbabilities(std::int64_t canvases, std::int64_t rows, std::int64_t vocabulary)
{
    const std::string what =
        "probabilities " + std::to_string(canvases) + " x " + std::to_string(rows) + " x " + std::to_string(vocabulary);
    const std::int64_t allRows = canvases * rows;
    const auto logits = randomFloats(size(allRows * vocabulary), testRandom(), 4.0F);
    std::vector<kernels::SampleSettings> settings;
    for (std::int64_t canvas = 0; canvas < canvases; ++canvas)
        settings.push_back({.temperature = 0.7F + 0.2F * static_cast<float>(canvas)});
    const DeviceArray<float> device(logits);
    const DeviceArray<kernels::SampleSettings> deviceSettings(settings);
    const DeviceArray<unsigned char> workspace(size(kernels::headSampleWorkspace(allRows, vocabulary)));
    const DeviceArray<kernels::RowSample> samples(size(allRows));
    const DeviceArray<float> out(logits.size());
    const kernels::CanvasLogits canvas{.rows = rows,
                                       .canvases = canvases,
                                       .vocabSize = vocabulary,
                                       .logits = device.data(),
                                       .softcap = 0.0F,
                                       .settings = deviceSettings.data(),
                                       .workspace = workspace.data()};
    ok(kernels::headSample(canvas, samples.data(), nullptr), what);
    ok(kernels::probabilities(canvas, out.data(), nullptr), what);
    std::vector<double> wanted;
    for (std::int64_t row = 0; row < allRows; ++row) {
        const float *x = logits.data() + row * vocabulary;
        const auto temperature = static_cast<double>(settings[size(row / rows)].temperature);
        const double maximum = static_cast<double>(*std::max_element(x, x + vocabulary)) / temperature;
        double sum = 0.0;
        for (std::int64_t id = 0; id < vocabulary; ++id)
            sum += std::exp(static_cast<double>(x[id]) / temperature - maximum);
        for (std::int64_t id = 0; id < vocabulary; ++id)
            wanted.push_back(std::exp(static_cast<double>(x[id]) / temperature - maximum) / sum);
    }
    requireClose(out.host(what), wanted, kBound, what);
}

} // namespace

int main()
{
    requireDevice();
    using kernels::WeightLayout;
    for (const std::int64_t rows : {1, 17, 64, 130}) {
        checkGemm(rows, 1, 1, WeightLayout::OutputMajor, false);
        checkGemm(rows, 200, 77, WeightLayout::OutputMajor, false);
        checkGemm(rows, 130, 256, WeightLayout::OutputMajor, true);
        checkGemm(rows, 136, 520, WeightLayout::InputMajor, false);
    }
    checkExperts(1, 1, 1, 128, 64);
    checkExperts(17, 2, 8, 128, 64);
    checkExperts(65, 4, 3, 256, 192);
    checkExperts(40, 4, 32, 256, 128);
    for (const AttentionCase &test : {AttentionCase{0, 32, 4, 2, 32, 0}, AttentionCase{1, 1, 1, 1, 16, 0},
                                      AttentionCase{63, 33, 4, 2, 64, 16}, AttentionCase{130, 17, 4, 1, 128, 0},
                                      AttentionCase{500, 130, 4, 2, 64, 256}, AttentionCase{300, 9, 2, 1, 512, 0}}) {
        Attention attention(test);
        attention.check(kernels::Fp32Visibility::Canvas);
        attention.check(kernels::Fp32Visibility::Causal);
    }
    checkProbabilities(1, 1, 8);
    checkProbabilities(3, 5, 520);
    checkProbabilities(1, 17, 8192);
    return finish("fp32 kernels");
}
