// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/message.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace palimpsest::http {

class ReplyState;

/// An answer that takes time: a stream of events, or one body after a while. A handler gets it from Call::claim().
///
/// Move-only. Every member may be called from any thread, by one thread at a time. It outlives its connection without
/// harm: when the client has left or the server stops, texts are dropped and cancelled() is true. Dropped unfinished,
/// it answers 500, or cuts a stream that has begun, so that the client knows.
///
/// Either   finish(response)                                  one whole answer
/// or       begin(...) or beginEvents(...), push()..., finish()   a stream; HTTP's framing is the gate's business
class Reply
{
public:
    Reply() = default; ///< none; only assignment and destruction make sense
    explicit Reply(std::shared_ptr<ReplyState> state);
    Reply(Reply &&other) noexcept = default;
    Reply &operator=(Reply &&other) noexcept;
    ~Reply();

    /// Whether it belongs to a request (as opposed to: none, or moved away).
    [[nodiscard]] explicit operator bool() const noexcept { return m_state != nullptr; }

    /// Starts a stream: status and fields of `head` go out now; its body is the stream's first text.
    void begin(Response head);
    /// Starts a stream of server-sent events with the fields that proxies and SDKs want. A comment `: ping` goes out
    /// whenever nothing was pushed for a few seconds: so push whole events, each with the blank line that ends it.
    void beginEvents(HeaderFields fields = {});

    /// Sends text of a stream; returns at once, so that a slow client never holds up the engine. False: the client is
    /// gone. One that leaves more than a megabyte unread counts as gone, and is cut off.
    bool push(std::string_view text);
    /// The same for a thread that can wait: returns when there is room. After ten seconds without any the client is cut
    /// off. On the server's own thread it does not wait, and acts as push().
    bool pushWaiting(std::string_view text);
    /// Bytes that were pushed and are not yet with the operating system: for leaving out what a slow client can miss.
    [[nodiscard]] std::size_t pendingBytes() const;

    void finish();                  ///< ends a stream well
    void finish(Response response); ///< the whole answer; only if no stream was begun
    /// Ends a stream that went wrong so that the client sees it is cut short (after an error event, if there is one).
    void abort();

    /// `callback` runs at most once, when the client is gone before the answer was finished: on the server's thread, or
    /// here and now if that has happened already. finish() and abort() forget it; it may hold this very reply.
    void onCancelled(std::function<void()> callback);
    [[nodiscard]] bool cancelled() const;

private:
    std::shared_ptr<ReplyState> m_state;
};

} // namespace palimpsest::http
