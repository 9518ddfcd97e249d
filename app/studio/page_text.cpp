// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/studio/page_text.h"

#include "app/studio/key_map.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QQuickItem>
#include <QQuickTextDocument>
#include <QScopeGuard>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>

#include <algorithm>

namespace palimpsest::studio {

using editing::DraftSession;

namespace {

/// Text documents keep line ends as paragraph separators.
QString asRawText(QStringView text)
{
    QString raw = text.toString();
    raw.replace(u'\n', QChar::ParagraphSeparator);
    raw.replace(u'\r', QChar::ParagraphSeparator);
    return raw;
}

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

bool usesCrLf(QStringView text)
{
    const qsizetype lineFeed = text.indexOf(u'\n');
    return lineFeed > 0 && text[lineFeed - 1] == u'\r';
}

} // namespace

PageText::PageText(QObject *parent) : QObject(parent)
{
    m_refreshTimer.setSingleShot(true);
    m_refreshTimer.setTimerType(Qt::PreciseTimer);
    m_refreshTimer.setInterval(kFrameMs);
    connect(&m_refreshTimer, &QTimer::timeout, this, &PageText::refresh);
}

void PageText::setSession(DraftSession *session, editing::WindowId window)
{
    if (m_session)
        m_session->disconnect(this);
    m_session = session;
    m_window = window;
    m_current.reset();
    if (m_session) {
        connect(m_session, &DraftSession::edited, this, [this] {
            if (!m_applying)
                refresh();
        });
        connect(m_session, &DraftSession::locksChanged, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::proposalChanged, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::runChanged, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::frameReady, this, &PageText::refreshSoon);
        connect(m_session, &DraftSession::pieceSettled, this, &PageText::refreshSoon);
        connect(m_session, &QObject::destroyed, this, &PageText::refreshSoon);
    }
    refresh();
}

void PageText::attach(QQuickItem *textEdit)
{
    auto *quickDocument = textEdit->property("textDocument").value<QQuickTextDocument *>();
    Q_ASSERT(quickDocument != nullptr);
    m_textEdit = textEdit;
    m_document = quickDocument->textDocument();
    m_document->setUndoRedoEnabled(false);
    connect(m_document, &QTextDocument::contentsChange, this, &PageText::onContentsChange);
    connect(textEdit, &QQuickItem::widthChanged, this, &PageText::marksChanged);
    connect(textEdit, &QQuickItem::heightChanged, this, &PageText::marksChanged);
    textEdit->installEventFilter(this);
    m_shown = {};
    refresh();
}

bool PageText::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::ShortcutOverride && m_keys != nullptr &&
        m_keys->claims(*static_cast<QKeyEvent *>(event))) {
        event->ignore();
        return true;
    }
    return QObject::eventFilter(watched, event);
}

QString PageText::documentText() const
{
    QString raw = m_document->toRawText();
    raw.replace(u'\n', QChar::ParagraphSeparator);
    return raw;
}

bool PageText::busyWithInput() const
{
    return m_textEdit && m_textEdit->property("inputMethodComposing").toBool();
}

