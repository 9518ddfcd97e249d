// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cuda/copy_threads.h"

namespace palimpsest::cuda {

CopyThreads::CopyThreads(std::size_t count)
{
    m_helpers.reserve(count);
    for (std::size_t thread = 1; thread < count; ++thread)
        m_helpers.emplace_back([this] { helper(); });
}

CopyThreads::~CopyThreads()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_begin.notify_all();
    for (std::thread &thread : m_helpers)
        thread.join();
}

void CopyThreads::run(const std::function<void()> &work)
{
    {
        const std::lock_guard lock(m_mutex);
        m_work = &work;
        m_busy = m_helpers.size();
        ++m_round;
    }
    m_begin.notify_all();
    work();
    std::unique_lock lock(m_mutex);
    m_end.wait(lock, [this] { return m_busy == 0; });
}

void CopyThreads::helper()
{
    std::uint64_t done = 0;
    std::unique_lock lock(m_mutex);
    while (true) {
        m_begin.wait(lock, [&] { return m_stopping || m_round != done; });
        if (m_stopping)
            return;
        done = m_round;
        const std::function<void()> &work = *m_work;
        lock.unlock();
        work();
        lock.lock();
        if (--m_busy == 0)
            m_end.notify_one();
    }
}

} // namespace palimpsest::cuda
