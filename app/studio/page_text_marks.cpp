// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What PageText draws attention to.

#include "app/studio/page_text.h"
#include "app/studio/theme.h"

#include <algorithm>

namespace palimpsest::studio {

namespace {

/// A token's span without the white space that it begins with; all of it where there is nothing else.
TextSpan wordWithin(TextSpan span, QStringView text)
{
    const auto letter = std::find_if(text.begin(), text.end(), [](QChar c) { return !c.isSpace(); });
    return letter == text.end() ? span : TextSpan{span.start + (letter - text.begin()), span.end};
}

} // namespace

void PageText::collectMarks()
{
    m_marks.clear();
    if (m_session) {
        for (const TextSpan lock : m_session->draft().locks()) {
            const TextSpan shown = m_shown.toShown(lock);
            if (!shown.empty())
                m_marks.push_back({.kind = PageMark::Kind::Locked, .shown = shown, .level = 0});
        }
        for (const ShownPiece &piece : m_shown.pieces()) {
            if (piece.source < 0)
                continue;
            const Source &source = m_sources[static_cast<std::size_t>(piece.source)];
            if (source.run.isEmpty())
                addChangeMarks(piece, source);
            else
                addLiveMarks(piece, source);
        }
        if (!m_originalShown)
            addSpanMarks();
    }
    for (const TextSpan match : m_matches)
        m_marks.push_back({.kind = PageMark::Kind::Found, .shown = match, .level = 0});
    Q_EMIT marksChanged();
}

void PageText::addChangeMarks(const ShownPiece &piece, const Source &source)
{
    const bool removed = piece.kind == ShownPiece::Kind::Removed;
    m_marks.push_back(
        {.kind = removed ? PageMark::Kind::Removed : PageMark::Kind::Inserted, .shown = piece.shown, .level = 0});
    if (m_current == source.change)
        m_marks.push_back({.kind = PageMark::Kind::Current, .shown = piece.shown, .level = 0});
}

/// The bars beside what runs, and beside what is to be decided.
void PageText::addSpanMarks()
{
    for (const editing::RunInfo &run : m_session->runs()) {
        if (!editing::hasEnded(run.state))
            m_marks.push_back({.kind = PageMark::Kind::Running, .shown = m_shown.toShown(run.span), .level = 0});
    }
    for (const editing::Proposal &proposal : m_session->draft().proposals()) {
        if (!proposal.isOpen() || proposal.action == editing::RunAction::Proofread)
            continue;
        const TextSpan shown = m_shown.toShown(proposal.span);
        m_marks.push_back({.kind = PageMark::Kind::Running, .shown = shown, .level = 0});
        if (proposal.alternatives.size() > 1 && !m_preview)
            m_marks.push_back({.kind = PageMark::Kind::Inserted, .shown = shown, .level = 0});
    }
}

void PageText::addLiveMarks(const ShownPiece &piece, const Source &source)
{
    if (!source.frame)
        return;
    const editing::Frame &frame = *source.frame;
    qsizetype at = piece.shown.start + source.settledLength;
    for (int i = frame.showBegin; i < frame.showEnd; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const qsizetype length = frame.text[index].size();
        const TextSpan span{at, at + length};
        at += length;
        if (length == 0)
            continue;
        const char mark = frame.marks[i];
        if (mark == '#')
            m_marks.push_back({.kind = PageMark::Kind::Locked, .shown = span, .level = 0});
        else if (mark == '+')
            m_marks.push_back({.kind = PageMark::Kind::Accepted,
                               .shown = wordWithin(span, frame.text[index]), // below the space it would seem crooked
                               .level = 0});
        const int level = Theme::entropyLevel(frame.entropy[index] / 100.0);
        if ((m_entropyShown || m_entropyHeld) && mark != '#' && level > 0)
            m_marks.push_back({.kind = PageMark::Kind::Entropy, .shown = span, .level = level});
    }
}

int PageText::alternativesEnd() const
{
    const editing::Proposal *proposal =
        m_session && m_current ? m_session->draft().proposal(m_current->proposal) : nullptr;
    if (proposal == nullptr || !proposal->isOpen() || proposal->alternatives.size() < 2)
        return -1;
    const qsizetype lineEnd = m_shown.text().indexOf(u'\n', m_shown.toShown(proposal->span).end);
    return static_cast<int>(lineEnd < 0 ? m_shown.text().size() : lineEnd);
}

std::optional<PageText::CanvasPlace> PageText::canvasPlaceAt(qsizetype shown) const
{
    for (const ShownPiece &piece : m_shown.pieces()) {
        if (piece.source < 0 || shown < piece.shown.start || shown >= piece.shown.end)
            continue;
        const Source &source = m_sources[static_cast<std::size_t>(piece.source)];
        if (source.run.isEmpty() || !source.frame)
            return std::nullopt;
        qsizetype at = piece.shown.start + source.settledLength;
        for (int i = source.frame->showBegin; i < source.frame->showEnd; ++i) {
            const qsizetype length = source.frame->text[static_cast<std::size_t>(i)].size();
            if (shown >= at && shown < at + length)
                return CanvasPlace{
                    .run = source.run, .lane = source.lane, .canvas = source.frame->canvas, .position = i};
            at += length;
        }
    }
    return std::nullopt;
}

std::optional<TextSpan> PageText::shownOf(const CanvasPlace &place) const
{
    for (const ShownPiece &piece : m_shown.pieces()) {
        if (piece.source < 0)
            continue;
        const Source &source = m_sources[static_cast<std::size_t>(piece.source)];
        if (source.run != place.run || source.lane != place.lane || !source.frame ||
            source.frame->canvas != place.canvas || place.position < source.frame->showBegin ||
            place.position >= source.frame->showEnd)
            continue;
        qsizetype at = piece.shown.start + source.settledLength;
        for (int i = source.frame->showBegin; i < place.position; ++i)
            at += source.frame->text[static_cast<std::size_t>(i)].size();
        return TextSpan{at, at + source.frame->text[static_cast<std::size_t>(place.position)].size()};
    }
    return std::nullopt;
}

std::optional<PageText::ChangePlace> PageText::changeAt(qsizetype shown) const
{
    for (const ShownPiece &piece : m_shown.pieces()) {
        if (piece.source < 0 || shown < piece.shown.start || shown > piece.shown.end)
            continue;
        const Source &source = m_sources[static_cast<std::size_t>(piece.source)];
        if (source.run.isEmpty())
            return source.change;
    }
    return std::nullopt;
}

void PageText::setCurrentChange(std::optional<ChangePlace> change)
{
    m_current = std::move(change);
    openGap();
    collectMarks();
}

std::optional<TextSpan> PageText::shownOf(const ChangePlace &place) const
{
    std::optional<TextSpan> found;
    for (const ShownPiece &piece : m_shown.pieces()) {
        if (piece.source < 0)
            continue;
        const Source &source = m_sources[static_cast<std::size_t>(piece.source)];
        if (source.change != place)
            continue;
        if (!found)
            found = piece.shown;
        found->end = piece.shown.end;
    }
    return found;
}

} // namespace palimpsest::studio
