// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/limits.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"

#include <QJsonObject>

#include <cstddef>
#include <memory>
#include <string>

namespace palimpsest::test {

/// A listener whose routes answer with what came to them, or fail in the ways there are.
class GateBench
{
public:
    /// The program's limits, but for bodies: a MiB each, three MiB together.
    [[nodiscard]] static http::Limits limits();

    void start(const http::Limits &limits = GateBench::limits());
    void restart(const http::Limits &limits);
    /// Every client has to leave; nothing of them may stay behind.
    void stop();

    [[nodiscard]] RawClient client() const { return RawClient(m_server->port()); }
    [[nodiscard]] std::string host() const { return m_server->host(); }
    [[nodiscard]] http::GateFigures figures() { return m_server->figures(); }
    /// A request as bytes: its line, the Host, and what follows.
    [[nodiscard]] std::string request(const std::string &line, const std::string &rest = "\r\n") const;

private:
    std::unique_ptr<ListenerThread> m_server;
};

/// The error object in an answer.
[[nodiscard]] QJsonObject errorOf(const RawAnswer &answer);
/// The answer has to be a whole error object with this status.
void compareError(const RawAnswer &answer, int status);

} // namespace palimpsest::test
