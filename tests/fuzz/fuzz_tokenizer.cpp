// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/error.h"
#include "engine/text_stream.h"
#include "engine/tokenizer.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// An input is a tokenizer.json, a zero byte, and a text to encode with it.

using namespace palimpsest;

namespace {

void require(bool claim, const char *text)
{
    if (claim)
        return;
    std::fprintf(stderr, "broken promise: %s\n", text);
    std::abort();
}

void encodeAndDecode(const std::shared_ptr<const Tokenizer> &tokenizer, std::string_view text, SpecialTokens mode)
{
    std::int64_t end = 0;
    std::vector<TokenId> ids;
    for (const TokenSpan &span : tokenizer->encodeWithSpans(text, mode)) {
        require(span.begin == end && span.end >= span.begin, "spans are contiguous");
        require(span.id >= 0 && span.id < tokenizer->vocabSize(), "ids are in the vocabulary");
        end = span.end;
        ids.push_back(span.id);
    }
    require(end == std::ssize(text), "spans cover the text");
    require(tokenizer->encode(text, mode) == ids, "both ways of encoding agree");
    const std::string whole = tokenizer->decode(ids, DecodeSpecial::Keep);
    TextStream stream(tokenizer, DecodeSpecial::Keep);
    std::string pieces;
    for (const TokenId id : ids)
        pieces += stream.push({&id, 1});
    require(pieces + stream.finish() == whole, "the stream gives the same text");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view input(reinterpret_cast<const char *>(data), size);
    const std::size_t split = input.find('\0');
    try {
        const auto tokenizer = Tokenizer::parse(input.substr(0, split), "fuzzed");
        const std::string_view text = split == std::string_view::npos ? "a b" : input.substr(split + 1);
        encodeAndDecode(tokenizer, text, SpecialTokens::Parse);
        encodeAndDecode(tokenizer, text, SpecialTokens::PlainText);
    } catch (const Error &error) {
        require(!std::string_view(error.what()).empty(), "an error says something");
    }
    return 0;
}
