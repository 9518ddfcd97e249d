// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/openai/json_schema.h"
#include "engine/byte_range.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace palimpsest::openai {

/// What an answer's text has to be.
struct ResponseFormat
{
    enum class Kind { Text, JsonObject, JsonSchema };
    Kind kind = Kind::Text;
    std::string field = "response_format"; ///< how the request calls it, for messages
    std::string schemaText;                ///< as sent, for the instruction
    std::shared_ptr<const JsonSchema> schema;

    [[nodiscard]] bool isJson() const noexcept { return kind != Kind::Text; }
};

/// Reads `response_format` of a chat request, {"type": "json_schema", "json_schema": {"name", "schema"}}, or
/// `text.format` of a response request, where the schema lies flat. Throws Error InvalidArgument with `field` as
/// subject.
[[nodiscard]] ResponseFormat readResponseFormat(const nlohmann::json &value, const std::string &field);

/// What the model is told of the format; "" for text. A block-diffusion canvas is not written from left to right, so no
/// grammar can guide it: the model is told, the result is checked, and what does not fit is written again in place.
[[nodiscard]] std::string instructionFor(const ResponseFormat &format);

/// A fault of a JSON answer: the bytes of the text that are to be written anew. An empty range is a place where
/// something is missing.
struct FormatProblem
{
    ByteRange span;
    std::string message;
};

/// Where the JSON value stands in an answer: all of it without white space, or what is inside a fence of backquotes, or
/// behind a sentence of introduction. The text's rest if it is cut off.
[[nodiscard]] ByteRange jsonPart(std::string_view text);

/// Checks the part of `text` that is the answer's JSON value; the problem's span counts in `text`.
[[nodiscard]] std::optional<FormatProblem> checkFormat(const ResponseFormat &format, std::string_view text);

} // namespace palimpsest::openai
