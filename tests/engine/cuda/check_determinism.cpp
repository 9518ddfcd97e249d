// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/engine/cuda/model_runs.h"
#include "tests/gpu/gpu_check.h"

namespace palimpsest::gpu_check {

namespace {

constexpr int kRepeats = 20;
constexpr int kRepeatsWatched = 2; // under a sanitizer, which takes a hundred times as long

/// Canvases behind prefixes of different lengths, one of them trimmed.
struct Requests
{
    std::vector<std::unique_ptr<Sequence>> prefixes;
    std::vector<std::vector<TokenId>> canvases;

    Requests(cuda::CudaModel &model, std::size_t count)
    {
        const ModelConfig &config = model.config();
        for (std::size_t i = 0; i < count; ++i) {
            prefixes.push_back(
                encoded(model, randomIds(1 + static_cast<std::int64_t>(i) * 61, config.vocabSize, 100 + i)));
            canvases.push_back(
                randomIds(i == 3 ? config.canvasLength * 2 / 3 : config.canvasLength, config.vocabSize, i));
        }
    }
};

/// Three steps of every canvas, each fed with what the last one sampled, `batch` canvases a call.
std::vector<std::vector<std::uint32_t>> results(cuda::CudaModel &model, const Requests &requests, std::size_t batch)
{
    std::vector<Run> runs(requests.canvases.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        runs[i].prefix = requests.prefixes[i].get();
        runs[i].canvas = requests.canvases[i];
        runs[i].conditioning = model.newSelfConditioning();
        runs[i].noise.seed = i;
    }
    std::vector<std::vector<std::uint32_t>> bits(runs.size());
    for (std::uint32_t number = 3; number >= 1; --number) {
        for (std::size_t first = 0; first < runs.size(); first += batch)
            step(model, std::span(runs).subspan(first, std::min(batch, runs.size() - first)));
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const std::vector<std::uint32_t> one = bitsOf(runs[i].results);
            bits[i].insert(bits[i].end(), one.begin(), one.end());
            for (std::size_t position = 0; position < runs[i].canvas.size(); ++position)
                runs[i].canvas[position] = runs[i].results[position].sampled;
            runs[i].noise.step = number;
        }
    }
    return bits;
}

void compareAll(const std::vector<std::vector<std::uint32_t>> &found,
                const std::vector<std::vector<std::uint32_t>> &wanted, const std::string &what)
{
    for (std::size_t i = 0; i < wanted.size(); ++i)
        requireSameBits(found.at(i), wanted[i], what + ", canvas " + std::to_string(i));
}

void batchesAndGraphs(const std::string &fixture, cuda::Precision precision, const std::string &name, int repeats)
{
    constexpr std::size_t kCanvases = 8;
    const auto eager = loadModel(fixture, {.graphs = false, .precision = precision});
    const Requests eagerRequests(*eager, kCanvases);
    const auto wanted = results(*eager, eagerRequests, 1);
    compareAll(results(*eager, eagerRequests, 4), wanted, name + " batch of 4, eager");
    compareAll(results(*eager, eagerRequests, 8), wanted, name + " batch of 8, eager");
    require(eager->graphReplays() == 0, name + ": eager replayed a graph");

    const auto graphs = loadModel(fixture, {.precision = precision});
    const Requests requests(*graphs, kCanvases);
    for (const std::size_t batch : {std::size_t{1}, std::size_t{4}, std::size_t{8}})
        for (int round = 0; round < 2; ++round)
            compareAll(results(*graphs, requests, batch), wanted,
                       name + " batch of " + std::to_string(batch) + ", graphs");
    require(graphs->graphReplays() > 0, name + ": no graph was replayed");
    for (int repeat = 0; repeat < repeats; ++repeat)
        compareAll(results(*graphs, requests, 8), wanted, name + " repeat " + std::to_string(repeat));
    std::printf("%s: %d runs, batches of 1, 4 and 8, graphs and eager compared (%lld replays)\n", name.c_str(), repeats,
                static_cast<long long>(graphs->graphReplays()));
}

void chunksAndForks(const std::string &fixture, cuda::Precision precision, const std::string &name)
{
    const auto model = loadModel(fixture, {.precision = precision});
    const std::vector<TokenId> ids = randomIds(300, model->config().vocabSize, 5);
    const auto stepBehind = [&](const Sequence &prefix) {
        Run run;
        run.prefix = &prefix;
        run.canvas = randomIds(model->config().canvasLength, model->config().vocabSize, 9);
        step(*model, {&run, 1});
        return bitsOf(run.results);
    };
    const auto wanted = stepBehind(*encoded(*model, ids));
    const std::vector<std::vector<std::int64_t>> cuts{
        {1, 1, 1, 61}, {63, 1, 64}, {100, 100}, {255}, std::vector<std::int64_t>(299, 1)};
    for (const auto &cut : cuts)
        requireSameBits(stepBehind(*encoded(*model, ids, cut)), wanted,
                        name + " prompt in " + std::to_string(cut.size() + 1) + " chunks");

    // A fork goes its own way and leaves its source alone.
    std::vector<TokenId> other(ids.begin(), ids.begin() + 90);
    const auto source = encoded(*model, ids);
    const auto fork = model->fork(*source, 90);
    require(fork != nullptr && fork->length() == 90, name + ": fork");
    const std::vector<TokenId> tail{7, 7, 8, 9};
    (void)model->encode(*fork, tail, {});
    other.insert(other.end(), tail.begin(), tail.end());
    requireSameBits(stepBehind(*fork), stepBehind(*encoded(*model, other)), name + " fork");
    requireSameBits(stepBehind(*source), wanted, name + " source of a fork");

    const auto far = encoded(*model, randomIds(1024 + 700, model->config().vocabSize, 3));
    require(model->fork(*far, 100) == nullptr, name + ": a fork from what was dropped");
    const auto near = model->fork(*far, far->length() - 200);
    require(near != nullptr, name + ": a fork near the end");
    requireSameBits(stepBehind(*near),
                    stepBehind(*encoded(*model, randomIds(1024 + 500, model->config().vocabSize, 3))),
                    name + " near fork");
}

void trajectories(const std::string &fixture, cuda::Precision precision, const std::string &name)
{
    const auto model = loadModel(fixture, {.precision = precision});
    const auto prefix = encoded(*model, randomIds(40, model->config().vocabSize, 11));
    const auto length = static_cast<std::size_t>(model->config().canvasLength);
    std::vector<std::uint8_t> frozen(length, 0);
    const std::vector<TokenId> frozenIds(length, 17);
    for (std::size_t i = 0; i < length; i += 5)
        frozen[i] = 1;
    const Loop first = denoiseCanvas(*model, *prefix, 3, {}, frozen, frozenIds);
    const Loop again = denoiseCanvas(*model, *prefix, 3, {}, frozen, frozenIds);
    require(first.argmax == again.argmax && first.steps == again.steps, name + ": the same seed gave another canvas");
    for (std::size_t i = 0; i < length; i += 5)
        require(first.argmax[i] == frozenIds[i], name + ": a frozen position changed");
    std::printf("%s: a canvas of %d steps, %s, twice the same\n", name.c_str(), first.steps,
                first.stopped ? "converged" : "all steps used");
}

} // namespace

void checkDeterminism()
{
    for (const std::string fixture : {"tiny-a", "tiny-b", "demo"})
        for (const auto precision : {cuda::Precision::Bf16, cuda::Precision::Fp32}) {
            const std::string name = fixture + (precision == cuda::Precision::Fp32 ? " fp32" : " bf16");
            batchesAndGraphs(fixture, precision, name, kRepeats);
            chunksAndForks(fixture, precision, name);
            trajectories(fixture, precision, name);
        }
}

void checkDeterminismWatched()
{
    batchesAndGraphs("tiny-a", cuda::Precision::Bf16, "tiny-a bf16, watched", kRepeatsWatched);
    trajectories("tiny-a", cuda::Precision::Bf16, "tiny-a bf16, watched");
}

} // namespace palimpsest::gpu_check
