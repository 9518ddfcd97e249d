// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/cpu/thread_pool.h"

#include <exception>

namespace palimpsest::cpu {

namespace {

// Looks at an atomic for about 20 us before sleeping on it: sections follow each other faster than that while a step
// runs.
constexpr int kSpins = 4000;

template <typename T>
void waitWhileEqual(const std::atomic<T> &value, T old)
{
    for (int i = 0; i < kSpins; ++i) {
        if (value.load(std::memory_order_acquire) != old)
            return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
}

} // namespace

ThreadPool::ThreadPool(int threadCount)
{
    for (int worker = 1; worker < threadCount; ++worker)
        m_threads.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool()
{
    m_quit.store(true, std::memory_order_relaxed);
    m_round.fetch_add(1, std::memory_order_release);
    m_round.notify_all();
    for (std::thread &thread : m_threads)
        thread.join();
}

void ThreadPool::drain(const Body &body, std::int64_t count, int worker)
{
    for (;;) {
        const std::int64_t item = m_next.fetch_add(1, std::memory_order_relaxed);
        if (item >= count || m_failed.load(std::memory_order_relaxed))
            return;
        try {
            body(item, worker);
        } catch (const std::exception &) { // crosses to the caller of run()
            if (!m_failed.exchange(true))
                m_failure = std::current_exception();
        }
    }
}

void ThreadPool::work(int worker)
{
    std::uint32_t seen = 0;
    for (;;) {
        waitWhileEqual(m_round, seen);
        seen = m_round.load(std::memory_order_acquire);
        if (m_quit.load(std::memory_order_relaxed))
            return;
        drain(*m_body, m_count, worker);
        if (m_busy.fetch_sub(1, std::memory_order_acq_rel) == 1)
            m_busy.notify_one();
    }
}

void ThreadPool::run(std::int64_t count, const Body &body)
{
    m_body = &body;
    m_count = count;
    m_next.store(0, std::memory_order_relaxed);
    m_failed.store(false, std::memory_order_relaxed);
    if (!m_threads.empty() && count > 1) {
        m_busy.store(static_cast<int>(m_threads.size()), std::memory_order_relaxed);
        m_round.fetch_add(1, std::memory_order_release);
        m_round.notify_all();
        drain(body, count, 0);
        for (int busy = m_busy.load(std::memory_order_acquire); busy != 0;
             busy = m_busy.load(std::memory_order_acquire))
            waitWhileEqual(m_busy, busy);
    } else {
        drain(body, count, 0);
    }
    if (m_failed.load(std::memory_order_relaxed))
        std::rethrow_exception(m_failure);
}

} // namespace palimpsest::cpu
