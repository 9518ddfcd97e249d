// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/head_sample.h"
#include "kernels/self_condition.h"
#include "philox_reference.h"

#include <numeric>

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::Bf16;
using kernels::DeviceLogitBias;
using kernels::RowSample;
using kernels::SampleSettings;

namespace {

std::mt19937 &random()
{
    static std::mt19937 generator(testSeed());
    return generator;
}

float gumbel(std::uint32_t word)
{
    return -std::log(-std::log(uniformFromWord(word)));
}

struct Case
{
    std::size_t rows;
    std::size_t vocabulary;
    float spread; ///< standard deviation of the raw logits
    float peak;   ///< added to one id of every row
    float softcap;
    float temperature;
    std::vector<DeviceLogitBias> bias;
};

/// The processed logits of a row, in double (with the capped value rounded to float once) and as the CPU has them.
std::vector<double> processed(const Case &test, const float *logits)
{
    std::vector<double> x(test.vocabulary);
    for (std::size_t id = 0; id < x.size(); ++id)
        x[id] = test.softcap > 0.0F ? static_cast<double>(test.softcap) *
                                          std::tanh(static_cast<double>(logits[id]) / static_cast<double>(test.softcap))
                                    : static_cast<double>(logits[id]);
    for (const DeviceLogitBias &bias : test.bias)
        x[static_cast<std::size_t>(bias.id)] += static_cast<double>(bias.bias);
    for (double &value : x)
        value /= static_cast<double>(test.temperature);
    return x;
}

// Ids whose values lie closer than the errors of both can change places: such rows are counted, not compared. The
// soft-cap's is 9e-6 / temperature; without it a sum with a bias and a quotient are rounded, each to half a last place
// of at most 32, and what noise is added to once more, to half a last place of at most 128.
void compareRow(const Case &test, const std::vector<double> &x, std::uint32_t row, const SampleSettings &settings,
                const RowSample &found, const std::string &what, int &close)
{
    const double slack = test.softcap > 0.0F ? 2e-5 / static_cast<double>(test.temperature) : 5e-6;
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t listed = std::min<std::size_t>(8, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(listed), order.end(),
                      [&](std::size_t a, std::size_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
    const double maximum = x[order[0]];
    double sum = 0.0;
    double weighted = 0.0;
    for (const double value : x) {
        const double weight = std::exp(value - maximum);
        sum += weight;
        weighted += weight > 0.0 ? weight * (value - maximum) : 0.0;
    }
    const double entropy = std::log(sum) - weighted / sum;
    if (!(std::abs(static_cast<double>(found.entropyNats) - entropy) <= 1e-5 + 1e-5 * entropy))
        fail(what + ": entropy " + std::to_string(found.entropyNats) + ", wanted " + std::to_string(entropy));
    for (std::size_t place = 0; place < 5; ++place) {
        const double wanted = std::exp(x[order[place]] - maximum) / sum;
        const bool banned = std::isinf(x[order[place]]);
        if (!(std::abs(static_cast<double>(found.alternativeProbabilities[place]) - wanted) <= 1e-4 * wanted + 1e-30))
            fail(what + ": probability " + std::to_string(place));
        const bool clear = banned || (x[order[place]] - x[order[place + 1]] > slack &&
                                      (place == 0 || x[order[place - 1]] - x[order[place]] > slack));
        const std::int32_t id = banned ? 0 : static_cast<std::int32_t>(order[place]);
        if (clear)
            require(found.alternativeIds[place] == id, what + ": alternative " + std::to_string(place));
        else
            ++close;
    }
    require(found.argmax == found.alternativeIds[0], what + ": argmax");

    double best = -std::numeric_limits<double>::infinity();
    double second = best;
    std::int32_t bestId = 0;
    for (std::size_t index = 0; index < x.size() / 4; ++index) {
        const auto words = philox({static_cast<std::uint32_t>(index), row, settings.step, settings.stream},
                                  settings.seedLow, settings.seedHigh);
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double value = x[index * 4 + lane] + static_cast<double>(gumbel(words[lane]));
            if (value > best) {
                second = best;
                best = value;
                bestId = static_cast<std::int32_t>(index * 4 + lane);
            } else {
                second = std::max(second, value);
            }
        }
    }
    if (best - second > slack + 1e-5)
        require(found.sampled == bestId,
                what + ": sampled " + std::to_string(found.sampled) + ", wanted " + std::to_string(bestId));
    else
        ++close;
}

// The soft embedding against the softmax in double.
void compareEmbedding(const Case &test, const std::vector<std::vector<double>> &rows, kernels::CanvasLogits canvas,
                      bool dense, const std::string &what)
{
    constexpr std::int64_t kHidden = 136;
    const auto table = roundedToBf16(randomFloats(test.vocabulary * static_cast<std::size_t>(kHidden), random()));
    const DeviceArray<Bf16> deviceTable(table);
    const DeviceArray<float> out(test.rows * static_cast<std::size_t>(kHidden));
    const DeviceArray<unsigned char> workspace(static_cast<std::size_t>(kernels::selfConditionWorkspace(
        static_cast<std::int64_t>(test.rows), static_cast<std::int64_t>(test.vocabulary), kHidden)));
    const DeviceArray<std::int32_t> count(1);
    ok(kernels::selfCondition({.canvas = canvas,
                               .hidden = kHidden,
                               .table = deviceTable.data(),
                               .out = out.data(),
                               .workspace = workspace.data(),
                               .denseRows = count.data()},
                              nullptr),
       what);
    (void)workspace.host(what + ", workspace");
    const auto denseRows = count.host(what)[0];
    require(dense ? denseRows == static_cast<std::int32_t>(test.rows) : denseRows == 0,
            what + ": " + std::to_string(denseRows) + " dense rows");
    std::vector<double> wanted;
    for (const auto &x : rows) {
        const double maximum = *std::max_element(x.begin(), x.end());
        double sum = 0.0;
        std::vector<double> embedding(static_cast<std::size_t>(kHidden));
        for (std::size_t id = 0; id < x.size(); ++id) {
            const double weight = std::exp(x[id] - maximum);
            sum += weight;
            if (weight > 1e-13)
                for (std::size_t c = 0; c < embedding.size(); ++c)
                    embedding[c] +=
                        weight * static_cast<double>(fromBf16(table[id * static_cast<std::size_t>(kHidden) + c]));
        }
        for (const double value : embedding)
            wanted.push_back(value / sum);
    }
    // Dense: weights in bf16. Gathered: the soft-cap's error in the logits.
    requireClose(out.host(what), wanted, dense ? 0x1p-8 : 1e-4, what);
}

void run(const Case &test, bool dense)
{
    const std::string what = "sample " + std::to_string(test.rows) + " x " + std::to_string(test.vocabulary) +
                             " spread " + std::to_string(test.spread) + " peak " + std::to_string(test.peak);
    auto logits = randomFloats(test.rows * test.vocabulary, random(), test.spread);
    for (std::size_t row = 0; row < test.rows; ++row)
        logits[row * test.vocabulary + random()() % test.vocabulary] += test.peak;
    const DeviceArray<DeviceLogitBias> bias(test.bias);
    const SampleSettings settings{.temperature = test.temperature,
                                  .seedLow = static_cast<std::uint32_t>(random()()),
                                  .seedHigh = static_cast<std::uint32_t>(random()()),
                                  .step = 17,
                                  .stream = (3U << 8U) | 2U,
                                  .biasCount = static_cast<std::int32_t>(test.bias.size()),
                                  .bias = bias.data()};
    const DeviceArray<SampleSettings> deviceSettings(std::vector<SampleSettings>{settings});
    const DeviceArray<float> deviceLogits(logits);
    const auto rows = static_cast<std::int64_t>(test.rows);
    const auto vocabulary = static_cast<std::int64_t>(test.vocabulary);
    const DeviceArray<unsigned char> workspace(
        static_cast<std::size_t>(kernels::headSampleWorkspace(rows, vocabulary)));
    const DeviceArray<RowSample> results(test.rows);
    const kernels::CanvasLogits canvas{.rows = rows,
                                       .vocabSize = vocabulary,
                                       .logits = deviceLogits.data(),
                                       .softcap = test.softcap,
                                       .settings = deviceSettings.data(),
                                       .workspace = workspace.data()};
    ok(kernels::headSample(canvas, results.data(), nullptr), what);
    const auto found = results.host(what);
    (void)workspace.host(what + ", workspace");
    int close = 0;
    std::vector<std::vector<double>> all;
    for (std::size_t row = 0; row < test.rows; ++row) {
        all.push_back(processed(test, logits.data() + row * test.vocabulary));
        compareRow(test, all.back(), static_cast<std::uint32_t>(row), settings, found[row],
                   what + ", row " + std::to_string(row), close);
    }
    require(close <= static_cast<int>(test.rows * 6 / 4 + 3),
            what + ": too many close calls: " + std::to_string(close));
    compareEmbedding(test, all, canvas, dense, what + ", embedding");
}

} // namespace

int main()
{
    requireDevice();
    constexpr float kBanned = -std::numeric_limits<float>::infinity();
    // Flat rows of many ids take the dense product; small vocabularies and peaks are gathered.
    run({5, 512, 12.0F, 0.0F, 30.0F, 0.8F, {}}, false);
    run({3, 768, 2.0F, 40.0F, 0.0F, 0.5F, {}}, false);
    run({16, 8192, 2.0F, 0.0F, 30.0F, 0.4F, {}}, true);
    run({17, 8192, 3.0F, 60.0F, 30.0F, 0.4F, {}}, false);
    run({9, 8192, 3.0F, 0.0F, 0.0F, 0.7F, {{0, kBanned}, {5, 2.0F}, {300, kBanned}, {8191, 1.5F}}}, true);
    run({2, 8, 1.0F, 0.0F, 30.0F, 1.0F, {{0, kBanned}, {1, kBanned}, {2, kBanned}, {3, kBanned}, {6, kBanned}}}, false);
    run({1, 1032, 1.0F, 3.0F, 30.0F, 0.4F, {}}, true);
    run({4, 8456, 2.0F, 0.0F, 30.0F, 0.5F, {}}, true);
    run({3, 262144, 3.0F, 0.0F, 30.0F, 0.4F, {}}, true);
    run({3, 262144, 3.0F, 60.0F, 30.0F, 0.4F, {}}, false);
    // As in the first steps of a canvas: nearly every block holds an id that may win.
    run({4, 262144, 3.7F, 0.0F, 30.0F, 0.6F, {}}, true);
    run({3, 262144, 3.7F, 0.0F, 30.0F, 0.6F, {{7, 12.0F}, {70000, kBanned}, {70001, 15.0F}, {262143, 14.0F}}}, true);
    return finish("head_sample");
}
