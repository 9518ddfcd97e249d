// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/answer_json.h"

#include "app/stop_names.h"
#include "engine/utf8.h"

#include <chrono>
#include <cmath>
#include <random>

namespace palimpsest::openai {

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

double rounded(double value) // three places are enough for a person
{
    return std::round(value * 1000.0) / 1000.0;
}

Json choiceFigures(const ChoiceOutcome &outcome)
{
    Json stops = Json::array();
    int steps = 0;
    for (const CanvasRecord &canvas : outcome.result.canvases) {
        stops.push_back(nameOf(canvas.stop));
        steps += canvas.steps;
    }
    Json figures{{"index", outcome.index},
                 {"seed", outcome.result.seed},
                 {"canvases", outcome.result.canvases.size()},
                 {"steps", steps},
                 {"stop_reasons", std::move(stops)},
                 {"reused_prompt_tokens", outcome.result.reusedPromptTokens},
                 {"queue_ms", rounded(outcome.result.queueMs)},
                 {"prefill_ms", rounded(outcome.result.prefillMs)},
                 {"denoise_ms", rounded(outcome.result.denoiseMs)},
                 {"first_draft_ms", rounded(outcome.result.firstDraftMs)}};
    if (outcome.repairs > 0)
        figures["repairs"] = outcome.repairs;
    if (outcome.thoughtUnfinished)
        figures["stopped_while_thinking"] = true;
    return figures;
}

Json bytesOf(std::string_view bytes)
{
    Json list = Json::array();
    for (const char byte : bytes)
        list.push_back(static_cast<unsigned char>(byte));
    return list;
}

Json tokenEntry(TokenId id, double logProbability, const Tokenizer &tokenizer)
{
    return {{"token", tokenSpelling(id, tokenizer)},
            {"logprob", logProbability},
            {"bytes", bytesOf(tokenizer.tokenBytes(id))}};
}

Json logprobEntry(const VisibleToken &token, int alternatives, const Tokenizer &tokenizer)
{
    Json entry = tokenEntry(token.id, static_cast<double>(token.certainty.logProbability), tokenizer);
    Json top = Json::array();
    for (int i = 0; i < alternatives; ++i) {
        const Alternative &other = token.certainty.alternatives.at(static_cast<std::size_t>(i));
        if (other.probability > 0.0F)
            top.push_back(tokenEntry(other.id, std::log(static_cast<double>(other.probability)), tokenizer));
    }
    entry["top_logprobs"] = std::move(top);
    return entry;
}

Json callJson(const ParsedReply::Call &call, std::string id)
{
    return {{"id", std::move(id)},
            {"type", "function"},
            {"function", {{"name", call.name}, {"arguments", call.argumentsJson}}}};
}

Json messageOf(const ChoiceOutcome &outcome, const AnswerContext &context)
{
    Json message{{"role", "assistant"}, {"content", outcome.content}, {"refusal", nullptr}};
    if (!outcome.thoughts.empty())
        message["reasoning_content"] = outcome.thoughts;
    if (outcome.calls.empty())
        return message;
    if (outcome.content.empty())
        message["content"] = nullptr;
    Json calls = Json::array();
    for (std::size_t i = 0; i < outcome.calls.size(); ++i)
        calls.push_back(callJson(outcome.calls[i], callId(context.identity, outcome.index, i)));
    message["tool_calls"] = std::move(calls);
    return message;
}

Json identityJson(const AnswerIdentity &identity, std::string_view object)
{
    return {{"id", identity.id},
            {"object", object},
            {"created", identity.createdSeconds},
            {"model", identity.model},
            {"system_fingerprint", identity.fingerprint}};
}

} // namespace

std::string newId(std::string_view prefix)
{
    std::random_device device;
    std::string id(prefix);
    for (int word = 0; word < 3; ++word) {
        std::uint32_t bits = device();
        for (int digit = 0; digit < 8; ++digit, bits >>= 4U)
            id += kHexDigits[bits & 0xFU];
    }
    return id;
}

AnswerIdentity newIdentity(std::string_view prefix, const RunningModel &model, std::uint64_t seed)
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return {.id = newId(prefix),
            .createdSeconds = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
            .model = model.id,
            .fingerprint = "fp_" + model.backend.kind + "_" + std::to_string(seed)};
}

