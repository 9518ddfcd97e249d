// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>
#include <QStringView>

namespace palimpsest::editing {

/// UTF-16 code units [start, end) of a draft.
struct TextSpan
{
    qsizetype start = 0;
    qsizetype end = 0;

    [[nodiscard]] qsizetype length() const noexcept { return end - start; }
    [[nodiscard]] bool empty() const noexcept { return start == end; }
    friend bool operator==(const TextSpan &, const TextSpan &) = default;
};

/// Replaces `span` of a text by `text`.
struct TextEdit
{
    TextSpan span;
    QString text;

    friend bool operator==(const TextEdit &, const TextEdit &) = default;
};

/// Whether an edit comes before or after the one that it is moved over. Decides ties only.
enum class EditOrder { Earlier, Later };

/// Moves an edit over another one that was made to the same text, so that it can be applied behind it. With
/// E = [s, e) -> t, F = [a, b) -> u, and d = |u| - (b - a), the first line that fits says what becomes of E:
///
///   1. s = e = a = b        two insertions at one place: Later moves behind u: [s + |u|, e + |u|) -> t; Earlier stays
///   2. e <= a               E lies in front of F (or touches it): stays
///   3. b <= s               E lies behind F (or touches it): [s + d, e + d) -> t
///   4. s <= a and b <= e    E holds F: [s, e + d) -> t + u; what F wrote inside survives behind what E wrote.
///                           Two equal spans: for Earlier only
///   5. a <= s and e <= b    F holds E: E's letters are gone already, an insertion is left: [a + |u|, a + |u|) -> t
///   6. s < a                E ends inside F: [s, a) -> t
///   7. otherwise            E begins inside F: [a + |u|, e + d) -> t
///
/// Then for any text T and edits E, F to it: T F (E moved over F, Later) = T E (F moved over E, Earlier). A window that
/// has sent E, and gets F, shows F moved over E as Earlier (if the server had F first, F is the earlier one of both).
/// Nothing that was written is lost, and letters that somebody deleted do not come back.
[[nodiscard]] TextEdit moved(const TextEdit &edit, const TextEdit &over, EditOrder order);

/// Where a stretch of text stands after an edit. Insertions at its borders stay outside, those inside belong to it; an
/// empty span moves behind what is inserted at its place. A stretch that is replaced as a whole becomes empty in front
/// of the new text.
[[nodiscard]] TextSpan moved(TextSpan span, const TextEdit &over);

/// Whether an edit changes what stands in a span: letters of it, or an insertion between them. For an empty span: it
/// lies between two letters that the edit takes away.
[[nodiscard]] bool touches(const TextEdit &edit, TextSpan span);

/// The subject of the Error (InvalidArgument) that is thrown where a text, run or proposal has changed so that a
/// request makes no sense any more. Studios show the new state; the live channel's code is the same word.
inline constexpr const char *kStaleSubject = "stale";

void apply(QString &text, const TextEdit &edit);
/// The edit that takes `edit` back; `text` is the text before it.
[[nodiscard]] TextEdit inverse(const TextEdit &edit, QStringView text);

/// A text as drafts hold it: U+FFFD in the place of each unpaired surrogate and of U+0000, which no store and no
/// tokenizer takes. One for one, so that positions stay.
[[nodiscard]] QString cleaned(QString text);

/// Widens a span that cuts a surrogate pair. Throws Error InvalidArgument ("start", "end") if it is reversed or reaches
/// out of the text.
[[nodiscard]] TextSpan snappedToCodePoints(TextSpan span, QStringView text);

} // namespace palimpsest::editing
