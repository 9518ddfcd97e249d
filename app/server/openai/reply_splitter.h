// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "engine/chat_format.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace palimpsest::openai {

/// What has become certain of a reply since the last time.
struct ReplyPieces
{
    std::string thoughts;
    std::string content;
    std::vector<ParsedReply::Call> calls; ///< whole ones

    [[nodiscard]] bool empty() const noexcept { return thoughts.empty() && content.empty() && calls.empty(); }
};

/// Tells thoughts, answer and tool calls of a growing reply apart, and gives out only what can never change: not the
/// beginning of a marker, not the beginning of a stop string. All pieces together are what the whole reply holds.
///
/// Stop strings count in the answer alone; text behind one is dropped, whatever follows.
class ReplySplitter
{
public:
    struct Rules
    {
        ReplyStart start = ReplyStart::Answer;
        std::vector<std::string> stopStrings = {};
        bool allowsCalls = false;      ///< else calls are dropped
        std::size_t mostCalls = 1'000; ///< further ones are dropped
    };

    ReplySplitter(ChatFormat format, Rules rules) : m_format(format), m_rules(std::move(rules)) {}

    /// `raw`: settled text with special tokens spelled out.
    [[nodiscard]] ReplyPieces push(std::string_view raw);
    /// Nothing follows: gives out what was held back.
    [[nodiscard]] ReplyPieces finish();

    [[nodiscard]] bool stopped() const noexcept { return m_stopped; } ///< a stop string was found
    [[nodiscard]] const std::string &thoughts() const noexcept { return m_thoughts; }
    [[nodiscard]] const std::string &content() const noexcept { return m_content; }
    [[nodiscard]] const std::vector<ParsedReply::Call> &calls() const noexcept { return m_calls; }
    [[nodiscard]] bool thoughtUnfinished() const noexcept { return m_thoughtUnfinished; }

private:
    [[nodiscard]] ReplyPieces take(bool last);
    [[nodiscard]] std::string takeContent(std::string text, bool last);

    ChatFormat m_format;
    Rules m_rules;
    std::string m_raw;
    std::string m_thoughts;
    std::string m_content;
    std::vector<ParsedReply::Call> m_calls;
    bool m_stopped = false;
    bool m_thoughtUnfinished = false;
};

/// Length of the longest end of `text` that one of `strings` may begin with, short of all of it.
[[nodiscard]] std::size_t possibleBeginning(std::string_view text, const std::vector<std::string> &strings);

} // namespace palimpsest::openai
