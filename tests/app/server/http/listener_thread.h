// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/listener.h"

#include <QThread>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

namespace palimpsest::test {

/// A listener on a free port of loopback, on a thread of its own, as in the program.
class ListenerThread
{
public:
    explicit ListenerThread(http::ListenerSettings settings)
    {
        m_context.moveToThread(&m_thread);
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
    /// Runs something on the server's thread, and waits for it: over a mutex and a promise, which the thread sanitizer
    /// sees, as it does not see Qt's own queue.
    void run(const std::function<void()> &work)
    {
        const auto done = std::make_shared<std::promise<void>>(); // may outlive this call by a blink
        {
            const std::lock_guard lock(m_handOver);
            m_work = [&work, done] {
                work();
                done->set_value();
            };
        }
        QMetaObject::invokeMethod(
            &m_context, [this] { takeWork()(); }, Qt::QueuedConnection);
        done->get_future().wait();
    }

private:
    std::function<void()> takeWork()
    {
        const std::lock_guard lock(m_handOver);
        return std::exchange(m_work, {});
    }

    std::mutex m_handOver;
    std::function<void()> m_work; ///< for the server's thread
    QThread m_thread;
    QObject m_context;
    std::unique_ptr<http::Listener> m_listener; ///< lives on the thread
    std::uint16_t m_port = 0;
};

} // namespace palimpsest::test
