// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/access_policy.h"
#include "tests/app/server/http/listener_thread.h"

#include <memory>

namespace palimpsest::test {

/// Two keys, two pages and two names that are let in.
[[nodiscard]] http::AccessSettings keyed();
/// A listener with an open route, two that need a key, and a WebSocket that says who came and repeats what it hears.
[[nodiscard]] std::unique_ptr<ListenerThread> serve(http::AccessSettings access);

} // namespace palimpsest::test
