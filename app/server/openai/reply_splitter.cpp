// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/server/openai/reply_splitter.h"

#include "engine/utf8.h"

#include <algorithm>

namespace palimpsest::openai {

namespace {

/// Length of an end that may be the beginning of a marker ("<|chan").
std::size_t possibleMarker(std::string_view text)
{
    constexpr std::size_t kLongestMarker = 20; // the longest is <tool_response|>
    const std::size_t begin = text.rfind('<');
    if (begin == std::string_view::npos || text.size() - begin >= kLongestMarker)
        return 0;
    const std::string_view tail = text.substr(begin + 1);
    const bool fits = std::ranges::all_of(tail, [](char character) {
        return (character >= 'a' && character <= 'z') || character == '|' || character == '_' || character == '"';
    });
    return fits ? text.size() - begin : 0;
}

/// What `whole` has beyond `given`; nothing if it has changed its mind, which settled text does not.
std::string_view beyond(std::string_view whole, std::string_view given)
{
    return whole.starts_with(given) ? whole.substr(given.size()) : std::string_view();
}

} // namespace

std::size_t possibleBeginning(std::string_view text, const std::vector<std::string> &strings)
{
    std::size_t longest = 0;
    for (const std::string_view string : strings) {
        for (std::size_t count = std::min(string.size() - 1, text.size()); count > longest; --count) {
            if (text.ends_with(string.substr(0, count)))
                longest = count;
        }
    }
    return longest;
}

ReplyPieces ReplySplitter::push(std::string_view raw)
{
    m_raw += raw;
    return take(false);
}

ReplyPieces ReplySplitter::finish()
{
    return take(true);
}

std::string ReplySplitter::takeContent(std::string text, bool last)
{
    if (m_stopped)
        return {};
    std::size_t firstEnd = std::string::npos;
    std::size_t cut = text.size();
    for (const std::string &stop : m_rules.stopStrings) { // the first one to be complete counts
        const std::size_t begin = text.find(stop, m_content.size());
        if (begin == std::string::npos || begin + stop.size() > firstEnd)
            continue;
        cut = begin + stop.size() < firstEnd ? begin : std::min(cut, begin);
        firstEnd = begin + stop.size();
        m_stopped = true;
    }
    text.resize(cut);
    if (!m_stopped && !last) {
        const std::string_view fresh = beyond(text, m_content);
        const std::size_t held = std::max(possibleMarker(fresh), possibleBeginning(fresh, m_rules.stopStrings));
        text.resize(text.size() - std::min(held, fresh.size()));
        // A blank in front of a call is no answer.
        if (m_rules.allowsCalls && m_content.empty() && trimWhiteSpace(text).empty())
            text.clear();
    }
    std::string fresh(beyond(text, m_content));
    m_content += fresh;
    return fresh;
}

ReplyPieces ReplySplitter::take(bool last)
{
    ParsedReply reply = m_format.parseReply(m_raw, m_rules.start);
    m_thoughtUnfinished = reply.thoughtUnfinished;
    ReplyPieces pieces;
    std::string thoughts = std::move(reply.thoughts);
    if (!last)
        thoughts.resize(thoughts.size() - possibleMarker(thoughts));
    pieces.thoughts = beyond(thoughts, m_thoughts);
    m_thoughts += pieces.thoughts;
    const std::size_t calls = m_rules.allowsCalls ? std::min(reply.toolCalls.size(), m_rules.mostCalls) : 0;
    if (calls > 0 && m_content.empty() && trimWhiteSpace(reply.text).empty())
        reply.text.clear();
    pieces.content = takeContent(std::move(reply.text), last);
    for (std::size_t index = m_calls.size(); index < calls; ++index)
        pieces.calls.push_back(reply.toolCalls[index]);
    m_calls.insert(m_calls.end(), pieces.calls.begin(), pieces.calls.end());
    return pieces;
}

} // namespace palimpsest::openai
