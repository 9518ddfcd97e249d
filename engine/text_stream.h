// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/tokenizer.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace palimpsest {

/// Turns committed token ids into text piece by piece, never emitting a broken UTF-8 character.
///
/// The concatenation of all pieces equals `Tokenizer::decode` of all ids. A run of byte tokens is held back until it
/// ends, because the decoder judges a run as a whole.
class TextStream
{
public:
    TextStream(std::shared_ptr<const Tokenizer> tokenizer, DecodeSpecial special);

    /// Appends ids and returns the text that can no longer change.
    [[nodiscard]] std::string push(std::span<const TokenId> ids);
    /// Returns what was held back; the stream is empty afterwards and may be used again.
    [[nodiscard]] std::string finish();

private:
    std::shared_ptr<const Tokenizer> m_tokenizer;
    DecodeSpecial m_special;
    std::vector<TokenId> m_pendingBytes;
};

} // namespace palimpsest
