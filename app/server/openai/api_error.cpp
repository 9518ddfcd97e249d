// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/api_error.h"

#include <cmath>

namespace palimpsest::openai {

http::Response apiErrorResponse(const Error &error, const RunningModel *model)
{
    if (error.kind() != ErrorKind::QueueFull || model == nullptr)
        return http::errorResponse(error);
    const std::string seconds = std::to_string(model->desk->secondsUntilFree());
    return http::errorResponse(429,
                               {.message = error.what(), .type = "rate_limit_error", .param = {}, .code = "queue_full"},
                               {{"Retry-After", seconds}, {"retry-after-ms", seconds + "000"}});
}

http::Response notReadyResponse(const EngineState &state)
{
    if (state.phase == EngineState::Phase::Failed) {
        return http::errorResponse(503, {.message = std::string("The model is not there: ") + state.error->what(),
                                         .type = "api_error",
                                         .param = {},
                                         .code = "model_failed"});
    }
    const auto percent = static_cast<int>(std::floor(100.0 * state.progress));
    return http::errorResponse(503,
                               {.message = "The model is still loading (" + std::to_string(percent) + " %)",
                                .type = "api_error",
                                .param = {},
                                .code = "model_loading"},
                               {{"Retry-After", "2"}, {"retry-after-ms", "2000"}});
}

http::Response modelNotFoundResponse(const std::string &asked, const std::string &there)
{
    return http::errorResponse(404,
                               {.message = "The model `" + asked + "` is not here; this server runs `" + there + "`",
                                .type = "invalid_request_error",
                                .param = "model",
                                .code = "model_not_found"});
}

} // namespace palimpsest::openai
