// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/response_format.h"
#include "app/server/openai/sampling_fields.h"
#include "app/server/openai/tool_fields.h"
#include "engine/chat_format.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// How an answer is to be sent.
struct Delivery
{
    bool stream = false;
    bool usageChunk = false; ///< stream_options.include_usage
};

/// A conversation to be answered, from whichever endpoint.
struct Conversation
{
    std::string model;
    std::vector<ChatMessage> messages; ///< one system message at most, in front; texts, no parts
    std::string beginning;             ///< of the answer, if the last message was the assistant's: it is continued
    ToolFields tools;
    ResponseFormat format;
    bool wantsThoughts = false;
    SamplingFields sampling;
    std::optional<int> topLogprobs; ///< absent: no log-probabilities; else how many alternatives
    Delivery delivery;
    std::vector<std::string> unknownFields;
};

/// Reads a request to /v1/chat/completions. Throws Error InvalidArgument with the field as its subject.
[[nodiscard]] Conversation readChatRequest(const nlohmann::json &body);

/// Puts messages as clients send them into the form that the chat format takes: texts for lists of parts, all system
/// and developer turns merged in front in their order, `function` turns as tools', and a final assistant turn as the
/// beginning of the answer. Throws Error InvalidArgument for what cannot be put to the model: unknown roles, images,
/// no messages at all. `field` names the list.
void arrangeMessages(Conversation &conversation, std::vector<ChatMessage> messages, const std::string &field);

/// Whether the request asks for thoughts: `reasoning_effort`, `chat_template_kwargs.enable_thinking`,
/// `enable_thinking`, `thinking` in any of its shapes. Off unless one of them says so.
[[nodiscard]] bool readThinking(RequestFields &fields);

[[nodiscard]] Delivery readDelivery(RequestFields &fields);

} // namespace palimpsest::openai
