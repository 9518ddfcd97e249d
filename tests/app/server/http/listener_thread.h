// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/call_queue.h"
#include "app/server/http/listener.h"

#include <QThread>
#include <functional>
#include <memory>
#include <utility>

namespace palimpsest::test {

/// A listener on a free port of loopback, on a thread of its own, as in the program.
class ListenerThread
{
public:
    explicit ListenerThread(http::ListenerSettings settings)
    {
        m_calls.moveToThread(&m_thread);
        m_thread.start();
        run([this, &settings] {
            m_listener = std::make_unique<http::Listener>(std::move(settings));
            if (m_listener->listen(QHostAddress(QHostAddress::LocalHost), 0) != http::Listener::Outcome::Listening)
                qFatal("no free port");
            m_port = m_listener->port();
        });
    }
    ~ListenerThread()
    {
        stop();
        m_thread.quit();
        m_thread.wait();
    }
    ListenerThread(const ListenerThread &) = delete;
    ListenerThread &operator=(const ListenerThread &) = delete;

    void stop()
    {
        run([this] { m_listener.reset(); });
    }
    [[nodiscard]] std::uint16_t port() const { return m_port; }
    [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(m_port); }
    [[nodiscard]] http::GateFigures figures()
    {
        http::GateFigures figures;
        run([&] { figures = m_listener->figures(); });
        return figures;
    }
    /// Runs something on the server's thread, and waits for it.
    void run(const std::function<void()> &work) { m_calls.runAndWait(work); }

private:
    QThread m_thread;
    http::CallQueue m_calls;
    std::unique_ptr<http::Listener> m_listener; ///< lives on the thread
    std::uint16_t m_port = 0;
};

} // namespace palimpsest::test
