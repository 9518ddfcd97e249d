// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/studio/frame_timer.h"
#include "app/studio/page_mark.h"
#include "app/studio/shown_text.h"

#include <QObject>
#include <QPointer>
#include <QQuickItem> // QPointer wants whole types
#include <QString>
#include <QTextDocument>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

#include <limits>
#include <optional>
#include <vector>

namespace palimpsest::studio {

class KeyMap;

/// Keeps the page's TextEdit and an editing session alike, in both directions: what is typed becomes edits of the
/// draft, and what the model writes or proposes, and other windows type, appears on the page.
///
/// The page shows more than the draft (shown_text.h). A key stroke that falls into foreign text is taken back, with
/// `refused` saying why. The text document's own undo is off: the session's list is the one that people see.
///
/// `shown()` is the text document's text, letter by letter, at every moment: key strokes are measured against it, so it
/// never runs ahead of what can be seen. What else changes (frames, proposals, other people's edits) reaches both at
/// once in `refresh`: at most once each kFrameMs for frames, before the next input event for edits, only where letters
/// changed, and not while an input method composes or the mouse selects. With reduced motion a canvas is shown when it
/// has settled, or while it is paused. The caret keeps to the letter, or the canvas
/// position, that it stands at.
///
/// A long draft comes to the page in portions, one a frame, from its beginning on: laying out a book at once would hold
/// the window up for longer than a frame. It can be typed into meanwhile. Lives on the GUI thread.
class PageText : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(bool empty READ empty NOTIFY shownChanged)
    Q_PROPERTY(int words READ words NOTIFY shownChanged)
    /// Shows how sure the model is of each word that has not settled.
    Q_PROPERTY(bool entropyShown READ entropyShown WRITE setEntropyShown NOTIFY entropyShownChanged)
    /// The same, as long as Alt is held.
    Q_PROPERTY(bool entropyHeld READ entropyHeld NOTIFY entropyHeldChanged)
    /// While set, proposals and runs are hidden, and the page shows the draft as it is: for comparing.
    Q_PROPERTY(bool originalShown READ originalShown WRITE setOriginalShown NOTIFY originalShownChanged)
    /// Where on the page the passage ends that several texts are offered for; -1 = there is none. Behind its paragraph
    /// a gap of that many pixels is open, for them to stand in.
    Q_PROPERTY(int alternativesEnd READ alternativesEnd NOTIFY marksChanged)
    Q_PROPERTY(double gap READ gap WRITE setGap NOTIFY gapChanged)
    Q_PROPERTY(bool previewing READ previewing NOTIFY shownChanged)
    /// The search; "" = none. Letter case counts where the pattern has a capital.
    Q_PROPERTY(QString searchPattern READ searchPattern WRITE setSearchPattern NOTIFY searchChanged)
    Q_PROPERTY(int matchCount READ matchCount NOTIFY searchChanged)
    Q_PROPERTY(double lineHeight READ lineHeight WRITE setLineHeight NOTIFY lineHeightChanged)

public:
    static constexpr int kFrameMs = FrameTimer::kFrameMs;
    /// UTF-16 code units that come to the page in one frame, and the rest of their paragraph: 3 to 4 ms of layout.
    static constexpr qsizetype kPortion = 20'480;
    /// Alt is held when it is down so long: in a key combination it comes and goes faster, and the page must not
    /// flicker.
    static constexpr int kHoldMs = 180;

    explicit PageText(QObject *parent = nullptr);

    /// Follows a session; null: shows nothing. The session is not owned.
    void setSession(editing::DraftSession *session, editing::WindowId window);
    [[nodiscard]] editing::DraftSession *session() const { return m_session; }

    /// Keys that are the studio's and not the text field's; not owned.
    void setKeyMap(const KeyMap *keys) { m_keys = keys; }

    /// Takes charge of a TextEdit's text. Once for each page item.
    Q_INVOKABLE void attach(QQuickItem *textEdit);
    [[nodiscard]] QTextDocument *document() const { return m_document; }
    [[nodiscard]] QQuickItem *textEdit() const { return m_textEdit; }

    /// A recorded step that stands on the page in the place of its run's text, until there is none.
    struct Preview
    {
        QString run;
        int lane = 0;
        editing::Frame frame;
        QString settled; ///< of the canvases before
    };
    void setPreview(std::optional<Preview> preview);
    [[nodiscard]] bool previewing() const noexcept { return m_preview.has_value(); }

