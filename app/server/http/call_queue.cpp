// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/call_queue.h"

#include <exception>
#include <future>
#include <memory>
#include <utility>

namespace palimpsest::http {

void CallQueue::post(std::function<void()> call)
{
    {
        const std::lock_guard lock(m_mutex);
        m_calls.push_back(std::move(call));
    }
    QMetaObject::invokeMethod(this, "runAll", Qt::QueuedConnection);
}

void CallQueue::runAndWait(const std::function<void()> &call)
{
    const auto done = std::make_shared<std::promise<void>>();
    std::future<void> result = done->get_future();
    post([done, &call] {
        try {
            call();
            done->set_value();
        } catch (...) { // goes to who waits
            done->set_exception(std::current_exception());
        }
    });
    result.get();
}

void CallQueue::runAll()
{
    std::deque<std::function<void()>> calls;
    {
        const std::lock_guard lock(m_mutex);
        calls.swap(m_calls);
    }
    for (const std::function<void()> &call : calls)
        call();
}

} // namespace palimpsest::http
