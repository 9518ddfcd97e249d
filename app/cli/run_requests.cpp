// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cli/run_requests.h"

#include "app/cli/engine_start.h"
#include "engine/error.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

namespace palimpsest::cli {

namespace {

/// Requests handed to the scheduler beyond those that can run at once, so that a batch never waits for the next one.
constexpr std::size_t kAhead = kBatchCanvases;

class Run
{
public:
    Run(Scheduler &scheduler, const RequestQueue &queue, RunBoard &board)
        : m_scheduler(scheduler), m_queue(queue), m_board(board), m_results(queue.count), m_handles(queue.count)
    {
        for (GenerationResult &result : m_results)
            result.finish = FinishReason::Cancelled;
    }

    std::vector<GenerationResult> run(const std::stop_token &stop)
    {
        const std::stop_callback cancelOnStop(stop, [this] { cancelAll(); });
        for (std::size_t index = 0; index < m_queue.count && waitForRoom(); ++index)
            submit(index);
        std::unique_lock lock(m_mutex);
        m_progress.wait(lock, [this] { return m_running == 0; });
        if (m_error)
            throw Error(*m_error);
        return std::move(m_results);
    }

private:
    /// False if nothing more is to be submitted.
    bool waitForRoom()
    {
        std::unique_lock lock(m_mutex);
        m_progress.wait(lock, [this] { return m_cancelled || m_running < kBatchCanvases + kAhead; });
        return !m_cancelled;
    }

    void submit(std::size_t index)
    {
        {
            const std::lock_guard lock(m_mutex);
            ++m_running;
        }
        RequestHandle handle;
        try {
            handle = m_scheduler.submit(m_queue.make(index), m_board.observer(index),
                                        [this, index](auto outcome) { complete(index, std::move(outcome)); });
        } catch (const Error &error) { // refused: ends the run like an error of the running request
            complete(index, error);
            return;
        }
        bool cancelNow = false;
        {
            const std::lock_guard lock(m_mutex);
            m_handles[index] = handle;
            cancelNow = m_cancelled;
        }
        if (cancelNow)
            handle.cancel();
    }

    void complete(std::size_t index, std::variant<GenerationResult, Error> outcome)
    {
        auto *result = std::get_if<GenerationResult>(&outcome);
        if (result != nullptr && m_queue.onResult)
            m_queue.onResult(index, *result);
        m_board.finish(index);
        if (result == nullptr)
            fail(std::get<Error>(outcome));
        const std::lock_guard lock(m_mutex);
        if (result != nullptr)
            m_results[index] = std::move(*result);
        m_handles[index].reset();
        --m_running;
        m_progress.notify_all(); // under the lock: the waiter may destroy this object right after
    }

    void fail(const Error &error)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_error)
                m_error = error;
        }
        cancelAll();
    }

    void cancelAll()
    {
        std::vector<std::optional<RequestHandle>> handles;
        {
            const std::lock_guard lock(m_mutex);
            m_cancelled = true;
            handles = m_handles;
            m_progress.notify_all();
        }
        for (std::optional<RequestHandle> &handle : handles) {
            if (handle)
                handle->cancel();
        }
    }

    Scheduler &m_scheduler;
    const RequestQueue &m_queue;
    RunBoard &m_board;
    std::mutex m_mutex;
    std::condition_variable m_progress;
    std::vector<GenerationResult> m_results;             ///< guarded by m_mutex, like the following
    std::vector<std::optional<RequestHandle>> m_handles; ///< of those that run or wait
    std::size_t m_running = 0;
    bool m_cancelled = false;
    std::optional<Error> m_error;
};

} // namespace

std::vector<GenerationResult> runRequests(Scheduler &scheduler, const RequestQueue &queue, RunBoard &board,
                                          const std::stop_token &stop)
{
    return Run(scheduler, queue, board).run(stop);
}

} // namespace palimpsest::cli
