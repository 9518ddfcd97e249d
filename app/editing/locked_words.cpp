// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/editing/locked_words.h"

#include "app/editing/utf8_text.h"

#include <algorithm>
#include <optional>

namespace palimpsest::editing {

namespace {

TextSpan trimmed(TextSpan span, QStringView text)
{
    while (span.start < span.end && text[span.start].isSpace())
        ++span.start;
    while (span.start < span.end && text[span.end - 1].isSpace())
        --span.end;
    return span;
}

/// The changes piece by piece between the locks, where `revised` holds all locked words in order. Which of several
/// equal words in it is taken for the locked one does not matter: the text is the same.
std::optional<std::vector<TextEdit>> changesBetween(const std::vector<TextSpan> &locks, QStringView original,
                                                    QStringView revised)
{
    std::vector<TextEdit> edits;
    TextSpan piece;     // of the original
    qsizetype done = 0; // of the revised text
    const auto compare = [&](qsizetype end, qsizetype revisedEnd) {
        piece.end = end;
        for (TextEdit &edit :
             wordChanges(original.mid(piece.start, piece.length()), revised.mid(done, revisedEnd - done))) {
            edit.span = {edit.span.start + piece.start, edit.span.end + piece.start};
            edits.push_back(std::move(edit));
        }
    };
    for (const TextSpan &lock : locks) {
        const qsizetype found = revised.indexOf(original.mid(lock.start, lock.length()), done);
        if (found < 0)
            return std::nullopt;
        compare(lock.start, found);
        piece.start = lock.end;
        done = found + lock.length();
    }
    compare(original.size(), revised.size());
    return edits;
}

} // namespace

std::vector<TextSpan> withLock(const std::vector<TextSpan> &locks, TextSpan span)
{
    std::vector<TextSpan> result;
    for (const TextSpan &lock : locks) {
        if (lock.end < span.start || span.end < lock.start)
            result.push_back(lock);
        else
            span = {std::min(span.start, lock.start), std::max(span.end, lock.end)};
    }
    result.insert(
        std::find_if(result.begin(), result.end(), [&span](const TextSpan &lock) { return lock.start > span.start; }),
        span);
    return result;
}

std::vector<TextSpan> withoutLock(const std::vector<TextSpan> &locks, TextSpan span, QStringView text)
{
    std::vector<TextSpan> result;
    for (const TextSpan &lock : locks) {
        if (lock.end <= span.start || span.end <= lock.start) {
            result.push_back(lock);
            continue;
        }
        for (const TextSpan &rest : {TextSpan{lock.start, std::min(lock.end, span.start)},
                                     TextSpan{std::max(lock.start, span.end), lock.end}}) {
            if (rest.start >= rest.end)
                continue;
            if (const TextSpan visible = trimmed(rest, text); !visible.empty())
                result.push_back(visible);
        }
    }
    return result;
}

std::vector<TextSpan> movedLocks(const std::vector<TextSpan> &locks, const TextEdit &edit)
{
    std::vector<TextSpan> result;
    for (const TextSpan &lock : locks) {
        if (const TextSpan now = moved(lock, edit); !now.empty())
            result.push_back(now);
    }
    return result;
}

std::vector<TextSpan> locksInside(const std::vector<TextSpan> &locks, TextSpan span)
{
    std::vector<TextSpan> result;
    for (const TextSpan &lock : locks) {
        const TextSpan part{std::max(lock.start, span.start), std::min(lock.end, span.end)};
        if (part.start < part.end)
            result.push_back({part.start - span.start, part.end - span.start});
    }
    return result;
}

bool touchesAny(const TextEdit &edit, const std::vector<TextSpan> &locks)
{
    return std::any_of(locks.begin(), locks.end(), [&edit](const TextSpan &lock) { return touches(edit, lock); });
}

std::vector<TextEdit> changesAround(const std::vector<TextSpan> &locks, QStringView original, QStringView revised)
{
    std::vector<TextEdit> edits = wordChanges(original, revised);
    const auto isForbidden = [&locks](const TextEdit &edit) {
        return touchesAny(edit, locks);
    };
    if (std::none_of(edits.begin(), edits.end(), isForbidden))
        return edits;
    if (std::optional<std::vector<TextEdit>> pieces = changesBetween(locks, original, revised))
        return *std::move(pieces);
    std::erase_if(edits, isForbidden);
    return edits;
}

QString withEdits(QString text, const std::vector<TextEdit> &edits)
{
    for (std::size_t i = edits.size(); i-- > 0;) // the last one first: the others' places stay
        apply(text, edits[i]);
    return text;
}

} // namespace palimpsest::editing