std::string dump(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string sseData(const Json &json)
{
    return "data: " + dump(json) + "\n\n";
}

std::string sseEvent(std::string_view type, const Json &json)
{
    return "event: " + std::string(type) + "\n" + sseData(json);
}

std::string_view finishReasonOf(EndReason end)
{
    switch (end) {
    case EndReason::Stop:
        return "stop";
    case EndReason::Length:
        return "length";
    case EndReason::ToolCalls:
        return "tool_calls";
    }
    return "";
}

Json usageOf(std::span<const ChoiceOutcome> outcomes, const AnswerContext &context)
{
    std::int64_t prompt = 0;
    std::int64_t cached = 0;
    std::int64_t completion = 0;
    std::int64_t thoughts = 0;
    for (const ChoiceOutcome &outcome : outcomes) {
        completion += outcome.completionTokens;
        thoughts += outcome.thoughtTokens;
        if (outcome.index % context.choicesEach == 0) {
            prompt += outcome.result.promptTokens;
            cached += outcome.result.reusedPromptTokens;
        }
    }
    return {{"prompt_tokens", prompt},
            {"completion_tokens", completion},
            {"total_tokens", prompt + completion},
            {"prompt_tokens_details", {{"cached_tokens", cached}}},
            {"completion_tokens_details", {{"reasoning_tokens", thoughts}}}};
}

Json figuresOf(std::span<const ChoiceOutcome> outcomes, const AnswerContext &context)
{
    Json figures{{"seed", context.seed}};
    Json choices = Json::array();
    for (const ChoiceOutcome &outcome : outcomes)
        choices.push_back(choiceFigures(outcome));
    figures["choices"] = std::move(choices);
    if (context.thinkingIgnored)
        figures["thinking"] = "ignored: this model has no thinking channel";
    return figures;
}

Json logprobsOf(std::span<const VisibleToken> tokens, const AnswerContext &context)
{
    if (!context.topLogprobs)
        return nullptr;
    Json content = Json::array();
    for (const VisibleToken &token : tokens)
        content.push_back(logprobEntry(token, *context.topLogprobs, *context.model->tokenizer));
    return {{"content", std::move(content)}, {"refusal", nullptr}};
}

std::string tokenSpelling(TokenId id, const Tokenizer &tokenizer)
{
    const std::string_view bytes = tokenizer.tokenBytes(id);
    if (!firstInvalidUtf8(bytes))
        return std::string(bytes);
    std::string spelled = "bytes:";
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        spelled += {'\\', 'x', kHexDigits[value >> 4U], kHexDigits[value & 0xFU]};
    }
    return spelled;
}

std::string callId(const AnswerIdentity &identity, std::size_t choice, std::size_t call)
{
    const std::size_t dash = identity.id.find_first_of("-_");
    const std::string random = dash == std::string::npos ? identity.id : identity.id.substr(dash + 1);
    return "call_" + random + std::to_string(choice) + std::to_string(call);
}

Json chatAnswer(std::span<const ChoiceOutcome> outcomes, const AnswerContext &context)
{
    Json answer = identityJson(context.identity, "chat.completion");
    Json choices = Json::array();
    for (const ChoiceOutcome &outcome : outcomes) {
        choices.push_back({{"index", outcome.index},
                           {"message", messageOf(outcome, context)},
                           {"logprobs", logprobsOf(outcome.tokens, context)},
                           {"finish_reason", finishReasonOf(outcome.end)}});
    }
    answer["choices"] = std::move(choices);
    answer["usage"] = usageOf(outcomes, context);
    answer["palimpsest"] = figuresOf(outcomes, context);
    return answer;
}

Json chatChunk(const AnswerContext &context, std::size_t choice, Json delta)
{
    Json chunk = identityJson(context.identity, "chat.completion.chunk");
    chunk["choices"] = Json::array(
        {Json{{"index", choice}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", nullptr}}});
    if (context.usageChunk)
        chunk["usage"] = nullptr;
    return chunk;
}

Json usageChunk(const AnswerContext &context, std::string_view object, std::span<const ChoiceOutcome> outcomes)
{
    Json chunk = identityJson(context.identity, object);
    chunk["choices"] = Json::array();
    chunk["usage"] = usageOf(outcomes, context);
    chunk["palimpsest"] = figuresOf(outcomes, context);
    return chunk;
}

Json modelObject(const RunningModel &model)
{
    return {{"id", model.id},
            {"object", "model"},
            {"created", model.createdSeconds},
            {"owned_by", "palimpsest"},
            {"context_length", model.contextLength},
            {"max_model_len", model.contextLength},
            {"palimpsest",
             {{"canvas_length", model.config.canvasLength},
              {"backend", model.backend.kind},
              {"device", model.backend.deviceName},
              {"tools", model.chat && model.chat->dialect() != ChatDialect::PlainTurns},
              {"thinking", model.chat && model.chat->dialect() != ChatDialect::PlainTurns}}}};
}

Json modelList(const RunningModel *model)
{
    Json data = Json::array();
    if (model != nullptr)
        data.push_back(modelObject(*model));
    return {{"object", "list"}, {"data", std::move(data)}};
}

} // namespace palimpsest::openai
