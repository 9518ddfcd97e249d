// SPDX-FileCopyrightText: 2026 The Palimpsest developers
// SPDX-License-Identifier: GPL-3.0-or-later

// What comes into PageText from the keyboard, from input methods and from the clipboard.

#include "app/studio/key_map.h"
#include "app/studio/page_caret.h"
#include "app/studio/page_text.h"
#include "app/studio/theme.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QQuickItem>
#include <QQuickTextDocument>
#include <QQuickWindow>
#include <QScopeGuard>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>

#include <algorithm>

namespace palimpsest::studio {

namespace {

bool usesCrLf(QStringView text)
{
    const qsizetype lineFeed = text.indexOf(u'\n');
    return lineFeed > 0 && text[lineFeed - 1] == u'\r';
}

/// The letters that were put in or taken away between two texts that differ at one place. Where that could have
/// happened at several places, as with a letter that is doubled, it was at the caret.
TextEdit typedBetween(QStringView before, QStringView after, qsizetype caret)
{
    const qsizetype most = std::min(before.size(), after.size());
    qsizetype tail = 0;
    const qsizetype behindCaret = std::min(most, after.size() - std::clamp<qsizetype>(caret, 0, after.size()));
    while (tail < behindCaret && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
        ++tail;
    qsizetype start = 0;
    while (start < most - tail && before[start] == after[start])
        ++start;
    while (tail < most - start && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
        ++tail;
    return {{start, before.size() - tail}, after.mid(start, after.size() - tail - start).toString()};
}

bool leadsToTheEnd(const QKeyEvent &event)
{
    return event.matches(QKeySequence::SelectAll) || event.matches(QKeySequence::MoveToEndOfDocument) ||
           event.matches(QKeySequence::SelectEndOfDocument);
}

} // namespace

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
    connect(Theme::create(nullptr, nullptr), &Theme::changed, this, &PageText::refreshSoon);
    // Only what can be seen is drawn. A TextEdit turns this on by itself for long texts, but only for those that come
    // by its text property.
    textEdit->setFlag(QQuickItem::ItemObservesViewport);
    // Where a part of it changes, it then draws again from the first line in sight on, but keeps (Qt 6.4) what it had
    // drawn in front of the change: those letters would be there twice, and look bold.
    for (const char *change : {SIGNAL(selectionStartChanged()), SIGNAL(selectionEndChanged())})
        connect(textEdit, change, textEdit, SLOT(updateWholeDocument()));
    connect(m_document, SIGNAL(contentsChanged()), textEdit, SLOT(updateWholeDocument()));
    textEdit->installEventFilter(this);
    const auto watchWindow = [this](QQuickWindow *window) {
        if (m_altWindow)
            m_altWindow->removeEventFilter(this);
        m_altWindow = window;
        if (window != nullptr)
            window->installEventFilter(this);
    };
    watchWindow(textEdit->window());
    connect(textEdit, &QQuickItem::windowChanged, this, watchWindow);
    m_shown = {};
    m_astray = true;
    refresh();
}

bool PageText::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_textEdit) {
        watchAlt(*event);
        return QObject::eventFilter(watched, event);
    }
    switch (event->type()) {
    case QEvent::ShortcutOverride:
        if (m_keys != nullptr && m_keys->claims(*static_cast<QKeyEvent *>(event))) {
            event->ignore();
            return true;
        }
        break;
    case QEvent::KeyPress:
        if (leadsToTheEnd(*static_cast<QKeyEvent *>(event)))
            bringWhole();
        [[fallthrough]];
    case QEvent::MouseButtonPress:
    case QEvent::InputMethod:
        if (m_stale)
            refresh();
        m_selecting = event->type() == QEvent::MouseButtonPress;
        break;
    case QEvent::MouseButtonRelease:
    case QEvent::UngrabMouse:
        m_selecting = false;
        break;
    default:
        break;
    }
    return QObject::eventFilter(watched, event);
}

void PageText::watchAlt(const QEvent &event)
{
    switch (event.type()) {
    case QEvent::KeyPress:
        if (static_cast<const QKeyEvent &>(event).key() == Qt::Key_Alt) {
            if (!m_altTimer.isActive() && !m_entropyHeld)
                m_altTimer.start();
        } else {
            m_altTimer.stop(); // part of a key combination
        }
        break;
    case QEvent::KeyRelease:
        if (static_cast<const QKeyEvent &>(event).key() == Qt::Key_Alt)
            setEntropyHeld(false);
        break;
    case QEvent::FocusOut: // the window may never see Alt come up
        setEntropyHeld(false);
        break;
    default:
        break;
    }
}

