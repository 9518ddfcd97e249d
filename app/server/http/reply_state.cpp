// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/reply_state.h"

#include <QMetaObject>
#include <QObject>
#include <QThread>
#include <utility>

namespace palimpsest::http {

namespace {

/// Above this a producer that can wait does.
constexpr std::size_t kRoomBytes = std::size_t{64} << 10U;
/// Above this a client that does not read is cut off. Far more than the longest answer of a model has in text.
constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
/// What the socket may hold before texts stay here, where their number is known.
constexpr std::size_t kHighWaterBytes = std::size_t{256} << 10U;
constexpr std::chrono::seconds kRoomTimeout{10};

} // namespace

ReplyState::ReplyState() : m_serverThread(QThread::currentThread()) {}

void ReplyState::begin(Kind kind, Response head)
{
    const std::lock_guard lock(m_mutex);
    if (!isOpen() || m_begun)
        return;
    m_begun = true;
    m_kind = kind;
    m_text = std::move(head.body);
    head.body.clear();
    m_head = std::move(head);
    post();
}

bool ReplyState::push(std::string_view text, Waiting waiting)
{
    std::unique_lock lock(m_mutex);
    const bool mayWait = waiting == Waiting::Yes && QThread::currentThread() != m_serverThread;
    if (!isOpen() || !m_begun || (mayWait && !waitForRoom(lock)))
        return false;
    if (!mayWait && m_text.size() + text.size() > kMostBytes && !m_text.empty()) {
        m_end = End::CutOff;
        post();
        return false;
    }
    m_text += text;
    post();
    return true;
}

bool ReplyState::waitForRoom(std::unique_lock<std::mutex> &lock)
{
    const bool room = m_room.wait_for(lock, kRoomTimeout, [this] { return !isOpen() || m_text.size() < kRoomBytes; });
    if (!room) {
        m_end = End::CutOff;
        post();
    }
    return isOpen();
}

void ReplyState::finish()
{
    end(End::Finished);
}

void ReplyState::finish(Response response)
{
    begin(Kind::Whole, std::move(response));
    end(End::Finished);
}

void ReplyState::abort()
{
    end(End::Aborted);
}

void ReplyState::drop()
{
    bool begun = false;
    {
        const std::lock_guard lock(m_mutex);
        if (!isOpen())
            return;
        begun = m_begun;
    }
    if (begun) {
        end(End::Aborted);
        return;
    }
    finish(errorResponse(
        500, {.message = "The server could not finish the answer; please report this.", .type = "api_error"}));
}

void ReplyState::end(End how)
{
    std::function<void()> forgotten; // it may hold the last reply: let go of it outside the lock
    const std::lock_guard lock(m_mutex);
    forgotten = std::exchange(m_callback, nullptr);
    if (!isOpen())
        return;
    m_end = how;
    post();
}

void ReplyState::onCancelled(std::function<void()> callback)
{
    {
        const std::lock_guard lock(m_mutex);
        if (!m_cancelled) {
            if (m_end == End::Open)
                m_callback = std::move(callback);
            return;
        }
    }
    callback();
}

bool ReplyState::cancelled() const
{
    const std::lock_guard lock(m_mutex);
    return m_cancelled || m_end == End::CutOff;
}

std::size_t ReplyState::pendingBytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_cancelled ? 0 : m_text.size() + m_unsentBytes;
}

void ReplyState::attach(QObject *sink)
{
    const std::lock_guard lock(m_mutex);
    m_sink = sink;
    if (m_begun || m_end != End::Open)
        post();
}

void ReplyState::detach()
{
    const std::lock_guard lock(m_mutex);
    m_sink = nullptr;
    m_unsentBytes = 0;
}

void ReplyState::cancel()
{
    std::function<void()> callback;
    {
        const std::lock_guard lock(m_mutex);
        m_sink = nullptr;
        if (m_cancelled)
            return;
        m_cancelled = true;
        m_text = {};
        callback = std::exchange(m_callback, nullptr);
    }
    m_room.notify_all();
    if (callback)
        callback();
}

ReplyState::Taken ReplyState::take(std::size_t unsentBytes)
{
    Taken taken;
    {
        const std::lock_guard lock(m_mutex);
        m_posted = false;
        m_unsentBytes = unsentBytes;
        taken.kind = m_kind;
        if (m_end == End::CutOff || unsentBytes < kHighWaterBytes) {
            taken.head = std::exchange(m_head, std::nullopt);
            taken.text = std::exchange(m_text, {});
            taken.end = m_end;
        }
    }
    m_room.notify_all();
    return taken;
}

void ReplyState::post()
{
    if (m_sink == nullptr || m_posted)
        return;
    m_posted = true;
    // By name: nothing of ours is in Qt's queue, where the thread sanitizer cannot follow it.
    QMetaObject::invokeMethod(m_sink, "drain", Qt::QueuedConnection);
}

} // namespace palimpsest::http
