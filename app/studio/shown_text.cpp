// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/shown_text.h"

#include <algorithm>

namespace palimpsest::studio {

namespace {

/// Shows letters of the draft.
bool isOwn(const ShownPiece &piece)
{
    return piece.kind == ShownPiece::Kind::Draft || piece.kind == ShownPiece::Kind::Removed;
}

bool isInside(const ShownPiece &piece, qsizetype shown)
{
    return piece.shown.start < shown && shown < piece.shown.end;
}

} // namespace

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

void ShownText::addOwn(ShownPiece::Kind kind, TextSpan span, QStringView draft, int source, qsizetype shift)
{
    const bool hasCr = draft.contains(u'\r'); // a search for two letters takes ten times as long
    for (qsizetype begin = span.start; begin < span.end;) {
        const qsizetype found = hasCr ? draft.indexOf(u"\r\n", begin) : -1;
        const qsizetype end = found < 0 || found >= span.end ? span.end : found;
        add(kind, {begin + shift, end + shift}, draft.mid(begin, end - begin), source);
        if (end < span.end)
            add(ShownPiece::Kind::Hidden, {end + shift, end + 1 + shift}, {}, source);
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
    append({.kind = kind, .draft = draft, .shown = {start, m_text.size()}, .source = source});
}

/// Neighbours of one kind become one piece, so that a page that was typed into is made of what one made anew is.
void ShownText::append(const ShownPiece &piece)
{
    if (!m_pieces.empty() && isOwn(piece) && m_pieces.back().kind == piece.kind &&
        m_pieces.back().source == piece.source && m_pieces.back().draft.end == piece.draft.start) {
        m_pieces.back().draft.end = piece.draft.end;
        m_pieces.back().shown.end = piece.shown.end;
        return;
    }
    m_pieces.push_back(piece);
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

ShownPlace ShownText::placeOf(qsizetype shown, ShownPlace::Lean preferred) const
{
    using Lean = ShownPlace::Lean;
    const ShownPiece *before = nullptr; // what the letter in front belongs to
    const ShownPiece *after = nullptr;
    for (const ShownPiece &piece : m_pieces) {
        if (piece.shown.start < shown && shown <= piece.shown.end)
            before = &piece;
        if (piece.shown.start <= shown && shown < piece.shown.end)
            after = &piece;
    }
    const auto leaning = [shown](const ShownPiece *piece, Lean lean) {
        return ShownPlace{.draft = piece->draft.start + (shown - piece->shown.start), .lean = lean};
    };
    const bool canBefore = before != nullptr && isOwn(*before);
    const bool canAfter = after != nullptr && isOwn(*after);
    if (canBefore && (preferred == Lean::Before || !canAfter))
        return leaning(before, Lean::Before);
    if (canAfter)
        return leaning(after, Lean::After);
    const ShownPiece *foreign = before != nullptr ? before : after;
    if (foreign == nullptr)
        return {.draft = m_draftLength};
    return {.draft = toDraft(shown), .source = foreign->source, .offset = shown - foreign->shown.start};
}

qsizetype ShownText::toShown(qsizetype draft, ShownPlace::Lean lean) const
{
    const qsizetype letter = lean == ShownPlace::Lean::Before ? draft - 1 : draft;
    for (const ShownPiece &piece : m_pieces) {
        if (isOwn(piece) && piece.draft.start <= letter && letter < piece.draft.end)
            return piece.shown.start + (draft - piece.draft.start);
    }
    return toShown(draft); // the letter cannot be seen
}

std::optional<TextEdit> ShownText::draftEdit(const TextEdit &shown) const
{
    if (shown.span.empty()) {
        const std::optional<qsizetype> at = insertionPoint(shown.span.start);
        return at ? std::optional(TextEdit{{*at, *at}, shown.text}) : std::nullopt;
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

ShownText ShownText::afterTyping(const TextEdit &shown, const TextEdit &draft) const
{
    const qsizetype draftShift = draft.text.size() - draft.span.length();
    ShownText result;
    std::vector<ShownPiece> tails;
    for (const ShownPiece &piece : m_pieces) {
        const qsizetype offset = piece.draft.start - piece.shown.start;
        if (piece.shown.empty() && piece.shown.start == shown.span.start) { // a CR: goes, or stays on its side
            if (piece.draft.end <= draft.span.start)
                result.append(piece);
            else if (piece.draft.start >= draft.span.end)
                tails.push_back(piece);
            continue;
        }
        if (piece.shown.start < shown.span.start) {
            ShownPiece head = piece;
            head.shown.end = std::min(piece.shown.end, shown.span.start);
            if (isOwn(piece))
                head.draft.end = head.shown.end + offset;
            result.append(head);
        }
        if (piece.shown.end > shown.span.end || (piece.shown.empty() && piece.shown.start >= shown.span.end)) {
            ShownPiece tail = piece;
            tail.shown.start = std::max(piece.shown.start, shown.span.end);
            if (isOwn(piece))
                tail.draft.start = tail.shown.start + offset;
            tails.push_back(tail);
        }
    }
    result.m_text = m_text.left(shown.span.start);
    const QString rest = m_text.mid(shown.span.end);
    result.m_draftLength = m_draftLength + draftShift;
    result.addOwn(ShownPiece::Kind::Draft, {0, draft.text.size()}, draft.text, -1, draft.span.start);
    const qsizetype shownShift = result.m_text.size() - shown.span.end;
    for (ShownPiece &tail : tails) {
        tail.shown = {tail.shown.start + shownShift, tail.shown.end + shownShift};
        tail.draft = {tail.draft.start + draftShift, tail.draft.end + draftShift};
        result.append(tail);
    }
    result.m_text += rest;
    return result;
}

std::optional<qsizetype> ShownText::insertionPoint(qsizetype shown) const
{
    // At a border the draft's words win, those in front first: that is where the caret's letters belong.
    for (const ShownPiece &piece : m_pieces) {
        if (piece.kind == ShownPiece::Kind::Hidden && piece.shown.start == shown)
            return piece.draft.start;
        if (isOwn(piece) && piece.shown.start <= shown && shown <= piece.shown.end)
            return piece.draft.start + (shown - piece.shown.start);
        if (piece.kind == ShownPiece::Kind::Foreign && isInside(piece, shown))
            return std::nullopt;
    }
    return toDraft(shown);
}

} // namespace palimpsest::studio