qsizetype PageText::words() const
{
    if (!m_session)
        return 0;
    qsizetype count = 0;
    bool inside = false;
    for (const QChar c : m_session->draft().text()) {
        const bool letter = !c.isSpace();
        count += letter && !inside ? 1 : 0;
        inside = letter;
    }
    return count;
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

void PageText::setLineHeight(double factor)
{
    if (qFuzzyCompare(m_lineHeight, factor))
        return;
    m_lineHeight = factor;
    styleBlocks();
    Q_EMIT lineHeightChanged();
}

void PageText::refreshSoon()
{
    if (!m_refreshTimer.isActive())
        m_refreshTimer.start();
}

void PageText::refresh()
{
    if (busyWithInput()) {
        refreshSoon();
        return;
    }
    std::vector<Overlay> overlays;
    m_sources.clear();
    if (m_session && !m_originalShown)
        collectOverlays(overlays);
    show(ShownText(m_session ? QStringView(m_session->draft().text()) : QStringView(), std::move(overlays)));
    findMatches();
    collectMarks();
    Q_EMIT shownChanged();
}

void PageText::collectOverlays(std::vector<Overlay> &overlays)
{
    addRunOverlays(overlays);
    addProposalOverlays(overlays);
}

void PageText::addRunOverlays(std::vector<Overlay> &overlays)
{
    for (const editing::RunInfo &run : m_session->runs()) {
        if (editing::hasEnded(run.state))
            continue;
        // Alternatives write to one place: the first lane stands for all there, the others are in the inspector.
        for (int lane = 0; lane < static_cast<int>(run.lanes.size()); ++lane) {
            const editing::LaneInfo &info = run.lanes[static_cast<std::size_t>(lane)];
            Source source{.run = run.run, .lane = lane, .proposal = {}, .change = 0, .settledLength = 0, .frame = {}};
            QString text;
            for (const editing::SettledPiece &piece : m_session->settledPieces(run.run, lane))
                text += piece.text;
            source.settledLength = text.size();
            source.frame = m_session->newestFrame(run.run, lane);
            if (source.frame && source.frame->canvas < info.canvases)
                source.frame.reset(); // its text is among the settled pieces
            if (source.frame)
                text += source.frame->shownText();
            if (text.isEmpty())
                continue; // nothing to show yet: the draft's own words stay
            overlays.push_back({.kind = Overlay::Kind::Live,
                                .span = info.span,
                                .text = std::move(text),
                                .source = static_cast<int>(m_sources.size())});
            m_sources.push_back(std::move(source));
        }
    }
}

void PageText::addProposalOverlays(std::vector<Overlay> &overlays)
{
    for (const editing::Proposal &proposal : m_session->draft().proposals()) {
        if (!proposal.isOpen())
            continue;
        for (std::size_t i = 0; i < proposal.changes.size(); ++i) {
            const editing::ProposalChange &change = proposal.changes[i];
            if (change.state != editing::ChangeState::Open)
                continue;
            overlays.push_back({.kind = Overlay::Kind::Change,
                                .span = change.span,
                                .text = change.text,
                                .source = static_cast<int>(m_sources.size())});
            m_sources.push_back(
                {.run = {}, .lane = 0, .proposal = proposal.id, .change = i, .settledLength = 0, .frame = {}});
        }
    }
}

void PageText::show(ShownText next)
{
    if (!m_document) {
        m_shown = std::move(next);
        return;
    }
    const QScopeGuard done([this, wasApplying = m_applying] { m_applying = wasApplying; });
    m_applying = true;
    const TextSpan selection = selectionInDraft();
    const QString wanted = asRawText(next.text());
    const QString present = documentText();
    if (wanted != present) {
        QTextCursor cursor(m_document);
        cursor.beginEditBlock();
        // Piece by piece where only the model's words changed, from behind, so that the caret and what lies between two
        // passages stay where they are.
        const auto &before = m_shown.pieces();
        const auto &after = next.pieces();
        const bool sameShape =
            asRawText(m_shown.text()) == present &&
            std::equal(before.begin(), before.end(), after.begin(), after.end(), [](const auto &a, const auto &b) {
                return a.kind == b.kind && a.draft == b.draft &&
                       (a.kind == ShownPiece::Kind::Foreign || a.shown.length() == b.shown.length());
            });
        if (sameShape) {
            for (std::size_t i = before.size(); i-- > 0;) {
                const QStringView old = QStringView(present).mid(before[i].shown.start, before[i].shown.length());
                const QStringView text = QStringView(wanted).mid(after[i].shown.start, after[i].shown.length());
                if (old == text)
                    continue;
                const TextEdit edit = difference(old, text);
                replaceInDocument({before[i].shown.start + edit.span.start, before[i].shown.start + edit.span.end},
                                  edit.text);
            }
        } else {
            const TextEdit edit = difference(present, wanted);
            replaceInDocument(edit.span, edit.text);
        }
        cursor.endEditBlock();
        styleBlocks();
    }
    m_shown = std::move(next);
    if (wanted != present)
        selectInDraft(selection);
}

void PageText::replaceInDocument(TextSpan shown, QStringView text)
{
    Q_ASSERT(shown.start >= 0 && shown.end < m_document->characterCount());
    QTextCursor cursor(m_document);
    cursor.setPosition(static_cast<int>(shown.start));
    cursor.setPosition(static_cast<int>(shown.end), QTextCursor::KeepAnchor);
    cursor.insertText(text.toString());
}

void PageText::styleBlocks()
{
    if (!m_document)
        return;
    const QScopeGuard done([this, wasApplying = m_applying] { m_applying = wasApplying; });
    m_applying = true;
    const double percent = m_lineHeight * 100.0;
    for (QTextBlock block = m_document->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().lineHeight() == percent) // NOLINT: the very value set below
            continue;
        QTextBlockFormat format;
        format.setLineHeight(percent, QTextBlockFormat::ProportionalHeight);
        QTextCursor(block).mergeBlockFormat(format);
    }
}

