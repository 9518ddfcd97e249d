// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/server/http/message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::test {

/// An answer taken from the wire.
struct RawAnswer
{
    int status = 0;
    http::HeaderFields fields;
    std::string body;                ///< decoded
    std::vector<std::string> chunks; ///< of a chunked body
    bool complete = false;           ///< as its framing says

    [[nodiscard]] std::string field(std::string_view name) const;
};

/// A client that sends exactly the bytes it is told to: a blocking socket on loopback, with time-outs.
class RawClient
{
public:
    explicit RawClient(std::uint16_t port);
    ~RawClient();
    RawClient(RawClient &&other) noexcept;
    RawClient &operator=(RawClient &&) = delete;
    RawClient(const RawClient &) = delete;

    /// False: the server closed before everything was sent.
    bool send(std::string_view bytes) const;
    void finishSending() const; ///< half close
    void reset();               ///< leaves with RST
    void leave();               ///< leaves with FIN

    /// The next answer, 1xx included; nothing when the connection ends or nothing more comes in time. `headOnly`: it
    /// answers a HEAD.
    std::optional<RawAnswer> answer(bool headOnly = false);
    /// Everything until the server closes (or the time is up, see `closed`).
    std::string rest();
    /// Whether the server closes the connection within the time.
    bool closed();
    /// One more piece of bytes, at most; empty at the end or after the time.
    std::string piece(int timeoutMs);
    [[nodiscard]] int descriptor() const noexcept { return m_descriptor; }

private:
    bool fill(int timeoutMs);
    std::optional<std::string> line();
    bool take(std::size_t count, std::string &out);
    bool readBody(RawAnswer &answer);

    int m_descriptor = -1;
    std::string m_buffer;
    bool m_ended = false;
};

} // namespace palimpsest::test
