// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/documents/document_worker.h"

#include "engine/error.h"

#include <QCoreApplication>
#include <QEvent>

namespace palimpsest::documents {

void DocumentReplies::Box::put(Reply reply)
{
    const std::lock_guard lock(mutex); // the receiver cannot go while it is woken
    if (receiver == nullptr)
        return;
    replies.push_back(std::move(reply));
    if (replies.size() > 1)
        return; // it is awake
    QCoreApplication::postEvent(receiver, new QEvent(QEvent::User));
}

bool DocumentReplies::Receiver::event(QEvent *event)
{
    if (event->type() != QEvent::User)
        return QObject::event(event);
    const std::shared_ptr<Box> box = m_box; // a reply may destroy this
    box->callAll();
    return true;
}

void DocumentReplies::Box::callAll()
{
    for (;;) {
        Reply reply;
        {
            const std::lock_guard lock(mutex);
            if (replies.empty())
                return; // also when a reply has destroyed the box's owner
            reply = std::move(replies.front());
            replies.pop_front();
        }
        reply();
    }
}

DocumentReplies::DocumentReplies()
{
    m_box->receiver = &m_receiver;
}

DocumentReplies::~DocumentReplies()
{
    std::deque<Reply> dropped;
    const std::lock_guard lock(m_box->mutex);
    m_box->receiver = nullptr;
    dropped.swap(m_box->replies);
}

void DocumentWorker::Slot::open()
{
    failure = nullptr;
    try {
        store = std::make_unique<DocumentStore>(options);
    } catch (const Error &) {
        failure = std::current_exception(); // for everybody who asks
    }
}

DocumentStore &DocumentWorker::Slot::opened()
{
    if (failure)
        std::rethrow_exception(failure);
    return *store;
}

DocumentWorker::DocumentWorker(StoreOptions options)
    : m_thread([this, options = std::move(options)]() mutable { work(std::move(options)); })
{
}

DocumentWorker::~DocumentWorker()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stopping = true;
    }
    m_changed.notify_one();
    m_thread.join();
}

void DocumentWorker::post(Task task)
{
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_changed.notify_one();
}

void DocumentWorker::work(StoreOptions options)
{
    Slot slot{.options = std::move(options), .store = nullptr, .failure = nullptr};
    slot.open();
    for (;;) {
        Task task;
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [this] { return m_stopping || !m_tasks.empty(); });
            if (m_tasks.empty())
                return; // stopping, and everything is done
            task = std::move(m_tasks.front());
            m_tasks.pop_front();
        }
        task(slot); // a packaged task keeps what it throws for its future
    }
}

template <typename Result>
std::future<Result> DocumentWorker::runOnSlot(std::function<Result(Slot &)> call)
{
    const auto task = std::make_shared<std::packaged_task<Result(Slot &)>>(std::move(call));
    std::future<Result> future = task->get_future();
    post([task](Slot &slot) { (*task)(slot); });
    return future;
}

std::future<void> DocumentWorker::flush()
{
    return runOnSlot<void>([](Slot &) {});
}

std::future<void> DocumentWorker::reopen()
{
    return runOnSlot<void>([](Slot &slot) {
        if (!slot.store)
            slot.open();
        (void)slot.opened();
    });
}

std::future<std::filesystem::path> DocumentWorker::replaceDamaged()
{
    return runOnSlot<std::filesystem::path>([](Slot &slot) {
        slot.store.reset();
        std::filesystem::path aside;
        try {
            aside = DocumentStore::moveAside(slot.options.file);
        } catch (const Error &) {
            slot.open(); // as it was
            throw;
        }
        slot.open();
        (void)slot.opened();
        return aside;
    });
}

} // namespace palimpsest::documents
