// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/reply.h"
#include "app/server/openai/answer_json.h"

#include <memory>

namespace palimpsest::openai {

/// Answers /v1/chat/completions as one object.
[[nodiscard]] std::unique_ptr<AnswerWriter> wholeChatWriter(http::Reply reply, AnswerContext context);

/// Answers it as a stream of chunks: role, thoughts, answer, calls, finish reason for every choice; the usage, if it
/// was asked for; [DONE]. Drafts, if they were asked for, are events of the type `draft`.
[[nodiscard]] std::unique_ptr<AnswerWriter> streamedChatWriter(http::Reply reply, AnswerContext context);

/// The fields of a stream's head.
[[nodiscard]] http::HeaderFields streamFields(int queuePosition);
/// "waiting behind 3": a comment line, which no client takes for data.
[[nodiscard]] std::string queueComment(int position);
/// Ends a stream that went wrong: the error object as its last data, no finish reason, no [DONE].
void finishWithError(http::Reply &reply, const Error &error);
/// An `event: draft`, left out if the client is behind.
void pushDraft(http::Reply &reply, std::size_t choice, const std::string &text, const StepEvent &event);

} // namespace palimpsest::openai
