// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/editing/draft_session.h"
#include "app/studio/page_mark.h"
#include "app/studio/shown_text.h"

#include <QObject>
#include <QPointer>
#include <QQuickItem> // QPointer wants whole types
#include <QString>
#include <QTextDocument>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

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
/// Frames are applied at most once each kFrameMs, only where letters changed, and not while an input method composes or
/// a selection is being dragged. Lives on the GUI thread.
class PageText : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("Provided by the studio")

    Q_PROPERTY(bool empty READ empty NOTIFY shownChanged)
    Q_PROPERTY(qsizetype words READ words NOTIFY shownChanged)
    /// Shows how sure the model is of each word that has not settled.
    Q_PROPERTY(bool entropyShown READ entropyShown WRITE setEntropyShown NOTIFY entropyShownChanged)
    /// While set, proposals and runs are hidden, and the page shows the draft as it is: for comparing.
    Q_PROPERTY(bool originalShown READ originalShown WRITE setOriginalShown NOTIFY originalShownChanged)
    /// The search; "" = none. Letter case counts where the pattern has a capital.
    Q_PROPERTY(QString searchPattern READ searchPattern WRITE setSearchPattern NOTIFY searchChanged)
    Q_PROPERTY(int matchCount READ matchCount NOTIFY searchChanged)
    Q_PROPERTY(double lineHeight READ lineHeight WRITE setLineHeight NOTIFY lineHeightChanged)

public:
    static constexpr int kFrameMs = 16;

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

    [[nodiscard]] const ShownText &shown() const noexcept { return m_shown; }
    [[nodiscard]] const PageMarks &marks() const noexcept { return m_marks; }
    [[nodiscard]] bool empty() const { return m_shown.text().isEmpty(); }
    [[nodiscard]] qsizetype words() const;
    [[nodiscard]] bool entropyShown() const noexcept { return m_entropyShown; }
    void setEntropyShown(bool shown);
    [[nodiscard]] bool originalShown() const noexcept { return m_originalShown; }
    void setOriginalShown(bool shown);
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
    void originalShownChanged();
    void searchChanged();
    void lineHeightChanged();
    /// A key stroke was taken back; `reason` is a sentence.
    void refused(const QString &reason);

protected:
    /// Text fields claim keys such as Ctrl+K for themselves; those of the key map are kept from them.
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    /// What stands behind an overlay's `source` number.
    struct Source
    {
        QString run; ///< Live
        int lane = 0;
        QString proposal; ///< Change
        std::size_t change = 0;
        qsizetype settledLength = 0; ///< Live: letters in front of the frame's
        std::optional<editing::Frame> frame;
    };

    void onContentsChange();
    void takeTyped(const TextEdit &typed);
    void refresh();     ///< from the session, now
    void refreshSoon(); ///< at the next frame
    void collectOverlays(std::vector<Overlay> &overlays);
    void addRunOverlays(std::vector<Overlay> &overlays);
    void addProposalOverlays(std::vector<Overlay> &overlays);
    void show(ShownText next);
    void replaceInDocument(TextSpan shown, QStringView text);
    void styleBlocks();
    void collectMarks();
    void addLiveMarks(const ShownPiece &piece, const Source &source);
    void findMatches();
    [[nodiscard]] QString documentText() const;
    [[nodiscard]] bool busyWithInput() const;

    const KeyMap *m_keys = nullptr;
    QPointer<editing::DraftSession> m_session;
    editing::WindowId m_window = editing::kNobody;
    QPointer<QQuickItem> m_textEdit;
    QPointer<QTextDocument> m_document;
    QTimer m_refreshTimer;
    ShownText m_shown;
    std::vector<Source> m_sources;
    PageMarks m_marks;
    std::optional<ChangePlace> m_current;
    QString m_searchPattern;
    std::vector<TextSpan> m_matches; ///< on the page
    double m_lineHeight = 1.65;
    bool m_entropyShown = false;
    bool m_originalShown = false;
    bool m_applying = false;
};

} // namespace palimpsest::studio
