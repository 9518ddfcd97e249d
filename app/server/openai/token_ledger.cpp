// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/token_ledger.h"

#include "engine/chat_markers.h"

#include <algorithm>
#include <utility>

namespace palimpsest::openai {

ReplyParts::ReplyParts(const Tokenizer &tokenizer, bool startsInThought)
    : m_tokenizer(tokenizer), m_current(startsInThought ? ReplyPart::Thought : ReplyPart::Answer)
{
}

ReplyPart ReplyParts::next(TokenId id)
{
    if (!m_tokenizer.isSpecial(id))
        return m_current;
    const std::string_view piece = m_tokenizer.piece(id);
    if (piece == chat::kChannel)
        m_current = ReplyPart::Thought;
    else if (piece == chat::kToolCall)
        m_current = ReplyPart::Call;
    else if (piece == chat::kChannelEnd || piece == chat::kToolCallEnd)
        return std::exchange(m_current, ReplyPart::Answer) == ReplyPart::Thought ? ReplyPart::Thought
                                                                                 : ReplyPart::Marker;
    else
        return m_current == ReplyPart::Answer ? ReplyPart::Marker : m_current; // a quote inside a call
    return m_current;
}

std::int64_t countThoughtTokens(std::span<const TokenId> tokens, const Tokenizer &tokenizer, bool startsInThought)
{
    ReplyParts parts(tokenizer, startsInThought);
    return std::ranges::count_if(tokens, [&](TokenId id) { return parts.next(id) == ReplyPart::Thought; });
}

std::vector<VisibleToken> visibleTokens(std::span<const TokenId> tokens, std::span<const TokenCertainty> certainties,
                                        const Tokenizer &tokenizer, bool startsInThought)
{
    ReplyParts parts(tokenizer, startsInThought);
    std::vector<VisibleToken> visible;
    for (std::size_t index = 0; index < tokens.size(); ++index) {
        if (parts.next(tokens[index]) == ReplyPart::Answer && index < certainties.size())
            visible.push_back({tokens[index], certainties[index]});
    }
    return visible;
}

} // namespace palimpsest::openai
