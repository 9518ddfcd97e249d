// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/exchange.h"
#include "tests/app/server/http/listener_thread.h"
#include "tests/app/server/http/raw_client.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace palimpsest::test {

/// Takes claimed replies from the server's thread to where the test wants them.
class Claims
{
public:
    void add(http::Reply reply)
    {
        const std::lock_guard lock(m_mutex);
        m_replies.push_back(std::move(reply));
        m_changed.notify_all();
    }
    http::Reply next()
    {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait_for(lock, std::chrono::seconds(10), [this] { return !m_replies.empty(); }))
            qFatal("no request arrived");
        http::Reply reply = std::move(m_replies.front());
        m_replies.pop_front();
        return reply;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<http::Reply> m_replies;
};

/// A listener whose route `/claim` leaves the answer to the test.
class StreamBench
{
public:
    /// Begins anew, with nothing claimed and nothing cancelled.
    void start(const http::Limits &limits = {});
    /// Every client has to leave; nothing of them may stay behind.
    void stop();
    /// Ends the server, whatever is open.
    void end() { m_server.reset(); }

    /// The next request that was claimed; waits for it.
    [[nodiscard]] http::Reply next() { return m_claims->next(); }
    /// How many of the claimed GET requests were cancelled.
    [[nodiscard]] int cancelled() const { return m_cancelled.load(); }
    [[nodiscard]] ListenerThread &server() { return *m_server; }
    [[nodiscard]] http::GateFigures figures() { return m_server->figures(); }
    [[nodiscard]] RawClient client() const { return RawClient(m_server->port()); }
    /// A request as bytes: its line, the Host, and what follows.
    [[nodiscard]] std::string request(const std::string &line, const std::string &rest = "\r\n") const;

private:
    [[nodiscard]] http::Routes routes();

    std::unique_ptr<Claims> m_claims;
    std::unique_ptr<ListenerThread> m_server;
    std::atomic<int> m_cancelled = 0;
};

/// One event of a stream.
[[nodiscard]] std::string eventText(int number);

} // namespace palimpsest::test
