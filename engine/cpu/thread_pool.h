// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace palimpsest::cpu {

/// Fork-join over a fixed set of threads; the caller is one of them. Work items must not depend on which thread or in
/// which order they run. Used by one thread at a time.
///
/// A pool of its own instead of OpenMP: a denoising step of a small model is a hundred parallel sections of some 100
/// us, and libgomp's spinning costs milliseconds a barrier as soon as another thread wants a core.
class ThreadPool
{
public:
    /// Item index, and the worker (0 .. threadCount - 1) that runs it, for scratch memory.
    using Body = std::function<void(std::int64_t item, int worker)>;

    explicit ThreadPool(int threadCount);
    ~ThreadPool();
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    [[nodiscard]] int threadCount() const noexcept { return static_cast<int>(m_threads.size()) + 1; }

    /// Runs body(0) .. body(count - 1), handed out in ascending order, and returns when all are done. The first
    /// exception thrown by an item is rethrown here after the others ended.
    void run(std::int64_t count, const Body &body);

private:
    void work(int worker);
    void drain(const Body &body, std::int64_t count, int worker);

    std::vector<std::thread> m_threads;
    std::atomic<std::uint32_t> m_round{0}; ///< bumped to start a section; workers wait for it to change
    std::atomic<std::int64_t> m_next{0};
    std::atomic<int> m_busy{0};
    std::atomic<bool> m_quit{false};
    std::atomic<bool> m_failed{false};
    std::exception_ptr m_failure; ///< written by the one who set m_failed
    const Body *m_body = nullptr;
    std::int64_t m_count = 0;
};

} // namespace palimpsest::cpu
