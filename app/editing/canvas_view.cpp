// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/canvas_view.h"

#include "app/editing/utf8_text.h"
#include "engine/events.h"
#include "engine/line_ends.h"
#include "engine/text_boundaries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace palimpsest::editing {

namespace {

std::uint16_t hundredths(float nats)
{
    constexpr float kMost = std::numeric_limits<std::uint16_t>::max();
    return static_cast<std::uint16_t>(std::lround(std::clamp(nats * 100.0F, 0.0F, kMost)));
}

std::size_t characterBytes(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xE0)
        return 2;
    return lead < 0xF0 ? 3 : 4;
}

/// Shares the text of a run of byte tokens out: each character to its first byte's position. The decoder judges a run
/// as a whole: either all of it is text, one byte a token, or each byte is one U+FFFD.
void shareOut(const std::string &text, std::span<const std::size_t> positions, std::vector<std::string> &texts)
{
    constexpr std::size_t kReplacementBytes = 3;
    if (text.size() == kReplacementBytes * positions.size() && text.size() != positions.size()) {
        for (std::size_t i = 0; i < positions.size(); ++i)
            texts[positions[i]] = text.substr(i * kReplacementBytes, kReplacementBytes);
        return;
    }
    for (std::size_t byte = 0; byte < text.size() && byte < positions.size();) {
        const std::size_t count = characterBytes(static_cast<unsigned char>(text[byte]));
        texts[positions[byte]] = text.substr(byte, count);
        byte += count;
    }
}

std::vector<std::string> tokenTexts(const Tokenizer &tokenizer, std::span<const TokenId> ids)
{
    std::vector<std::string> texts(ids.size());
    std::vector<std::size_t> run; // positions of byte tokens side by side
    std::vector<TokenId> runIds;
    const auto endRun = [&] {
        if (!run.empty())
            shareOut(tokenizer.decode(runIds, DecodeSpecial::Skip), run, texts);
        run.clear();
        runIds.clear();
    };
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (tokenizer.isByteToken(ids[i])) {
            run.push_back(i);
            runIds.push_back(ids[i]);
        } else if (!tokenizer.isSpecial(ids[i])) { // a special token does not end a run: decoding skips it
            endRun();
            texts[i] = tokenizer.decode(ids.subspan(i, 1), DecodeSpecial::Skip);
        }
    }
    endRun();
    return texts;
}

/// Lays the draft's own letters over positions whose tokens spell them otherwise.
void layOver(std::vector<std::string> &texts, const HeldLetters &held)
{
    const auto begin = static_cast<std::size_t>(held.begin);
    const std::size_t end = std::min(static_cast<std::size_t>(held.end), texts.size());
    std::string spelt;
    for (std::size_t i = begin; i < end; ++i)
        spelt += texts[i];
    if (spelt == held.text || begin >= end)
        return;
    std::fill(texts.begin() + held.begin, texts.begin() + static_cast<std::ptrdiff_t>(end), std::string());
    texts[begin] = held.text;
}

} // namespace

RecordedStep recorded(const StepEvent &event)
{
    RecordedStep step{.step = event.step,
                      .maxSteps = event.maxSteps,
                      .argmax = event.argmax,
                      .next = event.next,
                      .entropy = {},
                      .accepted = event.accepted,
                      .frozen = event.frozen,
                      .meanEntropy = event.meanEntropyNats,
                      .stepMs = static_cast<float>(event.stepMs),
                      .elapsedMs = event.elapsedMs,
                      .last = event.last};
    step.entropy.reserve(event.positions.size());
    for (const PositionResult &position : event.positions)
        step.entropy.push_back(hundredths(position.entropyNats));
    step.frozen.resize(event.argmax.size(), 0);
    return step;
}

QString Frame::shownText() const
{
    QString result;
    for (int i = showBegin; i < showEnd; ++i)
        result += text[static_cast<std::size_t>(i)];
    return result;
}

CanvasView::CanvasView(std::shared_ptr<const Tokenizer> tokenizer, CanvasLayout layout)
    : m_tokenizer(std::move(tokenizer)), m_layout(std::move(layout))
{
}

bool CanvasView::isEnd(TokenId id) const
{
    return std::find(m_layout.endIds.begin(), m_layout.endIds.end(), id) != m_layout.endIds.end();
}

CanvasView::Shown CanvasView::shownOf(std::int64_t canvas, std::span<const TokenId> ids) const
{
    const auto size = static_cast<std::int64_t>(ids.size());
    Shown shown{.begin = 0, .end = size, .padding = size};
    if (canvas == 0) {
        shown.begin = std::min(m_layout.gapBegin.value_or(0), size);
        shown.end = std::min(m_layout.gapEnd.value_or(size), size);
    }
    const auto end = std::find_if(ids.begin() + shown.begin, ids.end(), [this](TokenId id) { return isEnd(id); });
    shown.padding = end - ids.begin();
    shown.end = std::min(shown.end, shown.padding);
    return shown;
}

