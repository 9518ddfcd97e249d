// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/cpu_rows.h"
#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"
#include "tests/support/golden.h"

#include "kernels/head_sample.h"

namespace palimpsest::gpu_check {

namespace {

using kernels::RowSample;
using test::goldenJson;
using test::GoldenTensors;

/// Logits as they are, row-major.
struct Logits
{
    std::vector<float> values;
    std::size_t columns = 0;

    Logits(const GoldenTensors &golden, const std::string &name)
        : values(golden.floats(name)), columns(static_cast<std::size_t>(golden.shape(name).back()))
    {
    }
    [[nodiscard]] std::size_t rows() const { return values.size() / columns; }
    [[nodiscard]] std::span<const float> row(std::size_t index) const
    {
        return std::span(values).subspan(index * columns, columns);
    }
};

std::vector<RowSample> onDevice(const Logits &logits, float temperature, const NoiseAddress &noise)
{
    const kernels::SampleSettings values{.temperature = temperature,
                                         .seedLow = static_cast<std::uint32_t>(noise.seed),
                                         .seedHigh = static_cast<std::uint32_t>(noise.seed >> 32U),
                                         .step = noise.step,
                                         .stream =
                                             (noise.canvas << 8U) | static_cast<std::uint32_t>(NoiseKind::Gumbel)};
    const DeviceArray<kernels::SampleSettings> settings(std::vector<kernels::SampleSettings>{values});
    const DeviceArray<float> device(logits.values);
    const auto rows = static_cast<std::int64_t>(logits.rows());
    const auto columns = static_cast<std::int64_t>(logits.columns);
    const DeviceArray<unsigned char> workspace(static_cast<std::size_t>(kernels::headSampleWorkspace(rows, columns)));
    const DeviceArray<RowSample> results(logits.rows());
    ok(kernels::headSample({.rows = rows,
                            .vocabSize = columns,
                            .logits = device.data(),
                            .softcap = 0.0F,
                            .settings = settings.data(),
                            .workspace = workspace.data()},
                           results.data(), nullptr),
       "headSample");
    return results.host("headSample");
}

std::vector<float> entropiesOf(const std::vector<RowSample> &samples)
{
    std::vector<float> entropies;
    entropies.reserve(samples.size());
    for (const RowSample &sample : samples)
        entropies.push_back(sample.entropyNats);
    return entropies;
}

void entropyAndArgmaxOfTheFixtures(const GoldenTensors &golden)
{
    const Logits logits(golden, "entropy.logits");
    const auto found = onDevice(logits, 1.0F, {});
    const auto entropies = golden.floats("entropy.expected");
    const auto argmax = golden.ids("argmax.expected");
    for (std::size_t row = 0; row < found.size(); ++row) {
        // Rows 5 and 6 have logits of 3e3 and 1e4, where the reference itself rounds (fixtures' README).
        const float bound = row == 5 || row == 6 ? 3e-4F : 1e-5F;
        require(std::abs(found[row].entropyNats - entropies[row]) <= bound,
                "golden entropy of row " + std::to_string(row));
        require(found[row].argmax == argmax[row], "golden argmax of row " + std::to_string(row));
    }
}

/// Exact: the fixtures' distances to the bound are wider than any rounding of the entropies.
void acceptanceOfTheFixtures(const GoldenTensors &golden)
{
    int cases = 0;
    const auto description = goldenJson("sampler/accept.json");
    for (const auto &entry : description.at("cases")) {
        const auto name = entry.at("case").get<std::string>();
        const std::string prefix = "accept." + name + ".";
        const auto found = onDevice(Logits(golden, prefix + "logits"), 1.0F, {});
        require(acceptPositions(entropiesOf(found), {}, entry.at("entropy_bound").get<double>()) ==
                    golden.bytes(prefix + "accepted_mask"),
                "golden acceptance, " + name);
        ++cases;
    }
    require(cases > 0, "golden acceptance: no cases");
    std::printf("sampler fixtures: entropy, argmax and %d acceptances as recorded\n", cases);
}

/// Every id that the CPU's sampler chooses from the same logits, exactly; what it only reports, to rounding.
void sameAsTheCpu(const std::string &model)
{
    const auto golden = GoldenTensors::load("decoder/" + model + ".safetensors");
    std::size_t rows = 0;
    const auto description = goldenJson("decoder/" + model + ".json");
    for (const auto &entry : description.at("cases")) {
        const std::string prefix = "n" + std::to_string(entry.at("prompt_length").get<std::int64_t>()) + ".step";
        for (const std::string step : {"1", "2"}) {
            const Logits logits(golden, prefix + step + ".logits");
            for (const float temperature : {0.8F, 0.4F, 0.05F}) {
                const NoiseAddress noise{.seed = 0x9E3779B97F4A7C15U + rows, .canvas = 3, .step = 21};
                const auto found = onDevice(logits, temperature, noise);
                std::vector<float> entropies;
                for (std::size_t row = 0; row < found.size(); ++row) {
                    const PositionResult wanted =
                        cpuRow(logits.row(row),
                               {.softcap = 0.0F,
                                .temperature = temperature,
                                .bias = {},
                                .vocabSize = static_cast<std::int64_t>(logits.columns)},
                               {.address = noise, .position = static_cast<std::uint32_t>(row)})
                            .result;
                    entropies.push_back(wanted.entropyNats);
                    const std::string what = model + " golden logits, row " + std::to_string(row);
                    require(found[row].argmax == wanted.argmax, what + ": argmax");
                    require(found[row].sampled == wanted.sampled, what + ": sample");
                    require(std::abs(found[row].entropyNats - wanted.entropyNats) <=
                                1e-5F * std::max(1.0F, wanted.entropyNats),
                            what + ": entropy");
                    // Logits of 30 at a temperature of 0.05 are 600, and their exponentials as precise as its ulp,
                    // 6e-5.
                    for (std::size_t i = 0; i < wanted.alternatives.size(); ++i)
                        require(found[row].alternativeIds[i] == wanted.alternatives.at(i).id &&
                                    std::abs(found[row].alternativeProbabilities[i] -
                                             wanted.alternatives.at(i).probability) <=
                                        1.5e-4F * wanted.alternatives.at(i).probability + 1e-30F,
                                what + ": alternative " + std::to_string(i));
                }
                require(acceptPositions(entropiesOf(found), {}, 0.1) == acceptPositions(entropies, {}, 0.1),
                        model + " golden logits: acceptance");
                rows += found.size();
            }
        }
    }
    require(rows > 0, model + " golden logits: no rows");
    std::printf("%s golden logits: %zu rows sampled and accepted exactly as on the CPU\n", model.c_str(), rows);
}

} // namespace

void checkSampler()
{
    const auto golden = GoldenTensors::load("sampler/sampler.safetensors");
    entropyAndArgmaxOfTheFixtures(golden);
    acceptanceOfTheFixtures(golden);
    sameAsTheCpu("tiny-a");
    sameAsTheCpu("tiny-b");
}

} // namespace palimpsest::gpu_check
