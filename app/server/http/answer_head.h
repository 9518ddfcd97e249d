// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/message.h"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

/// How answers are written. Pure.
namespace palimpsest::http {

enum class Framing : std::uint8_t {
    Length,     ///< Content-Length
    Chunked,    ///< HTTP/1.1's stream
    UntilClose, ///< HTTP/1.0's stream
};

struct AnswerHead
{
    const Response &response; ///< its body is not looked at
    Framing framing = Framing::Length;
    std::size_t bodyBytes = 0; ///< for Framing::Length
    bool keepAlive = true;
    bool sayKeepAlive = false; ///< HTTP/1.0 wants to be told
    HeaderFields fields;       ///< the gate's own
    std::time_t now = 0;
};

/// Status line and fields, with the empty line that ends them.
[[nodiscard]] std::string answerHeadText(const AnswerHead &head);

/// One chunk of a chunked body. An empty text would end the body, so it gives nothing.
[[nodiscard]] std::string chunkText(std::string_view text);

/// Whether names and values are such that the text means what it says.
[[nodiscard]] bool isSound(const Response &response);

/// As RFC 9110 wants it: Sun, 06 Nov 1994 08:49:37 GMT.
[[nodiscard]] std::string httpDate(std::time_t time);

} // namespace palimpsest::http
