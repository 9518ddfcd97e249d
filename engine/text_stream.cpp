// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/text_stream.h"

#include <utility>

namespace palimpsest {

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer, DecodeSpecial special)
    : m_tokenizer(std::move(tokenizer)), m_special(special)
{
}

std::string TextStream::push(std::span<const TokenId> ids)
{
    std::string text;
    for (const TokenId id : ids) {
        if (m_special == DecodeSpecial::Skip && m_tokenizer->isSpecial(id))
            continue; // does not end a run of bytes
        const std::string_view bytes = m_tokenizer->tokenBytes(id);
        if (bytes.empty())
            continue; // no such id: the decoder leaves it out too
        if (m_tokenizer->isByteToken(id)) {
            m_pendingBytes.push_back(id);
            continue;
        }
        text += finish();
        text += bytes;
    }
    return text;
}

std::string TextStream::finish()
{
    const std::string text = m_tokenizer->decode(m_pendingBytes, DecodeSpecial::Keep);
    m_pendingBytes.clear();
    return text;
}

} // namespace palimpsest
