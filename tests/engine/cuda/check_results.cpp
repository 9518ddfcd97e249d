// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

#include "engine/philox.h"

namespace palimpsest::gpu_check {

namespace {

/// One row as the specification has it, in double where it sums.
struct Reference
{
    std::vector<float> processed;
    std::vector<float> perturbed;
    double entropyNats = 0.0;
    std::vector<double> probabilities;
};

Reference referenceRow(const cuda::CudaModel &model, const float *logits, const Run &run, std::uint32_t position)
{
    const auto vocab = static_cast<std::size_t>(model.config().vocabSize);
    const auto cap = static_cast<float>(model.config().finalLogitSoftcap);
    Reference row;
    for (std::size_t id = 0; id < vocab; ++id)
        row.processed.push_back(cap * std::tanh(logits[id] / cap));
    for (const LogitBias &bias : run.bias)
        row.processed[static_cast<std::size_t>(bias.id)] += bias.bias;
    double sum = 0.0;
    float maximum = -std::numeric_limits<float>::infinity();
    for (float &value : row.processed) {
        value /= run.temperature;
        maximum = std::max(maximum, value);
    }
    for (std::size_t id = 0; id < vocab; ++id) {
        const std::uint32_t word =
            run.noise.block(NoiseKind::Gumbel, position, static_cast<std::uint32_t>(id / 4))[id % 4];
        row.perturbed.push_back(row.processed[id] + gumbelFromWord(word));
        sum += std::exp(static_cast<double>(row.processed[id]) - static_cast<double>(maximum));
    }
    for (const float value : row.processed) {
        const double logProbability = static_cast<double>(value) - static_cast<double>(maximum) - std::log(sum);
        row.probabilities.push_back(std::exp(logProbability));
        if (row.probabilities.back() > 0.0)
            row.entropyNats -= row.probabilities.back() * logProbability;
    }
    return row;
}

// The hyperbolic tangents and exponentials of two libraries differ by some units in the last place: of two ids as close
// as that either may win.
constexpr float kTie = 2e-5F;

void compareRow(const Reference &wanted, const PositionResult &found, const std::string &what)
{
    const float best = *std::max_element(wanted.processed.begin(), wanted.processed.end());
    const float bestPerturbed = *std::max_element(wanted.perturbed.begin(), wanted.perturbed.end());
    const auto at = [](const std::vector<float> &values, TokenId id) {
        return values.at(static_cast<std::size_t>(id));
    };
    require(at(wanted.processed, found.argmax) >= best - kTie * std::max(1.0F, std::abs(best)), what + ": argmax");
    require(at(wanted.perturbed, found.sampled) >= bestPerturbed - kTie * std::max(1.0F, std::abs(bestPerturbed)),
            what + ": sample");
    require(std::abs(static_cast<double>(found.entropyNats) - wanted.entropyNats) <= 1e-4, what + ": entropy");
    std::vector<double> sorted = wanted.probabilities;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (std::size_t i = 0; i < found.alternatives.size(); ++i) {
        const Alternative &alternative = found.alternatives.at(i);
        const double probability = wanted.probabilities.at(static_cast<std::size_t>(alternative.id));
        require(std::abs(static_cast<double>(alternative.probability) - probability) <= 1e-4 * probability + 1e-7 &&
                    std::abs(probability - sorted[i]) <= 1e-4 * probability + 1e-7,
                what + ": alternative " + std::to_string(i));
    }
}

void checkModel(const std::string &name, float temperature, std::vector<LogitBias> bias)
{
    const auto model = loadModel(name);
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
    for (int i = 0; i < 2; ++i) { // the second one with a signal
        step(*model, {&run, 1});
        for (std::size_t row = 0; row < run.canvas.size(); ++row) {
            const float *const logits = trace.logits.data() + row * static_cast<std::size_t>(model->config().vocabSize);
            compareRow(referenceRow(*model, logits, run, static_cast<std::uint32_t>(row)), run.results[row],
                       name + " row " + std::to_string(row));
        }
    }
    for (const LogitBias &banned : run.bias)
        for (const PositionResult &result : run.results)
            require(std::isfinite(banned.bias) || (result.argmax != banned.id && result.sampled != banned.id),
                    name + ": a banned id was chosen");
    std::printf(
        "%s at temperature %.2f: statistics of %zu rows compared, %d of them took the dense product, %d failures\n",
        name.c_str(), static_cast<double>(temperature), run.canvas.size(), trace.denseRows.front(),
        failureCount() - before);
}

} // namespace

void checkResults()
{
    const float none = -std::numeric_limits<float>::infinity();
    for (const char *name : {"tiny-a", "tiny-b", "demo"}) {
        checkModel(name, 0.7F, {});
        checkModel(name, 0.05F, {});
        checkModel(name, 0.4F, {{.id = 0, .bias = none}, {.id = 5, .bias = 12.0F}, {.id = 300, .bias = none}});
    }
}

} // namespace palimpsest::gpu_check
