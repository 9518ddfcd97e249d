// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/text_edit.h"

#include <QString>
#include <QStringView>

#include <cstddef>
#include <optional>
#include <vector>

namespace palimpsest::studio {

using editing::TextEdit;
using editing::TextSpan;

/// Something that the page shows in the place of a span of the draft, without being part of the draft.
struct Overlay
{
    enum class Kind {
        Live,   ///< what a running lane would put there; the draft's own words are hidden meanwhile
        Change, ///< what a proposal would put there, behind the draft's own words
    };
    Kind kind = Kind::Live;
    TextSpan span; ///< of the draft
    QString text;
    int source = -1; ///< the caller's number for it

    friend bool operator==(const Overlay &, const Overlay &) = default;
};

/// A stretch of the page.
struct ShownPiece
{
    enum class Kind {
        Draft,   ///< the draft's own words, which may be typed into
        Removed, ///< the draft's own words that a change would take away
        Hidden,  ///< the CR of a CR LF: the page has line feeds alone, as text documents do
        Foreign, ///< an overlay's text
    };
    Kind kind = Kind::Draft;
    TextSpan draft; ///< what of the draft it shows or stands for; empty for what a change would put in
    TextSpan shown; ///< where on the page
    int source = -1;

    friend bool operator==(const ShownPiece &, const ShownPiece &) = default;
};

/// Where a caret stands: beside a letter of the draft that it follows wherever that goes, or within an overlay.
struct ShownPlace
{
    enum class Lean { Before, After }; ///< on the letter in front of it, or on the one behind it
    qsizetype draft = 0;
    Lean lean = Lean::Before;
    int source = -1;      ///< of the overlay that it stands in; -1 = in none
    qsizetype offset = 0; ///< within the overlay

    friend bool operator==(const ShownPlace &, const ShownPlace &) = default;
};

/// The text of a page: a draft with what the model is writing, or would change, in its place. Immutable; all positions
/// are UTF-16 code units.
class ShownText
{
public:
    ShownText() = default;
    /// Overlays that reach out of the draft, or into one that stands before them, are left out; of two at one place the
    /// first one counts.
    ShownText(QStringView draft, std::vector<Overlay> overlays);

    [[nodiscard]] const QString &text() const noexcept { return m_text; }
    [[nodiscard]] qsizetype draftLength() const noexcept { return m_draftLength; }
    [[nodiscard]] const std::vector<ShownPiece> &pieces() const noexcept { return m_pieces; }

    /// The place in the draft of a position on the page. Inside foreign text: behind the words it would follow.
    [[nodiscard]] qsizetype toDraft(qsizetype shown) const;
    [[nodiscard]] TextSpan toDraft(TextSpan shown) const { return {toDraft(shown.start), toDraft(shown.end)}; }
    /// The way back; a position whose words are hidden is where their overlay begins.
    [[nodiscard]] qsizetype toShown(qsizetype draft) const;
    /// Where a span of the draft can be seen, with the overlays that stand inside.
    [[nodiscard]] TextSpan toShown(TextSpan draft) const;
    /// Where an overlay's text stands; nothing if it was left out.
    [[nodiscard]] std::optional<TextSpan> shownOf(int source) const;

    /// What a position on the page holds on to when the page changes: letters of the draft before anything else, those
    /// on the `preferred` side first.
    [[nodiscard]] ShownPlace placeOf(qsizetype shown, ShownPlace::Lean preferred) const;
    /// The way back, for a place outside overlays.
    [[nodiscard]] qsizetype toShown(qsizetype draft, ShownPlace::Lean lean) const;

    /// What typing on the page means for the draft; nothing where it touches foreign text, which is not the draft's to
    /// change. Words that a change would take away are the draft's; a line end goes or stays as a whole.
    [[nodiscard]] std::optional<TextEdit> draftEdit(const TextEdit &shown) const;
    /// The page behind `shown`, letter by letter as the text field has it then, for the draft behind `draft`, which is
    /// what draftEdit gave for it. Not always what a page made anew would be: letters that were typed between a word
    /// and its change stay there.
    [[nodiscard]] ShownText afterTyping(const TextEdit &shown, const TextEdit &draft) const;

private:
    /// Letters [span) of `draft`, which begins at `shift` of the draft.
    void addOwn(ShownPiece::Kind kind, TextSpan span, QStringView draft, int source, qsizetype shift = 0);
    [[nodiscard]] std::optional<qsizetype> insertionPoint(qsizetype shown) const;
    void append(const ShownPiece &piece);
    void add(ShownPiece::Kind kind, TextSpan draft, QStringView text, int source);

    QString m_text;
    std::vector<ShownPiece> m_pieces; ///< in order; they cover m_text without gaps
    qsizetype m_draftLength = 0;
};

} // namespace palimpsest::studio
