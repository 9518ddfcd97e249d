// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"

#include "tests/gpu/gpu_check.h"
#include "tests/support/golden.h"

#include <bit>

namespace palimpsest::gpu_check {

std::filesystem::path modelFolder(const std::string &name)
{
    if (name == "demo")
        return test::goldenFolder().parent_path().parent_path() / "resources" / "demo_model";
    return test::goldenFolder() / "models" / name / "dg-w4a16";
}

std::unique_ptr<cuda::CudaModel> loadModel(const std::string &name, cuda::CudaBackendSettings settings)
{
    return std::make_unique<cuda::CudaModel>(Checkpoint::open(modelFolder(name)), settings, LoadProgress{});
}

std::unique_ptr<Sequence> encoded(Backend &model, std::span<const TokenId> ids, const std::vector<std::int64_t> &chunks)
{
    auto sequence = model.newSequence();
    for (const std::int64_t chunk : chunks) {
        (void)model.encode(*sequence, ids.first(static_cast<std::size_t>(chunk)), {});
        ids = ids.subspan(static_cast<std::size_t>(chunk));
    }
    (void)model.encode(*sequence, ids, {});
    return sequence;
}

std::vector<TokenId> randomIds(std::int64_t count, std::int64_t vocabSize, std::uint64_t seed)
{
    std::vector<TokenId> ids;
    for (std::int64_t i = 0; i < count; ++i)
        ids.push_back(uniformTokenId({.seed = seed, .canvas = 0, .step = 0}, NoiseKind::InitialCanvas,
                                     static_cast<std::uint32_t>(i), vocabSize));
    return ids;
}

DenoiseJob Run::job()
{
    results.resize(canvas.size());
    return {.prefix = prefix,
            .canvas = canvas,
            .conditioning = conditioning.get(),
            .temperature = temperature,
            .noise = noise,
            .logitBias = bias,
            .results = results};
}

void step(Backend &model, std::span<Run> runs)
{
    std::vector<DenoiseJob> jobs;
    for (Run &run : runs)
        jobs.push_back(run.job());
    model.denoise(jobs);
}

Loop denoiseCanvas(Backend &model, const Sequence &prefix, std::uint64_t seed, const SamplerSettings &settings,
                   const std::vector<std::uint8_t> &frozen, const std::vector<TokenId> &frozenIds)
{
    const auto vocab = model.config().vocabSize;
    Run run;
    run.prefix = &prefix;
    run.canvas = randomIds(model.config().canvasLength, vocab, seed);
    run.conditioning = model.newSelfConditioning();
    StoppingRule rule(settings.stabilityThreshold, settings.confidenceThresholdNats);
    Loop loop;
    for (int number = settings.maxDenoisingSteps; number >= 1 && !loop.stopped; --number, ++loop.steps) {
        for (std::size_t i = 0; i < frozen.size(); ++i)
            if (frozen[i] != 0)
                run.canvas[i] = frozenIds[i];
        run.temperature = stepTemperature(settings, number);
        run.noise = {.seed = seed, .canvas = 0, .step = static_cast<std::uint32_t>(number)};
        step(model, {&run, 1});
        std::vector<float> entropy;
        std::vector<TokenId> argmax;
        for (std::size_t i = 0; i < run.results.size(); ++i) {
            entropy.push_back(run.results[i].entropyNats);
            argmax.push_back(frozen[i] != 0 ? frozenIds[i] : run.results[i].argmax);
        }
        const auto accepted = acceptPositions(entropy, frozen, settings.entropyBoundNats);
        for (std::size_t i = 0; i < run.canvas.size(); ++i)
            run.canvas[i] = accepted[i] != 0
                                ? run.results[i].sampled
                                : uniformTokenId(run.noise, NoiseKind::Renoise, static_cast<std::uint32_t>(i), vocab);
        const bool same = argmax == loop.argmax;
        loop.stopped = rule.update(argmax, meanEntropy(entropy, frozen));
        require(!loop.stopped || same, "a loop stopped on an argmax canvas that had just changed");
        loop.argmax = std::move(argmax);
    }
    return loop;
}

std::vector<std::uint32_t> bitsOf(const std::vector<PositionResult> &results)
{
    std::vector<std::uint32_t> bits;
    for (const PositionResult &result : results) {
        bits.push_back(static_cast<std::uint32_t>(result.argmax));
        bits.push_back(static_cast<std::uint32_t>(result.sampled));
        bits.push_back(std::bit_cast<std::uint32_t>(result.entropyNats));
        for (const Alternative &alternative : result.alternatives) {
            bits.push_back(static_cast<std::uint32_t>(alternative.id));
            bits.push_back(std::bit_cast<std::uint32_t>(alternative.probability));
        }
    }
    return bits;
}

} // namespace palimpsest::gpu_check
