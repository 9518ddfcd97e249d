// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/utf8_text.h"

#include "engine/text_boundaries.h"
#include "engine/word_diff.h"

#include <algorithm>

namespace palimpsest::editing {

namespace {

/// Between two marks of the table of positions. Small enough that a look-up costs nothing beside what it is for.
constexpr std::int64_t kMarkEveryBytes = 256;

bool startsCharacter(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80;
}

/// UTF-16 code units of the character that begins with this byte.
qsizetype unitsOf(char lead)
{
    constexpr unsigned char kFirstOfFourBytes = 0xF0;
    return static_cast<unsigned char>(lead) >= kFirstOfFourBytes ? 2 : 1;
}

/// The whole lines around a span: no word and no character of people's reaches over a line end, so nothing else has to
/// be looked at, however long the text is.
TextSpan linesAround(TextSpan span, QStringView text)
{
    const qsizetype before = span.start == 0 ? -1 : text.left(span.start).lastIndexOf(u'\n');
    const qsizetype behind = text.indexOf(u'\n', span.end);
    return {before + 1, behind < 0 ? text.size() : behind + 1};
}

/// "doesn't" became "does not": a word that is put in (or taken away) beside one that is replaced is one change with
/// it. Two words that are replaced side by side are two.
bool belongTogether(const TextEdit &first, const TextEdit &second, QStringView original)
{
    const QStringView between = original.mid(first.span.end, second.span.start - first.span.end);
    const auto isReplacement = [](const TextEdit &edit) {
        return !edit.span.empty() && !edit.text.trimmed().isEmpty();
    };
    return between.trimmed().isEmpty() && !between.contains(u'\n') && !(isReplacement(first) && isReplacement(second));
}

} // namespace

std::string toUtf8(QStringView text)
{
    return text.toUtf8().toStdString();
}

QString fromUtf8(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

Utf8Text::Utf8Text(QStringView text) : m_bytes(toUtf8(text))
{
    qsizetype unit = 0;
    std::int64_t nextMark = 0;
    for (std::int64_t byte = 0; byte < static_cast<std::int64_t>(m_bytes.size()); ++byte) {
        const char value = m_bytes[static_cast<std::size_t>(byte)];
        if (!startsCharacter(value))
            continue;
        if (byte >= nextMark) {
            m_marks.push_back({unit, byte});
            nextMark = byte + kMarkEveryBytes;
        }
        unit += unitsOf(value);
    }
}

std::int64_t Utf8Text::toByte(qsizetype unit) const
{
    const auto behind = std::upper_bound(m_marks.begin(), m_marks.end(), unit,
                                         [](qsizetype wanted, const Mark &mark) { return wanted < mark.unit; });
    if (behind == m_marks.begin())
        return 0;
    Mark at = *std::prev(behind);
    const auto size = static_cast<std::int64_t>(m_bytes.size());
    while (at.byte < size) {
        const qsizetype units = unitsOf(m_bytes[static_cast<std::size_t>(at.byte)]);
        if (at.unit + units > unit)
            break;
        at.unit += units;
        do {
            ++at.byte;
        } while (at.byte < size && !startsCharacter(m_bytes[static_cast<std::size_t>(at.byte)]));
    }
    return at.byte;
}

qsizetype Utf8Text::toUnit(std::int64_t byte) const
{
    const auto behind = std::upper_bound(m_marks.begin(), m_marks.end(), byte,
                                         [](std::int64_t wanted, const Mark &mark) { return wanted < mark.byte; });
    if (behind == m_marks.begin())
        return 0;
    Mark at = *std::prev(behind);
    const auto end = std::min(byte, static_cast<std::int64_t>(m_bytes.size()));
    qsizetype last = 0; // units of the character under way
    for (; at.byte < end; ++at.byte) {
        const char value = m_bytes[static_cast<std::size_t>(at.byte)];
        if (startsCharacter(value)) {
            last = unitsOf(value);
            at.unit += last;
        }
    }
    const bool insideCharacter =
        end < static_cast<std::int64_t>(m_bytes.size()) && !startsCharacter(m_bytes[static_cast<std::size_t>(end)]);
    return insideCharacter ? at.unit - last : at.unit;
}

TextSpan snappedToCharacters(TextSpan span, QStringView text)
{
    const TextSpan points = snappedToCodePoints(span, text);
    const TextSpan lines = linesAround(points, text);
    const Utf8Text part(text.mid(lines.start, lines.length()));
    const ByteRange range = part.toBytes({points.start - lines.start, points.end - lines.start});
    const TextSpan snapped = part.toUnits(snapToGraphemes(part.bytes(), range));
    return {snapped.start + lines.start, snapped.end + lines.start};
}

TextSpan snappedToWords(TextSpan span, QStringView text)
{
    const TextSpan points = snappedToCodePoints(span, text);
    const TextSpan lines = linesAround(points, text);
    const Utf8Text part(text.mid(lines.start, lines.length()));
    const ByteRange range = part.toBytes({points.start - lines.start, points.end - lines.start});
    ByteRange words{range.begin, range.begin};
    bool found = false;
    for (const WordPiece &piece : splitIntoWords(part.bytes())) {
        const bool isTouched = range.empty() ? piece.range.begin <= range.begin && range.begin <= piece.range.end
                                             : piece.range.begin < range.end && range.begin < piece.range.end;
        if (!isTouched || piece.isWhiteSpace)
            continue;
        // A caret between two pieces belongs to the word of them, else to the one behind it.
        if (!found || (range.empty() && piece.isWord))
            words.begin = piece.range.begin;
        if (!found || !range.empty() || piece.isWord)
            words.end = piece.range.end;
        found = true;
    }
    const TextSpan units = part.toUnits(words);
    return {units.start + lines.start, units.end + lines.start};
}

std::vector<TextEdit> wordChanges(QStringView original, QStringView revised)
{
    const Utf8Text from(original);
    const std::string to = toUtf8(revised);
    std::vector<TextEdit> edits;
    for (const TextChange &change : diffWords(from.bytes(), to)) {
        TextEdit edit{from.toUnits(change.original), fromUtf8(change.revised.of(to))};
        if (edits.empty() || !belongTogether(edits.back(), edit, original)) {
            edits.push_back(std::move(edit));
            continue;
        }
        TextEdit &whole = edits.back();
        whole.text.append(original.mid(whole.span.end, edit.span.start - whole.span.end)).append(edit.text);
        whole.span.end = edit.span.end;
    }
    return edits;
}

} // namespace palimpsest::editing
