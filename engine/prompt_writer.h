// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/chat_format.h"

#include <string_view>
#include <utility>
#include <vector>

namespace palimpsest {

/// Collects the pieces of a prompt. Neighbouring texts become one piece, because the tokenizer may merge across the
/// place where the format's own words meet a person's.
class PromptWriter
{
public:
    /// A marker that is one token of the vocabulary.
    void marker(std::string_view name) { m_pieces.push_back({.text = std::string(name)}); }

    /// Anything else; a marker's spelling in it stays text.
    void text(std::string_view text)
    {
        if (text.empty())
            return;
        if (m_pieces.empty() || m_pieces.back().mode == SpecialTokens::Parse)
            m_pieces.push_back({.text = {}, .mode = SpecialTokens::PlainText});
        m_pieces.back().text += text;
    }

    [[nodiscard]] std::vector<PromptPiece> take() { return std::move(m_pieces); }

private:
    std::vector<PromptPiece> m_pieces;
};

} // namespace palimpsest
