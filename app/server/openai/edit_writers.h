// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/reply.h"
#include "app/server/openai/answer_json.h"
#include "app/server/openai/edit_run.h"

#include <memory>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// Answers /edit as a stream of the events draft, commit, done and error, each with the whole document as it would be.
[[nodiscard]] std::unique_ptr<EditWriter> pluginEditWriter(http::Reply reply, AnswerContext context,
                                                           std::string document);

/// What an in-fill has to keep to.
struct InfillLimits
{
    std::size_t prefixBytes = 0; ///< the prompt's
    std::size_t suffixBytes = 0;
    std::vector<std::string> stopStrings;
};

/// Answers /v1/completions with a suffix; the text is known when the best try is, so a stream has it in one piece.
[[nodiscard]] std::unique_ptr<EditWriter> infillWriter(http::Reply reply, AnswerContext context, InfillLimits limits,
                                                       bool stream);

} // namespace palimpsest::openai
