// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "gpu_check.h"
#include "kernels/entropy.h"
#include "kernels/gumbel_sample.h"
#include "kernels/head_sample.h"

using namespace palimpsest;
using namespace palimpsest::gpu_check;
using kernels::RowSample;
using kernels::SampleSettings;

namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

struct Case
{
    std::size_t rows;
    std::size_t vocabulary;
    float spread; ///< standard deviation of the logits
    float peak;   ///< added to one id of every row
    float temperature;
    bool bans; ///< every third id
};

std::string nameOf(const Case &test)
{
    return std::to_string(test.rows) + " x " + std::to_string(test.vocabulary) + ", spread " +
           std::to_string(test.spread) + ", peak " + std::to_string(test.peak);
}

std::vector<float> logitsOf(const Case &test)
{
    auto logits = randomFloats(test.rows * test.vocabulary, testRandom(), test.spread);
    for (std::size_t row = 0; row < test.rows; ++row)
        logits[row * test.vocabulary + testRandom()() % test.vocabulary] += test.peak;
    for (std::size_t i = 0; test.bans && i < logits.size(); i += 3)
        logits[i] = kBanned;
    return logits;
}

double entropyOf(const float *logits, const Case &test)
{
    double maximum = -std::numeric_limits<double>::infinity();
    for (std::size_t id = 0; id < test.vocabulary; ++id)
        maximum = std::max(maximum, static_cast<double>(logits[id]) / static_cast<double>(test.temperature));
    double sum = 0.0;
    double weighted = 0.0;
    for (std::size_t id = 0; id < test.vocabulary; ++id) {
        const double distance = static_cast<double>(logits[id]) / static_cast<double>(test.temperature) - maximum;
        const double weight = std::exp(distance);
        sum += weight;
        weighted += weight > 0.0 ? weight * distance : 0.0;
    }
    return std::log(sum) - weighted / sum;
}

std::vector<float> entropies(const Case &test, const DeviceArray<float> &logits, std::size_t rows)
{
    const DeviceArray<float> out(rows);
    ok(kernels::entropy({.rows = static_cast<std::int64_t>(rows),
                         .vocabSize = static_cast<std::int64_t>(test.vocabulary),
                         .logits = logits.data(),
                         .temperature = test.temperature,
                         .entropyNats = out.data()},
                        nullptr),
       "entropy");
    return out.host("entropy " + nameOf(test));
}

void checkEntropy(const Case &test, const std::vector<float> &logits, const DeviceArray<float> &onDevice)
{
    const auto found = entropies(test, onDevice, test.rows);
    for (std::size_t row = 0; row < test.rows; ++row) {
        const double wanted = entropyOf(logits.data() + row * test.vocabulary, test);
        if (!(std::abs(static_cast<double>(found[row]) - wanted) <= 2e-5))
            fail("entropy " + nameOf(test) + ", row " + std::to_string(row) + ": " + std::to_string(found[row]) +
                 ", wanted " + std::to_string(wanted));
    }
    requireSameBits(entropies(test, onDevice, 1), {found.front()}, "entropy of the first row alone, " + nameOf(test));
}

/// The same draw by headSample(), whose own test compares it with the specification.
std::vector<RowSample> headSamples(const Case &test, const DeviceArray<float> &logits, std::uint64_t seed)
{
    const auto rows = static_cast<std::int64_t>(test.rows);
    const auto vocabulary = static_cast<std::int64_t>(test.vocabulary);
    const DeviceArray<SampleSettings> settings(
        std::vector<SampleSettings>{{.temperature = test.temperature,
                                     .seedLow = static_cast<std::uint32_t>(seed),
                                     .seedHigh = static_cast<std::uint32_t>(seed >> 32U),
                                     .step = 9,
                                     .stream = 514}});
    const DeviceArray<unsigned char> workspace(
        static_cast<std::size_t>(kernels::headSampleWorkspace(rows, vocabulary)));
    const DeviceArray<RowSample> results(test.rows);
    ok(kernels::headSample({.rows = rows,
                            .vocabSize = vocabulary,
                            .logits = logits.data(),
                            .softcap = 0.0F,
                            .settings = settings.data(),
                            .workspace = workspace.data()},
                           results.data(), nullptr),
       "headSample");
    return results.host("headSample");
}

