// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace palimpsest::http {

/// Decodes a body in chunked transfer coding (RFC 9112, section 7.1) from bytes that come in pieces. Strict: sizes of 1
/// to 8 hexadecimal digits, CRLF everywhere; extensions and trailer fields are bounded and dropped. Any split of the
/// bytes gives the same result.
class ChunkDecoder
{
public:
    enum class State : std::uint8_t { More, Done, Malformed, TooLarge };

    explicit ChunkDecoder(std::size_t mostBodyBytes) : m_mostBodyBytes(mostBodyBytes) {}

    struct Progress
    {
        State state = State::More;
        std::size_t consumed = 0; ///< bytes of `input` that belong to this body
    };
    /// Appends what `input` decodes to. After any state but More, make a new decoder.
    [[nodiscard]] Progress feed(std::string_view input, std::string &body);

private:
    enum class Place : std::uint8_t { Size, Extension, SizeEnd, Data, DataCr, DataLf, Trailer, TrailerLf, LastLf };

    [[nodiscard]] State step(char c);
    [[nodiscard]] State sizeDigit(char c);
    [[nodiscard]] State sizeLineEnd();
    [[nodiscard]] State trailer(char c);
    [[nodiscard]] State drop(char c, Place next);

    std::size_t m_mostBodyBytes;
    std::size_t m_bodyBytes = 0;
    std::size_t m_chunkBytes = 0; ///< of the running chunk, still to come
    std::size_t m_droppedBytes = 0;
    int m_digits = 0;
    bool m_lineEmpty = true; ///< of the trailer
    Place m_place = Place::Size;
};

/// Most bytes of all chunk extensions and trailer fields of one body.
inline constexpr std::size_t kMostDroppedBytes = std::size_t{8} << 10U;

} // namespace palimpsest::http
