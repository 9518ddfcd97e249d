// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"
#include "engine/tokenizer.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace palimpsest {

/// Text of a growing list of ids that remembers where each token's text ends.
///
/// As with `TextStream`, a run of byte tokens waits until it ends, because it is judged as a whole; `text` equals
/// `Tokenizer::decode` of the tokens that do not wait.
class AlignedText
{
public:
    AlignedText(std::shared_ptr<const Tokenizer> tokenizer, DecodeSpecial special);

    void push(TokenId id);
    /// Removes the beginning of a character that the tokens end in, if they do: it can be nothing but waiting bytes.
    void dropUnfinishedCharacter();
    /// Decides waiting bytes as they are.
    void resolveWaiting();

    [[nodiscard]] const std::string &text() const noexcept { return m_text; }
    [[nodiscard]] const std::vector<TokenId> &tokens() const noexcept { return m_tokens; }
    /// Byte of `text` at which the text of token `index` ends; for tokens that do not wait.
    [[nodiscard]] std::size_t textEnd(std::size_t index) const { return m_ends[index]; }
    /// Tokens whose text ends within the first `bytes` bytes; those without text that stand there are among them.
    [[nodiscard]] std::size_t tokensWithin(std::size_t bytes) const;
    /// The same, and the token that is cut there, if one is.
    [[nodiscard]] std::size_t tokensCovering(std::size_t bytes) const;

private:
    std::shared_ptr<const Tokenizer> m_tokenizer;
    DecodeSpecial m_special;
    std::vector<TokenId> m_tokens;
    std::vector<std::size_t> m_ends; ///< of the tokens that do not wait; the others are waiting
    std::string m_text;
};

/// Turns the answer's token ids, canvas by canvas, into the text that observers may show.
///
/// Text is settled once it can no longer change: a run of byte tokens has ended, and what follows is not the beginning
/// of a stop string. All settled pieces together are `text()`. A stop string ends the answer where the first one to be
/// complete begins, also across canvases and also if several could match. Without a tokenizer there are tokens and no
/// text.
class AnswerText
{
public:
    /// `stopStrings` are not empty, and there are none without a tokenizer.
    AnswerText(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stopStrings);

    enum class End {
        Natural, ///< the model ended: unfinished bytes are its own and become U+FFFD
        Cut,     ///< a budget or a person ended it: the beginning of a character is left out, its tokens too
    };

    /// Returns the text that settled.
    [[nodiscard]] std::string append(std::span<const TokenId> ids);
    /// Nothing follows: returns what was held back and may stay. May find a stop string, too.
    [[nodiscard]] std::string finish(End end);

    /// What has settled since the last call, with special tokens spelled out, in whole tokens. Together with what the
    /// call after `finish` (or after a stop string was found) gives: `rawText`.
    [[nodiscard]] std::string takeRawText();
    /// Tokens whose text has settled; after the end, as many as `tokens` has.
    [[nodiscard]] std::size_t settledTokens() const;

    /// A stop string ended the answer; later ids are ignored.
    [[nodiscard]] bool stopped() const noexcept { return m_stopped; }
    [[nodiscard]] std::size_t tokenCount() const noexcept { return m_visible.tokens().size(); }

    /// After `finish`. Tokens up to the end of the text: the one a stop string begins inside of is the last.
    [[nodiscard]] std::vector<TokenId> tokens() const;
    /// After `finish`: special tokens skipped.
    [[nodiscard]] std::string text() const;
    /// After `finish`: the same stretch with special tokens spelled out.
    [[nodiscard]] std::string rawText() const;

private:
    [[nodiscard]] std::string settle(std::size_t heldBytes);
    void searchStopStrings();
    [[nodiscard]] std::size_t possibleStopBytes() const;

    std::shared_ptr<const Tokenizer> m_tokenizer;
    std::vector<std::string> m_stopStrings;
    AlignedText m_visible;
    AlignedText m_raw;              ///< the same tokens, special ones spelled out
    std::size_t m_settledBytes = 0; ///< of m_visible.text()
    std::size_t m_takenRawBytes = 0;
    std::size_t m_textEnd = 0; ///< where a stop string cut the text; valid if m_stopped
    bool m_stopped = false;
    bool m_finished = false;
};

} // namespace palimpsest
