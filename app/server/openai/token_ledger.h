// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/events.h"
#include "engine/tokenizer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace palimpsest::openai {

/// One visible token of an answer, with how sure the model was of it.
struct VisibleToken
{
    TokenId id = 0;
    TokenCertainty certainty;
};

/// Which part of a reply a token belongs to.
enum class ReplyPart { Thought, Answer, Call, Marker };

/// Follows the markers of a reply, token by token.
class ReplyParts
{
public:
    ReplyParts(const Tokenizer &tokenizer, bool startsInThought);
    [[nodiscard]] ReplyPart next(TokenId id);

private:
    const Tokenizer &m_tokenizer;
    ReplyPart m_current;
};

/// Tokens inside thoughts, markers included: what usage calls reasoning tokens.
[[nodiscard]] std::int64_t countThoughtTokens(std::span<const TokenId> tokens, const Tokenizer &tokenizer,
                                              bool startsInThought);

/// Those of an answer's tokens that are shown to the reader.
[[nodiscard]] std::vector<VisibleToken> visibleTokens(std::span<const TokenId> tokens,
                                                      std::span<const TokenCertainty> certainties,
                                                      const Tokenizer &tokenizer, bool startsInThought);

} // namespace palimpsest::openai
