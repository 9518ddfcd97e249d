// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <chrono>
#include <cstddef>

namespace palimpsest::http {

/// What a client may cost before it has been answered. The defaults are the server's; tests take smaller ones.
struct Limits
{
    std::size_t headBytes = std::size_t{32} << 10U;
    std::size_t bodyBytes = std::size_t{32} << 20U;
    std::size_t allBodiesBytes = std::size_t{256} << 20U;  ///< of all requests that are being received or handled
    std::size_t aheadBytes = std::size_t{64} << 10U;       ///< sent while the answer to the request before is under way
    std::size_t readBufferBytes = std::size_t{256} << 10U; ///< above aheadBytes: a full buffer would hide a FIN
    std::size_t unsentBytes = std::size_t{256} << 10U;     ///< of answers; above it the next request waits
    int connections = 512;
    int connectionsRefused = 64;                 ///< beyond `connections`: get a 503; still more are closed at once
    int burst = 16;                              ///< pipelined requests that are answered before others have a turn
    std::chrono::milliseconds headTime{10'000};  ///< from a head's first byte, never renewed
    std::chrono::milliseconds bodyTime{60'000};  ///< for the whole body
    std::chrono::milliseconds idleTime{30'000};  ///< without a request
    std::chrono::milliseconds stallTime{20'000}; ///< in which not one byte of an answer leaves
    std::chrono::milliseconds lingerTime{1'000}; ///< for the client to read the last answer before it is closed
    std::chrono::milliseconds pingTime{5'000};   ///< silence of an event stream before a comment is sent
};

} // namespace palimpsest::http
