// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: Apache-2.0

#include "engine/answer_text.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

namespace palimpsest {

namespace {

/// Bytes of a UTF-8 character by its first byte; 0 for a continuation byte or one that begins no character.
std::size_t characterBytes(unsigned char lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 3;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

/// How many bytes at the end begin a character that is not finished.
std::size_t unfinishedBytes(std::string_view bytes)
{
    constexpr std::size_t kLongestBeginning = 3;
    for (std::size_t count = 1; count <= std::min(bytes.size(), kLongestBeginning); ++count) {
        const auto byte = static_cast<unsigned char>(bytes[bytes.size() - count]);
        if ((byte & 0xC0U) != 0x80) { // not a continuation: the character begins here
            return characterBytes(byte) > count ? count : 0;
        }
    }
    return 0;
}

} // namespace

AlignedText::AlignedText(std::shared_ptr<const Tokenizer> tokenizer, DecodeSpecial special)
    : m_tokenizer(std::move(tokenizer)), m_special(special)
{
}

void AlignedText::push(TokenId id)
{
    if (m_tokenizer == nullptr) {
        m_tokens.push_back(id);
        return;
    }
    const bool skipped = m_special == DecodeSpecial::Skip && m_tokenizer->isSpecial(id);
    const bool waits = m_ends.size() < m_tokens.size();
    if (m_tokenizer->isByteToken(id) || (skipped && waits)) { // a skipped token does not end a run of bytes
        m_tokens.push_back(id);
        return;
    }
    resolveWaiting();
    m_tokens.push_back(id);
    m_text += m_tokenizer->decode(std::span(&id, 1), m_special);
    m_ends.push_back(m_text.size());
}

void AlignedText::resolveWaiting()
{
    const std::span<const TokenId> waiting = std::span(m_tokens).subspan(m_ends.size());
    if (m_tokenizer == nullptr || waiting.empty()) {
        return;
    }
    const auto isByte = [this](TokenId id) {
        return m_tokenizer->isByteToken(id);
    };
    const auto byteCount = static_cast<std::size_t>(std::count_if(waiting.begin(), waiting.end(), isByte));
    const std::string runText = m_tokenizer->decode(waiting, m_special);
    // A valid run gives one byte a token, an invalid one U+FFFD (three bytes) for each.
    const std::size_t bytesEach = runText.size() / byteCount;
    assert(runText.size() == bytesEach * byteCount);
    std::size_t end = m_text.size();
    for (const TokenId id : waiting) {
        end += isByte(id) ? bytesEach : 0;
        m_ends.push_back(end);
    }
    m_text += runText;
}

void AlignedText::dropUnfinishedCharacter()
{
    if (m_tokenizer == nullptr) {
        return;
    }
    std::string bytes;
    for (const TokenId id : std::span(m_tokens).subspan(m_ends.size())) {
        if (m_tokenizer->isByteToken(id)) {
            bytes += m_tokenizer->tokenBytes(id);
        }
    }
    for (std::size_t left = unfinishedBytes(bytes); left > 0;) {
        left -= m_tokenizer->isByteToken(m_tokens.back()) ? 1 : 0;
        m_tokens.pop_back();
    }
}

std::size_t AlignedText::tokensWithin(std::size_t bytes) const
{
    return static_cast<std::size_t>(std::upper_bound(m_ends.begin(), m_ends.end(), bytes) - m_ends.begin());
}

std::size_t AlignedText::tokensCovering(std::size_t bytes) const
{
    const std::size_t within = tokensWithin(bytes);
    const std::size_t covered = within == 0 ? 0 : m_ends[within - 1];
    assert(covered == bytes || within < m_ends.size());
    return covered < bytes ? within + 1 : within;
}

AnswerText::AnswerText(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stopStrings)
    : m_tokenizer(std::move(tokenizer)),
      m_stopStrings(std::move(stopStrings)),
      m_visible(m_tokenizer, DecodeSpecial::Skip),
      m_raw(m_tokenizer, DecodeSpecial::Keep)
{
    assert(m_tokenizer != nullptr || m_stopStrings.empty());
}

std::string AnswerText::append(std::span<const TokenId> ids)
{
    if (m_stopped) {
        return {};
    }
    for (const TokenId id : ids) {
        m_visible.push(id);
        m_raw.push(id);
    }
    searchStopStrings();
    return settle(possibleStopBytes());
}

std::string AnswerText::finish(End end)
{
    m_finished = true;
    if (m_stopped) {
        return {};
    }
    if (end == End::Cut) {
        m_visible.dropUnfinishedCharacter();
    }
    m_visible.resolveWaiting();
    searchStopStrings();
    return settle(0);
}

std::string AnswerText::settle(std::size_t heldBytes)
{
    const std::size_t end = m_stopped ? m_textEnd : m_visible.text().size() - heldBytes;
    std::string piece = m_visible.text().substr(m_settledBytes, end - m_settledBytes);
    m_settledBytes = end;
    return piece;
}

void AnswerText::searchStopStrings()
{
    // The first one to be complete counts: then the result does not depend on where canvases end. Nothing that has
    // settled can be part of one, because beginnings are held back.
    const std::string &text = m_visible.text();
    std::size_t firstEnd = std::string::npos;
    for (const std::string &stop : m_stopStrings) {
        const std::size_t begin = text.find(stop, m_settledBytes);
        if (begin == std::string::npos) {
            continue;
        }
        const std::size_t end = begin + stop.size();
        if (!m_stopped || end < firstEnd || (end == firstEnd && begin < m_textEnd)) {
            m_stopped = true;
            m_textEnd = begin;
            firstEnd = end;
        }
    }
}

std::size_t AnswerText::possibleStopBytes() const
{
    if (m_stopped) {
        return 0;
    }
    const std::string_view unsettled = std::string_view(m_visible.text()).substr(m_settledBytes);
    std::size_t longest = 0;
    for (const std::string_view stop : m_stopStrings) {
        for (std::size_t count = std::min(stop.size() - 1, unsettled.size()); count > longest; --count) {
            if (unsettled.ends_with(stop.substr(0, count))) {
                longest = count;
            }
        }
    }
    return longest;
}

std::string AnswerText::takeRawText()
{
    if (m_tokenizer == nullptr) {
        return {};
    }
    std::string piece;
    if (m_stopped || m_finished) {
        piece = rawText().substr(m_takenRawBytes);
    } else if (const std::size_t count = settledTokens(); count > 0) {
        const std::size_t end = m_raw.textEnd(count - 1); // a run that has ended for m_visible has for m_raw, too
        piece = m_raw.text().substr(m_takenRawBytes, end - m_takenRawBytes);
    }
    m_takenRawBytes += piece.size();
    return piece;
}

std::size_t AnswerText::settledTokens() const
{
    if (m_stopped) {
        return m_visible.tokensCovering(m_textEnd);
    }
    return m_finished || m_tokenizer == nullptr ? m_visible.tokens().size() : m_visible.tokensWithin(m_settledBytes);
}

std::vector<TokenId> AnswerText::tokens() const
{
    std::vector<TokenId> ids = m_visible.tokens();
    if (m_stopped) {
        ids.resize(m_visible.tokensCovering(m_textEnd));
    }
    return ids;
}

std::string AnswerText::text() const
{
    return m_visible.text().substr(0, m_settledBytes);
}

std::string AnswerText::rawText() const
{
    if (m_tokenizer == nullptr) {
        return {};
    }
    AlignedText raw(m_tokenizer, DecodeSpecial::Keep);
    for (const TokenId id : m_visible.tokens()) {
        raw.push(id);
    }
    raw.resolveWaiting();
    if (!m_stopped) {
        return raw.text();
    }
    const std::size_t count = m_visible.tokensCovering(m_textEnd);
    if (count == 0) {
        return {};
    }
    // What the stop string takes of the last token is not special, so it has the same bytes in both spellings.
    const std::size_t excess = m_visible.textEnd(count - 1) - m_textEnd;
    return raw.text().substr(0, raw.textEnd(count - 1) - excess);
}

} // namespace palimpsest
