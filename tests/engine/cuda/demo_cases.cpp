// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/cpu/cpu_backend.h"
#include "engine/scheduler.h"
#include "tests/support/demo_model.h"
#include "tests/support/proofreading_score.h"

#include <cstdio>
#include <cstdlib>
#include <future>
#include <string_view>

// The demo model's proofreading cases for a machine that has a GPU and nothing else: `write` computes them on the CPU,
// `gpu_cuda_backend demo` there does the same on the card, `score` judges the texts of either file.

using namespace palimpsest;

namespace {

void write(const test::DemoModel &model, const std::vector<nlohmann::json> &cases, const std::string &file)
{
    Scheduler scheduler(cpu::makeCpuBackend(model.checkpoint, {}), model.tokenizer,
                        {.queueCapacity = static_cast<int>(cases.size())});
    std::vector<std::promise<GenerationResult>> answers(cases.size());
    std::vector<GenerationRequest> requests;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        requests.push_back(model.request(cases[i].at("prompt").get<std::string>(), i));
        scheduler.submit(requests.back(), nullptr, [&answers, i](auto outcome) {
            answers[i].set_value(std::get<GenerationResult>(std::move(outcome)));
        });
    }
    nlohmann::json written = nlohmann::json::array();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const GenerationResult result = answers[i].get_future().get();
        written.push_back({{"prompt", requests[i].prompt},
                           {"seed", i},
                           {"tokens", result.tokens},
                           {"steps", result.canvases.front().steps}});
    }
    std::ofstream(file) << written.dump();
}

void score(const test::DemoModel &model, const std::vector<nlohmann::json> &cases, const std::string &file)
{
    const nlohmann::json results = nlohmann::json::parse(std::ifstream(file));
    test::ProofreadingScore figures;
    for (std::size_t i = 0; i < results.size(); ++i)
        figures.add(cases.at(i).at("expected").get<std::string>(), cases.at(i).at("noisy").get<std::string>(),
                    model.tokenizer->decode(results[i].at("tokens").get<std::vector<TokenId>>(), DecodeSpecial::Skip));
    std::printf("word error rate %.2f -> %.2f %%, errors fixed %.1f %%, clean words damaged %.2f %%\n",
                figures.errorRateBefore(), figures.errorRateAfter(), figures.fixedPercent(), figures.damagedPercent());
}

} // namespace

/// Arguments: write or score, a file, and for write how many cases.
int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    const test::DemoModel model = test::DemoModel::open(PALIMPSEST_SOURCE_DIR);
    auto cases = test::demoCases(PALIMPSEST_SOURCE_DIR, "proof.jsonl");
    if (count > 3)
        cases.resize(std::min(cases.size(), static_cast<std::size_t>(std::atoi(arguments[3]))));
    if (std::string_view(arguments[1]) == "score")
        score(model, cases, arguments[2]);
    else
        write(model, cases, arguments[2]);
    return 0;
}
