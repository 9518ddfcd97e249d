// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/answer_json.h"
#include "app/server/openai/chat_request.h"

#include <nlohmann/json_fwd.hpp>

namespace palimpsest::openai {

/// A request to /v1/responses: the conversation it comes to, and the fields that its answer repeats.
struct ResponsesRequest
{
    Conversation conversation;
    Json echoed; ///< instructions, tools, tool_choice, temperature and so on, with their defaults
};

/// Reads `input` (a text, or a list of messages, calls and their outputs), `instructions`, `text.format`, flat tools
/// and the rest. Items that only their inventor's service has are refused by their type; thoughts of earlier turns are
/// left out. Throws Error InvalidArgument with the field as its subject.
[[nodiscard]] ResponsesRequest readResponsesRequest(const nlohmann::json &body);

} // namespace palimpsest::openai
