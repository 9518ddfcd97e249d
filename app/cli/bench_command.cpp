// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/bench_floor.h"
#include "app/cli/command.h"
#include "app/cli/device_bench.h"
#include "app/cli/engine_start.h"
#include "app/cli/options.h"
#include "app/cli/run_report.h"
#include "app/model_session.h"
#include "engine/device_diagnostics.h"
#include "engine/error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

namespace palimpsest::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kExamples =
    "  palimpsest bench                              no context, 1024 and 4096 tokens; 1 and 4 canvases\n"
    "  palimpsest bench --context 0,512 --batch 1,8 --steps 20\n"
    "  palimpsest bench --threads 1 --json           for programs\n";

constexpr std::uint64_t kSeed = 1;

struct BenchOptions
{
    std::vector<std::int64_t> contexts{0, 1024, 4096};
    std::vector<std::int64_t> batches{1, 4};
    std::optional<int> steps;
    bool json = false;
    ModelOptions model;
};

constexpr int kSteps = 10;
// A card at its power limit finds its clock within half a second: on an H200 ten steps of four canvases took 23.3
// to 24.2 ms in the median, depending on what ran before, sixty and more 23.5 to 23.7.
constexpr int kDeviceSteps = 60;

// Of the two temperatures the first leaves a canvas of random weights unsettled, as in its first steps; with the other
// one id stands out in every row, as later on, and self-conditioning and sampling have less to do.
constexpr float kUnsettled = 0.6F;
constexpr float kSettled = 0.02F;

struct Measurement
{
    std::int64_t context = 0;
    std::int64_t batch = 0;
    double medianMs = 0.0;
    double leastMs = 0.0;
    double mostMs = 0.0;
    double settledMs = 0.0; ///< the median where one id stands out in every row
    double mixedMs = 0.0;   ///< the same where that is so in half of the canvases (of one: in it)
    double floorMs = 0.0;
    std::vector<StageTime> stages{}; ///< of a device that can tell
};

struct Prefill
{
    std::int64_t tokens = 0; ///< added to the cache
    double ms = 0.0;
};

double millisecondsSince(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<TokenId> randomIds(const ModelConfig &config, std::int64_t count, std::uint32_t canvas)
{
    const NoiseAddress address{.seed = kSeed, .canvas = canvas, .step = 0};
    std::vector<TokenId> ids;
    for (std::int64_t position = 0; position < count; ++position) {
        ids.push_back(
            uniformTokenId(address, NoiseKind::InitialCanvas, static_cast<std::uint32_t>(position), config.vocabSize));
    }
    return ids;
}

/// What the machine could do at best, and the rest that is told once.
struct Surroundings
{
    std::optional<ProductRates> cpu;
    std::optional<DeviceRates> device;  ///< one of the two
    std::optional<DeviceMemory> memory; ///< at the end, with the device
    std::vector<Prefill> prefills;
    int steps = 0; ///< of each measurement
};

/// The canvases of one measured batch and what they need. The first `unsettled` of them are unsettled.
class Batch
{
public:
    Batch(Backend &backend, const Sequence &prefix, std::int64_t size, std::int64_t unsettled) : m_backend(backend)
    {
        const ModelConfig &config = backend.config();
        const auto count = static_cast<std::size_t>(size);
        m_results.resize(count, std::vector<PositionResult>(static_cast<std::size_t>(config.canvasLength)));
        for (std::size_t index = 0; index < count; ++index) {
            m_canvases.push_back(randomIds(config, config.canvasLength, static_cast<std::uint32_t>(index)));
            m_conditioning.push_back(backend.newSelfConditioning());
        }
        for (std::size_t index = 0; index < count; ++index) {
            m_jobs.push_back({.prefix = &prefix,
                              .canvas = m_canvases[index],
                              .conditioning = m_conditioning[index].get(),
                              .temperature = index < static_cast<std::size_t>(unsettled) ? kUnsettled : kSettled,
                              .noise = {.seed = kSeed, .canvas = static_cast<std::uint32_t>(index), .step = 1},
                              .logitBias = {},
                              .results = m_results[index]});
        }
    }

    /// Wall clock of one step, and the next canvas is what this one sampled.
    double step()
    {
        const Clock::time_point start = Clock::now();
        m_backend.denoise(m_jobs);
        const double ms = millisecondsSince(start);
        for (std::size_t index = 0; index < m_jobs.size(); ++index) {
            for (std::size_t position = 0; position < m_canvases[index].size(); ++position)
                m_canvases[index][position] = m_results[index][position].sampled;
        }
        return ms;
    }

    [[nodiscard]] const std::vector<DenoiseJob> &jobs() const noexcept { return m_jobs; }

private:
    Backend &m_backend;
    std::vector<std::vector<TokenId>> m_canvases;
    std::vector<std::vector<PositionResult>> m_results;
    std::vector<std::unique_ptr<SelfConditioning>> m_conditioning;
    std::vector<DenoiseJob> m_jobs;
};

/// Times of `steps` steps in ascending order, behind a few that warm up.
std::vector<double> sortedStepTimes(Batch &batch, int steps)
{
    constexpr int kWarmUps = 3; // cold caches, no self-conditioning; on a device a graph is captured
    for (int step = 0; step < kWarmUps; ++step)
        (void)batch.step();
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(steps));
    for (int step = 0; step < steps; ++step)
        times.push_back(batch.step());
    std::sort(times.begin(), times.end());
    return times;
}

