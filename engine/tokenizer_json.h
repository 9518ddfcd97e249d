// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engine/token.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest {

/// A list of strings in one allocation: a vocabulary has hundreds of thousands of tiny ones.
class StringList
{
public:
    void append(std::string_view text)
    {
        m_text += text;
        m_ends.push_back(m_text.size());
    }
    [[nodiscard]] std::size_t size() const noexcept { return m_ends.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept
    {
        const std::size_t begin = index == 0 ? 0 : m_ends[index - 1];
        return std::string_view(m_text).substr(begin, m_ends[index] - begin);
    }

private:
    std::string m_text;
    std::vector<std::size_t> m_ends;
};

struct AddedToken
{
    std::string content;
    TokenId id = 0;
    bool special = false;
};

/// What a supported `tokenizer.json` holds, in the order of the file.
struct TokenizerFile
{
    StringList pieces;
    std::vector<TokenId> pieceIds; ///< of pieces, same order
    StringList mergeSides;         ///< left and right of merge i at 2i and 2i+1; the rank is i
    std::vector<AddedToken> addedTokens;
};

/// Ids from here on are taken for damage: tables are sized by the highest id (Gemma's vocabulary has 2^18).
inline constexpr std::int64_t kMaxTokenId = (std::int64_t{1} << 22U) - 1;

/// Reads and checks the text of a `tokenizer.json`; `path` is for messages. One pass, no document tree for the
/// vocabulary and the merges.
///
/// Throws Error InvalidCheckpoint (not JSON, a field absent or of the wrong type, an id out of range) or Unsupported (a
/// model, normalizer, pre-tokenizer, decoder or token option that Gemma's files do not use, by name).
[[nodiscard]] TokenizerFile readTokenizerJson(std::string_view json, const std::string &path);

} // namespace palimpsest
