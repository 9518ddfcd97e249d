// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/chat_format.h"
#include "engine/chat_format_arguments.h"
#include "engine/chat_markers.h"
#include "engine/utf8.h"

#include <algorithm>
#include <array>

namespace palimpsest {

namespace {

using namespace chat;

/// Everything that must never be shown to a person.
constexpr std::array<std::string_view, 28> kMarkers = {
    kBegin,        kEnd,       "<pad>",          "<unk>",    "<mask>",   kTurn,      kTurnEnd,
    kThink,        kChannel,   kChannelEnd,      kTool,      kToolEnd,   kToolCall,  kToolCallEnd,
    kToolResponse, kQuote,     kToolResponseEnd, "<|image>", kImage,     "<image|>", "<|audio>",
    kAudio,        "<audio|>", "<|video>",       kVideo,     "<video|>", "<think|>", "<|think>",
};

struct MarkerPlace
{
    std::size_t begin = std::string_view::npos;
    std::string_view marker; ///< empty if there is none
};

MarkerPlace nextMarker(std::string_view text)
{
    for (std::size_t begin = text.find('<'); begin != std::string_view::npos; begin = text.find('<', begin + 1)) {
        const std::string_view rest = text.substr(begin);
        const auto *const found =
            std::ranges::find_if(kMarkers, [rest](std::string_view marker) { return rest.starts_with(marker); });
        if (found != kMarkers.end())
            return {begin, *found};
    }
    return {};
}

/// Also removes what becomes a marker only by removing another one from its middle.
std::string withoutMarkers(std::string_view text)
{
    std::string kept;
    for (const char character : text) {
        kept += character;
        if (character != '>') // every marker ends so
            continue;
        const auto *const found =
            std::ranges::find_if(kMarkers, [&kept](std::string_view marker) { return kept.ends_with(marker); });
        if (found != kMarkers.end())
            kept.resize(kept.size() - found->size());
    }
    return kept;
}

class ReplyParser
{
public:
    explicit ReplyParser(std::string_view reply) : m_rest(reply) {}

    ParsedReply parse(ReplyStart start)
    {
        if (start == ReplyStart::Thought)
            readThought();
        while (!m_rest.empty()) {
            const MarkerPlace place = nextMarker(m_rest);
            m_reply.text += m_rest.substr(0, place.begin);
            if (place.marker.empty())
                break;
            m_rest.remove_prefix(place.begin + place.marker.size());
            readMarked(place.marker);
        }
        m_reply.text = withoutMarkers(m_reply.text);
        return std::move(m_reply);
    }

private:
    void readMarked(std::string_view marker)
    {
        if (marker == kTurnEnd || marker == kEnd)
            m_rest = {};
        else if (marker == kTurn)
            readTurn();
        else if (marker == kChannel)
            readThought();
        else if (marker == kToolCall)
            readCall();
        else if (marker == kToolResponse) // results are for us to write
            skipBehind(kToolResponseEnd);
        else if (marker == kTool)
            skipBehind(kToolEnd);
    }

    /// A turn may only begin where the reply does; any other is the model talking to itself.
    void readTurn()
    {
        constexpr std::string_view kModelLine = "model\n";
        const bool atBeginning = m_reply.text.empty() && m_reply.thoughts.empty() && m_reply.toolCalls.empty();
        if (atBeginning && m_rest.starts_with(kModelLine))
            m_rest.remove_prefix(kModelLine.size());
        else
            m_rest = {};
    }

    void readThought()
    {
        const std::size_t turnEnd = std::min(m_rest.find(kTurnEnd), m_rest.find(kEnd));
        std::size_t end = std::min(m_rest.find(kChannelEnd), turnEnd);
        const bool closed = m_rest.substr(std::min(end, m_rest.size())).starts_with(kChannelEnd);
        bool unfinished = false;
        if (!closed) { // a call ends a thought that nothing else ends
            const std::size_t call = m_rest.find(kToolCall);
            unfinished = call >= end;
            end = std::min(call, end);
        }
        addThought(m_rest.substr(0, end), unfinished);
        m_reply.thoughtUnfinished = unfinished;
        m_rest.remove_prefix(std::min(end, m_rest.size()));
        if (closed)
            m_rest.remove_prefix(kChannelEnd.size());
    }

    void addThought(std::string_view thought, bool unfinished)
    {
        if (thought.starts_with(kThoughtLine))
            thought.remove_prefix(kThoughtLine.size());
        else if (kThoughtLine.starts_with(thought) && (unfinished || thought.size() + 1 == kThoughtLine.size()))
            thought = {}; // cut off within its first line, or nothing but it
        const std::string text = withoutMarkers(thought);
        const std::string_view trimmed = trimWhiteSpace(text);
        if (trimmed.empty())
            return;
        if (!m_reply.thoughts.empty())
            m_reply.thoughts += '\n';
        m_reply.thoughts += trimmed;
    }

    void readCall()
    {
        constexpr std::string_view kCall = "call:";
        const std::size_t brace = m_rest.find('{');
        const std::string_view head = trimWhiteSpace(m_rest.substr(0, brace));
        if (brace == std::string_view::npos || !head.starts_with(kCall) || !nextMarker(head).marker.empty()) {
            skipBehind(kToolCallEnd);
            return;
        }
        const std::string_view name = trimWhiteSpace(head.substr(kCall.size()));
        const std::optional<ParsedArguments> arguments = parseArguments(m_rest.substr(brace));
        if (!arguments || name.empty()) {
            skipBehind(kToolCallEnd);
            return;
        }
        m_reply.toolCalls.push_back({.name = std::string(name), .argumentsJson = arguments->json});
        m_rest.remove_prefix(brace + arguments->length);
        if (m_rest.starts_with(kToolCallEnd))
            m_rest.remove_prefix(kToolCallEnd.size());
    }

    /// Leaves out everything up to and including `end`; all of the rest if it does not come.
    void skipBehind(std::string_view end)
    {
        const std::size_t place = m_rest.find(end);
        m_rest = place == std::string_view::npos ? std::string_view() : m_rest.substr(place + end.size());
    }

    std::string_view m_rest;
    ParsedReply m_reply;
};

} // namespace

ParsedReply ChatFormat::parseReply(std::string_view reply, ReplyStart start) const
{
    return ReplyParser(reply).parse(start);
}

} // namespace palimpsest