    /// Whether all of the draft has come to the page.
    [[nodiscard]] bool isWhole() const noexcept { return m_portionEnd == kWhole; }

    [[nodiscard]] const ShownText &shown() const noexcept { return m_shown; }
    [[nodiscard]] const PageMarks &marks() const noexcept { return m_marks; }
    [[nodiscard]] bool empty() const { return m_shown.text().isEmpty(); }
    [[nodiscard]] int words() const;
    [[nodiscard]] bool entropyShown() const noexcept { return m_entropyShown; }
    void setEntropyShown(bool shown);
    [[nodiscard]] bool entropyHeld() const noexcept { return m_entropyHeld; }
    [[nodiscard]] bool originalShown() const noexcept { return m_originalShown; }
    void setOriginalShown(bool shown);
    [[nodiscard]] int alternativesEnd() const;
    [[nodiscard]] double gap() const noexcept { return m_gap; }
    void setGap(double pixels);
    [[nodiscard]] QString searchPattern() const { return m_searchPattern; }
    void setSearchPattern(const QString &pattern);
    [[nodiscard]] int matchCount() const { return static_cast<int>(m_matches.size()); }
    [[nodiscard]] double lineHeight() const noexcept { return m_lineHeight; }
    void setLineHeight(double factor);

    /// The selection, or the caret, in the draft.
    [[nodiscard]] TextSpan selectionInDraft() const;
    /// Selects a span of the draft on the page and moves the view there.
    void selectInDraft(TextSpan span);

    /// A place of a running canvas.
    struct CanvasPlace
    {
        QString run;
        int lane = 0;
        std::int64_t canvas = 0;
        std::int64_t position = 0;

        friend bool operator==(const CanvasPlace &, const CanvasPlace &) = default;
    };
    /// The canvas position whose text stands at a place of the page; nothing elsewhere.
    [[nodiscard]] std::optional<CanvasPlace> canvasPlaceAt(qsizetype shown) const;
    /// Where a running canvas's position stands on the page.
    [[nodiscard]] std::optional<TextSpan> shownOf(const CanvasPlace &place) const;
    /// Index into `session()->draft().proposals()` and change under a place of the page.
    struct ChangePlace
    {
        QString proposal;
        std::size_t change = 0;

        friend bool operator==(const ChangePlace &, const ChangePlace &) = default;
    };
    [[nodiscard]] std::optional<ChangePlace> changeAt(qsizetype shown) const;
    /// The change that keys act on; drawn with a frame.
    void setCurrentChange(std::optional<ChangePlace> change);
    [[nodiscard]] std::optional<TextSpan> shownOf(const ChangePlace &place) const;

    /// The text that copying gives: plain, exactly the letters shown.
    [[nodiscard]] QString plainSelection() const;
    Q_INVOKABLE void copy() const;
    Q_INVOKABLE void cut();
    Q_INVOKABLE void paste(); ///< the clipboard's plain text
    /// Puts plain text in the place of the selection.
    Q_INVOKABLE void insertPlain(const QString &text);
    /// Moves the selection to the next (-1: previous) match, around the ends; false if there is none.
    Q_INVOKABLE bool findNext(int direction);
    /// Replaces the selected match, and goes to the next one.
    Q_INVOKABLE void replaceMatch(const QString &text);
    /// Replaces all, as one undo step; returns how many.
    Q_INVOKABLE int replaceAll(const QString &text);

Q_SIGNALS:
    void shownChanged();
    void marksChanged(); ///< or where they stand
    void entropyShownChanged();
    void entropyHeldChanged();
    void originalShownChanged();
    void searchChanged();
    void gapChanged();
    void lineHeightChanged();
    /// A key stroke was taken back; `reason` is a sentence.
    void refused(const QString &reason);

protected:
    /// Of the page's TextEdit: keeps the key map's keys from it (text fields claim keys such as Ctrl+K for themselves),
    /// and brings the page up to date before it is typed into. Of its window: sees Alt.
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    /// What stands behind an overlay's `source` number.
    struct Source
    {
        QString run; ///< Live
        int lane = 0;
        ChangePlace change;          ///< Change
        qsizetype settledLength = 0; ///< Live: letters in front of the frame's
        std::optional<editing::Frame> frame;
    };
    /// One end of the selection, as something that outlives the page.
    struct Caret
    {
        ShownPlace place;
        std::optional<CanvasPlace> word;     ///< in a run's text; place.offset is within the word then
        std::optional<ChangePlace> inChange; ///< in a change's text
    };
    struct Selection
    {
        Caret anchor;
        Caret cursor;
    };

