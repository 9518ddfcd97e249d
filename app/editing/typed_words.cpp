// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/typed_words.h"

#include "app/editing/locked_words.h"
#include "app/editing/utf8_text.h"
#include "engine/tokenizer.h"

#include <algorithm>
#include <vector>

namespace palimpsest::editing {

namespace {

bool meet(const TextEdit &a, const TextEdit &b)
{
    return a.span.start <= b.span.end && b.span.start <= a.span.end;
}

/// Whether a text has these words, as words of their own.
bool hasWords(const QString &text, QStringView words)
{
    if (words.isEmpty())
        return false;
    const auto isInWord = [&text](qsizetype unit) {
        return unit >= 0 && unit < text.size() && text.at(unit).isLetterOrNumber();
    };
    for (qsizetype found = text.indexOf(words); found >= 0; found = text.indexOf(words, found + 1)) {
        const bool beginsInside = isInWord(found - 1) && words.front().isLetterOrNumber();
        const bool endsInside = isInWord(found + words.size()) && words.back().isLetterOrNumber();
        if (!beginsInside && !endsInside)
            return true;
    }
    return false;
}

/// Where a place of the original lies in a revision of it.
qsizetype placeIn(const std::vector<TextEdit> &changes, qsizetype place)
{
    qsizetype shift = 0;
    for (const TextEdit &change : changes) {
        if (place < change.span.end || (change.span.empty() && place <= change.span.end))
            return std::min(place, change.span.start) + shift;
        shift += change.text.size() - change.span.length();
    }
    return place + shift;
}

/// The first canvas position whose text begins at or behind a unit of the shown text.
int positionAt(const Frame &frame, qsizetype unit)
{
    qsizetype begin = 0;
    for (int position = frame.showBegin; position < frame.showEnd; ++position) {
        const qsizetype length = frame.text[static_cast<std::size_t>(position)].size();
        if (begin + length > unit && length > 0)
            return position;
        begin += length;
    }
    return frame.showEnd;
}

} // namespace

std::vector<HoldChange> holdsForTyping(QStringView base, const QString &ours, const Frame &frame,
                                       const Tokenizer &tokenizer)
{
    const QString shown = frame.shownText();
    const std::vector<TextEdit> changes = wordChanges(base, shown);
    std::vector<HoldChange> holds;
    int free = frame.showBegin; // behind the words that are placed already
    for (const TextEdit &typed : wordChanges(base, ours)) {
        const QString words = typed.text.trimmed();
        if (words.isEmpty() || hasWords(shown, words))
            continue;
        const int first = std::max(free, positionAt(frame, placeIn(changes, typed.span.start)));
        // A word's token brings the space in front of it, but for the first one of a text.
        const std::string spelling = toUtf8(first > frame.showBegin ? u' ' + words : words);
        const std::vector<TokenId> ids = tokenizer.encode(spelling, SpecialTokens::PlainText);
        const int end = first + static_cast<int>(ids.size());
        if (end > frame.showEnd || frame.marks.mid(first, end - first).contains('#'))
            continue;
        for (std::size_t i = 0; i < ids.size(); ++i)
            holds.push_back({.position = first + static_cast<std::int64_t>(i), .id = ids[i]});
        free = end;
    }
    return holds;
}

QString mergedTyping(QStringView base, const QString &ours, const QString &theirs)
{
    if (base == ours)
        return theirs;
    std::vector<TextEdit> typed = wordChanges(base, ours);
    std::vector<TextEdit> written = wordChanges(base, theirs);
    std::erase_if(typed, [&written](const TextEdit &own) {
        return std::any_of(written.begin(), written.end(), [&own](const TextEdit &other) {
            return meet(own, other) && hasWords(other.text, QStringView(own.text).trimmed());
        });
    });
    std::erase_if(written, [&typed](const TextEdit &other) {
        return std::any_of(typed.begin(), typed.end(), [&other](const TextEdit &own) { return meet(own, other); });
    });
    written.insert(written.end(), typed.begin(), typed.end());
    std::sort(written.begin(), written.end(),
              [](const TextEdit &a, const TextEdit &b) { return a.span.start < b.span.start; });
    return withEdits(base.toString(), written);
}

} // namespace palimpsest::editing
