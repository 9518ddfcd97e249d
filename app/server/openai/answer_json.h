// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/answer_run.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::openai {

using Json = nlohmann::ordered_json; ///< keys in the order in which people read them

/// What is the same in every object and chunk of one answer.
struct AnswerIdentity
{
    std::string id;
    std::int64_t createdSeconds = 0;
    std::string model;
    std::string fingerprint;
};

/// A fresh identity; `prefix` as in "chatcmpl-".
[[nodiscard]] AnswerIdentity newIdentity(std::string_view prefix, const RunningModel &model, std::uint64_t seed);
[[nodiscard]] std::string newId(std::string_view prefix);

/// What the endpoints' answers need to know of their request.
struct AnswerContext
{
    AnswerIdentity identity;
    std::shared_ptr<const RunningModel> model;
    std::size_t choices = 1;
    std::size_t choicesEach = 1; ///< of each prompt
    std::optional<int> topLogprobs;
    bool thinkingIgnored = false;
    std::uint64_t seed = 0;
    bool usageChunk = false;
};

/// One line of JSON, always valid UTF-8.
[[nodiscard]] std::string dump(const Json &json);
/// One server-sent event without a type, or of a type that plain SDK loops ignore.
[[nodiscard]] std::string sseData(const Json &json);
[[nodiscard]] std::string sseEvent(std::string_view type, const Json &json);

[[nodiscard]] std::string_view finishReasonOf(EndReason end);

/// prompt_tokens counts each prompt once, also with several choices.
[[nodiscard]] Json usageOf(std::span<const ChoiceOutcome> outcomes, const AnswerContext &context);

/// The vendor block: seed, canvases, steps, why they stopped, times.
[[nodiscard]] Json figuresOf(std::span<const ChoiceOutcome> outcomes, const AnswerContext &context);

/// Chat's log-probabilities: {"content": [...], "refusal": null}; null if none were asked for.
[[nodiscard]] Json logprobsOf(std::span<const VisibleToken> tokens, const AnswerContext &context);

/// A token's text and bytes; bytes that are no character alone are spelled as in "bytes:\xe6".
[[nodiscard]] std::string tokenSpelling(TokenId id, const Tokenizer &tokenizer);

[[nodiscard]] std::string callId(const AnswerIdentity &identity, std::size_t choice, std::size_t call);

/// chat.completion
[[nodiscard]] Json chatAnswer(std::span<const ChoiceOutcome> outcomes, const AnswerContext &context);

/// chat.completion.chunk with one choice.
[[nodiscard]] Json chatChunk(const AnswerContext &context, std::size_t choice, Json delta);
/// The chunk behind the last one, if it was asked for: no choices, the usage.
[[nodiscard]] Json usageChunk(const AnswerContext &context, std::string_view object,
                              std::span<const ChoiceOutcome> outcomes);

/// GET /v1/models and /v1/models/{id}
[[nodiscard]] Json modelObject(const RunningModel &model);
[[nodiscard]] Json modelList(const RunningModel *model); ///< null: none is ready

} // namespace palimpsest::openai
