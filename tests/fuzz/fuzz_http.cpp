// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/http/chunk_decoder.h"
#include "app/server/http/head_parser.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// The first byte of an input says what the rest is: H, a request's head; C, a chunked body.

using namespace palimpsest::http;

namespace {

void require(bool claim, const char *text)
{
    if (claim)
        return;
    std::fprintf(stderr, "broken promise: %s\n", text);
    std::abort();
}

std::string written(const RequestHead &head)
{
    std::string text = head.method + " " + head.targetText + " HTTP/1." + std::to_string(head.minorVersion) + "\r\n";
    for (const HeaderField &field : head.fields)
        text += field.name + ": " + field.value + "\r\n";
    return text + "\r\n";
}

void checkHead(const RequestHead &head)
{
    require(!(head.chunked && head.contentLength), "one framing");
    require(head.fields.size() <= kMostFields, "fields are bounded");
    require(isToken(head.method), "the method is a token");
    for (const HeaderField &field : head.fields)
        require(isToken(field.name) && isFieldValue(field.value), "fields are sound");
    const std::string &encoded = head.target.encodedPath;
    require(encoded.starts_with('/') && encoded.find('=') == std::string::npos, "the path has one spelling");
    const auto again = parseTarget(encoded);
    require(again && again->encodedPath == encoded && again->path == head.target.path, "which means the same");
    const auto parsed = parseHead(written(head));
    const auto *copy = std::get_if<RequestHead>(&parsed);
    require(copy != nullptr, "an accepted head, written, is accepted");
    require(copy->fields == head.fields && copy->host == head.host && copy->contentLength == head.contentLength &&
                copy->chunked == head.chunked && copy->keepAlive == head.keepAlive &&
                copy->webSocketUpgrade == head.webSocketUpgrade,
            "and means the same");
}

void readHead(std::string_view text)
{
    HeadScanner whole;
    const HeadScanner::State state = whole.scan(text);
    HeadScanner split;
    HeadScanner::State last = HeadScanner::State::More;
    for (std::size_t end = 1; end <= text.size() && last == HeadScanner::State::More; ++end)
        last = split.scan(text.substr(0, end));
    require(last == state && split.headBytes() == whole.headBytes(), "the scanner does not see how bytes are split");
    const std::string_view head = state == HeadScanner::State::Complete ? text.substr(0, whole.headBytes()) : text;
    const auto parsed = parseHead(head);
    if (const auto *fault = std::get_if<HeadFault>(&parsed)) {
        require(fault->status >= 400 && fault->status < 600 && !fault->message.empty(), "a refusal says why");
        return;
    }
    require(state == HeadScanner::State::Complete, "only a whole head is accepted");
    checkHead(std::get<RequestHead>(parsed));
}

void decodeChunks(std::string_view text)
{
    constexpr std::size_t kMost = 4096;
    ChunkDecoder whole(kMost);
    std::string body;
    const ChunkDecoder::Progress progress = whole.feed(text, body);
    ChunkDecoder split(kMost);
    std::string pieces;
    ChunkDecoder::State last = ChunkDecoder::State::More;
    std::size_t consumed = 0;
    while (last == ChunkDecoder::State::More && consumed < text.size()) {
        const std::size_t step = 1 + static_cast<unsigned char>(text[consumed]) % 5;
        const ChunkDecoder::Progress some = split.feed(text.substr(consumed, step), pieces);
        require(some.state != ChunkDecoder::State::More || some.consumed == std::min(step, text.size() - consumed),
                "nothing is left while more is wanted");
        consumed += some.consumed;
        last = some.state;
    }
    require(last == progress.state && consumed == progress.consumed && pieces == body, "any split gives the same");
    require(body.size() <= kMost, "the body is bounded");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view input(reinterpret_cast<const char *>(data), size);
    if (input.front() == 'H')
        readHead(input.substr(1));
    else if (input.front() == 'C')
        decodeChunks(input.substr(1));
    return 0;
}