Measurement measure(Backend &backend, const Sequence &prefix, std::int64_t batchSize, int steps)
{
    const auto medianWith = [&](std::int64_t unsettled) {
        Batch some(backend, prefix, batchSize, unsettled);
        return sortedStepTimes(some, steps)[static_cast<std::size_t>(steps) / 2];
    };
    Batch batch(backend, prefix, batchSize, batchSize);
    const std::vector<double> times = sortedStepTimes(batch, steps);
    Measurement row{.context = prefix.length(),
                    .batch = batchSize,
                    .medianMs = times[times.size() / 2],
                    .leastMs = times.front(),
                    .mostMs = times.back(),
                    .settledMs = medianWith(0)};
    row.mixedMs = batchSize == 1 ? row.settledMs : medianWith(batchSize / 2);
    if (auto *const device = dynamic_cast<DeviceDiagnostics *>(&backend); device != nullptr)
        row.stages = device->timeStages(batch.jobs());
    return row;
}

void requireRoom(const ModelConfig &config, const std::vector<std::int64_t> &contexts)
{
    const std::int64_t largest = contexts.back();
    if (largest + config.canvasLength <= config.maxPositions)
        return;
    throw Error(ErrorKind::ContextLength,
                fmt::format("--context {}: with a canvas of {} that is more than the model's context of {} tokens",
                            largest, config.canvasLength, config.maxPositions),
                "context");
}

std::string describeRates(const ModelConfig &config, const Surroundings &surroundings)
{
    constexpr double kGiga = 1e9;
    if (surroundings.device)
        return describeDevice(*surroundings.device, surroundings.memory.value_or(DeviceMemory{}));
    const ProductRates &rates = surroundings.cpu.value();
    return fmt::format("oneDNN products: {:.0f} GFLOP/s at [{} x {} x {}], {:.0f} at the vocabulary's\n",
                       rates.layerFlops / kGiga, config.canvasLength, config.hiddenSize, config.denseIntermediateSize,
                       rates.vocabularyFlops / kGiga);
}

std::string table(const LoadedModel &model, const BackendInfo &info, const Surroundings &surroundings,
                  const std::vector<Measurement> &measurements)
{
    const ModelConfig &config = model.checkpoint->config();
    std::string text = fmt::format("{}\n{}: {} layers, hidden {}, vocabulary {}, canvas {}\n", info.deviceName,
                                   model.location.directory.string(), config.layers.size(), config.hiddenSize,
                                   config.vocabSize, config.canvasLength);
    text += describeRates(config, surroundings);
    for (const Prefill &prefill : surroundings.prefills) {
        text += fmt::format("prompt: {} tokens in {:.1f} ms, {:.3f} ms each\n", prefill.tokens, prefill.ms,
                            prefill.ms / static_cast<double>(prefill.tokens));
    }
    text +=
        fmt::format("\n{:>8} {:>9} {:>15} {:>17} {:>14} {:>12} {:>14} {:>10} {:>12}\n", "context", "canvases",
                    "ms a step", "least to most", "half settled", "settled", "ms a canvas", "floor ms", "times floor");
    for (const Measurement &row : measurements) {
        text += fmt::format("{:>8} {:>9} {:>15.1f} {:>17} {:>14.1f} {:>12.1f} {:>14.1f} {:>10.1f} {:>12.2f}\n",
                            row.context, row.batch, row.medianMs,
                            fmt::format("{:.1f} to {:.1f}", row.leastMs, row.mostMs), row.mixedMs, row.settledMs,
                            row.medianMs / static_cast<double>(row.batch), row.floorMs, row.medianMs / row.floorMs);
    }
    text += fmt::format("\nmedians of {} steps; settled: one word stands out at every position, as in a canvas's later "
                        "steps; half settled: in half of the canvases\n",
                        surroundings.steps);
    for (const Measurement &row : measurements) {
        if (!row.stages.empty())
            text += fmt::format("\ncontext {}, canvases {}\n", row.context, row.batch) + stageTable(row.stages);
    }
    return text;
}

