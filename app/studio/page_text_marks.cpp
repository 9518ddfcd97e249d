// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What PageText draws attention to: marks, and the search.

#include "app/studio/page_text.h"
#include "app/studio/theme.h"

#include <QQuickItem>
#include <QScopeGuard>

#include <algorithm>

namespace palimpsest::studio {

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
            if (!source.run.isEmpty()) {
                addLiveMarks(piece, source);
                continue;
            }
            const bool removed = piece.kind == ShownPiece::Kind::Removed;
            m_marks.push_back({.kind = removed ? PageMark::Kind::Removed : PageMark::Kind::Inserted,
                               .shown = piece.shown,
                               .level = 0});
            if (m_current && m_current->proposal == source.proposal && m_current->change == source.change)
                m_marks.push_back({.kind = PageMark::Kind::Current, .shown = piece.shown, .level = 0});
        }
        if (!m_originalShown) {
            for (const editing::RunInfo &run : m_session->runs()) {
                if (!editing::hasEnded(run.state))
                    m_marks.push_back(
                        {.kind = PageMark::Kind::Running, .shown = m_shown.toShown(run.span), .level = 0});
            }
            for (const editing::Proposal &proposal : m_session->draft().proposals()) {
                if (proposal.isOpen() && proposal.action != editing::RunAction::Proofread)
                    m_marks.push_back(
                        {.kind = PageMark::Kind::Running, .shown = m_shown.toShown(proposal.span), .level = 0});
            }
        }
    }
    for (const TextSpan match : m_matches)
        m_marks.push_back({.kind = PageMark::Kind::Found, .shown = match, .level = 0});
    Q_EMIT marksChanged();
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
            m_marks.push_back({.kind = PageMark::Kind::Accepted, .shown = span, .level = 0});
        const int level = Theme::entropyLevel(frame.entropy[index] / 100.0);
        if (m_entropyShown && mark != '#' && level > 0)
            m_marks.push_back({.kind = PageMark::Kind::Entropy, .shown = span, .level = level});
    }
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
        if (!source.proposal.isEmpty())
            return ChangePlace{.proposal = source.proposal, .change = source.change};
    }
    return std::nullopt;
}

void PageText::setCurrentChange(std::optional<ChangePlace> change)
{
    m_current = std::move(change);
    collectMarks();
}

std::optional<TextSpan> PageText::shownOf(const ChangePlace &place) const
{
    std::optional<TextSpan> found;
    for (const ShownPiece &piece : m_shown.pieces()) {
        if (piece.source < 0)
            continue;
        const Source &source = m_sources[static_cast<std::size_t>(piece.source)];
        if (source.proposal != place.proposal || source.change != place.change)
            continue;
        if (!found)
            found = piece.shown;
        found->end = piece.shown.end;
    }
    return found;
}

void PageText::setSearchPattern(const QString &pattern)
{
    if (m_searchPattern == pattern)
        return;
    m_searchPattern = pattern;
    findMatches();
    collectMarks();
    Q_EMIT searchChanged();
}

void PageText::findMatches()
{
    const auto before = m_matches.size();
    m_matches.clear();
    if (!m_searchPattern.isEmpty()) {
        const bool hasCapital =
            std::any_of(m_searchPattern.cbegin(), m_searchPattern.cend(), [](QChar c) { return c.isUpper(); });
        const auto sensitivity = hasCapital ? Qt::CaseSensitive : Qt::CaseInsensitive;
        const qsizetype length = m_searchPattern.size();
        for (qsizetype at = m_shown.text().indexOf(m_searchPattern, 0, sensitivity); at >= 0;
             at = m_shown.text().indexOf(m_searchPattern, at + length, sensitivity))
            m_matches.push_back({at, at + length});
    }
    if (m_matches.size() != before)
        Q_EMIT searchChanged();
}

bool PageText::findNext(int direction)
{
    if (m_matches.empty() || !m_textEdit)
        return false;
    const qsizetype from = m_textEdit->property(direction < 0 ? "selectionStart" : "selectionEnd").toInt();
    auto match = m_matches.begin();
    if (direction < 0) {
        match = std::find_if(m_matches.rbegin(), m_matches.rend(), [from](TextSpan m) { return m.end <= from; }).base();
        match = match == m_matches.begin() ? std::prev(m_matches.end()) : std::prev(match);
    } else {
        match = std::find_if(m_matches.begin(), m_matches.end(), [from](TextSpan m) { return m.start >= from; });
        if (match == m_matches.end())
            match = m_matches.begin();
    }
    QMetaObject::invokeMethod(m_textEdit, "select", Q_ARG(int, static_cast<int>(match->start)),
                              Q_ARG(int, static_cast<int>(match->end)));
    return true;
}

void PageText::replaceMatch(const QString &text)
{
    if (!m_textEdit)
        return;
    const TextSpan selected{m_textEdit->property("selectionStart").toInt(),
                            m_textEdit->property("selectionEnd").toInt()};
    if (std::find(m_matches.begin(), m_matches.end(), selected) != m_matches.end())
        insertPlain(text);
    findNext(1);
}

int PageText::replaceAll(const QString &text)
{
    if (!m_session)
        return 0;
    std::vector<TextEdit> edits;
    for (std::size_t i = m_matches.size(); i-- > 0;) { // from behind: each in the positions the one before left
        if (const std::optional<TextEdit> edit = m_shown.draftEdit({m_matches[i], text}))
            edits.push_back(*edit);
    }
    if (!edits.empty())
        m_session->editAll(m_window, edits, tr("Replace all"));
    return static_cast<int>(edits.size());
}

} // namespace palimpsest::studio
