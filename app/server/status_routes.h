// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/engine_host.h"
#include "app/server/http/gate.h"
#include "app/server/http/routes.h"
#include "app/server/metrics.h"

#include <functional>
#include <string>

namespace palimpsest::server {

/// What /health answers: 200 while the model is ready or busy, 503 while it is loading or has failed, for load
/// balancers; always with `status`, `progress`, `model`, `running` and `waiting`. It looks at nothing that a
/// computation holds.
[[nodiscard]] http::Response healthResponse(const EngineState &state);

/// GET /health, open to everybody, and GET /metrics. Both references must outlive the server; `figures`, and `more`
/// with the lines of other parts, are called on the server's thread.
void addStatusRoutes(http::Routes &routes, const EngineHost &engine, const Metrics &metrics,
                     std::function<http::GateFigures()> figures, std::function<std::string()> more);

} // namespace palimpsest::server
