// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/chat_request.h"
#include "app/server/openai/sampling_fields.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// A raw prompt: a text, or the ids that it was made of.
struct RawPrompt
{
    std::string text;
    std::vector<TokenId> ids; ///< if the client sent ids; `text` is empty then
};

/// A request to /v1/completions.
struct CompletionRequest
{
    std::string model;
    std::vector<RawPrompt> prompts; ///< at least one
    /// What stands behind the text that is wanted: the model fills the gap between the prompt and this.
    std::optional<std::string> suffix;
    bool echo = false;
    std::optional<int> logprobs; ///< how many alternatives
    SamplingFields sampling;
    Delivery delivery;
    std::vector<std::string> unknownFields;
};

inline constexpr std::size_t kMostPrompts = 64;

/// Throws Error InvalidArgument with the field as its subject.
[[nodiscard]] CompletionRequest readCompletionRequest(const nlohmann::json &body);

} // namespace palimpsest::openai
