// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/chat_format.h"
#include "engine/checkpoint.h"
#include "engine/generation.h"
#include "engine/tokenizer.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace palimpsest::test {

/// The shipped model and the cases that were measured with it (tests/demo).
struct DemoModel
{
    std::shared_ptr<const Checkpoint> checkpoint;
    std::shared_ptr<const Tokenizer> tokenizer;
    ChatFormat chat{ChatDialect::PlainTurns};

    [[nodiscard]] static DemoModel open(const std::filesystem::path &sourceDir)
    {
        const auto folder = sourceDir / "resources/demo_model";
        return {.checkpoint = Checkpoint::open(folder), .tokenizer = Tokenizer::load(folder / "tokenizer.json")};
    }

    [[nodiscard]] std::vector<TokenId> promptIds(const std::string &userText) const
    {
        ChatRequest request;
        request.messages.emplace_back();
        request.messages.back().text = userText;
        return chat.encode(request, *tokenizer);
    }

    /// A request with the shipped sampler settings and a budget of one canvas.
    [[nodiscard]] GenerationRequest request(const std::string &userText, std::uint64_t seed) const
    {
        const GenerationDefaults &defaults = checkpoint->generationDefaults();
        GenerationRequest made;
        made.prompt = promptIds(userText);
        made.sampler = {.maxDenoisingSteps = defaults.maxDenoisingSteps,
                        .tMin = defaults.tMin,
                        .tMax = defaults.tMax,
                        .entropyBoundNats = defaults.entropyBoundNats,
                        .stabilityThreshold = defaults.stabilityThreshold,
                        .confidenceThresholdNats = defaults.confidenceThresholdNats};
        made.seed = seed;
        made.maxNewTokens = checkpoint->config().canvasLength;
        made.eosTokenIds = defaults.eosTokenIds;
        made.padTokenId = defaults.padTokenId;
        return made;
    }
};

/// The lines of a .jsonl file below tests/demo.
[[nodiscard]] inline std::vector<nlohmann::json> demoCases(const std::filesystem::path &sourceDir,
                                                           const std::string &name)
{
    std::ifstream file(sourceDir / "tests/demo" / name);
    if (!file)
        throw std::runtime_error("cannot read tests/demo/" + name);
    std::vector<nlohmann::json> cases;
    for (std::string line; std::getline(file, line);)
        cases.push_back(nlohmann::json::parse(line));
    return cases;
}

} // namespace palimpsest::test
