// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace palimpsest::cuda {

/// Threads that wait between pieces of work: loading has hundreds of blocks, and beginning threads anew for each took
/// as long as half of the copying.
class CopyThreads
{
public:
    /// `count` threads, the caller's own among them.
    explicit CopyThreads(std::size_t count);
    ~CopyThreads();
    CopyThreads(const CopyThreads &) = delete;
    CopyThreads &operator=(const CopyThreads &) = delete;

    /// Every thread calls `work`, which must not throw; returns when all have come back from it. One caller at a time.
    void run(const std::function<void()> &work);

private:
    void helper();

    std::mutex m_mutex;
    std::condition_variable m_begin;
    std::condition_variable m_end;
    const std::function<void()> *m_work = nullptr;
    std::uint64_t m_round = 0;
    std::size_t m_busy = 0;
    bool m_stopping = false;
    std::vector<std::thread> m_helpers;
};

} // namespace palimpsest::cuda