void PageText::setEntropyHeld(bool held)
{
    m_altTimer.stop();
    if (m_entropyHeld == held)
        return;
    m_entropyHeld = held;
    collectMarks();
    Q_EMIT entropyHeldChanged();
}

QString PageText::documentText() const
{
    QString raw = m_document->toRawText();
    raw.replace(u'\n', QChar::ParagraphSeparator);
    return raw;
}

QString PageText::documentText(TextSpan span) const
{
    QTextCursor cursor(m_document);
    cursor.setPosition(static_cast<int>(span.start));
    cursor.setPosition(static_cast<int>(span.end), QTextCursor::KeepAnchor);
    return cursor.selectedText();
}

bool PageText::busyWithInput() const
{
    return m_selecting || (m_textEdit && m_textEdit->property("inputMethodComposing").toBool());
}

void PageText::setLineHeight(double factor)
{
    if (qFuzzyCompare(m_lineHeight, factor))
        return;
    m_lineHeight = factor;
    if (m_document)
        m_unstyled = TextSpan{0, m_document->characterCount()};
    styleBlocks();
    Q_EMIT lineHeightChanged();
}

/// Line height, and the direction that a paragraph's first letter with one gives it: a TextEdit has one direction for
/// all of its text.
void PageText::styleBlocks()
{
    if (!m_document || !m_unstyled || busyWithInput())
        return;
    const QScopeGuard done([this, wasApplying = m_applying] {
        m_applying = wasApplying;
        m_unstyled.reset(); // of its own changes as well
    });
    m_applying = true;
    const TextSpan span = *m_unstyled;
    const double percent = m_lineHeight * 100.0;
    for (QTextBlock block = m_document->findBlock(static_cast<int>(span.start));
         block.isValid() && block.position() <= span.end; block = block.next()) {
        const QTextBlockFormat present = block.blockFormat();
        const bool rightToLeft = block.text().isRightToLeft();
        const Qt::LayoutDirection direction = rightToLeft ? Qt::RightToLeft : Qt::LeftToRight;
        if (present.lineHeight() == percent &&
            present.layoutDirection() == direction) // NOLINT: the very value set here
            continue;
        QTextBlockFormat format;
        format.setLineHeight(percent, QTextBlockFormat::ProportionalHeight);
        format.setLayoutDirection(direction);
        format.setAlignment((rightToLeft ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignAbsolute);
        QTextCursor(block).mergeBlockFormat(format);
    }
}

void PageText::setGap(double pixels)
{
    if (m_gap == pixels) // NOLINT: the very value that was set
        return;
    m_gap = pixels;
    openGap();
    Q_EMIT gapChanged();
    Q_EMIT marksChanged(); // what lies below has moved
}

/// Paragraphs that are split take their format along: so all of them are looked at, as long as a gap is open.
void PageText::openGap()
{
    const int end = alternativesEnd();
    if (!m_document || busyWithInput() || (end < 0 && !m_gapOpen))
        return;
    const QScopeGuard done([this, wasApplying = m_applying] { m_applying = wasApplying; });
    m_applying = true;
    m_gapOpen = end >= 0;
    const QTextBlock wanted = end < 0 ? QTextBlock() : m_document->findBlock(end);
    for (QTextBlock block = m_document->begin(); block.isValid(); block = block.next()) {
        const double margin = block == wanted ? m_gap : 0.0;
        if (block.blockFormat().bottomMargin() == margin) // NOLINT: the very value set below
            continue;
        QTextBlockFormat format;
        format.setBottomMargin(margin);
        QTextCursor(block).mergeBlockFormat(format);
    }
}

void PageText::onContentsChange(int position, int removed, int added)
{
    if (!m_unstyled)
        m_unstyled = TextSpan{position, position + added};
    else
        m_unstyled = TextSpan{std::min<qsizetype>(m_unstyled->start, position),
                              std::max<qsizetype>(m_unstyled->end + added - removed, position + added)};
    if (m_applying)
        return;
    TextEdit typed = typedWithin(position, added);
    if (typed.span.empty() && typed.text.isEmpty())
        return; // a change of looks
    takeTyped(std::move(typed));
    m_stale = true;
    // The document is in the middle of its change: what else is to change in it comes afterwards.
    QMetaObject::invokeMethod(this, "refreshIfStale", Qt::QueuedConnection);
}

/// What was typed, by what the text document says of where it changed.
TextEdit PageText::typedWithin(qsizetype position, qsizetype added) const
{
    const qsizetype caret =
        std::max<qsizetype>(m_textEdit ? m_textEdit->property("cursorPosition").toInt() : 0, position + added);
    const qsizetype length = m_document->characterCount() - 1; // the last one is no letter, but counted among `added`
    const TextSpan now{position, std::min(position + added, length)};
    const qsizetype end = now.end + m_shown.text().size() - length; // behind it all is as it was
    if (m_astray || end < position || end > m_shown.text().size())
        return typedBetween(asRawText(m_shown.text()), documentText(), caret);
    TextEdit typed = typedBetween(asRawText(QStringView(m_shown.text()).mid(position, end - position)),
                                  documentText(now), caret - position);
    typed.span = {typed.span.start + position, typed.span.end + position};
    return typed;
}

void PageText::refuse(const TextEdit &typed, const QString &reason)
{
    const Caret caret = caretAt(typed.span.start, ShownPlace::Lean::Before);
    m_moved = Selection{.anchor = caret, .cursor = caret};
    m_astray = true; // the letters stand there until the refresh
    Q_EMIT refused(reason);
}

void PageText::takeTyped(TextEdit typed)
{
    if (!m_session) {
        m_astray = true;
        return;
    }
    typed.text.replace(QChar::ParagraphSeparator, u'\n');
    m_astray = m_astray || typed.text.contains(QChar::ObjectReplacementCharacter);
    typed.text.replace(QChar::ObjectReplacementCharacter, u' ');
    TextEdit forDraft = typed;
    if (usesCrLf(m_session->draft().text()))
        forDraft.text.replace(u'\n', QStringLiteral("\r\n"));
    const std::optional<TextEdit> edit = m_shown.draftEdit(forDraft);
    if (!edit) {
        refuse(typed, tr("These words are not part of the draft yet. Accept them first, or stop the run."));
        return;
    }
    const QScopeGuard done([this, wasApplying = m_applying] { m_applying = wasApplying; });
    m_applying = true;
    const bool isInStep = m_shownVersion == m_session->draft().version();
    const QString &text = m_session->draft().text();
    const int wordsBefore = isInStep && m_wordsVersion == m_shownVersion ? wordsBegunIn(text, edit->span) : -1;
    try {
        const editing::AppliedEdit applied = m_session->edit(m_window, m_shownVersion, *edit, true);
        // Not counted anew for each key, unless somebody has asked for them meanwhile.
        if (wordsBefore >= 0 && m_wordsVersion != applied.version && applied.edit.span == edit->span) {
            const qsizetype start = applied.edit.span.start;
            m_words += wordsBegunIn(text, {start, start + applied.edit.text.size()}) - wordsBefore;
            m_wordsVersion = applied.version;
        }
        m_astray = m_astray || applied.edit != *edit; // letters that no draft takes, or half of one
        keepPortion(applied.edit);
        m_shown = m_shown.afterTyping(typed, *edit);
        m_shownVersion = applied.version;
        m_overtaken = m_overtaken || !isInStep;
        if (m_moved) {
            const Caret caret{
                .place = {.draft = applied.edit.span.start + applied.edit.text.size()}, .word = {}, .inChange = {}};
            m_moved = Selection{.anchor = caret, .cursor = caret};
        }
    } catch (const Error &error) { // longer than a draft may be
        refuse(typed, QString::fromUtf8(error.what()));
    }
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
    if (m_stale)
        refresh();
    const TextSpan shown{m_textEdit->property("selectionStart").toInt(), m_textEdit->property("selectionEnd").toInt()};
    QString plain = editing::cleaned(text);
    plain.replace(QStringLiteral("\r\n"), QStringLiteral("\n"));
    replaceInDocument(shown, plain); // as if it were typed
}

} // namespace palimpsest::studio
