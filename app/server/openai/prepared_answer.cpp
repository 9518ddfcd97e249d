// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/prepared_answer.h"

#include "engine/error.h"
#include "engine/user_turn.h"

#include <algorithm>
#include <array>
#include <utility>

namespace palimpsest::openai {

namespace {

/// The answer's room; throws if there is none, or less than was asked for.
std::int64_t tokenBudget(std::int64_t promptTokens, const std::optional<std::int64_t> &limit,
                         std::int64_t contextLength, const std::string &field)
{
    const std::string begin = "This model's maximum context length is " + std::to_string(contextLength) + " tokens. ";
    if (promptTokens >= contextLength) {
        throw Error(ErrorKind::ContextLength,
                    begin + "However, your " + field + " resulted in " + std::to_string(promptTokens) +
                        " tokens. Please reduce the length of the " + field + ".",
                    field);
    }
    const std::int64_t room = contextLength - promptTokens;
    if (limit.value_or(room) > room) {
        throw Error(ErrorKind::ContextLength,
                    begin + "However, you requested " + std::to_string(promptTokens + *limit) + " tokens (" +
                        std::to_string(promptTokens) + " in the " + field + ", " + std::to_string(*limit) +
                        " in the completion). Please reduce the length of the " + field + " or of the completion; " +
                        std::to_string(room) + " tokens are left for it.",
                    field);
    }
    return limit.value_or(room);
}

void requireKnownIds(const std::vector<LogitBias> &biases, const RunningModel &model)
{
    for (const LogitBias &bias : biases) {
        if (bias.id >= model.config.vocabSize) {
            refuse("logit_bias", "there is no token " + std::to_string(bias.id) + "; the ids are 0 to " +
                                     std::to_string(model.config.vocabSize - 1));
        }
    }
}

/// A canvas of full length that begins with `ids`.
CanvasStart startWith(const std::vector<TokenId> &ids, const RunningModel &model)
{
    const auto length = static_cast<std::size_t>(model.config.canvasLength);
    CanvasStart start;
    start.ids = ids;
    start.ids.resize(length, model.config.padTokenId);
    start.frozen.assign(length, 0);
    start.keepAtStart.assign(length, 0);
    return start;
}

bool overlaps(const TokenSpan &span, const ByteRange &range)
{
    return span.begin < range.end && range.begin < span.end;
}

CanvasStart startFromText(const StartText &text, const RunningModel &model)
{
    const std::vector<TokenSpan> spans = model.tokenizer->encodeWithSpans(text.text, SpecialTokens::PlainText);
    if (static_cast<std::int64_t>(spans.size()) > model.config.canvasLength) {
        refuse("palimpsest.start.text", "it has " + std::to_string(spans.size()) + " tokens, but a canvas has " +
                                            std::to_string(model.config.canvasLength));
    }
    std::vector<TokenId> ids;
    ids.reserve(spans.size());
    for (const TokenSpan &span : spans)
        ids.push_back(span.id);
    CanvasStart start = startWith(ids, model);
    for (std::size_t position = 0; position < spans.size(); ++position) {
        const bool frozen =
            std::ranges::any_of(text.frozen, [&](const ByteRange &range) { return overlaps(spans[position], range); });
        start.frozen[position] = frozen ? 1 : 0;
        start.keepAtStart[position] = 1;
    }
    return start;
}

/// The beginning of a call, frozen: a model that has to call a tool cannot do anything else then.
CanvasStart startOfCall(const ToolFields &tools, const RunningModel &model)
{
    const auto marker = model.tokenizer->encode("<|tool_call>", SpecialTokens::Parse);
    std::vector<TokenId> ids = marker;
    const auto call = model.tokenizer->encode("call:" + tools.name, SpecialTokens::PlainText);
    ids.insert(ids.end(), call.begin(), call.end());
    CanvasStart start = startWith(ids, model);
    std::fill_n(start.frozen.begin(), std::min(ids.size(), start.frozen.size()), 1);
    return start;
}

void requireRoomForStart(const GenerationRequest &request, const RunningModel &model, const std::string &field)
{
    const auto needed = static_cast<std::int64_t>(request.prompt.size()) + model.config.canvasLength;
    if (request.firstCanvas && needed > model.contextLength) {
        throw Error(ErrorKind::ContextLength,
                    "This model's maximum context length is " + std::to_string(model.contextLength) +
                        " tokens. However, your request resulted in " + std::to_string(needed) +
                        " tokens, the first canvas included. Please reduce the length of the " + field + ".",
                    field);
    }
}

ChatRequest chatRequestOf(const Conversation &conversation, const RunningModel &model)
{
    const bool plain = model.chat->dialect() == ChatDialect::PlainTurns;
    if (plain && conversation.tools.offered())
        refuse("tools", "this model cannot call tools; leave them out, or set tool_choice to none");
    ChatRequest request;
    request.messages = conversation.messages;
    if (conversation.tools.offered())
        request.tools = conversation.tools.tools;
    request.enableThinking = conversation.wantsThoughts && !plain && !conversation.tools.mustCall();
    return request;
}

} // namespace

PreparedAnswer preparePrompt(std::vector<TokenId> prompt, const SamplingFields &sampling, const RunningModel &model,
                             const std::string &field)
{
    PreparedAnswer answer;
    answer.request = requestWithDefaults(model.config, model.defaults, samplerSettings(sampling, model.defaults),
                                         seedOrRandom(sampling.seed));
    answer.request.maxNewTokens =
        tokenBudget(static_cast<std::int64_t>(prompt.size()), sampling.maxTokens, model.contextLength, field);
    answer.request.prompt = std::move(prompt);
    answer.request.truncation = sampling.truncation;
    answer.request.stopStrings = sampling.stopStrings;
    requireKnownIds(sampling.logitBias, model);
    answer.request.logitBias = sampling.logitBias;
    if (sampling.vendor.start)
        answer.request.firstCanvas = startFromText(*sampling.vendor.start, model);
    requireRoomForStart(answer.request, model, field);
    answer.drafts = sampling.vendor.drafts;
    return answer;
}

PreparedAnswer prepareConversation(const Conversation &conversation, const RunningModel &model)
{
    const std::string field = "messages";
    if (!model.chat)
        refuse(field, "this model has no chat format; use /v1/completions");
    const ChatRequest chat = chatRequestOf(conversation, model);
    std::vector<TokenId> prompt = model.chat->encode(chat, *model.tokenizer);
    const auto beginning = model.tokenizer->encode(conversation.beginning, SpecialTokens::PlainText);
    prompt.insert(prompt.end(), beginning.begin(), beginning.end());

    PreparedAnswer answer = preparePrompt(std::move(prompt), conversation.sampling, model, field);
    answer.format = conversation.format;
    answer.mustCall = conversation.tools.mustCall();
    answer.beginning = conversation.beginning;
    answer.thinkingIgnored = conversation.wantsThoughts && !chat.enableThinking;
    answer.topLogprobs = conversation.topLogprobs;
    answer.request.wantsCertainties = answer.topLogprobs.has_value();
    ReplySplitter::Rules rules;
    rules.start = model.chat->replyStart(chat);
    rules.allowsCalls = conversation.tools.offered();
    rules.mostCalls = conversation.tools.parallelCalls ? rules.mostCalls : 1;
    if (rules.allowsCalls || chat.enableThinking) // else a thought could end the answer
        rules.stopStrings = std::exchange(answer.request.stopStrings, {});
    answer.rules = std::move(rules);
    if (answer.mustCall && !answer.request.firstCanvas) {
        answer.request.firstCanvas = startOfCall(conversation.tools, model);
        requireRoomForStart(answer.request, model, field);
    }
    return answer;
}

std::vector<TokenId> rawPromptIds(const std::string &text, const RunningModel &model)
{
    std::vector<TokenId> ids = model.tokenizer->encode(text, SpecialTokens::Parse);
    if (ids.empty() || ids.front() != model.config.bosTokenId)
        ids.insert(ids.begin(), model.config.bosTokenId);
    return ids;
}

std::uint64_t seedOfChoice(std::uint64_t seed, std::size_t index)
{
    return seed + index;
}

Error inApiWords(const Error &error)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kFields = {{
        {"logitBias", "logit_bias"},
        {"stopStrings", "stop"},
        {"maxNewTokens", "max_tokens"},
        {"topP", "top_p"},
        {"topK", "top_k"},
        {"minP", "min_p"},
        {"firstCanvas.ids", "palimpsest.start"},
        {"tMax", "temperature"},
    }};
    const auto *const found =
        std::ranges::find_if(kFields, [&](const auto &names) { return names.first == error.subject(); });
    return found == kFields.end() ? error : Error(error.kind(), error.what(), std::string(found->second));
}

} // namespace palimpsest::openai
