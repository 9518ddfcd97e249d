// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/completion_request.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace palimpsest::openai {

using nlohmann::json;

namespace {

bool isIdList(const json &value)
{
    return value.is_array() && !value.empty() &&
           std::ranges::all_of(value, [](const json &entry) { return entry.is_number_integer(); });
}

RawPrompt readPrompt(const json &value, const std::string &field)
{
    RawPrompt prompt;
    if (value.is_string()) {
        prompt.text = value.get<std::string>();
        return prompt;
    }
    if (!isIdList(value))
        refuse(field, "found " + shown(value) + ", wanted a text or a list of token ids");
    for (const json &entry : value) {
        const auto id = entry.get<std::int64_t>();
        if (id < 0 || id > std::numeric_limits<TokenId>::max())
            refuse(field, "found " + shown(entry) + " where a token id is wanted");
        prompt.ids.push_back(static_cast<TokenId>(id));
    }
    return prompt;
}

std::vector<RawPrompt> readPrompts(RequestFields &fields)
{
    const json *value = fields.find("prompt");
    if (value == nullptr)
        refuse("prompt", "it is missing; a text, or a list of texts, is wanted");
    if (!value->is_array() || isIdList(*value))
        return {readPrompt(*value, "prompt")};
    if (value->empty() || value->size() > kMostPrompts) {
        refuse("prompt",
               "there are " + std::to_string(value->size()) + ", wanted 1 to " + std::to_string(kMostPrompts));
    }
    std::vector<RawPrompt> prompts;
    for (std::size_t index = 0; index < value->size(); ++index)
        prompts.push_back(readPrompt((*value)[index], "prompt[" + std::to_string(index) + "]"));
    return prompts;
}

void refuseWithSuffix(const CompletionRequest &request)
{
    if (request.prompts.size() > 1 || !request.prompts.front().ids.empty())
        refuse("suffix", "it needs one prompt, as a text");
    if (request.sampling.choices > 1)
        refuse("n", "with a suffix there is one choice: the best of several tries");
    if (request.echo)
        refuse("echo", "it cannot be combined with a suffix");
    if (request.logprobs)
        refuse("logprobs", "they are not given for text between a prompt and a suffix");
}

} // namespace

CompletionRequest readCompletionRequest(const json &body)
{
    RequestFields fields(body, "");
    CompletionRequest request;
    request.model = fields.requireText("model");
    request.prompts = readPrompts(fields);
    request.suffix = fields.text("suffix");
    if (request.suffix && request.suffix->empty())
        request.suffix.reset();
    request.echo = fields.boolean("echo").value_or(false);
    if (const auto logprobs = fields.integer("logprobs", 0, kMostTopLogprobs))
        request.logprobs = static_cast<int>(*logprobs);
    request.sampling = readSamplingFields(fields);
    request.sampling.maxTokens = readTokenLimit(fields, {"max_completion_tokens", "max_tokens"});
    request.delivery = readDelivery(fields);
    if (fields.integer("best_of", 1, kMostChoices).value_or(request.sampling.choices) != request.sampling.choices)
        refuse("best_of", "all choices are returned here; leave it out, or let it be n");
    if (request.echo && request.logprobs)
        refuse("logprobs", "a bidirectional canvas has none for a prompt; leave echo out");
    if (request.suffix)
        refuseWithSuffix(request);
    request.unknownFields = fields.unknown();
    return request;
}

} // namespace palimpsest::openai
