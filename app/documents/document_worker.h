// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/documents/document_store.h"

#include <QObject>

#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace palimpsest::documents {

/// Takes results of a DocumentWorker to the thread that made the box, through its event loop. What has not arrived when
/// the box goes is dropped. Made and destroyed on that thread.
class DocumentReplies
{
public:
    DocumentReplies();
    ~DocumentReplies();
    DocumentReplies(const DocumentReplies &) = delete;
    DocumentReplies &operator=(const DocumentReplies &) = delete;

private:
    friend class DocumentWorker;

    using Reply = std::function<void()>;
    struct Box
    {
        std::mutex mutex;
        std::deque<Reply> replies;
        QObject *receiver = nullptr; ///< null when nobody waits any more

        void put(Reply reply); ///< any thread
        void callAll();        ///< the receiver's thread
    };
    /// Lives on the thread that gets the replies; an event wakes it.
    class Receiver : public QObject
    {
    public:
        explicit Receiver(std::shared_ptr<Box> box) : m_box(std::move(box)) {}
        bool event(QEvent *event) override;

    private:
        std::shared_ptr<Box> m_box;
    };

    std::shared_ptr<Box> m_box = std::make_shared<Box>();
    Receiver m_receiver{m_box};
};

/// A document store on a thread of its own: whoever calls never waits for the disk.
///
/// The calls run one after the other, in the order in which they were made, each with the store as its argument. Their
/// results, and what they throw, come back by a future or by a function on the caller's thread. If the store cannot be
/// opened, every call ends with the StoreError that says why, until `reopen` or `replaceDamaged` succeeds.
///
/// All members may be called from any thread. The destructor lets every call that was made finish, closes the store and
/// joins the thread.
class DocumentWorker
{
public:
    explicit DocumentWorker(StoreOptions options);
    ~DocumentWorker();
    DocumentWorker(const DocumentWorker &) = delete;
    DocumentWorker &operator=(const DocumentWorker &) = delete;

    /// Calls `call(DocumentStore &)` on the worker's thread. The future's destructor does not wait.
    template <typename Call>
    auto run(Call call) -> std::future<std::invoke_result_t<Call &, DocumentStore &>>
    {
        using Result = std::invoke_result_t<Call &, DocumentStore &>;
        const auto task = std::make_shared<std::packaged_task<Result(Slot &)>>(
            [call = std::move(call)](Slot &slot) mutable { return call(slot.opened()); });
        std::future<Result> future = task->get_future();
        post([task](Slot &slot) { (*task)(slot); });
        return future;
    }

    /// The same, then calls `done(std::future<Result>)` with the finished future on the thread of `replies`: its
    /// `get()` gives the result or throws.
    template <typename Call, typename Done>
    void run(Call call, DocumentReplies &replies, Done done)
    {
        using Result = std::invoke_result_t<Call &, DocumentStore &>;
        const auto task = std::make_shared<std::packaged_task<Result(Slot &)>>(
            [call = std::move(call)](Slot &slot) mutable { return call(slot.opened()); });
        const auto shared = std::make_shared<std::pair<std::future<Result>, Done>>(task->get_future(), std::move(done));
        post([task, shared, box = replies.m_box](Slot &slot) mutable {
            (*task)(slot);
            // Moved on, so that what `done` holds ends on the caller's thread.
            box->put([shared = std::move(shared)] { shared->second(std::move(shared->first)); });
        });
    }

    /// The same, with `done` called on the worker's thread, which it must not keep: for answers that any thread may
    /// give.
    template <typename Call, typename Done>
    void runThen(Call call, Done done)
    {
        using Result = std::invoke_result_t<Call &, DocumentStore &>;
        const auto task = std::make_shared<std::packaged_task<Result(Slot &)>>(
            [call = std::move(call)](Slot &slot) mutable { return call(slot.opened()); });
        const auto shared = std::make_shared<std::pair<std::future<Result>, Done>>(task->get_future(), std::move(done));
        post([task, shared](Slot &slot) {
            (*task)(slot);
            shared->second(std::move(shared->first));
        });
    }

    /// Ends when everything that was asked for before is done; at a pause, at shutdown.
    std::future<void> flush();
    /// Tries again to open a store that could not be opened; throws StoreError through the future.
    std::future<void> reopen();
    /// `DocumentStore::moveAside`, then a new store in its place; returns the damaged file's new name.
    std::future<std::filesystem::path> replaceDamaged();

private:
    /// The store, or why there is none. Lives on the worker's thread.
    struct Slot
    {
        StoreOptions options;
        std::unique_ptr<DocumentStore> store;
        std::exception_ptr failure;

        void open();
        [[nodiscard]] DocumentStore &opened();
    };
    using Task = std::function<void(Slot &)>;

    void post(Task task);
    void work(StoreOptions options);
    template <typename Result>
    std::future<Result> runOnSlot(std::function<Result(Slot &)> call);

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Task> m_tasks;
    bool m_stopping = false;
    std::thread m_thread;
};

} // namespace palimpsest::documents