nlohmann::json report(const LoadedModel &model, const BackendInfo &info, const Surroundings &surroundings,
                      const std::vector<Measurement> &measurements)
{
    nlohmann::json rows = nlohmann::json::array();
    for (const Measurement &row : measurements) {
        rows.push_back({{"context", row.context},
                        {"canvases", row.batch},
                        {"median_ms", row.medianMs},
                        {"least_ms", row.leastMs},
                        {"most_ms", row.mostMs},
                        {"half_settled_median_ms", row.mixedMs},
                        {"settled_median_ms", row.settledMs},
                        {"floor_ms", row.floorMs}});
        if (!row.stages.empty())
            rows.back()["stages"] = toJson(row.stages);
    }
    nlohmann::json prompts = nlohmann::json::array();
    for (const Prefill &prefill : surroundings.prefills)
        prompts.push_back({{"tokens", prefill.tokens}, {"ms", prefill.ms}});
    nlohmann::json result{{"command", "bench"},
                          {"model", toJson(model, info)},
                          {"prefill", std::move(prompts)},
                          {"measured_steps", surroundings.steps},
                          {"steps", std::move(rows)}};
    if (surroundings.cpu) {
        result["layer_product_flops"] = surroundings.cpu->layerFlops;
        result["vocabulary_product_flops"] = surroundings.cpu->vocabularyFlops;
    }
    if (surroundings.device) {
        result["device_rates"] = toJson(*surroundings.device);
        result["device_memory"] = toJson(surroundings.memory.value_or(DeviceMemory{}));
    }
    return result;
}

/// Encodes what is missing of `context` tokens; the time it took goes into `surroundings`.
void extendPrefix(Backend &backend, Sequence &prefix, std::int64_t context, Surroundings &surroundings)
{
    const std::int64_t missing = context - prefix.length();
    if (missing <= 0)
        return;
    const std::vector<TokenId> ids =
        randomIds(backend.config(), missing, static_cast<std::uint32_t>(surroundings.prefills.size()));
    const Clock::time_point start = Clock::now();
    (void)backend.encode(prefix, ids, {});
    surroundings.prefills.push_back({missing, millisecondsSince(start)});
}

Surroundings measureSurroundings(Backend &backend, int threads)
{
    Surroundings surroundings;
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    if (auto *const device = dynamic_cast<DeviceDiagnostics *>(&backend); device != nullptr)
        surroundings.device = device->measureRates();
    else
        surroundings.cpu = measureProductRates(backend.config(), threads == 0 ? cores : threads);
    return surroundings;
}

ExitCode run(BenchOptions options)
{
    const LoadedModel model = openWeights(options.model);
    const ModelConfig &config = model.checkpoint->config();
    std::sort(options.contexts.begin(), options.contexts.end());
    requireRoom(config, options.contexts);
    const std::unique_ptr<Backend> backend = startBackend(model, {});
    Surroundings surroundings = measureSurroundings(*backend, model.backend.threads);
    const std::unique_ptr<Sequence> prefix = backend->newSequence();
    surroundings.steps = options.steps.value_or(surroundings.device ? kDeviceSteps : kSteps);
    std::vector<Measurement> measurements;
    for (const std::int64_t context : options.contexts) {
        extendPrefix(*backend, *prefix, context, surroundings);
        for (const std::int64_t batch : options.batches) {
            Measurement row = measure(*backend, *prefix, batch, surroundings.steps);
            row.floorMs = surroundings.device
                              ? deviceFloorMs(config, backend->info(), *surroundings.device, context, batch)
                              : static_cast<double>(batch) * floorMs(stepWork(config, context), *surroundings.cpu);
            measurements.push_back(row);
        }
    }
    if (auto *const device = dynamic_cast<DeviceDiagnostics *>(backend.get()); device != nullptr)
        surroundings.memory = device->memory();
    printResult(options.json ? dumpJson(report(model, backend->info(), surroundings, measurements))
                             : table(model, backend->info(), surroundings, measurements));
    return ExitCode::Success;
}

} // namespace

Command addBenchCommand(CLI::App &program)
{
    auto options = std::make_shared<BenchOptions>();
    CLI::App *command =
        program.add_subcommand("bench", "Measure milliseconds a denoising step, beside what the machine's "
                                        "matrix products would allow");
    command
        ->add_option("--context", options->contexts,
                     "Tokens in front of the canvas; several with commas, or given again")
        ->delimiter(',')
        ->check(CLI::NonNegativeNumber)
        ->allow_extra_args(false);
    command->add_option("--batch", options->batches, "Canvases in one step; several with commas, or given again")
        ->delimiter(',')
        ->check(CLI::Range(1, 64))
        ->allow_extra_args(false);
    command
        ->add_option("--steps", options->steps,
                     fmt::format("Steps to measure; the median counts ({}, on a device {})", kSteps, kDeviceSteps))
        ->check(CLI::Range(1, 10'000));
    command->add_flag("--json", options->json, "JSON instead of a table");
    addModelOptions(*command, options->model);
    command->footer([] { return helpFooter(kExamples); });
    return {command, [options](CommandContext &) {
                return run(*options);
            }};
}

} // namespace palimpsest::cli