    // Between session and page (page_text.cpp)
    void refresh();                    ///< from the session, now
    Q_INVOKABLE void refreshIfStale(); ///< what is queued, so that several edits come together
    void refreshSoon() { m_refreshTimer.request(); }
    void onEdited(const editing::AppliedEdit &applied, editing::EditCause cause);
    void collectOverlays(std::vector<Overlay> &overlays);
    void addPreviewOverlay(std::vector<Overlay> &overlays);
    void addRunOverlays(std::vector<Overlay> &overlays);
    void addProposalOverlays(std::vector<Overlay> &overlays);
    void addLiveOverlay(std::vector<Overlay> &overlays, TextSpan span, QString settled, Source source);
    bool showDraft(std::vector<Overlay> overlays);
    bool show(ShownText next);
    void replaceInDocument(TextSpan shown, QStringView text);

    // A long draft's portions (page_text_portions.cpp)
    void addPortion();
    void bringWhole(); ///< now: for what needs the draft's end
    void keepPortion(const TextEdit &edit);
    [[nodiscard]] QStringView present() const; ///< what of the draft is on the page, or will be at the next refresh

    // Typing (page_text_input.cpp)
    void onContentsChange(int position, int removed, int added);
    [[nodiscard]] TextEdit typedWithin(qsizetype position, qsizetype added) const;
    void takeTyped(TextEdit typed);
    void refuse(const TextEdit &typed, const QString &reason);
    void watchAlt(const QEvent &event);
    void setEntropyHeld(bool held);
    void styleBlocks();
    void openGap();
    [[nodiscard]] QString documentText() const; ///< all of it: too slow for each key of a long draft
    [[nodiscard]] QString documentText(TextSpan span) const;
    [[nodiscard]] bool busyWithInput() const;

    // The caret (page_text_caret.cpp)
    [[nodiscard]] Caret caretAt(qsizetype shown, ShownPlace::Lean preferred) const;
    [[nodiscard]] qsizetype shownOf(const Caret &caret) const;
    [[nodiscard]] Selection selection() const;
    void restore(const Selection &selection);
    void selectOnPage(qsizetype anchor, qsizetype cursor);

    // Marks and the search
    void collectMarks();
    void addLiveMarks(const ShownPiece &piece, const Source &source);
    void addChangeMarks(const ShownPiece &piece, const Source &source);
    void addSpanMarks();
    void findMatches();

    static constexpr qsizetype kWhole = std::numeric_limits<qsizetype>::max();

    const KeyMap *m_keys = nullptr;
    QPointer<editing::DraftSession> m_session;
    editing::WindowId m_window = editing::kNobody;
    QPointer<QQuickItem> m_textEdit;
    QPointer<QTextDocument> m_document;
    QPointer<QObject> m_altWindow; ///< whose Alt is watched
    FrameTimer m_refreshTimer;
    FrameTimer m_portionTimer;
    QTimer m_altTimer;
    ShownText m_shown;
    std::int64_t m_shownVersion = 0;  ///< of the draft that m_shown is made of
    qsizetype m_portionEnd = kWhole;  ///< how much of the draft may come to the page so far, at least
    bool m_stale = false;             ///< must be refreshed before the next input
    bool m_astray = true;             ///< the document may not be m_shown, letter by letter, until it is refreshed
    bool m_overlaid = false;          ///< m_shown has overlays
    bool m_overtaken = false;         ///< what was typed is in the draft, but m_shown does not know where
    std::optional<Selection> m_moved; ///< where the selection belongs, since edits that m_shown does not have yet
    std::vector<Source> m_sources;
    std::optional<Preview> m_preview;
    PageMarks m_marks;
    std::optional<ChangePlace> m_current;
    QString m_searchPattern;
    std::vector<TextSpan> m_matches; ///< on the page
    double m_lineHeight = 1.65;
    double m_gap = 0.0;
    bool m_gapOpen = false;
    std::optional<TextSpan> m_unstyled; ///< of the text document: what was put in since styleBlocks
    mutable int m_words = 0;
    mutable std::int64_t m_wordsVersion = -1;
    bool m_entropyShown = false;
    bool m_entropyHeld = false;
    bool m_originalShown = false;
    bool m_applying = false;
    bool m_selecting = false; ///< by mouse, at this moment
};

} // namespace palimpsest::studio
