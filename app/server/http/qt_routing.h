// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <functional>
#include <string>
#include <vector>

class QHttpServer;
class QTcpServer;

namespace palimpsest::http {

/// Told synchronously which pattern a request matched (empty: none) and what its placeholders stand for, decoded.
using Matched = std::function<void(const std::string &pattern, std::vector<std::string> arguments)>;

/// `encodedPath` (see Target) as QHttpServer gets it: with = for every %, because what it decodes before it matches
/// differs from version to version. No encoded path has an = in it.
[[nodiscard]] std::string qtPath(std::string encodedPath);

/// Makes `server` route `patterns`, in that order, for every method, and take its connections from `gate`, whose parent
/// it becomes. What differs between versions of Qt is in here.
void installRouting(QHttpServer &server, QTcpServer &gate, const std::vector<std::string> &patterns, Matched matched);

} // namespace palimpsest::http
