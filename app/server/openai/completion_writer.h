// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/reply.h"
#include "app/server/openai/answer_json.h"

#include <memory>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// Answers /v1/completions. `echoes`: what stands in front of each choice's text; empty for nothing.
[[nodiscard]] std::unique_ptr<AnswerWriter> wholeCompletionWriter(http::Reply reply, AnswerContext context,
                                                                  std::vector<std::string> echoes);
[[nodiscard]] std::unique_ptr<AnswerWriter> streamedCompletionWriter(http::Reply reply, AnswerContext context,
                                                                     std::vector<std::string> echoes);

/// text_completion with these choices.
[[nodiscard]] Json completionObject(const AnswerContext &context, Json choices);
[[nodiscard]] Json completionChoice(std::size_t index, std::string text, Json logprobs, Json finishReason);

} // namespace palimpsest::openai
