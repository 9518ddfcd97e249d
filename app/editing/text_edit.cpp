// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/text_edit.h"

#include "engine/error.h"

#include <algorithm>

namespace palimpsest::editing {

namespace {

bool holds(TextSpan outer, TextSpan inner)
{
    return outer.start <= inner.start && inner.end <= outer.end;
}

qsizetype growth(const TextEdit &edit)
{
    return edit.text.size() - edit.span.length();
}

} // namespace

TextEdit moved(const TextEdit &edit, const TextEdit &over, EditOrder order)
{
    const TextSpan own = edit.span;
    const TextSpan other = over.span;
    const qsizetype shift = growth(over);
    const qsizetype behind = other.start + over.text.size(); // of what the other edit wrote
    if (own.empty() && own == other) {
        const qsizetype place = order == EditOrder::Later ? behind : own.start;
        return {{place, place}, edit.text};
    }
    if (own.end <= other.start)
        return edit;
    if (other.end <= own.start)
        return {{own.start + shift, own.end + shift}, edit.text};
    if (holds(own, other) && (own != other || order == EditOrder::Earlier))
        return {{own.start, own.end + shift}, edit.text + over.text};
    if (holds(other, own))
        return {{behind, behind}, edit.text};
    if (own.start < other.start)
        return {{own.start, other.start}, edit.text};
    return {{behind, own.end + shift}, edit.text};
}

TextSpan moved(TextSpan span, const TextEdit &over)
{
    const TextSpan other = over.span;
    const qsizetype shift = growth(over);
    if (other.end <= span.start) // also an insertion at the very start, which stays outside
        return {span.start + shift, span.end + shift};
    if (span.end <= other.start)
        return span;
    if (holds(other, span))
        return {other.start, other.start};
    if (holds(span, other))
        return {span.start, span.end + shift};
    if (span.start < other.start)
        return {span.start, other.start};
    return {other.start + over.text.size(), span.end + shift};
}

bool touches(const TextEdit &edit, TextSpan span)
{
    if (edit.span.empty() && edit.text.isEmpty())
        return false;
    return edit.span.start < span.end && span.start < edit.span.end;
}

void apply(QString &text, const TextEdit &edit)
{
    text.replace(edit.span.start, edit.span.length(), edit.text);
}

TextEdit inverse(const TextEdit &edit, QStringView text)
{
    return {{edit.span.start, edit.span.start + edit.text.size()},
            text.mid(edit.span.start, edit.span.length()).toString()};
}

QString cleaned(QString text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar unit = text.at(i);
        if (unit.isHighSurrogate() && i + 1 < text.size() && text.at(i + 1).isLowSurrogate())
            ++i;
        else if (unit.isSurrogate() || unit.isNull())
            text[i] = QChar::ReplacementCharacter;
    }
    return text;
}

TextSpan snappedToCodePoints(TextSpan span, QStringView text)
{
    if (span.start < 0 || span.start > text.size())
        throw Error(ErrorKind::InvalidArgument,
                    "start is " + std::to_string(span.start) + ", but the text has " + std::to_string(text.size()) +
                        " UTF-16 code units",
                    "start");
    if (span.end < span.start || span.end > text.size())
        throw Error(ErrorKind::InvalidArgument,
                    "end is " + std::to_string(span.end) + ", wanted " + std::to_string(span.start) + " (start) to " +
                        std::to_string(text.size()) + " (the text's length in UTF-16 code units)",
                    "end");
    const auto cutsPair = [text](qsizetype unit) {
        return unit > 0 && unit < text.size() && text[unit - 1].isHighSurrogate() && text[unit].isLowSurrogate();
    };
    const bool isCaret = span.empty();
    if (cutsPair(span.start))
        --span.start;
    if (isCaret)
        span.end = span.start;
    else if (cutsPair(span.end))
        ++span.end;
    return span;
}

} // namespace palimpsest::editing