void PageText::onContentsChange()
{
    if (m_applying)
        return;
    const TextEdit typed = difference(asRawText(m_shown.text()), documentText());
    if (typed.span.empty() && typed.text.isEmpty())
        return; // a change of looks
    takeTyped(typed);
    // The document is in the middle of its change: mend it afterwards.
    QMetaObject::invokeMethod(this, &PageText::refresh, Qt::QueuedConnection);
}

void PageText::takeTyped(const TextEdit &typed)
{
    if (!m_session)
        return;
    TextEdit clean = typed;
    clean.text.replace(QChar::ParagraphSeparator, u'\n');
    clean.text.replace(QChar::ObjectReplacementCharacter, u' ');
    if (usesCrLf(m_session->draft().text()))
        clean.text.replace(u'\n', QStringLiteral("\r\n"));
    const std::optional<TextEdit> edit = m_shown.draftEdit(clean);
    if (!edit) {
        Q_EMIT refused(tr("These words are not part of the draft yet. Accept them first, or stop the run."));
        return;
    }
    const QScopeGuard done([this, wasApplying = m_applying] { m_applying = wasApplying; });
    m_applying = true;
    m_session->edit(m_window, m_session->draft().version(), *edit, true);
    // So that the next key stroke is measured against what the page shows now, also before `refresh`.
    std::vector<Overlay> overlays;
    m_sources.clear();
    if (!m_originalShown)
        collectOverlays(overlays);
    m_shown = ShownText(m_session->draft().text(), std::move(overlays));
}

TextSpan PageText::selectionInDraft() const
{
    if (!m_textEdit)
        return {};
    const int start = m_textEdit->property("selectionStart").toInt();
    const int end = m_textEdit->property("selectionEnd").toInt();
    const TextSpan span = m_shown.toDraft(TextSpan{start, end});
    return {std::min(span.start, span.end), std::max(span.start, span.end)};
}

void PageText::selectInDraft(TextSpan span)
{
    if (!m_textEdit)
        return;
    const TextSpan shown =
        span.empty() ? TextSpan{m_shown.toShown(span.start), m_shown.toShown(span.start)} : m_shown.toShown(span);
    const int caret = m_textEdit->property("cursorPosition").toInt();
    if (shown.empty()) {
        if (caret != shown.start || m_textEdit->property("selectionStart") != m_textEdit->property("selectionEnd"))
            m_textEdit->setProperty("cursorPosition", static_cast<int>(shown.start));
        return;
    }
    QMetaObject::invokeMethod(m_textEdit, "select", Q_ARG(int, static_cast<int>(shown.start)),
                              Q_ARG(int, static_cast<int>(shown.end)));
}

QString PageText::plainSelection() const
{
    if (!m_textEdit)
        return {};
    const int start = m_textEdit->property("selectionStart").toInt();
    const int end = m_textEdit->property("selectionEnd").toInt();
    return m_shown.text().mid(start, end - start);
}

void PageText::copy() const
{
    const QString text = plainSelection();
    if (!text.isEmpty())
        QGuiApplication::clipboard()->setText(text);
}

void PageText::cut()
{
    copy();
    insertPlain({});
}

void PageText::paste()
{
    insertPlain(QGuiApplication::clipboard()->text());
}

void PageText::insertPlain(const QString &text)
{
    if (!m_document || !m_textEdit || !m_session)
        return;
    const TextSpan shown{m_textEdit->property("selectionStart").toInt(), m_textEdit->property("selectionEnd").toInt()};
    QString plain = editing::cleaned(text);
    plain.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
    replaceInDocument(shown, plain); // as if it were typed
}

} // namespace palimpsest::studio
