// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/message.h"

#include "app/server/http/ascii.h"
#include "engine/error.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace palimpsest::http {

namespace {

/// What a client with retries should wait when the queue is full; the SDKs read the milliseconds first.
constexpr std::string_view kRetrySeconds = "1";
constexpr std::string_view kRetryMilliseconds = "1000";

nlohmann::json textOrNull(const std::optional<std::string> &text)
{
    return text ? nlohmann::json(*text) : nlohmann::json(nullptr);
}

std::optional<std::string> notEmpty(const std::string &text)
{
    return text.empty() ? std::nullopt : std::optional(text);
}

} // namespace

const std::string *findField(const HeaderFields &fields, std::string_view name)
{
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [name](const HeaderField &field) { return equalsIgnoringCase(field.name, name); });
    return found == fields.end() ? nullptr : &found->value;
}

std::optional<std::string> Request::parameter(std::string_view name) const
{
    const auto found =
        std::find_if(query.begin(), query.end(), [name](const auto &parameter) { return parameter.first == name; });
    return found == query.end() ? std::nullopt : std::optional(found->second);
}

std::string errorBody(const ErrorText &error)
{
    const nlohmann::ordered_json body{{"error",
                                       {{"message", error.message},
                                        {"type", error.type},
                                        {"param", textOrNull(error.param)},
                                        {"code", textOrNull(error.code)}}}};
    return body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Response errorResponse(int status, const ErrorText &error, HeaderFields fields)
{
    return {.status = status, .type = "application/json", .body = errorBody(error), .fields = std::move(fields)};
}

Response errorResponse(const Error &error)
{
    const auto refused = [&error](int status, std::optional<std::string> code) {
        return errorResponse(status,
                             {.message = error.what(), .param = notEmpty(error.subject()), .code = std::move(code)});
    };
    switch (error.kind()) {
    case ErrorKind::InvalidArgument:
    case ErrorKind::InvalidInput:
    case ErrorKind::Unsupported:
        return refused(400, std::nullopt);
    case ErrorKind::ContextLength:
        return refused(400, std::string("context_length_exceeded"));
    case ErrorKind::NotFound:
        return refused(404, std::string("not_found"));
    case ErrorKind::QueueFull:
        return errorResponse(
            429, {.message = error.what(), .type = "rate_limit_error", .code = std::string("queue_full")},
            {{"Retry-After", std::string(kRetrySeconds)}, {"retry-after-ms", std::string(kRetryMilliseconds)}});
    case ErrorKind::InvalidCheckpoint:
    case ErrorKind::PermissionDenied:
    case ErrorKind::Io:
    case ErrorKind::OutOfMemory:
    case ErrorKind::Backend:
        break;
    }
    return errorResponse(500, {.message = error.what(), .type = "api_error"});
}

std::string_view reasonPhrase(int status)
{
    struct Named
    {
        int status;
        std::string_view phrase;
    };
    static constexpr std::array kPhrases{
        Named{101, "Switching Protocols"},
        Named{200, "OK"},
        Named{201, "Created"},
        Named{202, "Accepted"},
        Named{204, "No Content"},
        Named{304, "Not Modified"},
        Named{400, "Bad Request"},
        Named{401, "Unauthorized"},
        Named{403, "Forbidden"},
        Named{404, "Not Found"},
        Named{405, "Method Not Allowed"},
        Named{408, "Request Timeout"},
        Named{409, "Conflict"},
        Named{412, "Precondition Failed"},
        Named{413, "Content Too Large"},
        Named{415, "Unsupported Media Type"},
        Named{417, "Expectation Failed"},
        Named{422, "Unprocessable Content"},
        Named{426, "Upgrade Required"},
        Named{429, "Too Many Requests"},
        Named{431, "Request Header Fields Too Large"},
        Named{500, "Internal Server Error"},
        Named{501, "Not Implemented"},
        Named{503, "Service Unavailable"},
        Named{505, "HTTP Version Not Supported"},
    };
    const auto *const found =
        std::find_if(kPhrases.begin(), kPhrases.end(), [status](const Named &named) { return named.status == status; });
    return found == kPhrases.end() ? "Unknown" : found->phrase;
}

} // namespace palimpsest::http
