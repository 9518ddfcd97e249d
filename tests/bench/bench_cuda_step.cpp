// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cuda/cuda_model.h"
#include "engine/error.h"
#include "engine/synthetic_checkpoint.h"
#include "gpu/card_power.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// What `palimpsest bench --device cuda` measures, in a program that needs no shared library, so that it can be carried
// to a machine with a GPU: random weights are written, loaded and timed there.

using namespace palimpsest;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<TokenId> randomIds(std::int64_t count, std::int64_t vocabSize, std::uint64_t seed)
{
    std::vector<TokenId> ids;
    for (std::int64_t i = 0; i < count; ++i)
        ids.push_back(uniformTokenId({.seed = seed, .canvas = 0, .step = 0}, NoiseKind::InitialCanvas,
                                     static_cast<std::uint32_t>(i), vocabSize));
    return ids;
}

// Of the two temperatures one leaves the canvas unsettled, as in its first steps; with the other an id stands out in
// every row, as in all later steps.
constexpr float kUnsettled = 0.6F;
constexpr float kSettled = 0.02F;

/// Canvases behind one prefix, the first `unsettled` of them unsettled.
class Batch
{
public:
    Batch(Backend &backend, const Sequence &prefix, std::size_t size, std::size_t unsettled)
        : m_backend(backend), m_results(size)
    {
        const ModelConfig &config = backend.config();
        for (std::size_t i = 0; i < size; ++i) {
            m_canvases.push_back(randomIds(config.canvasLength, config.vocabSize, i));
            m_conditioning.push_back(backend.newSelfConditioning());
            m_results[i].resize(m_canvases.back().size());
        }
        for (std::size_t i = 0; i < size; ++i)
            m_jobs.push_back({.prefix = &prefix,
                              .canvas = m_canvases[i],
                              .conditioning = m_conditioning[i].get(),
                              .temperature = i < unsettled ? kUnsettled : kSettled,
                              .noise = {.seed = i, .canvas = 0, .step = 9},
                              .logitBias = {},
                              .results = m_results[i]});
    }

    double stepMs()
    {
        const Clock::time_point start = Clock::now();
        m_backend.denoise(m_jobs);
        return secondsSince(start) * 1e3;
    }
    [[nodiscard]] const std::vector<DenoiseJob> &jobs() const { return m_jobs; }
    [[nodiscard]] double meanEntropyNats() const
    {
        double sum = 0.0;
        for (const PositionResult &result : m_results.front())
            sum += static_cast<double>(result.entropyNats);
        return sum / static_cast<double>(m_results.front().size());
    }

private:
    Backend &m_backend;
    std::vector<std::vector<TokenId>> m_canvases;
    std::vector<std::vector<PositionResult>> m_results;
    std::vector<std::unique_ptr<SelfConditioning>> m_conditioning;
    std::vector<DenoiseJob> m_jobs;
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.at(values.size() / 2);
}

void printMemory(cuda::CudaModel &model, const char *when)
{
    const DeviceMemory memory = model.memory();
    std::printf("memory %s: weights %.0f MiB, activations %.0f, context %.0f, in use on the card %.0f\n", when,
                static_cast<double>(memory.weightBytes) / 1048576.0,
                static_cast<double>(memory.activationBytes) / 1048576.0,
                static_cast<double>(memory.cacheBytes) / 1048576.0,
                static_cast<double>(memory.totalBytes - memory.freeBytes) / 1048576.0);
}

double medianStepMs(Batch &batch)
{
    constexpr int kWarmUps = 3;
    constexpr int kSteps = 9;
    for (int i = 0; i < kWarmUps; ++i)
        (void)batch.stepMs();
    std::vector<double> times;
    times.reserve(kSteps);
    for (int i = 0; i < kSteps; ++i)
        times.push_back(batch.stepMs());
    return median(times);
}

void printSustained(Batch &batch)
{
    constexpr double kSeconds = 0.7;
    const auto found = gpu_bench::sustained(kSeconds, [&] { (void)batch.stepMs(); });
    if (found)
        std::printf("    repeated: %.3f ms a step, %.2f J, %.0f W, %u MHz\n", found->milliseconds,
                    found->millijoules * 1e-3, found->watts, found->megahertz);
}

void printStages(cuda::CudaModel &model, const Batch &batch)
{
    double sum = 0.0;
    for (const StageTime &stage : model.timeStages(batch.jobs())) {
        std::printf("    %-26s x%-3d %8.3f ms\n", stage.name.c_str(), stage.launches, stage.ms);
        sum += stage.ms;
    }
    std::printf("    %-26s      %8.3f ms\n", "all, kernel by kernel", sum);
}

