// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/cpu_rows.h"
#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

#include "engine/philox.h"

namespace palimpsest::gpu_check {

namespace {

// The hyperbolic tangents of two libraries differ by some units in the last place: of two ids as close as that either
// may win. Everything else is exact.
constexpr float kTie = 2e-5F;

/// How often an id was another one, as near as that.
struct Ties
{
    int argmax = 0;
    int sampled = 0;
};

float perturbed(const CpuRow &row, const NoiseAddress &noise, std::uint32_t position, TokenId id)
{
    const auto index = static_cast<std::uint32_t>(id);
    return row.processed.at(index) + gumbelFromWord(noise.block(NoiseKind::Gumbel, position, index / 4)[index % 4]);
}

void compareRow(const CpuRow &wanted, const PositionResult &found, const NoiseAddress &noise, std::uint32_t position,
                const std::string &what, Ties &ties)
{
    const auto near = [](float value, float best) {
        return value >= best - kTie * std::max(1.0F, std::abs(best));
    };
    const PositionResult &cpu = wanted.result;
    if (found.argmax != cpu.argmax) {
        ++ties.argmax;
        require(near(wanted.processed.at(static_cast<std::size_t>(found.argmax)),
                     wanted.processed.at(static_cast<std::size_t>(cpu.argmax))),
                what + ": argmax");
    }
    if (found.sampled != cpu.sampled) {
        ++ties.sampled;
        require(
            near(perturbed(wanted, noise, position, found.sampled), perturbed(wanted, noise, position, cpu.sampled)),
            what + ": sample");
    }
    require(std::abs(found.entropyNats - cpu.entropyNats) <= 1e-4F, what + ": entropy");
    for (std::size_t i = 0; i < found.alternatives.size(); ++i) {
        const Alternative &alternative = cpu.alternatives.at(i);
        const bool sameOrTied = found.alternatives.at(i).id == alternative.id ||
                                near(wanted.processed.at(static_cast<std::size_t>(found.alternatives.at(i).id)),
                                     wanted.processed.at(static_cast<std::size_t>(alternative.id)));
        require(sameOrTied && std::abs(found.alternatives.at(i).probability - alternative.probability) <=
                                  1e-4F * alternative.probability + 1e-7F,
                what + ": alternative " + std::to_string(i));
    }
}

void checkModel(const std::string &fixture, cuda::Precision precision, float temperature, std::vector<LogitBias> bias)
{
    const auto model = loadModel(fixture, {.precision = precision});
    const std::string name = fixture + (precision == cuda::Precision::Fp32 ? " fp32" : " bf16");
    const auto prefix = encoded(*model, randomIds(33, model->config().vocabSize, 21));
    Run run;
    run.prefix = prefix.get();
    run.canvas = randomIds(model->config().canvasLength, model->config().vocabSize, 22);
    run.conditioning = model->newSelfConditioning();
    run.temperature = temperature;
    run.bias = std::move(bias);
    run.noise = {.seed = 0x123456789abcdefU, .canvas = 2, .step = 31};
    cuda::Trace trace;
    model->setTrace(&trace);
    const int before = failureCount();
    const auto vocab = static_cast<std::size_t>(model->config().vocabSize);
    const cpu::LogitProcessing processing{.softcap = static_cast<float>(model->config().finalLogitSoftcap),
                                          .temperature = temperature,
                                          .bias = run.bias,
                                          .vocabSize = model->config().vocabSize};
    Ties ties;
    for (int i = 0; i < 2; ++i) { // the second one with a signal
        step(*model, {&run, 1});
        for (std::size_t row = 0; row < run.canvas.size(); ++row) {
            const auto position = static_cast<std::uint32_t>(row);
            compareRow(cpuRow(std::span(trace.logits).subspan(row * vocab, vocab), processing,
                              {.address = run.noise, .position = position}),
                       run.results[row], run.noise, position, name + " row " + std::to_string(row), ties);
        }
    }
    for (const LogitBias &banned : run.bias)
        for (const PositionResult &result : run.results)
            require(std::isfinite(banned.bias) || (result.argmax != banned.id && result.sampled != banned.id),
                    name + ": a banned id was chosen");
    // Ties within the tangents' rounding are rare: one row in a hundred would be a mistake.
    require(100 * (ties.argmax + ties.sampled) <= static_cast<int>(4 * run.canvas.size()) + 100, name + ": ties");
    std::printf("%s at temperature %.2f: two steps of %zu rows as the CPU's sampler has them but for %d argmax and %d "
                "samples tied to rounding, %d rows took the dense product, %d failures\n",
                name.c_str(), static_cast<double>(temperature), run.canvas.size(), ties.argmax, ties.sampled,
                trace.denseRows.front(), failureCount() - before);
}

} // namespace

void checkResults()
{
    const float none = -std::numeric_limits<float>::infinity();
    for (const char *name : {"tiny-a", "tiny-b", "demo"})
        for (const auto precision : {cuda::Precision::Bf16, cuda::Precision::Fp32}) {
            checkModel(name, precision, 0.7F, {});
            checkModel(name, precision, 0.05F, {});
            checkModel(name, precision, 0.4F,
                       {{.id = 0, .bias = none}, {.id = 5, .bias = 12.0F}, {.id = 300, .bias = none}});
        }
}

} // namespace palimpsest::gpu_check
