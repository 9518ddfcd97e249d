// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/reply.h"
#include "app/server/openai/answer_json.h"

#include <memory>

namespace palimpsest::openai {

/// A response object without its outcome: status in_progress, no output. `echoed`: the request's own fields.
[[nodiscard]] Json openResponse(const AnswerContext &context, const Json &echoed);
/// The finished one: completed, or incomplete with the reason.
[[nodiscard]] Json endedResponse(const AnswerContext &context, const Json &echoed, const ChoiceOutcome &outcome);

/// Answers /v1/responses as one object.
[[nodiscard]] std::unique_ptr<AnswerWriter> wholeResponseWriter(http::Reply reply, AnswerContext context, Json echoed);
/// Answers it as a stream of typed events with rising sequence numbers.
[[nodiscard]] std::unique_ptr<AnswerWriter> streamedResponseWriter(http::Reply reply, AnswerContext context,
                                                                   Json echoed);

} // namespace palimpsest::openai