void measure(cuda::CudaModel &model, const Sequence &prefix, std::size_t size, bool stages)
{
    Batch unsettled(model, prefix, size, size);
    const double first = medianStepMs(unsettled);
    Batch mixed(model, prefix, size, size / 2);
    const double between = medianStepMs(mixed);
    Batch settled(model, prefix, size, 0);
    const double later = medianStepMs(settled);
    std::printf("context %6lld batch %zu: %8.3f ms a step unsettled (entropy %.2f nats), %8.3f half of it settled, "
                "%8.3f settled (%.2f)\n",
                static_cast<long long>(prefix.length()), size, first, unsettled.meanEntropyNats(), between, later,
                settled.meanEntropyNats());
    printSustained(unsettled);
    printSustained(settled);
    if (stages)
        printStages(model, unsettled);
}

void measurePrompt(cuda::CudaModel &model)
{
    constexpr std::int64_t kPrompt = 4096;
    const auto sequence = model.newSequence();
    const auto ids = randomIds(kPrompt, model.config().vocabSize, 78);
    const Clock::time_point start = Clock::now();
    (void)model.encode(*sequence, ids, {});
    const double seconds = secondsSince(start);
    std::printf("prompt of 4096 anew: %.1f ms, %.0f tokens/s\n", seconds * 1e3, static_cast<double>(kPrompt) / seconds);
}

void run(const std::string &shapeName, const std::string &folder, const std::vector<std::int64_t> &contexts,
         const cuda::CudaBackendSettings &settings)
{
    const std::optional<SyntheticShape> shape = syntheticShape(shapeName);
    if (!shape)
        throw Error(ErrorKind::InvalidArgument, shapeName + ": no such shape");
    Clock::time_point start = Clock::now();
    const double gigabytes = static_cast<double>(syntheticBytes(*shape)) * 1e-9;
    if (!std::filesystem::exists(folder)) { // a second run uses what the first one wrote
        writeSyntheticCheckpoint(*shape, folder, 1);
        std::printf("written: %.2f GB in %.1f s\n", gigabytes, secondsSince(start));
    }
    start = Clock::now();
    const auto checkpoint = Checkpoint::open(folder);
    std::printf("opened and checked in %.1f s\n", secondsSince(start));
    start = Clock::now();
    cuda::CudaModel model(checkpoint, settings, {});
    const double seconds = secondsSince(start);
    std::printf("loaded in %.2f s, %.2f GB/s\n", seconds, gigabytes / seconds);
    const DeviceRates rates = model.measureRates();
    std::printf("%s: copies %.2f TB/s, products %.0f TFLOP/s\n", model.info().deviceName.c_str(),
                rates.copyBytesPerSecond * 1e-12, rates.productFlops * 1e-12);
    printMemory(model, "after loading");
    std::fflush(stdout);

    const auto prefix = model.newSequence();
    for (const std::int64_t context : contexts) {
        const std::int64_t missing = context - prefix->length();
        if (missing > 0) {
            start = Clock::now();
            (void)model.encode(*prefix, randomIds(missing, model.config().vocabSize, 77), {});
            std::printf("prompt: %lld more tokens in %.1f ms\n", static_cast<long long>(missing),
                        secondsSince(start) * 1e3);
        }
        const bool main = context == 512;
        for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
            const bool hasAim = main ? size == 1 || size == 4 : context == 16384 && size == 1;
            measure(model, *prefix, size, hasAim);
            if (main && size == 1)
                printMemory(model, "after steps at 512");
        }
        if (main)
            measurePrompt(model);
        std::fflush(stdout);
    }
    printMemory(model, "at the end");
}

} // namespace

/// Arguments: shape, a folder with the weights or to write them to, contexts, and --eager (no graphs) for comparing.
int main(int count, char **arguments)
{
    if (count < 3) {
        std::puts("bench_cuda_step SHAPE FOLDER [CONTEXT...] [--eager]");
        return 2;
    }
    std::vector<std::int64_t> contexts;
    cuda::CudaBackendSettings settings;
    for (int i = 3; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--eager")
            settings.graphs = false;
        else
            contexts.push_back(std::atoll(arguments[i]));
    }
    if (contexts.empty())
        contexts = {0, 512};
    try {
        run(arguments[1], arguments[2], contexts, settings);
    } catch (const std::exception &error) {
        std::printf("failed: %s\n", error.what());
        return 1;
    }
    return 0;
}
