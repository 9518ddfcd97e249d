// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// Where PageText's caret and selection stand, and how they stay there while the page changes.

#include "app/studio/page_caret.h"
#include "app/studio/page_text.h"

#include <QQuickItem>

#include <algorithm>

namespace palimpsest::studio {

qsizetype movedCaret(const ShownPlace &caret, const TextEdit &over)
{
    const qsizetype at = caret.draft;
    if (at > over.span.end || (at == over.span.end && !over.span.empty()))
        return at + over.text.size() - over.span.length();
    if (at == over.span.start)
        return over.span.empty() && caret.lean == ShownPlace::Lean::After ? at + over.text.size() : at;
    if (at < over.span.start)
        return at;
    return over.span.start + std::min(at - over.span.start, over.text.size());
}

int wordsBegunIn(QStringView text, TextSpan span)
{
    int words = 0;
    bool isInside = span.start > 0 && !text[span.start - 1].isSpace();
    for (qsizetype i = span.start; i < std::min(span.end + 1, text.size()); ++i) {
        const bool isLetter = !text[i].isSpace();
        words += isLetter && !isInside ? 1 : 0;
        isInside = isLetter;
    }
    return words;
}

QString asRawText(QStringView text)
{
    QString raw = text.toString();
    raw.replace(u'\n', QChar::ParagraphSeparator);
    raw.replace(u'\r', QChar::ParagraphSeparator);
    return raw;
}

PageText::Caret PageText::caretAt(qsizetype shown, ShownPlace::Lean preferred) const
{
    Caret caret{.place = m_shown.placeOf(shown, preferred), .word = {}, .inChange = {}};
    if (caret.place.source < 0)
        return caret;
    const Source &source = m_sources[static_cast<std::size_t>(caret.place.source)];
    if (source.run.isEmpty()) {
        caret.inChange = source.change;
    } else if (const auto word = canvasPlaceAt(shown)) {
        caret.word = word;
        caret.place.offset = shown - shownOf(*word)->start;
    }
    return caret;
}

qsizetype PageText::shownOf(const Caret &caret) const
{
    if (caret.word) {
        if (const auto word = shownOf(*caret.word))
            return word->start + std::min(caret.place.offset, word->length());
    }
    if (caret.inChange) {
        for (const ShownPiece &piece : m_shown.pieces()) {
            if (piece.kind == ShownPiece::Kind::Foreign &&
                m_sources[static_cast<std::size_t>(piece.source)].change == *caret.inChange)
                return piece.shown.start + std::min(caret.place.offset, piece.shown.length());
        }
    }
    return m_shown.toShown(caret.place.draft, caret.place.lean);
}

PageText::Selection PageText::selection() const
{
    using Lean = ShownPlace::Lean;
    if (!m_textEdit)
        return {};
    const qsizetype cursor = m_textEdit->property("cursorPosition").toInt();
    const qsizetype start = m_textEdit->property("selectionStart").toInt();
    const qsizetype end = m_textEdit->property("selectionEnd").toInt();
    if (start == end) {
        const Caret caret = caretAt(cursor, Lean::Before);
        return {.anchor = caret, .cursor = caret};
    }
    const Caret first = caretAt(start, Lean::After);
    const Caret last = caretAt(end, Lean::Before);
    return cursor == start ? Selection{.anchor = last, .cursor = first} : Selection{.anchor = first, .cursor = last};
}

void PageText::restore(const Selection &selection)
{
    if (m_textEdit)
        selectOnPage(shownOf(selection.anchor), shownOf(selection.cursor));
}

void PageText::selectOnPage(qsizetype anchor, qsizetype cursor)
{
    const auto isNow = [this](const char *name, qsizetype value) {
        return m_textEdit->property(name).toInt() == value;
    };
    if (isNow("cursorPosition", cursor) && isNow("selectionStart", std::min(anchor, cursor)) &&
        isNow("selectionEnd", std::max(anchor, cursor)))
        return;
    QMetaObject::invokeMethod(m_textEdit, "select", Q_ARG(int, static_cast<int>(anchor)),
                              Q_ARG(int, static_cast<int>(cursor)));
}

TextSpan PageText::selectionInDraft() const
{
    const Selection now = m_moved ? *m_moved : selection();
    return {std::min(now.anchor.place.draft, now.cursor.place.draft),
            std::max(now.anchor.place.draft, now.cursor.place.draft)};
}

void PageText::selectInDraft(TextSpan span)
{
    if (!m_textEdit)
        return;
    if (m_stale)
        refresh();
    if (span.end > m_portionEnd)
        bringWhole();
    const TextSpan shown =
        span.empty() ? TextSpan{m_shown.toShown(span.start), m_shown.toShown(span.start)} : m_shown.toShown(span);
    selectOnPage(shown.start, shown.end);
}

} // namespace palimpsest::studio
