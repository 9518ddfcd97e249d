// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace palimpsest {
class Error;
} // namespace palimpsest

namespace palimpsest::http {

/// One header field. Names compare without regard to case; values have no blanks at their ends.
struct HeaderField
{
    std::string name;
    std::string value;

    friend bool operator==(const HeaderField &, const HeaderField &) = default;
};
using HeaderFields = std::vector<HeaderField>;

/// The first field of that name, or null.
[[nodiscard]] const std::string *findField(const HeaderFields &fields, std::string_view name);

/// A request as a handler sees it: complete, checked, with its body decoded.
struct Request
{
    std::string method; ///< "GET", "POST", ...; a HEAD request arrives as "GET"
    std::string path;   ///< percent-decoded, begins with '/'
    /// What the pattern's `<arg>` and `<rest>` stand for, percent-decoded, in their order.
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> query; ///< percent-decoded; the parameter `key` is left out
    HeaderFields fields;                                    ///< end to end fields only; no Authorization
    std::string body;                                       ///< at most Limits::bodyBytes
    /// Who asks, for fairness and the log: stands for the API key where keys are in use, else for the connection.
    std::string client;
    std::string peer; ///< address and port, for the log
    std::string id;   ///< the answer's x-request-id

    [[nodiscard]] const std::string *field(std::string_view name) const { return findField(fields, name); }
    /// The first query parameter of that name.
    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

/// A whole answer. Length, date, connection, x-request-id, openai-processing-ms and the fields of cross-origin and
/// sniffing rules are added by the gate.
struct Response
{
    int status = 200;
    std::string type = "application/json"; ///< Content-Type; empty for none (204, 304)
    std::string body = {};
    HeaderFields fields = {}; ///< further ones
};

/// What an error object says; see errorBody().
struct ErrorText
{
    std::string message;                        ///< a sentence a person can act on
    std::string type = "invalid_request_error"; ///< or api_error, authentication_error, rate_limit_error, ...
    std::optional<std::string> param = {};      ///< the request's field
    std::optional<std::string> code = {};       ///< what programs look at: invalid_api_key, model_not_found, ...
};

/// The error object of every answer that is not a success, and of errors in mid-stream:
/// `{"error":{"message":...,"type":...,"param":...,"code":...}}`, one line, always valid UTF-8.
[[nodiscard]] std::string errorBody(const ErrorText &error);

[[nodiscard]] Response errorResponse(int status, const ErrorText &error, HeaderFields fields = {});

/// The answer to something that the engine or the app refused: 400 with the subject as `param` for what the caller
/// chose (code context_length_exceeded where it is that), 404, 429 with Retry-After for a full queue, 500 else.
[[nodiscard]] Response errorResponse(const Error &error);

/// "OK" for 200, and so on; "Unknown" for what has no name.
[[nodiscard]] std::string_view reasonPhrase(int status);

} // namespace palimpsest::http
