// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace palimpsest::openai {

/// A few threads for what takes too long for the server's: reading a large body, encoding a long prompt. The destructor
/// drops what has not begun and joins.
class WorkQueue
{
public:
    explicit WorkQueue(int threads);
    ~WorkQueue();
    WorkQueue(const WorkQueue &) = delete;
    WorkQueue &operator=(const WorkQueue &) = delete;

    /// `task` must not throw. Any thread.
    void post(std::function<void()> task);

private:
    void run();

    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::deque<std::function<void()>> m_tasks;
    bool m_stopping = false;
    std::vector<std::thread> m_threads; ///< last: they use the others
};

} // namespace palimpsest::openai
