// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/head_parser.h"

#include <optional>
#include <string>

/// The handshake of a WebSocket (RFC 6455, section 4.2), as far as it is ours. Pure.
namespace palimpsest::http {

/// What is wrong with a request to upgrade, or nothing.
[[nodiscard]] std::optional<std::string> upgradeFault(const RequestHead &head);

/// The request as Qt's WebSocket server gets it: the same meaning in our words, and without any API key.
[[nodiscard]] std::string upgradeText(const RequestHead &head);

} // namespace palimpsest::http
