// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/cuda/cuda_model.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// What the checks of the CUDA backend share. Each of them prints its figures and reports failures through gpu_check.
namespace palimpsest::gpu_check {

void checkGolden();
void checkDeterminism();
/// The same at the smallest shape and with few repeats, for a sanitizer to watch.
void checkDeterminismWatched();
void checkResults();
void checkSampler();
void checkFaults();
/// The demo model's texts against those that the CPU made (demo_cases.cpp); writes its own where a file is named.
void checkDemo(const std::string &casesFile, const std::string &resultsFile);

/// Below the golden folder's models, or the bundled demo model for "demo".
[[nodiscard]] std::filesystem::path modelFolder(const std::string &name);
[[nodiscard]] std::unique_ptr<cuda::CudaModel> loadModel(const std::string &name,
                                                         cuda::CudaBackendSettings settings = {});

/// Encodes `ids`, in the chunks given and then the rest.
[[nodiscard]] std::unique_ptr<Sequence> encoded(Backend &model, std::span<const TokenId> ids,
                                                const std::vector<std::int64_t> &chunks = {});

[[nodiscard]] std::vector<TokenId> randomIds(std::int64_t count, std::int64_t vocabSize, std::uint64_t seed);

/// A job and everything it refers to.
struct Run
{
    const Sequence *prefix = nullptr;
    std::vector<TokenId> canvas;
    std::unique_ptr<SelfConditioning> conditioning;
    std::vector<LogitBias> bias;
    std::vector<PositionResult> results;
    float temperature = 0.7F;
    NoiseAddress noise{.seed = 1, .canvas = 0, .step = 7};

    [[nodiscard]] DenoiseJob job();
};

/// One step for each run, in one call.
void step(Backend &model, std::span<Run> runs);

/// What became of one canvas.
struct Loop
{
    std::vector<TokenId> argmax;
    int steps = 0;
    bool stopped = false;
};

/// The denoising loop of one canvas, as a generation does it; positions where `frozen` is not 0 hold `frozenIds`.
[[nodiscard]] Loop denoiseCanvas(Backend &model, const Sequence &prefix, std::uint64_t seed,
                                 const SamplerSettings &settings, const std::vector<std::uint8_t> &frozen,
                                 const std::vector<TokenId> &frozenIds);

/// All bytes of the results, for comparing.
[[nodiscard]] std::vector<std::uint32_t> bitsOf(const std::vector<PositionResult> &results);

} // namespace palimpsest::gpu_check
