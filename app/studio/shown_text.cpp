// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/shown_text.h"

#include <algorithm>

namespace palimpsest::studio {

ShownText::ShownText(QStringView draft, std::vector<Overlay> overlays) : m_draftLength(draft.size())
{
    std::stable_sort(overlays.begin(), overlays.end(), [](const Overlay &a, const Overlay &b) {
        return a.span.start < b.span.start || (a.span.start == b.span.start && a.span.end < b.span.end);
    });
    qsizetype done = 0;
    for (const Overlay &overlay : overlays) {
        const TextSpan span = overlay.span;
        if (span.start < done || span.end < span.start || span.end > draft.size())
            continue;
        // Two empty spans at one place would leave the order of their texts to chance.
        if (!m_pieces.empty() && m_pieces.back().kind == ShownPiece::Kind::Foreign &&
            m_pieces.back().draft.end == span.start && span.empty())
            continue;
        addOwn(ShownPiece::Kind::Draft, {done, span.start}, draft, -1);
        if (overlay.kind == Overlay::Kind::Change) {
            addOwn(ShownPiece::Kind::Removed, span, draft, overlay.source);
            add(ShownPiece::Kind::Foreign, {span.end, span.end}, overlay.text, overlay.source);
        } else {
            add(ShownPiece::Kind::Foreign, span, overlay.text, overlay.source);
        }
        done = span.end;
    }
    addOwn(ShownPiece::Kind::Draft, {done, draft.size()}, draft, -1);
}

void ShownText::addOwn(ShownPiece::Kind kind, TextSpan span, QStringView draft, int source)
{
    for (qsizetype begin = span.start; begin < span.end;) {
        const qsizetype found = draft.indexOf(u"\r\n", begin);
        const qsizetype end = found < 0 || found >= span.end ? span.end : found;
        add(kind, {begin, end}, draft.mid(begin, end - begin), source);
        if (end < span.end)
            add(ShownPiece::Kind::Hidden, {end, end + 1}, {}, source);
        begin = end < span.end ? end + 1 : span.end;
    }
}

void ShownText::add(ShownPiece::Kind kind, TextSpan draft, QStringView text, int source)
{
    // Foreign text of no length is kept: it still stands for the words that it hides.
    if (text.isEmpty() && draft.empty())
        return;
    const qsizetype start = m_text.size();
    m_text.append(text);
    m_pieces.push_back({.kind = kind, .draft = draft, .shown = {start, m_text.size()}, .source = source});
}

qsizetype ShownText::toDraft(qsizetype shown) const
{
    for (const ShownPiece &piece : m_pieces) {
        if (shown > piece.shown.end || (shown == piece.shown.end && piece.shown.empty()))
            continue;
        if (piece.kind != ShownPiece::Kind::Foreign)
            return piece.draft.start + std::max<qsizetype>(0, shown - piece.shown.start);
        return shown <= piece.shown.start ? piece.draft.start : piece.draft.end;
    }
    return m_draftLength;
}

qsizetype ShownText::toShown(qsizetype draft) const
{
    for (const ShownPiece &piece : m_pieces) {
        if (draft > piece.draft.end)
            continue;
        if (piece.kind != ShownPiece::Kind::Foreign)
            return piece.shown.start + std::max<qsizetype>(0, draft - piece.draft.start);
        if (draft < piece.draft.end || piece.draft.empty())
            return piece.shown.start;
    }
    return m_text.size();
}

TextSpan ShownText::toShown(TextSpan draft) const
{
    TextSpan shown{toShown(draft.start), toShown(draft.end)};
    for (const ShownPiece &piece : m_pieces) {
        if (piece.kind == ShownPiece::Kind::Foreign && piece.draft.start >= draft.start &&
            piece.draft.end <= draft.end) {
            shown.start = std::min(shown.start, piece.shown.start);
            shown.end = std::max(shown.end, piece.shown.end);
        }
    }
    return shown;
}

std::optional<TextSpan> ShownText::shownOf(int source) const
{
    for (const ShownPiece &piece : m_pieces) {
        if (piece.source == source && piece.kind == ShownPiece::Kind::Foreign)
            return piece.shown;
    }
    return std::nullopt;
}

std::optional<TextEdit> ShownText::draftEdit(const TextEdit &shown) const
{
    if (shown.span.empty()) {
        const qsizetype at = insertionPoint(shown.span.start);
        return TextEdit{{at, at}, shown.text};
    }
    std::optional<TextSpan> span;
    std::optional<TextSpan> hidden; // in front of what comes next
    for (const ShownPiece &piece : m_pieces) {
        if (piece.kind == ShownPiece::Kind::Hidden)
            hidden = piece.shown.start == shown.span.start ? std::optional(piece.draft) : std::nullopt;
        const qsizetype start = std::max(shown.span.start, piece.shown.start);
        const qsizetype end = std::min(shown.span.end, piece.shown.end);
        if (start >= end)
            continue;
        if (piece.kind == ShownPiece::Kind::Foreign)
            return std::nullopt;
        const qsizetype offset = piece.draft.start - piece.shown.start;
        if (!span)
            span = TextSpan{hidden ? hidden->start : start + offset, end + offset};
        span->end = end + offset;
    }
    if (!span)
        return std::nullopt;
    return TextEdit{*span, shown.text};
}

qsizetype ShownText::insertionPoint(qsizetype shown) const
{
    // At a border the draft's words win, those in front first: that is where the caret's letters belong.
    for (const ShownPiece &piece : m_pieces) {
        if (piece.kind == ShownPiece::Kind::Hidden && piece.shown.start == shown)
            return piece.draft.start;
        if (piece.kind != ShownPiece::Kind::Foreign && piece.shown.start <= shown && shown <= piece.shown.end)
            return piece.draft.start + (shown - piece.shown.start);
    }
    return toDraft(shown);
}

} // namespace palimpsest::studio
