// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/http/message.h"

namespace palimpsest::openai {

/// As http::errorResponse, with the time after which a full queue is worth another try taken from the desk (`model` may
/// be null).
[[nodiscard]] http::Response apiErrorResponse(const Error &error, const RunningModel *model);

/// 503 while no model is ready: with Retry-After while it is loading, with the reason if it has failed.
[[nodiscard]] http::Response notReadyResponse(const EngineState &state);

/// 404 model_not_found, naming what is there.
[[nodiscard]] http::Response modelNotFoundResponse(const std::string &asked, const std::string &there);

} // namespace palimpsest::openai
