// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/chunk_decoder.h"

#include "app/server/http/ascii.h"

#include <algorithm>

namespace palimpsest::http {

namespace {

constexpr int kMostDigits = 8;

} // namespace

ChunkDecoder::Progress ChunkDecoder::feed(std::string_view input, std::string &body)
{
    std::size_t position = 0;
    while (position < input.size()) {
        if (m_place == Place::Data) {
            const std::size_t count = std::min(m_chunkBytes, input.size() - position);
            body.append(input.substr(position, count));
            position += count;
            m_chunkBytes -= count;
            if (m_chunkBytes == 0)
                m_place = Place::DataCr;
            continue;
        }
        const State state = step(input[position]);
        ++position;
        if (state != State::More)
            return {state, position};
    }
    return {State::More, position};
}

ChunkDecoder::State ChunkDecoder::step(char c)
{
    const auto expect = [&](char wanted, Place next) {
        m_place = next;
        return c == wanted ? State::More : State::Malformed;
    };
    switch (m_place) {
    case Place::Size:
        return sizeDigit(c);
    case Place::Extension:
        return c == '\r' ? expect('\r', Place::SizeEnd) : drop(c, Place::Extension);
    case Place::SizeEnd:
        return c == '\n' ? sizeLineEnd() : State::Malformed;
    case Place::Data:
        break; // feed() copies
    case Place::DataCr:
        return expect('\r', Place::DataLf);
    case Place::DataLf:
        return expect('\n', Place::Size);
    case Place::Trailer:
        return trailer(c);
    case Place::TrailerLf:
        m_lineEmpty = true;
        return expect('\n', Place::Trailer);
    case Place::LastLf:
        return c == '\n' ? State::Done : State::Malformed;
    }
    return State::Malformed;
}

ChunkDecoder::State ChunkDecoder::sizeDigit(char c)
{
    const int value = hexValue(c);
    if (value >= 0) {
        if (++m_digits > kMostDigits)
            return State::Malformed;
        m_chunkBytes = m_chunkBytes * 16 + static_cast<std::size_t>(value);
        return State::More;
    }
    if (m_digits == 0)
        return State::Malformed;
    if (c == '\r') {
        m_place = Place::SizeEnd;
        return State::More;
    }
    return c == ';' ? drop(c, Place::Extension) : State::Malformed;
}

ChunkDecoder::State ChunkDecoder::sizeLineEnd()
{
    m_digits = 0;
    if (m_chunkBytes == 0) {
        m_place = Place::Trailer;
        return State::More;
    }
    if (m_chunkBytes > m_mostBodyBytes - m_bodyBytes) // before adding, so that nothing wraps
        return State::TooLarge;
    m_bodyBytes += m_chunkBytes;
    m_place = Place::Data;
    return State::More;
}

ChunkDecoder::State ChunkDecoder::trailer(char c)
{
    if (c == '\r') {
        m_place = m_lineEmpty ? Place::LastLf : Place::TrailerLf;
        return State::More;
    }
    m_lineEmpty = false;
    return drop(c, Place::Trailer);
}

ChunkDecoder::State ChunkDecoder::drop(char c, Place next)
{
    const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    m_place = next;
    return control || ++m_droppedBytes > kMostDroppedBytes ? State::Malformed : State::More;
}

} // namespace palimpsest::http
