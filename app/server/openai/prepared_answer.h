// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/openai/chat_request.h"
#include "app/server/openai/reply_splitter.h"
#include "engine/generation.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// A request as the engine takes it, with what is needed to read the answer.
struct PreparedAnswer
{
    GenerationRequest request; ///< of the first choice; the others differ in the seed
    /// How the reply is read; absent for raw text, which is the answer as it is.
    std::optional<ReplySplitter::Rules> rules;
    ResponseFormat format;
    bool mustCall = false;          ///< an answer without a call is refused
    bool thinkingIgnored = false;   ///< thoughts were asked for, and the model has no channel for them
    std::optional<int> topLogprobs; ///< absent: no log-probabilities
    bool drafts = false;
    std::string beginning; ///< of the answer's text, given by the client; not part of the answer (echo: it is)
};

/// Puts a conversation to a model. Throws Error InvalidArgument naming the field for what this model cannot do, and
/// ContextLength, with both numbers in the wording that agents look for, if it does not fit.
[[nodiscard]] PreparedAnswer prepareConversation(const Conversation &conversation, const RunningModel &model);

/// The same for a raw prompt; `field` names it in messages.
[[nodiscard]] PreparedAnswer preparePrompt(std::vector<TokenId> prompt, const SamplingFields &sampling,
                                           const RunningModel &model, const std::string &field);

/// Raw text as the model reads it: markers in it are tokens, and it begins with <bos> unless it says so itself.
[[nodiscard]] std::vector<TokenId> rawPromptIds(const std::string &text, const RunningModel &model);

/// The seed of choice `index`.
[[nodiscard]] std::uint64_t seedOfChoice(std::uint64_t seed, std::size_t index);

/// An engine's error in the words of the API: the subject becomes the request's field.
[[nodiscard]] Error inApiWords(const Error &error);

} // namespace palimpsest::openai
