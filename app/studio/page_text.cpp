// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/page_text.h"

#include "app/studio/page_caret.h"
#include "app/studio/theme.h"

#include <QScopeGuard>
#include <QTextCursor>

#include <algorithm>
#include <utility>

namespace palimpsest::studio {

using editing::DraftSession;

namespace {

/// The one stretch in which two texts differ.
TextEdit difference(QStringView before, QStringView after)
{
    const auto [first, firstAfter] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    const qsizetype start = first - before.begin();
    qsizetype tail = 0;
    const qsizetype most = std::min(before.size(), after.size()) - start;
    while (tail < most && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
        ++tail;
    return {{start, before.size() - tail}, after.mid(start, after.size() - tail - start).toString()};
}

} // namespace

PageText::PageText(QObject *parent) : QObject(parent)
{
    connect(&m_refreshTimer, &QTimer::timeout, this, &PageText::refresh);
    connect(&m_portionTimer, &QTimer::timeout, this, &PageText::addPortion);
    m_altTimer.setSingleShot(true);
    m_altTimer.setInterval(kHoldMs);
    connect(&m_altTimer, &QTimer::timeout, this, [this] { setEntropyHeld(true); });
}

void PageText::setSession(DraftSession *session, editing::WindowId window)
{
    if (m_session)
        m_session->disconnect(this);
    m_session = session;
    m_window = window;
    m_current.reset();
    m_preview.reset();
    m_moved.reset();
    m_shownVersion = -1;
    m_wordsVersion = -1;
    m_portionEnd = kPortion;
    if (m_session) {
        connect(m_session, &DraftSession::edited, this,
                [this](const editing::AppliedEdit &edit, editing::WindowId, editing::EditCause cause) {
                    onEdited(edit, cause);
                });
        connect(m_session, &DraftSession::locksChanged, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::proposalChanged, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::runChanged, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::frameReady, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::pieceSettled, this, &PageText::refreshSoon);
        connect(m_session, &QObject::destroyed, this, &PageText::refreshSoon);
    }
    refresh();
    if (m_textEdit)
        selectOnPage(0, 0);
}

int PageText::words() const
{
    if (!m_session)
        return 0;
    if (m_wordsVersion == m_session->draft().version())
        return m_words;
    m_wordsVersion = m_session->draft().version();
    const QString &text = m_session->draft().text();
    m_words = wordsBegunIn(text, {0, text.size()});
    return m_words;
}

void PageText::setEntropyShown(bool shown)
{
    if (m_entropyShown == shown)
        return;
    m_entropyShown = shown;
    collectMarks();
    Q_EMIT entropyShownChanged();
}

void PageText::setOriginalShown(bool shown)
{
    if (m_originalShown == shown)
        return;
    m_originalShown = shown;
    refresh();
    Q_EMIT originalShownChanged();
}

void PageText::setPreview(std::optional<Preview> preview)
{
    if (!preview && !m_preview)
        return;
    m_preview = std::move(preview);
    refreshSoon();
}

void PageText::onEdited(const editing::AppliedEdit &applied, editing::EditCause cause)
{
    if (m_applying)
        return; // typed here
    if (!m_moved)
        m_moved = selection();
    const TextEdit &edit = applied.edit;
    keepPortion(edit);
    for (Caret *caret : {&m_moved->anchor, &m_moved->cursor}) {
        if (cause == editing::EditCause::Undo || cause == editing::EditCause::Redo)
            *caret = {.place = {.draft = edit.span.start + edit.text.size()}, .word = {}, .inChange = {}};
        else
            caret->place.draft = movedCaret(caret->place, edit);
    }
    if (m_moved->cursor.place.draft > m_portionEnd)
        m_portionEnd = m_moved->cursor.place.draft; // what was undone is to be seen
    m_stale = true;
    QMetaObject::invokeMethod(this, "refreshIfStale", Qt::QueuedConnection);
}

void PageText::refreshIfStale()
{
    if (m_stale)
        refresh();
}

void PageText::refresh()
{
    if (busyWithInput() && !m_overtaken) {
        refreshSoon();
        return;
    }
    const bool isMoved = m_moved.has_value();
    const Selection kept = isMoved ? *m_moved : selection();
    std::vector<Overlay> overlays;
    m_sources.clear();
    if (m_session && !m_originalShown)
        collectOverlays(overlays);
    const bool changed = showDraft(std::move(overlays));
    m_moved.reset();
    m_stale = false;
    m_overtaken = false;
    if (changed || isMoved)
        restore(kept);
    styleBlocks();
    openGap();
    findMatches();
    collectMarks();
    Q_EMIT shownChanged();
    if (!isWhole())
        m_portionTimer.request();
}

void PageText::collectOverlays(std::vector<Overlay> &overlays)
{
    addPreviewOverlay(overlays);
    addRunOverlays(overlays);
    addProposalOverlays(overlays);
}

void PageText::addLiveOverlay(std::vector<Overlay> &overlays, TextSpan span, QString settled, Source source)
{
    source.settledLength = settled.size();
    if (source.frame)
        settled += source.frame->shownText();
    if (settled.isEmpty())
        return; // nothing to show yet: the draft's own words stay
    overlays.push_back({.kind = Overlay::Kind::Live,
                        .span = span,
                        .text = std::move(settled),
                        .source = static_cast<int>(m_sources.size())});
    m_sources.push_back(std::move(source));
}

void PageText::addPreviewOverlay(std::vector<Overlay> &overlays)
{
    if (!m_preview)
        return;
    const std::optional<TextSpan> place = m_session->placeOfRun(m_preview->run, m_preview->lane);
    if (!place)
        return; // there is no such place any more
    addLiveOverlay(
        overlays, *place, m_preview->settled,
        {.run = m_preview->run, .lane = m_preview->lane, .change = {}, .settledLength = 0, .frame = m_preview->frame});
}

void PageText::addRunOverlays(std::vector<Overlay> &overlays)
{
    const bool isCalm = Theme::create(nullptr, nullptr)->reducedMotion();
    for (const editing::RunInfo &run : m_session->runs()) {
        if (editing::hasEnded(run.state))
            continue;
        // Alternatives write to one place: the first lane stands for all there, the others are in the inspector.
        for (int lane = 0; lane < static_cast<int>(run.lanes.size()); ++lane) {
            if (m_preview && m_preview->run == run.run && m_preview->lane == lane)
                continue;
            const editing::LaneInfo &info = run.lanes[static_cast<std::size_t>(lane)];
            QString settled;
            for (const editing::SettledPiece &piece : m_session->settledPieces(run.run, lane))
                settled += piece.text;
            Source source{.run = run.run, .lane = lane, .change = {}, .settledLength = 0, .frame = {}};
            if (!isCalm || run.state == editing::RunState::Paused)
                source.frame = m_session->newestFrame(run.run, lane);
            if (source.frame && source.frame->canvas < info.canvases)
                source.frame.reset(); // its text is among the settled pieces
            addLiveOverlay(overlays, info.span, std::move(settled), std::move(source));
        }
    }
}

void PageText::addProposalOverlays(std::vector<Overlay> &overlays)
{
    const std::optional<TextSpan> previewed =
        overlays.empty() || !m_preview ? std::nullopt : std::optional(overlays.front().span);
    for (const editing::Proposal &proposal : m_session->draft().proposals()) {
        if (!proposal.isOpen() || proposal.alternatives.size() > 1)
            continue; // several texts stand side by side below the page's
        for (std::size_t i = 0; i < proposal.changes.size(); ++i) {
            const editing::ProposalChange &change = proposal.changes[i];
            const bool isHidden =
                previewed && change.span.start <= previewed->end && previewed->start <= change.span.end;
            if (change.state != editing::ChangeState::Open || isHidden)
                continue;
            overlays.push_back({.kind = Overlay::Kind::Change,
                                .span = change.span,
                                .text = change.text,
                                .source = static_cast<int>(m_sources.size())});
            m_sources.push_back({.run = {},
                                 .lane = 0,
                                 .change = {.proposal = proposal.id, .change = i},
                                 .settledLength = 0,
                                 .frame = {}});
        }
    }
}

namespace {

/// Whether only the model's words differ.
bool haveOneShape(const ShownText &before, const ShownText &after)
{
    return std::equal(before.pieces().begin(), before.pieces().end(), after.pieces().begin(), after.pieces().end(),
                      [](const ShownPiece &a, const ShownPiece &b) {
                          return a.kind == b.kind && a.draft == b.draft &&
                                 (a.kind == ShownPiece::Kind::Foreign || a.shown.length() == b.shown.length());
                      });
}

} // namespace

/// Returns whether letters changed.
bool PageText::showDraft(std::vector<Overlay> overlays)
{
    const std::int64_t version = m_session ? m_session->draft().version() : 0;
    const QStringView draft = present();
    const bool isPortion = draft.size() != m_shown.draftLength();
    const bool wasOverlaid = std::exchange(m_overlaid, !overlays.empty());
    const bool isTyped = !m_astray && !m_overtaken && !m_overlaid && !wasOverlaid && !isPortion;
    if (std::exchange(m_shownVersion, version) == version && isTyped)
        return false; // typed here: the page is the draft
    m_portionEnd = !m_session || draft.size() == m_session->draft().text().size() ? kWhole : draft.size();
    return show(ShownText(draft, std::move(overlays)));
}

/// Returns whether letters changed.
bool PageText::show(ShownText next)
{
    const ShownText before = std::exchange(m_shown, std::move(next)); // before anybody hears of the document's change
    if (!m_document)
        return false;
    const bool wasAstray = std::exchange(m_astray, false);
    if (!wasAstray && before.text() == m_shown.text())
        return false;
    const QScopeGuard done([this, wasApplying = m_applying] { m_applying = wasApplying; });
    m_applying = true;
    const QString present = wasAstray ? documentText() : before.text();
    const QString wanted = wasAstray ? asRawText(m_shown.text()) : m_shown.text();
    if (wanted == present)
        return false;
    QTextCursor cursor(m_document);
    cursor.beginEditBlock();
    if (!wasAstray && haveOneShape(before, m_shown)) {
        // Piece by piece, from behind, so that what lies between two passages is not touched.
        for (std::size_t i = before.pieces().size(); i-- > 0;) {
            const TextSpan from = before.pieces()[i].shown;
            const TextSpan to = m_shown.pieces()[i].shown;
            const QStringView old = QStringView(present).mid(from.start, from.length());
            const QStringView text = QStringView(wanted).mid(to.start, to.length());
            if (old == text)
                continue;
            const TextEdit edit = difference(old, text);
            replaceInDocument({from.start + edit.span.start, from.start + edit.span.end}, edit.text);
        }
    } else {
        const TextEdit edit = difference(present, wanted);
        replaceInDocument(edit.span, edit.text);
    }
    cursor.endEditBlock();
    return true;
}

void PageText::replaceInDocument(TextSpan shown, QStringView text)
{
    Q_ASSERT(shown.start >= 0 && shown.end < m_document->characterCount());
    QTextCursor cursor(m_document);
    cursor.setPosition(static_cast<int>(shown.start));
    cursor.setPosition(static_cast<int>(shown.end), QTextCursor::KeepAnchor);
    cursor.insertText(text.toString());
}

} // namespace palimpsest::studio
