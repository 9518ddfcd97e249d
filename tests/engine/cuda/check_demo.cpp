// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

#include "engine/sampler.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace palimpsest::gpu_check {

namespace {

// In fp32 the loops of two devices part only where two ids are as good as equal to rounding; in bf16 they do so in half
// of the cases, and one that runs to its last steps without settling seldom meets the other again (precision.h).
constexpr double kSameTexts = 0.8;
constexpr double kStepDifference = 0.03;

SamplerSettings shippedSettings(const Checkpoint &checkpoint)
{
    const GenerationDefaults &defaults = checkpoint.generationDefaults();
    return {.maxDenoisingSteps = defaults.maxDenoisingSteps,
            .tMin = defaults.tMin,
            .tMax = defaults.tMax,
            .entropyBoundNats = defaults.entropyBoundNats,
            .stabilityThreshold = defaults.stabilityThreshold,
            .confidenceThresholdNats = defaults.confidenceThresholdNats};
}

} // namespace

void checkDemo(const std::string &casesFile, const std::string &resultsFile)
{
    const auto checkpoint = Checkpoint::open(modelFolder("demo"));
    cuda::CudaModel model(checkpoint, {}, {});
    const SamplerSettings settings = shippedSettings(*checkpoint);
    const std::vector<std::uint8_t> nothingFrozen(static_cast<std::size_t>(model.config().canvasLength), 0);
    nlohmann::json cases = nlohmann::json::parse(std::ifstream(casesFile));
    int same = 0;
    int steps = 0;
    int wantedSteps = 0;
    for (auto &one : cases) {
        const auto prefix = encoded(model, one.at("prompt").get<std::vector<TokenId>>());
        const Loop loop =
            denoiseCanvas(model, *prefix, one.at("seed").get<std::uint64_t>(), settings, nothingFrozen, {});
        std::vector<TokenId> tokens = loop.argmax;
        const auto end =
            std::find_first_of(tokens.begin(), tokens.end(), checkpoint->generationDefaults().eosTokenIds.begin(),
                               checkpoint->generationDefaults().eosTokenIds.end());
        tokens.erase(end, tokens.end());
        same += tokens == one.at("tokens").get<std::vector<TokenId>>() ? 1 : 0;
        steps += loop.steps;
        wantedSteps += one.at("steps").get<int>();
        one["tokens"] = tokens;
        one["steps"] = loop.steps;
    }
    if (!resultsFile.empty())
        std::ofstream(resultsFile) << cases.dump();
    const double count = static_cast<double>(cases.size());
    std::printf("demo model: %d of %.0f texts as on the CPU, %.2f steps a canvas (CPU %.2f)\n", same, count,
                steps / count, wantedSteps / count);
    require(same >= kSameTexts * count, "demo model: too many texts differ from the CPU's");
    require(std::abs(steps - wantedSteps) <= kStepDifference * wantedSteps, "demo model: steps a canvas");
}

} // namespace palimpsest::gpu_check
