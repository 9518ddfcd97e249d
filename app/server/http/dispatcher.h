// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/routes.h"

#include <set>
#include <string>
#include <vector>

namespace palimpsest::http {

/// What a pattern answers: finds the method's handler, and answers by itself where there is none or it fails.
class Dispatcher
{
public:
    explicit Dispatcher(Routes routes);

    /// All patterns in the order in which they are to be matched: those without placeholders first.
    [[nodiscard]] std::vector<std::string> patterns() const;
    /// Paths that need no API key.
    [[nodiscard]] std::set<std::string> openPaths() const;
    [[nodiscard]] const WebSocketHandler *webSocket(std::string_view path) const;

    /// `pattern`: the one that matched; empty for none. Never throws: what a handler throws becomes an answer. After a
    /// handler threw, a claimed reply is answered by its own end.
    [[nodiscard]] Answer answer(const std::string &pattern, Call &call) const;

private:
    [[nodiscard]] Answer run(const Routes::Route &route, Call &call) const;
    [[nodiscard]] std::string allowedMethods(const std::string &pattern) const;

    Routes m_routes;
};

} // namespace palimpsest::http
