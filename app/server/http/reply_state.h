// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/message.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

class QObject;
class QThread;

namespace palimpsest::http {

/// What a Reply and its connection share: texts on their way, how the answer ends, and whether the client is still
/// there. It holds no socket, so it may outlive one. Any thread; no lock is held over a callback.
class ReplyState
{
public:
    enum class Kind : std::uint8_t {
        Whole,  ///< one answer with its length
        Stream, ///< pieces as they come
        Events, ///< the same, kept alive by comments
    };
    enum class End : std::uint8_t {
        Open,
        Finished,
        Aborted, ///< the client shall see that something is missing
        CutOff,  ///< the client did not read
    };
    enum class Waiting : std::uint8_t { No, Yes };

    /// What is new for the connection.
    struct Taken
    {
        std::optional<Response> head; ///< once, before or with the first text
        Kind kind = Kind::Whole;
        std::string text;
        End end = End::Open; ///< after the text
    };

    ReplyState(); ///< on the server's thread, which never waits in push()

    // The reply's side.
    void begin(Kind kind, Response head);
    bool push(std::string_view text, Waiting waiting);
    void finish();
    void finish(Response response);
    void abort();
    void drop(); ///< the reply is gone: whatever is open ends badly
    void onCancelled(std::function<void()> callback);
    [[nodiscard]] bool cancelled() const;
    [[nodiscard]] std::size_t pendingBytes() const;

    // The connection's side, on the server's thread.
    /// From now on the invokable `drain` of `sink` is queued when there is something to take, once until it is taken.
    void attach(QObject *sink);
    void detach(); ///< the answer is out; nothing more is wanted
    /// The client is gone: wakes producers, runs the callback.
    void cancel();
    /// `unsentBytes`: what the socket still holds. With more than the high-water mark there nothing is taken.
    [[nodiscard]] Taken take(std::size_t unsentBytes);

private:
    [[nodiscard]] bool isOpen() const noexcept { return !m_cancelled && m_end == End::Open; }
    void end(End how); ///< takes the lock
    void post();       ///< under the lock
    bool waitForRoom(std::unique_lock<std::mutex> &lock);

    mutable std::mutex m_mutex; // guards all below but the thread
    std::condition_variable m_room;
    const QThread *const m_serverThread;
    QObject *m_sink = nullptr;
    std::function<void()> m_callback;
    std::optional<Response> m_head;
    std::string m_text;
    std::size_t m_unsentBytes = 0;
    Kind m_kind = Kind::Whole;
    End m_end = End::Open;
    bool m_begun = false;
    bool m_cancelled = false;
    bool m_posted = false;
};

} // namespace palimpsest::http