std::vector<std::string> CanvasView::texts(std::int64_t canvas, std::span<const TokenId> ids, const Shown &shown) const
{
    std::vector<std::string> texts = tokenTexts(*m_tokenizer, ids.first(static_cast<std::size_t>(shown.padding)));
    texts.resize(ids.size());
    if (canvas == 0) {
        const auto begin = texts.begin() + shown.begin;
        const auto end = texts.begin() + shown.end;
        if (m_layout.dropsLeadingSpace && begin != end && begin->starts_with(' '))
            begin->erase(0, 1);
        for (auto text = begin; m_layout.trimsFront && text != end; ++text) {
            text->erase(0, std::min(text->find_first_not_of(" \n\t"), text->size()));
            if (!text->empty())
                break;
        }
        for (const HeldLetters &held : m_layout.held)
            layOver(texts, held);
    }
    if (m_layout.crLf) {
        for (auto text = texts.begin() + shown.begin; text != texts.begin() + shown.end; ++text)
            *text = withCrLf(*text);
    }
    return texts;
}

Frame CanvasView::frame(std::int64_t canvas, const RecordedStep &step, const RecordedStep *previous) const
{
    const Shown shown = shownOf(canvas, step.argmax);
    Frame frame;
    frame.canvas = canvas;
    frame.step = step.step;
    frame.maxSteps = step.maxSteps;
    frame.showBegin = static_cast<int>(shown.begin);
    frame.showEnd = static_cast<int>(shown.end);
    frame.entropy = step.entropy;
    frame.meanEntropy = static_cast<double>(step.meanEntropy);
    frame.stepMs = static_cast<double>(step.stepMs);
    frame.elapsedMs = step.elapsedMs;
    frame.last = step.last;
    for (const std::string &text : texts(canvas, step.argmax, shown))
        frame.text.push_back(fromUtf8(text));
    frame.marks.fill('-', static_cast<qsizetype>(step.argmax.size()));
    for (std::int64_t position = 0; position < shown.padding; ++position) {
        const auto i = static_cast<std::size_t>(position);
        char mark = '.';
        if (step.frozen[i] != 0)
            mark = '#';
        else if (step.accepted[i] != 0)
            mark =
                previous != nullptr && previous->accepted[i] != 0 && previous->argmax[i] == step.argmax[i] ? '=' : '+';
        frame.marks[static_cast<qsizetype>(position)] = mark;
    }
    frame.settled = static_cast<int>(frame.marks.count('='));
    frame.accepted = static_cast<int>(frame.marks.count('+')) + frame.settled;
    frame.held = static_cast<int>(frame.marks.count('#'));
    return frame;
}

QString CanvasView::textOf(std::int64_t canvas, std::span<const TokenId> ids) const
{
    const Shown shown = shownOf(canvas, ids);
    const std::vector<std::string> all = texts(canvas, ids, shown);
    std::string text;
    for (std::int64_t i = shown.begin; i < shown.end; ++i)
        text += all[static_cast<std::size_t>(i)];
    return fromUtf8(text);
}

QString CanvasView::tokenText(TokenId id) const
{
    if (m_tokenizer->isByteToken(id)) // a part of a character: its number says more than a sign for "broken"
        return QStringLiteral("<0x%1>").arg(static_cast<unsigned char>(m_tokenizer->tokenBytes(id).front()), 2, 16,
                                            QLatin1Char('0'));
    return fromUtf8(m_tokenizer->decode(std::span(&id, 1), DecodeSpecial::Keep));
}

std::vector<std::int64_t> CanvasView::wordAround(std::int64_t canvas, std::span<const TokenId> ids,
                                                 std::int64_t position) const
{
    const std::vector<std::string> all = texts(canvas, ids, shownOf(canvas, ids));
    std::string text;
    std::vector<std::int64_t> begins; // byte at which each position's text begins
    for (const std::string &piece : all) {
        begins.push_back(static_cast<std::int64_t>(text.size()));
        text += piece;
    }
    begins.push_back(static_cast<std::int64_t>(text.size()));
    const auto at = static_cast<std::size_t>(position);
    const ByteRange own = trimWhiteSpace(text, {begins[at], begins[at + 1]});
    if (own.empty()) { // a later token of a character, or white space: of a character, its first token says more
        const bool isInside = m_tokenizer->isByteToken(ids[at]) && all[at].empty();
        for (std::size_t before = at; isInside && before > 0 && begins[before] == begins[at + 1]; --before) {
            if (begins[before - 1] < begins[before])
                return wordAround(canvas, ids, static_cast<std::int64_t>(before) - 1);
        }
        return {position};
    }
    ByteRange word = own;
    for (const WordPiece &piece : splitIntoWords(text)) {
        if (piece.range.begin < own.end && own.begin < piece.range.end && !piece.isWhiteSpace)
            word = {std::min(word.begin, piece.range.begin), std::max(word.end, piece.range.end)};
    }
    std::vector<std::int64_t> positions;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const bool isLaterToken = !positions.empty() && all[i].empty() && begins[i] <= word.end &&
                                  positions.back() == static_cast<std::int64_t>(i) - 1 &&
                                  m_tokenizer->isByteToken(ids[i]);
        if ((begins[i] < word.end && word.begin < begins[i + 1]) || isLaterToken)
            positions.push_back(static_cast<std::int64_t>(i));
    }
    return positions;
}

} // namespace palimpsest::editing
