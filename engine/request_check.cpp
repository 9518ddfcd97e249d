// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/request_check.h"

#include "engine/error.h"
#include "engine/utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace palimpsest {

namespace {

[[noreturn]] void refuse(const std::string &field, const std::string &problem)
{
    throw Error(ErrorKind::InvalidArgument, field + ": " + problem, field);
}

void requireIds(const std::string &field, std::span<const TokenId> ids, const ModelConfig &model)
{
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] < 0 || ids[i] >= model.vocabSize) {
            refuse(field, "token " + std::to_string(i) + " is " + std::to_string(ids[i]) +
                              ", but the model's vocabulary has the ids 0 to " + std::to_string(model.vocabSize - 1));
        }
    }
}

void checkStopStrings(const GenerationRequest &request, const Tokenizer *tokenizer)
{
    if (!request.stopStrings.empty() && tokenizer == nullptr) {
        refuse("stopStrings", "the model has no tokenizer, so its answers have no text to find them in");
    }
    for (const std::string &stop : request.stopStrings) {
        if (stop.empty()) {
            refuse("stopStrings", "a stop string is empty");
        }
        if (firstInvalidUtf8(stop)) {
            refuse("stopStrings", "a stop string is not valid UTF-8");
        }
    }
}

void requirePerPosition(const std::string &field, std::size_t found, std::size_t positions)
{
    if (found != 0 && found != positions) {
        refuse(field, std::to_string(found) + " entries for " + std::to_string(positions) + " positions");
    }
}

void checkFirstCanvas(const CanvasStart &start, const ModelConfig &model)
{
    const std::size_t positions = start.ids.size();
    if (positions == 0 || static_cast<std::int64_t>(positions) > model.canvasLength) {
        refuse("firstCanvas.ids",
               std::to_string(positions) + " positions, but a canvas has 1 to " + std::to_string(model.canvasLength));
    }
    requirePerPosition("firstCanvas.frozen", start.frozen.size(), positions);
    requirePerPosition("firstCanvas.keepAtStart", start.keepAtStart.size(), positions);
    for (std::size_t i = 0; i < positions; ++i) {
        const bool used = (!start.frozen.empty() && start.frozen[i] != 0) ||
                          (!start.keepAtStart.empty() && start.keepAtStart[i] != 0);
        if (used) {
            requireIds("firstCanvas.ids", std::span(start.ids).subspan(i, 1), model);
        }
    }
}

void checkBias(RequestPlan &plan, const GenerationRequest &request, const ModelConfig &model)
{
    plan.logitBias = request.logitBias;
    const auto byId = [](const LogitBias &a, const LogitBias &b) {
        return a.id < b.id;
    };
    std::sort(plan.logitBias.begin(), plan.logitBias.end(), byId);
    for (std::size_t i = 0; i < plan.logitBias.size(); ++i) {
        const LogitBias &entry = plan.logitBias[i];
        requireIds("logitBias", std::span(&entry.id, 1), model);
        if (i > 0 && plan.logitBias[i - 1].id == entry.id) {
            refuse("logitBias", "the id " + std::to_string(entry.id) + " is there twice");
        }
        const bool bans = entry.bias == -std::numeric_limits<float>::infinity();
        if (!bans && !std::isfinite(entry.bias)) {
            refuse("logitBias",
                   "the bias of id " + std::to_string(entry.id) + " is neither a finite number nor minus infinity");
        }
        if (bans) {
            plan.bannedIds.push_back(entry.id);
        }
    }
    if (static_cast<std::int64_t>(plan.bannedIds.size()) >= model.vocabSize) {
        refuse("logitBias", "every id of the vocabulary is banned");
    }
}

/// Positions that prompt and answer need of the context, checked against what there is.
void checkContext(const GenerationRequest &request, const ModelConfig &model)
{
    const auto prompt = static_cast<std::int64_t>(request.prompt.size());
    const std::int64_t first =
        request.firstCanvas ? static_cast<std::int64_t>(request.firstCanvas->ids.size()) : model.canvasLength;
    std::int64_t answer = request.singleCanvas ? std::min(request.maxNewTokens, first) : request.maxNewTokens;
    if (request.firstCanvas) {
        answer = std::max(answer, first); // its ids are given: it cannot be trimmed
    }
    const std::int64_t room = model.maxPositions - prompt;
    if (answer <= room) {
        return;
    }
    std::string message = "The prompt has " + std::to_string(prompt) + " tokens and the answer may have " +
                          std::to_string(answer) + ", but the model's context holds " +
                          std::to_string(model.maxPositions) + ": shorten the prompt";
    if (room > 0) {
        message += " or ask for at most " + std::to_string(room) + " new tokens";
    }
    throw Error(ErrorKind::ContextLength, message, room > 0 ? "maxNewTokens" : "prompt");
}

std::vector<std::int64_t> canvasLengths(const GenerationRequest &request, const ModelConfig &model)
{
    std::vector<std::int64_t> lengths;
    auto position = static_cast<std::int64_t>(request.prompt.size());
    std::int64_t answered = 0;
    while (answered < request.maxNewTokens && !(request.singleCanvas && !lengths.empty())) {
        const bool given = lengths.empty() && request.firstCanvas.has_value();
        const std::int64_t length = given ? static_cast<std::int64_t>(request.firstCanvas->ids.size())
                                          : std::min(model.canvasLength, model.maxPositions - position);
        lengths.push_back(length);
        position += length;
        answered += length;
    }
    return lengths;
}

} // namespace

RequestPlan checkRequest(const GenerationRequest &request, const ModelConfig &model, const Tokenizer *tokenizer)
{
    validate(request.sampler);
    validate(request.truncation);
    if (request.prompt.empty()) {
        refuse("prompt", "it has no tokens; at least one is wanted");
    }
    requireIds("prompt", request.prompt, model);
    if (request.maxNewTokens < 1) {
        refuse("maxNewTokens", "it is " + std::to_string(request.maxNewTokens) + ", but must be at least 1");
    }
    requireIds("eosTokenIds", request.eosTokenIds, model);
    if (request.padTokenId) {
        requireIds("padTokenId", std::span(&*request.padTokenId, 1), model);
    }
    checkStopStrings(request, tokenizer);
    if (request.firstCanvas) {
        checkFirstCanvas(*request.firstCanvas, model);
    }

    RequestPlan plan;
    checkBias(plan, request, model);
    checkContext(request, model);
    plan.canvasLengths = canvasLengths(request, model);
    plan.endOfTurnIds = request.eosTokenIds;
    std::sort(plan.endOfTurnIds.begin(), plan.endOfTurnIds.end());
    return plan;
}

void checkFreezes(std::span<const Generation::Freeze> changes, std::int64_t canvasLength, std::int64_t vocabSize)
{
    for (const Generation::Freeze &change : changes) {
        if (change.position < 0 || change.position >= canvasLength) {
            refuse("freeze.position", "it is " + std::to_string(change.position) +
                                          ", but the canvas has the positions 0 to " +
                                          std::to_string(canvasLength - 1));
        }
        if (change.id && (*change.id < 0 || *change.id >= vocabSize)) {
            refuse("freeze.id", "it is " + std::to_string(*change.id) +
                                    ", but the model's vocabulary has the ids 0 to " + std::to_string(vocabSize - 1));
        }
    }
}

} // namespace palimpsest