void checkSample(const Case &test, const DeviceArray<float> &logits)
{
    const std::uint64_t seed = (static_cast<std::uint64_t>(testRandom()()) << 32U) | testRandom()();
    const DeviceArray<std::int32_t> sampled(test.rows);
    const DeviceArray<std::int32_t> argmax(test.rows);
    kernels::GumbelSampleArgs args{.rows = static_cast<std::int64_t>(test.rows),
                                   .vocabSize = static_cast<std::int64_t>(test.vocabulary),
                                   .logits = logits.data(),
                                   .temperature = test.temperature,
                                   .seed = seed,
                                   .step = 9,
                                   .stream = 514,
                                   .sampled = sampled.data(),
                                   .argmax = argmax.data()};
    ok(kernels::gumbelSample(args, nullptr), "gumbelSample");
    const auto ids = sampled.host("gumbelSample");
    const auto likeliest = argmax.host("gumbelSample");
    const auto wanted = headSamples(test, logits, seed);
    for (std::size_t row = 0; row < test.rows; ++row) {
        require(ids[row] == wanted[row].sampled, "sample of row " + std::to_string(row) + ", " + nameOf(test) + ": " +
                                                     std::to_string(ids[row]) + ", wanted " +
                                                     std::to_string(wanted[row].sampled));
        require(likeliest[row] == wanted[row].argmax, "argmax of row " + std::to_string(row) + ", " + nameOf(test));
    }
    const DeviceArray<std::int32_t> alone(test.rows);
    args.sampled = nullptr;
    args.argmax = alone.data();
    ok(kernels::gumbelSample(args, nullptr), "gumbelSample, argmax alone");
    requireSameBits(alone.host("argmax alone"), likeliest, "argmax alone, " + nameOf(test));
    args.sampled = alone.data();
    args.argmax = nullptr;
    ok(kernels::gumbelSample(args, nullptr), "gumbelSample, sample alone");
    requireSameBits(alone.host("sample alone"), ids, "sample alone, " + nameOf(test));
}

void checkRefusals()
{
    const DeviceArray<float> logits(64);
    const DeviceArray<float> out(8);
    const DeviceArray<std::int32_t> ids(8);
    const kernels::EntropyArgs good{.rows = 8, .vocabSize = 8, .logits = logits.data(), .entropyNats = out.data()};
    const auto refused = [&](auto change) {
        kernels::EntropyArgs args = good;
        change(args);
        return kernels::entropy(args, nullptr) == cudaErrorInvalidValue;
    };
    require(refused([](auto &args) { args.vocabSize = 6; }), "entropy: a vocabulary of 6");
    require(refused([](auto &args) { args.vocabSize = 0; }), "entropy: no vocabulary");
    require(refused([](auto &args) { args.rows = -1; }), "entropy: fewer rows than none");
    require(refused([](auto &args) { args.temperature = 0.0F; }), "entropy: temperature 0");
    require(refused([](auto &args) { args.logits += 1; }), "entropy: misaligned logits");
    require(refused([](auto &args) { args.entropyNats = nullptr; }), "entropy: nowhere to write to");
    require(kernels::entropy({.rows = 0, .vocabSize = 8}, nullptr) == cudaSuccess, "entropy: no rows");
    require(kernels::gumbelSample({.rows = 8, .vocabSize = 8, .logits = logits.data()}, nullptr) ==
                cudaErrorInvalidValue,
            "gumbelSample: nothing wanted");
    require(kernels::gumbelSample(
                {.rows = 8, .vocabSize = 7, .logits = logits.data(), .sampled = ids.data(), .argmax = nullptr},
                nullptr) == cudaErrorInvalidValue,
            "gumbelSample: a vocabulary of 7");
}

void checkNothingToChooseFrom()
{
    const DeviceArray<float> logits(std::vector<float>(8, kBanned));
    const DeviceArray<float> out(1);
    const DeviceArray<std::int32_t> ids(1);
    ok(kernels::entropy({.rows = 1, .vocabSize = 8, .logits = logits.data(), .entropyNats = out.data()}, nullptr),
       "entropy");
    require(std::isnan(out.host("entropy")[0]), "entropy of a row of banned ids");
    ok(kernels::gumbelSample({.rows = 1, .vocabSize = 8, .logits = logits.data(), .sampled = ids.data()}, nullptr),
       "gumbelSample");
    require(ids.host("gumbelSample")[0] == 0, "sample of a row of banned ids");
}

} // namespace

int main()
{
    requireDevice();
    const Case cases[] = {{1, 4, 1.0F, 0.0F, 1.0F, false},       {3, 520, 2.0F, 40.0F, 0.5F, false},
                          {17, 8192, 3.0F, 0.0F, 0.7F, true},    {9, 8196, 0.0F, 0.0F, 1.0F, false},
                          {64, 32768, 5.0F, 30.0F, 0.4F, false}, {3, 262144, 3.0F, 0.0F, 0.8F, false},
                          {3, 262144, 3.0F, 60.0F, 0.4F, true},  {32, 262144, 3.7F, 0.0F, 0.6F, false},
                          {4, 262144, 0.0F, 0.0F, 1.0F, false}};
    for (const Case &test : cases) {
        const auto logits = logitsOf(test);
        const DeviceArray<float> onDevice(logits);
        checkEntropy(test, logits, onDevice);
        // headSample() wants a multiple of 8; a vocabulary of 4 is the examples' business.
        if (test.vocabulary % 8 == 0)
            checkSample(test, onDevice);
    }
    checkRefusals();
    checkNothingToChooseFrom();
    return finish("entropy, gumbel_sample");
}
